//! Extended attributes and access control lists of files that Cairn replaces, and names that lead to the old file.

use crate::bench_world::Bench;
use crate::undo::write;
use rustix::fs::{XattrFlags, getxattr, lsetxattr};
use rustix::io::Errno;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

const LIST: &str = "system.posix_acl_access";
const DEFAULT: &str = "system.posix_acl_default";

/// An access control list in the kernel's form: owner, the user 1234, group, mask, others.
fn list(owner: u16, user: u16, group: u16, mask: u16, other: u16) -> Vec<u8> {
    let entry = |tag: u16, may: u16, id: u32| {
        [&tag.to_le_bytes()[..], &may.to_le_bytes()[..], &id.to_le_bytes()[..]].concat()
    };
    let all = [
        entry(0x01, owner, u32::MAX),
        entry(0x02, user, 1234),
        entry(0x04, group, u32::MAX),
        entry(0x10, mask, u32::MAX),
        entry(0x20, other, u32::MAX),
    ];
    [&2u32.to_le_bytes()[..], &all.concat()[..]].concat()
}

fn set(bench: &Bench, file: &str, name: &str, value: &[u8]) {
    lsetxattr(bench.file(file), name, value, XattrFlags::empty()).expect(
        "the file system of temporary files takes no such attribute; name another one by TMPDIR",
    );
}

fn get(bench: &Bench, file: &str, name: &str) -> Option<Vec<u8>> {
    let mut room = [0; 4096];
    match getxattr(bench.file(file), name, &mut room[..]) {
        Ok(read) => Some(room[..read].to_vec()),
        Err(Errno::NODATA) => None,
        Err(e) => panic!("{file} {name}: {e}"),
    }
}

fn mode(bench: &Bench, file: &str) -> u32 {
    std::fs::metadata(bench.file(file)).unwrap().permissions().mode() & 0o7777
}

/// A file `a` with an attribute and a list, whose group class may read and write and whose own group only read.
fn marked(bench: &Bench) {
    bench.temp.write("a", "one\n");
    set(bench, "a", "user.note", b"kept");
    set(bench, "a", LIST, &list(6, 6, 4, 6, 0));
    is_marked(bench, "as it was made");
}

fn is_marked(bench: &Bench, when: &str) {
    assert_eq!(get(bench, "a", "user.note").as_deref(), Some(b"kept".as_slice()), "{when}");
    assert_eq!(get(bench, "a", LIST), Some(list(6, 6, 4, 6, 0)), "{when}");
    assert_eq!(mode(bench, "a"), 0o660, "{when}");
}

fn bash(command: &str) -> Value {
    json!({"calls": [{"tool": "bash", "args": {"command": command}}]})
}

fn done(bench: &Bench, args: &[&str]) -> String {
    let done = bench.cairn(args);
    assert_eq!(done.code, 0, "{args:?}: {done:?}");
    done.out
}

