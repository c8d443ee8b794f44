//! Commands that run over an overlay: unasked as long as they change nothing, and then judged by what they
//! changed.

use super::policy::{ASKED, of, word_of};
use crate::gates::{Asked, Terms};
use crate::policy::{Case, Rulebook, subject_of};
use cairn_surface::native;
use cairn_types::{Approval, Mode, Policy, Removed, Writer};

/// What a command did: what it changed, what of it git ignores, what is gone.
#[derive(Default, Clone, Copy)]
struct Did<'a> {
    changed: &'a [&'a str],
    ignored: &'a [&'a str],
    gone: &'a [&'a str],
}

fn word(rules: &[&str], terms: Terms, tool: &str, did: Did<'_>) -> &'static str {
    word_on(rules, terms, (tool, "python3 x.py"), did)
}

fn word_on(
    rules: &[&str],
    terms: Terms,
    (tool, command): (&str, &str),
    did: Did<'_>,
) -> &'static str {
    let parsed = native::parse(tool, &serde_json::json!({ "command": command }).to_string());
    let action = parsed.action.unwrap();
    let subject = subject_of(&action);
    let owned = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
    let (changed, ignored, gone) = (owned(did.changed), owned(did.ignored), owned(did.gone));
    let case = Case {
        op: action.op(),
        tool,
        writer: Writer::Model,
        effect: parsed.effect,
        subject: &subject,
        changed: &changed,
        ignored: &ignored,
        gone: &gone,
        removed: Removed::default(),
    };
    let policy = Policy { overlay: true, ..of(rules) };
    word_of(&Asked::new(case, terms, &Rulebook::read(policy).unwrap(), 5).leave())
}

#[test]
fn what_a_command_changed_is_judged_as_an_edit_of_it() {
    let yolo = Terms { approval: Approval::Yolo, ..ASKED };
    let accepting = Terms { mode: Mode::AcceptEdits, ..ASKED };
    let nothing = Did::default();
    let a = Did { changed: &["a"], ..Did::default() };
    let hook = Did { changed: &["a", ".git/hooks/pre-commit"], ..Did::default() };
    let config = Did { changed: &["sub/.git/config"], ..Did::default() };
    let commit = Did { changed: &[".git/index", ".git/refs/heads/main"], ..Did::default() };
    let built = Did { ignored: &["target/x"], ..Did::default() };
    let removed = Did { changed: &["a"], gone: &["a"], ..Did::default() };
    let check = |rules: &[&str], terms: Terms, did: Did<'_>, expected: &str| {
        assert_eq!(word(rules, terms, "bash", did), expected, "{rules:?} {:?}", did.changed);
    };
    check(&[], ASKED, nothing, "allow");
    check(&[], ASKED, a, "ask");
    check(&[], ASKED, built, "allow");
    check(&[], accepting, a, "allow");
    check(&[], yolo, a, "allow");
    check(&["allow edit a"], ASKED, a, "allow");
    check(&["allow exec python3 *"], ASKED, a, "allow");
    check(&["deny edit a"], yolo, a, "deny");
    check(&["deny edit target/**"], yolo, built, "deny");
    check(&["ask edit target/**"], ASKED, built, "ask");
    check(&["deny kill"], yolo, removed, "deny");
    check(&["deny kill"], yolo, a, "allow");
    check(&["allow edit a"], ASKED, removed, "ask");
    check(&["allow kill a"], ASKED, removed, "allow");
    check(&["allow kill a"], ASKED, a, "ask");
    check(&["deny edit a", "allow kill a"], yolo, removed, "deny");
    check(&["ask edit a", "allow kill a"], ASKED, removed, "ask");
    check(&[], accepting, removed, "allow");
    let folder = Did { changed: &["d", "d/.env", "b"], gone: &["d"], ..Did::default() };
    check(&["allow kill d/**", "allow kill d", "allow edit b"], ASKED, folder, "allow");
    check(&["allow edit **"], ASKED, folder, "ask");
    check(&["ask exec python3 *"], ASKED, nothing, "ask");
    // What runs next is a person's alone, whatever was said beforehand, unless that was everything.
    for did in [hook, config] {
        check(&[], yolo, did, "deny");
        check(&["allow exec"], yolo, did, "deny");
        check(&["allow exec python3 *"], ASKED, did, "ask");
        check(&["allow edit **"], accepting, did, "ask");
        check(&["allow *"], ASKED, did, "allow");
    }
    check(&[], yolo, commit, "allow");
    check(&[], accepting, commit, "ask");
}

#[test]
fn where_files_are_kept_from_being_read_a_command_is_asked_about() {
    let yolo = Terms { approval: Approval::Yolo, ..ASKED };
    for tool in ["bash", "env"] {
        assert_eq!(word(&[], ASKED, tool, Did::default()), "allow", "{tool}");
        assert_eq!(word(&["deny read .env"], ASKED, tool, Did::default()), "ask", "{tool}");
        assert_eq!(word(&["deny read .env"], yolo, tool, Did::default()), "allow", "{tool}");
    }
    let rules = ["deny read .env", "allow exec python3 *"];
    assert_eq!(word(&rules, ASKED, "bash", Did::default()), "allow");
}

#[test]
fn of_hosts_over_an_overlay_only_what_names_a_forbidden_one_does_not_run() {
    let check = |rule: &str, command: &str, expected: &str| {
        let got = word_on(&[rule], ASKED, ("bash", command), Did::default());
        assert_eq!(got, expected, "{rule} {command}");
    };
    check("deny exec[effect=network,host=vm]", "curl http://vm:8777/", "deny");
    check("deny exec[effect=network]", "curl http://vm:8777/", "deny");
    // The host is seen when it is wanted.
    check("deny exec[effect=network,host=vm]", "curl http://$x/", "allow");
    check("deny exec[effect=network,host=vm]", "ls vmlinuz", "allow");
    check("ask exec[effect=network,host=vm]", "curl http://vm:8777/", "allow");
}
