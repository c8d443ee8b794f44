//! Replies on text surfaces, through a driver: what a `<set>` body comes to on disk, and what is done of a reply in
//! which one statement was not understood.

use crate::kit::{Told, block_on, script, start, store};
use cairn_runtime::{Manner, Place};
use cairn_testkit::{ModelServer, TempHome};
use cairn_types::{Body, Surface};
use serde_json::json;
use std::sync::Arc;

/// The statuses of the rows that one reply comes to.
fn statuses(temp: &TempHome, surface: Surface, said: &str, done: &str) -> Vec<u16> {
    let store = store(&temp.home());
    let model = ModelServer::start(script(&[json!({"say": said}), json!({"say": done})]));
    let mut start = start(&store, &temp.workspace(), &model.url(), Arc::new(Told::default()));
    start.settings.manner = Manner { surface, ..Manner::default() };
    let facts = block_on(async {
        let place = Place::New { new_session: false, name: None };
        let (mut driver, _inbox) = start.take(place, Some("go")).await.unwrap();
        driver.drive(None).await.unwrap();
        store.facts(driver.run_id(), 0).unwrap()
    });
    let first = facts.into_iter().filter_map(|fact| match fact.body {
        Body::Outcome(outcome) if outcome.at.turn == 1 => Some(outcome.status.0),
        _ => None,
    });
    first.collect()
}

const DONE_IN_TAGS: &str = "<update status=\"200\">done</update>";
const DONE_IN_HEREDOCS: &str = "<<SEND[200]:done:SEND";

// keeps: one-error
#[test]
fn after_a_statement_that_makes_no_sense_reads_run_and_effects_are_skipped() {
    let temp = TempHome::new();
    let said = "<set path=\"a\">x</set>\n<set path=\"b\" bogus=\"1\">y</set>\n\
                <get path=\"a\"/>\n<set path=\"c\">z</set>\n<sh>touch d</sh>\n";
    let got = statuses(&temp, Surface::Tags, said, DONE_IN_TAGS);
    assert_eq!(got, [201, 200, 499, 499]);
    assert!(temp.workspace().join("a").exists());
    assert!(!["b", "c", "d"].iter().any(|name| temp.workspace().join(name).exists()));
    let said = "<<EDIT(e):x:EDIT\n<<EDIT(f)<nine>:y:EDIT\n<<READ(e)::READ\n<<KILL(a)::KILL\n";
    let got = statuses(&temp, Surface::Heredoc, said, DONE_IN_HEREDOCS);
    assert_eq!(got, [201, 200, 499]);
    assert!(temp.workspace().join("a").exists());
}

// keeps: set-bodies
#[test]
fn an_edit_as_a_body_edits_what_is_there_and_is_the_content_of_what_is_not() {
    let diff = "--- a/there\n+++ b/there\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n";
    let new = "--- /dev/null\n+++ b/made\n@@ -0,0 +1 @@\n+new\n";
    let added = "*** Begin Patch\n*** Add File: added\n+added\n*** End Patch\n";
    let check = |path: &str, body: &str, status: u16, expected: &str| {
        let temp = TempHome::new();
        temp.write("there", "one\ntwo\n");
        let said = format!("<get path=\"there\"/>\n<set path=\"{path}\">\n{body}</set>\n");
        let got = statuses(&temp, Surface::Tags, &said, DONE_IN_TAGS);
        assert_eq!(got, [200, status], "{path} {body}");
        assert_eq!(temp.read(path), expected, "{path} {body}");
    };
    check("there", diff, 200, "one\nzwei\n");
    check("there", "s/two/zwei/\n", 200, "one\nzwei\n");
    check("there", "s/three/drei/\n", 422, "one\ntwo\n");
    check("not-there", "s/two/zwei/\n", 201, "s/two/zwei/\n");
    check("not-there", diff, 201, diff);
    check("there.patch", diff, 201, diff);
    check("made", new, 201, "new\n");
    check("added", added, 201, "added\n");
}
