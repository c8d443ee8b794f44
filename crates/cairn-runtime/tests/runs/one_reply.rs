//! Several edits of one file in one reply, through a driver: line numbers mean the file as the model saw it before
//! that reply, whatever earlier edits of the same reply moved.

use crate::kit::{Told, block_on, script, start, store};
use cairn_runtime::{Manner, Place};
use cairn_testkit::{ModelServer, TempHome};
use cairn_types::{Body, Surface};
use serde_json::{Value, json};
use std::sync::Arc;

/// What became of each op: its status and the text of its result.
type Outcomes = Vec<(u16, String)>;

/// A run over a workspace whose model says these replies, one after the other, and then that it is done.
fn drive(temp: &TempHome, surface: Surface, replies: &[Value]) -> Outcomes {
    let store = store(&temp.home());
    let model = ModelServer::start(script(replies));
    let mut start = start(&store, &temp.workspace(), &model.url(), Arc::new(Told::default()));
    start.settings.manner = Manner { surface, ..Manner::default() };
    let facts = block_on(async {
        let place = Place::New { new_session: false, name: None };
        let (mut driver, _inbox) = start.take(place, Some("go")).await.unwrap();
        driver.drive(None).await.unwrap();
        store.facts(driver.run_id(), 0).unwrap()
    });
    let told = facts.into_iter().filter_map(|fact| match fact.body {
        Body::Outcome(outcome) => {
            let text = store.content(&outcome.result.hash).unwrap();
            Some((outcome.status.0, String::from_utf8(text).unwrap()))
        }
        _ => None,
    });
    told.collect()
}

/// The statuses and what `file` holds after a reply with these tool calls; the model has read `file` before.
fn after(file: &str, content: &str, calls: &[(&str, Value)]) -> (Vec<u16>, String) {
    let temp = TempHome::new();
    temp.write(file, content);
    let (told, content) = after_calls(&temp, file, calls);
    (told.into_iter().map(|(status, _)| status).collect(), content)
}

fn after_calls(temp: &TempHome, file: &str, calls: &[(&str, Value)]) -> (Outcomes, String) {
    let calls: Vec<Value> =
        calls.iter().map(|(tool, args)| json!({"tool": tool, "args": args})).collect();
    let replies = [
        json!({"calls": [{"tool": "read", "args": {"path": file}}]}),
        json!({"calls": calls}),
        json!({"say": "done"}),
    ];
    let told = drive(temp, Surface::Native, &replies);
    (told[1..].to_vec(), temp.read(file))
}

fn write(scope: &str, content: &str) -> (&'static str, Value) {
    ("write", json!({"path": "f", "scope": scope, "content": content}))
}

fn exchange(old: &str, new: &str) -> (&'static str, Value) {
    ("edit", json!({"path": "f", "old": old, "new": new}))
}

fn patch(patch: &str) -> (&'static str, Value) {
    ("edit", json!({"path": "f", "patch": patch}))
}

const SIX: &str = "é1\n2\n3\n日4\n5\n😀6\n";

// keeps: lines-in-one-reply
#[test]
fn line_scopes_of_one_reply_mean_the_file_as_the_model_saw_it() {
    let (told, is) = after("f", SIX, &[write("1", "a\nb\nc"), write("3", "C"), write("5-6", "e")]);
    assert_eq!((told, is.as_str()), (vec![200, 200, 200], "a\nb\nc\n2\nC\n日4\ne\n"));
    // A control: each in a reply of its own means the file as it is by then.
    let temp = TempHome::new();
    temp.write("f", SIX);
    let alone = |(tool, args): (&str, Value)| json!({"calls": [{"tool": tool, "args": args}]});
    let replies = [
        alone(("read", json!({"path": "f"}))),
        alone(write("1", "a\nb\nc")),
        alone(write("3", "C")),
        json!({"say": "done"}),
    ];
    drive(&temp, Surface::Native, &replies);
    assert_eq!(temp.read("f"), "a\nb\nC\n2\n3\n日4\n5\n😀6\n");
}

// keeps: lines-in-one-reply
#[test]
fn overlapping_scopes_of_one_reply_are_a_conflict() {
    let (told, is) = after("f", SIX, &[write("2-3", "b"), write("3-4", "c")]);
    assert_eq!((told, is.as_str()), (vec![200, 409], "é1\nb\n日4\n5\n😀6\n"));
    let (told, _) = after("f", SIX, &[write("2", "b"), write("2", "c")]);
    assert_eq!(told, [200, 409]);
}

// keeps: lines-in-one-reply
#[test]
fn a_line_that_an_earlier_edit_joined_with_another_is_a_conflict() {
    let joining = [exchange("two\n", "2 "), write("3,1,3,1", "ins "), write("2,4,3,1", " ")];
    for join in joining {
        let (_, joined) = after("f", "one\ntwo\nthree\nfour\n", std::slice::from_ref(&join));
        let third = [write("3", "THREE"), patch("<<REPLACE[3]\nTHREE\nREPLACE\n"), patch("3d")];
        for line in third {
            let (told, is) = after("f", "one\ntwo\nthree\nfour\n", &[join.clone(), line.clone()]);
            assert_eq!((told, &is), (vec![200, 409], &joined), "{join:?} {line:?}");
        }
    }
}

// keeps: lines-in-one-reply
#[test]
fn edits_by_text_apply_in_order_each_to_the_result_of_the_one_before() {
    let calls = [exchange("2\n3\n", "two\nthree\nmore\n"), exchange("three\n", "drei\n")];
    let (told, is) = after("f", SIX, &calls);
    assert_eq!((told, is.as_str()), (vec![200, 200], "é1\ntwo\ndrei\nmore\n日4\n5\n😀6\n"));
    let (told, is) = after("f", SIX, &[exchange("2\n", "two\nzwei\n"), write("4", "D")]);
    assert_eq!((told, is.as_str()), (vec![200, 200], "é1\ntwo\nzwei\n3\nD\n5\n😀6\n"));
}