// keeps: attributes-kept
#[test]
fn an_edit_its_undo_and_its_redo_keep_attributes_and_lists() {
    let bench = Bench::confined(json!([write("a", "two\n"), {"say": "done"}]));
    marked(&bench);
    if rustix::process::geteuid().is_root() {
        let rights = [1, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        set(&bench, "a", "security.capability", &rights);
    }
    done(&bench, &["run", "--yolo", "work"]);
    assert_eq!(bench.temp.read("a"), "two\n");
    is_marked(&bench, "after the edit");
    assert_eq!(get(&bench, "a", "security.capability"), None, "no rights are handed on");
    done(&bench, &["undo"]);
    is_marked(&bench, "after undo");
    done(&bench, &["redo"]);
    assert_eq!(bench.temp.read("a"), "two\n");
    is_marked(&bench, "after redo");
    assert_eq!(bench.cairn(&["verify"]).code, 0);
}

// keeps: attributes-kept
#[test]
fn a_copy_has_the_attributes_and_lists_of_what_it_is_a_copy_of() {
    let copy = |from: &str, to: &str| json!({"calls": [{"tool": "copy", "args": {"from": from, "to": to}}]});
    let bench = Bench::confined(json!([copy("a", "b"), copy("d", "e"), {"say": "done"}]));
    marked(&bench);
    bench.temp.write("d/f", "one\n");
    set(&bench, "d", "user.note", b"of a folder");
    done(&bench, &["run", "--yolo", "work"]);
    assert_eq!(get(&bench, "b", "user.note").as_deref(), Some(b"kept".as_slice()));
    assert_eq!((get(&bench, "b", LIST), mode(&bench, "b")), (Some(list(6, 6, 4, 6, 0)), 0o660));
    assert_eq!(get(&bench, "e", "user.note").as_deref(), Some(b"of a folder".as_slice()));
    assert_eq!(bench.temp.read("e/f"), "one\n");
}

// keeps: attributes-kept
#[test]
fn a_file_that_had_no_list_gets_none_from_its_directory_when_it_is_replaced() {
    let bench = Bench::confined(json!([write("d/f", "two\n"), {"say": "done"}]));
    bench.temp.write("d/f", "one\n");
    std::fs::set_permissions(bench.file("d/f"), PermissionsExt::from_mode(0o640)).unwrap();
    set(&bench, "d", DEFAULT, &list(7, 7, 7, 7, 7));
    done(&bench, &["run", "--yolo", "work"]);
    assert_eq!(bench.temp.read("d/f"), "two\n");
    assert_eq!((get(&bench, "d/f", LIST), mode(&bench, "d/f")), (None, 0o640));
    done(&bench, &["undo"]);
    assert_eq!((get(&bench, "d/f", LIST), mode(&bench, "d/f")), (None, 0o640));
}

// keeps: attributes-kept
#[test]
fn what_a_command_changes_keeps_attributes_and_what_it_set_is_undone() {
    let sets = "python3 -c 'import os; os.setxattr(\"b\", \"user.mark\", b\"2\")'";
    let bench =
        Bench::confined(json!([bash("echo two > a"), bash(sets), bash("rm a"), {"say": "done"}]));
    marked(&bench);
    bench.temp.write("b", "b\n");
    let ran = bench.events(&["run", "--yolo", "--json", "work"]);
    assert_eq!(ran.last().unwrap()["status"], "done", "{ran:?}");
    assert!(!bench.file("a").exists());
    assert_eq!(get(&bench, "b", "user.mark").as_deref(), Some(b"2".as_slice()));
    done(&bench, &["undo", "1/3"]);
    assert_eq!(bench.temp.read("a"), "two\n");
    is_marked(&bench, "brought back");
    done(&bench, &["undo", "1/2"]);
    assert_eq!(get(&bench, "b", "user.mark"), None);
    done(&bench, &["redo"]);
    assert_eq!(get(&bench, "b", "user.mark").as_deref(), Some(b"2".as_slice()));
    done(&bench, &["undo", "1/1"]);
    assert_eq!(bench.temp.read("a"), "one\n");
    is_marked(&bench, "after all");
    assert_eq!(bench.cairn(&["verify"]).code, 0);
}

// keeps: overlay-asked
#[test]
fn an_attribute_that_a_command_sets_is_asked_about() {
    let sets = "python3 -c 'import os; os.setxattr(\"b\", \"user.mark\", b\"2\")'";
    let bench = Bench::confined(json!([bash(sets), {"say": "done"}]));
    bench.temp.write("b", "b\n");
    set(&bench, "b", "user.note", b"1");
    let mut talk = bench.talk(&["run", "--json", "work"]);
    let question = talk.until("proposal/opened");
    let shown = question["shown"].as_str().unwrap();
    assert!(shown.contains("b: attributes: user.mark set"), "{shown}");
}

// keeps: attributes-kept
#[test]
fn the_row_says_that_another_name_keeps_the_old_text() {
    let bench = Bench::confined(json!([
        write("a", "two\n"),
        bash("echo three > c"),
        {"say": "done"},
    ]));
    for (name, other) in [("a", "b"), ("c", "d")] {
        bench.temp.write(name, "one\n");
        std::fs::hard_link(bench.file(name), bench.file(other)).unwrap();
    }
    done(&bench, &["run", "--yolo", "work"]);
    let edited = done(&bench, &["show", "1/1/2#result"]);
    assert!(
        edited.contains("(it has other names (hard links), which keep the old text)"),
        "{edited}"
    );
    let ran = done(&bench, &["show", "1/2/1#result"]);
    assert!(ran.contains("c has other names (hard links), which keep the old text"), "{ran}");
    assert_eq!((bench.temp.read("b"), bench.temp.read("d")), ("one\n".into(), "one\n".into()));
}
