//! `--add-dir`: folders besides the project's, in which everything works as in it, and nothing else.

use crate::bench_world::Bench;
use serde_json::json;
use std::os::unix::fs::symlink;

// keeps: folders
#[test]
fn a_folder_that_a_person_opens_is_worked_in_like_the_project_and_undone_like_it() {
    let temp = tempfile::tempdir().unwrap();
    let other = temp.path().canonicalize().unwrap();
    let at = |name: &str| other.join(name).display().to_string();
    std::fs::write(other.join("a.txt"), "one\n").unwrap();
    let call = |tool: &str, args: serde_json::Value| json!({"tool": tool, "args": args});
    let bench = Bench::new(json!([
        {"calls": [call("read", json!({"path": at("a.txt")})), call("list", json!({"path": at("")})), call("find", json!({"text": "one", "under": at("")}))]},
        {"calls": [
            call("edit", json!({"path": at("a.txt"), "old": "one", "new": "two"})),
            call("write", json!({"path": at("new/b.txt"), "content": "b\n"})),
            call("move", json!({"from": at("new/b.txt"), "to": at("c.txt")})),
            call("edit", json!({"patch": format!("*** Begin Patch\n*** Add File: {}\n+d\n*** Add File: here.txt\n+h\n*** End Patch", at("d.txt"))})),
            call("bash", json!({"command": "pwd", "cwd": at("new")})),
        ]},
        {"say": "done"},
        {"calls": [call("read", json!({"path": at("a.txt")}))]},
        {"say": "again"},
    ]));
    let done = bench.cairn(&["run", "--yolo", "--add-dir", &at(""), "work"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(std::fs::read_to_string(other.join("a.txt")).unwrap(), "two\n");
    assert_eq!(std::fs::read_to_string(other.join("c.txt")).unwrap(), "b\n");
    assert_eq!(std::fs::read_to_string(other.join("d.txt")).unwrap(), "d\n");
    assert_eq!(bench.temp.read("here.txt"), "h\n");
    let told = bench.requests().pop().unwrap()["messages"].to_string();
    assert!(told.contains(&format!("in {}:", other.display())), "{told}");
    assert!(told.contains(&format!("{}\\nexit=0", at("new"))), "{told}");
    assert!(told.contains("these folders are open"), "{told}");

    let again = bench.cairn(&["run", "--yolo", "-c", "more"]);
    assert_eq!((again.code, again.out.as_str()), (0, "again\n"), "the run keeps its folders");
    let told = bench.requests().pop().unwrap()["messages"].to_string();
    assert!(told.contains("1\\ttwo"), "{told}");

    let undo = bench.cairn(&["undo", "1"]);
    assert_eq!(undo.code, 0, "{}{}", undo.out, undo.err);
    let names: Vec<_> =
        std::fs::read_dir(&other).unwrap().flatten().map(|item| item.file_name()).collect();
    assert_eq!(names, ["a.txt"]);
    assert_eq!(std::fs::read_to_string(other.join("a.txt")).unwrap(), "one\n");
    assert!(!bench.file("here.txt").exists());
}

// keeps: folders
#[test]
fn nothing_outside_the_named_folders_is_reached() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().canonicalize().unwrap();
    let (open, closed) = (root.join("open"), root.join("open-not"));
    std::fs::create_dir_all(&open).unwrap();
    std::fs::create_dir_all(&closed).unwrap();
    std::fs::write(closed.join("secret"), "secret\n").unwrap();
    symlink("../open-not/secret", open.join("link")).unwrap();
    let reads: Vec<_> = [closed.join("secret"), open.join("link"), open.join("../open-not/secret")]
        .iter()
        .map(|path| json!({"tool": "read", "args": {"path": path}}))
        .collect();
    let bench = Bench::new(json!([{"calls": reads}, {"say": "done"}]));
    let shown = open.display().to_string();
    let done = bench.cairn(&["run", "--yolo", "--add-dir", &shown, "look"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let told = bench.requests().pop().unwrap()["messages"].to_string();
    assert!(!told.contains("1\\tsecret"), "{told}");
    let log = bench.cairn(&["log"]).out;
    assert_eq!(log.matches("→ 403").count(), 3, "{log}");
    for (folder, why) in [
        ("/nowhere/at/all", "cannot be opened"),
        (".", "lie in each other"),
        ("/", "lie in each other"),
    ] {
        let refused = bench.cairn(&["run", "--yolo", "--add-dir", folder, "look"]);
        assert_eq!(refused.code, 2, "{folder}");
        assert!(refused.err.contains(why), "{folder}: {}", refused.err);
    }
}

// keeps: folders
#[test]
fn a_folder_that_was_replaced_by_a_link_is_not_followed() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().canonicalize().unwrap();
    let (open, closed) = (root.join("open"), root.join("closed"));
    std::fs::create_dir_all(&open).unwrap();
    std::fs::create_dir_all(&closed).unwrap();
    let file = open.join("f").display().to_string();
    let bench = Bench::new(json!([
        {"calls": [{"tool": "write", "args": {"path": file, "content": "f\n"}}]},
        {"say": "done"},
        {"calls": [{"tool": "read", "args": {"path": file}}]},
        {"say": "looked"},
    ]));
    let shown = open.display().to_string();
    assert_eq!(bench.cairn(&["run", "--yolo", "--add-dir", &shown, "work"]).code, 0);
    std::fs::rename(open.join("f"), closed.join("f")).unwrap();
    std::fs::remove_dir(&open).unwrap();
    symlink(&closed, &open).unwrap();

    let sentence = format!("the folder {shown} now leads elsewhere");
    let again = bench.cairn(&["run", "--yolo", "-c", "look"]);
    assert_eq!(again.code, 0, "{}", again.err);
    assert!(again.err.contains(&sentence), "{}", again.err);
    let told = bench.requests().pop().unwrap()["messages"].to_string();
    assert!(!told.contains("1\\tf"), "{told}");
    let undo = bench.cairn(&["undo", "1"]);
    assert_eq!(undo.code, 1, "{}{}", undo.out, undo.err);
    assert!(undo.err.contains(&sentence), "{}", undo.err);
    let left = format!("  left alone: {file} leads outside the workspace\n");
    assert!(undo.out.starts_with(&left), "{}", undo.out);
    assert_eq!(std::fs::read_to_string(closed.join("f")).unwrap(), "f\n");
}

// keeps: folders
#[test]
fn an_undo_in_a_folder_is_taken_back_also_when_a_later_run_has_no_folder() {
    let temp = tempfile::tempdir().unwrap();
    let open = temp.path().canonicalize().unwrap();
    let file = open.join("f").display().to_string();
    let bench = Bench::new(json!([
        {"calls": [{"tool": "write", "args": {"path": file, "content": "f\n"}}]},
        {"say": "done"},
    ]));
    let shown = open.display().to_string();
    assert_eq!(bench.cairn(&["run", "--yolo", "--add-dir", &shown, "work"]).code, 0);
    assert_eq!(bench.cairn(&["undo"]).code, 0);
    let other = Bench::new(json!([{"say": "done"}]));
    let mut later = bench.command(&["run", "--yolo", "say"]);
    assert!(later.env("OPENAI_BASE_URL", other.model.url()).output().unwrap().status.success());
    let redo = bench.cairn(&["redo"]);
    assert_eq!(redo.code, 0, "{}{}", redo.out, redo.err);
    assert_eq!(std::fs::read_to_string(open.join("f")).unwrap(), "f\n");
}

// keeps: folders, hostile-import
#[test]
fn a_folder_that_was_opened_elsewhere_is_not_open_where_the_session_is_imported() {
    let temp = tempfile::tempdir().unwrap();
    let other = temp.path().canonicalize().unwrap();
    let (shown, file) = (other.display().to_string(), other.join("f").display().to_string());
    std::fs::write(&file, "the author's\n").unwrap();
    let look = json!({"calls": [{"tool": "read", "args": {"path": file}}]});
    let here = Bench::new(json!([{"say": "done here"}]));
    assert_eq!(here.cairn(&["run", "--yolo", "--add-dir", &shown, "begin"]).code, 0);
    let session = here.temp.path().join("session.cairn").display().to_string();
    assert_eq!(here.cairn(&["sessions", "export", "-o", &session]).code, 0);

    let past = json!({"say": "-"});
    let there =
        Bench::new(json!([past, look, {"say": "looked"}, look, {"say": "opened"}, {"say": "-"}]));
    assert_eq!(there.cairn(&["sessions", "import", &session, "--root", "."]).code, 0);
    let listed = there.cairn(&["sessions", "--json"]).out;
    let listed: serde_json::Value = serde_json::from_str(listed.lines().next().unwrap()).unwrap();
    let run = listed["runs"][0]["run"].as_str().unwrap();
    let went_on = there.cairn(&["run", "--yolo", "--resume", run, "look"]);
    assert_eq!(went_on.code, 0, "{}", went_on.err);
    let sentence = format!("the folder {shown} was opened where this run was imported from");
    assert!(went_on.err.contains(&sentence), "{}", went_on.err);
    let told = there.requests().pop().unwrap()["messages"].to_string();
    assert!(told.contains("is outside the workspace"), "{told}");
    assert!(!told.contains("1\\tthe author"), "{told}");

    // Whoever opens it here works in it, and the fork keeps it.
    let opened = there.cairn(&["run", "--yolo", "-c", "--add-dir", &shown, "look"]);
    assert_eq!(opened.code, 0, "{}", opened.err);
    assert!(!opened.err.contains("was opened where"), "{}", opened.err);
    let told = there.requests().pop().unwrap()["messages"].to_string();
    assert!(told.contains("1\\tthe author"), "{told}");
    let again = there.cairn(&["run", "--yolo", "-c", "again"]);
    assert!(again.code == 0 && !again.err.contains("was opened where"), "{}", again.err);
}