// keeps: lines-in-one-reply
#[test]
fn patches_with_line_numbers_mean_the_file_as_the_model_saw_it() {
    let grow = exchange("é1\n", "1\n1\n");
    let labels = patch("<<REPLACE[4]\nX\nREPLACE\n");
    let (told, is) = after("f", SIX, &[grow.clone(), labels]);
    assert_eq!((told, is.as_str()), (vec![200, 200], "1\n1\n2\n3\nX\n5\n😀6\n"));
    let (told, is) = after("f", SIX, &[grow, patch("4,5d")]);
    assert_eq!((told, is.as_str()), (vec![200, 200], "1\n1\n2\n3\n😀6\n"));
}

// keeps: lines-in-one-reply
#[test]
fn after_a_command_of_the_same_reply_changed_the_file_a_line_scope_is_a_conflict() {
    let bash = ("bash", json!({"command": "sed -i '1i new' f"}));
    let temp = TempHome::new();
    temp.write("f", SIX);
    let (told, is) = after_calls(&temp, "f", &[write("1", "a"), bash, write("3", "C")]);
    let statuses: Vec<u16> = told.iter().map(|(status, _)| *status).collect();
    assert_eq!(statuses, [200, 200, 409]);
    assert_eq!(is, "new\na\n2\n3\n日4\n5\n😀6\n");
    assert!(told[2].1.contains("changed"), "{}", told[2].1);
    // A control: a command that leaves the file alone.
    let bash = ("bash", json!({"command": "echo x >other"}));
    let (told, is) = after("f", SIX, &[write("1", "a\nb"), bash, write("3", "C")]);
    assert_eq!((told, is.as_str()), (vec![200, 200, 200], "a\nb\n2\nC\n日4\n5\n😀6\n"));
}

// keeps: lines-in-one-reply
#[test]
fn what_moved_no_line_or_moved_lines_by_their_numbers_is_no_conflict_with_a_line_scope() {
    let chmod = ("bash", json!({"command": "chmod +x f"}));
    let (told, is) = after("f", SIX, &[write("1", "a\nb"), chmod, write("3", "C")]);
    assert_eq!((told, is.as_str()), (vec![200, 200, 200], "a\nb\n2\nC\n日4\n5\n😀6\n"));
    let (told, is) = after("f", SIX, &[patch("1d"), write("3", "C")]);
    assert_eq!((told, is.as_str()), (vec![200, 200], "2\nC\n日4\n5\n😀6\n"));
    let several = "*** Begin Patch\n*** Update File: f\n@@\n-2\n+two\n+zwei\n*** Add File: g\n+g\n*** End Patch\n";
    let several = ("edit", json!({"patch": several}));
    let (told, is) = after("f", SIX, &[several, write("3", "C")]);
    assert_eq!((told, is.as_str()), (vec![200, 200], "é1\ntwo\nzwei\nC\n日4\n5\n😀6\n"));
    let (told, is) = after("f", SIX, &[write("1", "a\nb"), patch("4,2d")]);
    assert_eq!((told, is.as_str()), (vec![200, 200], "a\nb\n2\n3\n5\n😀6\n"));
}

// keeps: lines-in-one-reply
#[test]
fn items_of_json_and_lines_of_entries_mean_what_the_model_saw() {
    let json = |scope: &str, content: &str| {
        ("write", json!({"path": "a.json", "scope": scope, "content": content}))
    };
    let calls = [json("1", "[10]"), json("3", "\"z\"")];
    let (told, is) = after("a.json", "[[1], [2], [3]]", &calls);
    assert_eq!((told, is.as_str()), (vec![200, 200], r#"[10, [2], "z"]"#));
    let temp = TempHome::new();
    let entry = |scope: Option<&str>, content: &str| {
        let mut args = json!({"path": "known:///topic", "content": content});
        if let Some(scope) = scope {
            args["scope"] = json!(scope);
        }
        json!({"tool": "write", "args": args})
    };
    let read = json!({"tool": "read", "args": {"path": "known:///topic"}});
    let replies = [
        json!({"calls": [entry(None, "one\ntwo\nthree\n")]}),
        json!({"calls": [entry(Some("1"), "1\n1"), entry(Some("3"), "3"), read]}),
        json!({"say": "done"}),
    ];
    let told = drive(&temp, Surface::Native, &replies);
    let statuses: Vec<u16> = told.iter().map(|(status, _)| *status).collect();
    assert_eq!(statuses, [201, 200, 200, 200]);
    assert_eq!(told[3].1, "1\t1\n2\t1\n3\ttwo\n4\t3");
}

// keeps: lines-in-one-reply
#[test]
fn scopes_in_tags_of_one_reply_mean_the_file_as_the_model_saw_it() {
    let temp = TempHome::new();
    temp.write("f", SIX);
    let edits =
        "<set path=\"f\" scope=\"1\">\na\nb\n</set>\n<set path=\"f\" scope=\"4\">\nD\n</set>\n";
    let replies = [
        json!({"say": "<get path=\"f\"/>"}),
        json!({"say": edits}),
        json!({"say": "<update status=\"200\">done</update>"}),
    ];
    let told = drive(&temp, Surface::Tags, &replies);
    assert_eq!(told.iter().map(|(status, _)| *status).collect::<Vec<_>>()[..3], [200, 200, 200]);
    assert_eq!(temp.read("f"), "a\nb\n2\n3\nD\n5\n😀6\n");
}
