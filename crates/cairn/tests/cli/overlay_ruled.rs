//! Rules on something in an ignored directory, where a command makes or removes that directory as one.

use crate::bench_world::Bench;
use crate::overlay::{decide, project, statuses};

/// A program of the project: of its command line no rule can tell what it changes.
const BUILD: &str = "import os, shutil, sys
if sys.argv[1] == 'clean': shutil.rmtree('target')
else:
    os.makedirs('target/in/deep')
    open('target/in/deep/a', 'w').write('x\\n')
    open('target/b', 'w').write('y\\n')
";
const MAKE: &str = "python3 build.py make";
const CLEAN: &str = "python3 build.py clean";

fn built(command: &str, is_there: bool) -> Bench {
    let bench = project(&[command]);
    bench.temp.write(".gitignore", "target/\n");
    bench.temp.write("build.py", BUILD);
    if is_there {
        bench.temp.write("target/in/deep/a", "x\n");
        bench.temp.write("target/b", "y\n");
    }
    bench
}

// keeps: overlay-ruled
#[test]
fn what_a_rule_forbids_in_an_ignored_directory_is_not_done_with_the_whole_of_it() {
    let check = |command: &str, is_there: bool, rule: &str, lands: bool| {
        let bench = built(command, is_there);
        let done = bench.cairn(&["run", "--yolo", "--deny", rule, "work"]);
        assert_eq!(statuses(&bench), [if lands { 200 } else { 403 }], "{rule} {command}: {done:?}");
        assert_eq!(bench.file("target/in").exists() == is_there, !lands, "{rule} {command}");
    };
    for (rule, lands) in [
        ("edit target/in/**", false),
        ("edit target/in/deep/a", false),
        ("edit target/in/*/?", false),
        ("edit **/deep/a", false),
        ("write target/in/deep", false),
        ("edit target/other/**", true),
        ("edit **/*.pem", true),
        ("edit a.txt", true),
    ] {
        check(MAKE, false, rule, lands);
        check(CLEAN, true, rule, lands);
    }
    check(CLEAN, true, "kill target/in/**", false);
}

// keeps: overlay-ruled
#[test]
fn what_a_rule_asks_about_in_an_ignored_directory_is_asked_about() {
    let bench = built(MAKE, false);
    let mut talk = bench.talk(&["run", "--json", "--ask", "edit target/in/**", "work"]);
    let question = talk.until("proposal/opened");
    let shown = question["shown"].as_str().unwrap();
    assert!(shown.contains("among them: target/in"), "{shown}");
    assert!(!bench.file("target").exists());
    decide(&mut talk, &question, "allow");
    assert_eq!(talk.result()["status"], "done");
    assert_eq!(bench.temp.read("target/in/deep/a"), "x\n");
    assert_eq!(bench.cairn(&["policy", "replay"]).code, 0);
}
