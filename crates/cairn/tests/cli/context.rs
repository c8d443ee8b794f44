//! What the model is told about where it works, through the binary: the person's own file, the
//! project's files, the place; and that it holds in the next process and in a fork.

use crate::bench_world::Bench;
use serde_json::{Value, json};

fn read(path: &str) -> Value {
    json!({"calls": [{"tool": "read", "args": {"path": path}}]})
}

fn system(bench: &Bench) -> String {
    let requests = bench.requests();
    requests.last().unwrap()["messages"][0]["content"].as_str().unwrap().to_owned()
}

// keeps: stable-prefix
#[test]
fn the_person_the_project_and_the_place_are_told_and_the_log_shows_it() {
    let bench = Bench::new(json!([{"say": "ok"}]));
    let own = bench.temp.path().join(".config/cairn");
    std::fs::create_dir_all(&own).unwrap();
    let dotfiles = bench.temp.path().join("dotfiles.md");
    std::fs::write(&dotfiles, "my rule\n@more.md\n@../../dotfiles.md\n").unwrap();
    std::os::unix::fs::symlink(&dotfiles, own.join("AGENTS.md")).unwrap();
    std::fs::write(own.join("more.md"), "my other rule").unwrap();
    bench.temp.write(".git/HEAD", "ref: refs/heads/feature/x\n");
    bench.temp.write("AGENTS.md", "the project's rule");
    bench.temp.write("in/CLAUDE.md", "the inner rule");
    let events = bench.events(&["run", "--json", "--cwd", "in", "look"]);
    let run = events[0]["run"].as_str().unwrap();
    let told = system(&bench);
    let root = bench.temp.workspace().canonicalize().unwrap();
    let mut rest = told.as_str();
    for part in [
        format!("\nplatform: {} {}\n", std::env::consts::OS, std::env::consts::ARCH),
        "shell: /".to_owned(),
        "\ndate: 20".to_owned(),
        format!("\nworking root: {}/in\nrepository: {}\n", root.display(), root.display()),
        "checked out: branch feature/x, no commit yet\n".to_owned(),
        format!(
            "\nfile: {}\nmy rule\nmy other rule\n@../../dotfiles.md\n",
            own.join("AGENTS.md").display()
        ),
        format!("\nfile: {}/AGENTS.md\nthe project's rule\n", root.display()),
        format!("\nfile: {}/in/CLAUDE.md\nthe inner rule\n", root.display()),
    ] {
        let (_, after) = rest.split_once(&part).unwrap_or_else(|| panic!("{part} in {told}"));
        rest = after;
    }
    let shown = bench.cairn(&["show", &format!("log://{run}/1/1#request")]);
    assert_eq!(shown.out.as_bytes(), &bench.model.requests()[0][..], "{}", shown.err);
    let help = bench.cairn(&["run", "--help"]).out;
    assert!(help.contains("docs/context.md"), "{help}");
}

// keeps: nested-instructions, no-state-but-facts
#[test]
fn what_was_told_of_a_directory_is_known_to_the_next_process_and_to_a_fork() {
    let bench =
        Bench::new(json!([read("a/x"), read("a/y"), {"say": "ok"}, read("a/z"), {"say": "ok"}]));
    for (path, text) in [("a/AGENTS.md", "rule"), ("a/x", "1"), ("a/y", "2"), ("a/z", "3")] {
        bench.temp.write(path, text);
    }
    // A process that is replaced after every step knows nothing but facts.
    bench.cairn(&["run", "--steps", "1", "--name", "first", "look"]);
    for _ in 0..20 {
        bench.cairn(&["run", "-c", "--steps", "1"]);
    }
    let told = |requests: &[Value]| -> Vec<(String, bool)> {
        let messages = requests.last().unwrap()["messages"].as_array().unwrap().clone();
        let results = messages.iter().filter(|message| message["role"] == "tool");
        let texts = results.map(|message| message["content"].as_str().unwrap());
        texts
            .map(|text| (text[..3].to_owned(), text.contains("\nfile: a/AGENTS.md\nrule\n")))
            .collect()
    };
    let twice = vec![("1\t1".to_owned(), true), ("1\t2".to_owned(), false)];
    assert_eq!(told(&bench.requests()), twice);
    assert_eq!(bench.cairn(&["fork", "--run", "first", "--name", "second"]).code, 0);
    let done = bench.cairn(&["run", "--resume", "second", "go on"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let mut thrice = twice;
    thrice.push(("1\t3".to_owned(), false));
    assert_eq!(told(&bench.requests()), thrice);
}

// keeps: policy-unread
#[test]
fn what_the_project_says_is_not_told_where_it_must_not_be_read_or_touched() {
    let check = |args: &[&str], is_told: bool| {
        let bench = Bench::new(json!([{"say": "ok"}]));
        bench.own("AGENTS.md", "my rule");
        bench.temp.write("AGENTS.md", "the project's rule");
        let done = bench.cairn(&[&["run"], args, &["look"]].concat());
        assert_eq!(done.code, 0, "{}", done.err);
        let told = system(&bench);
        assert!(told.contains("my rule"), "{told}");
        assert_eq!(told.contains("the project's rule"), is_told, "{args:?}: {told}");
    };
    check(&[], true);
    check(&["--no-repo"], false);
    check(&["--deny", "read AGENTS.md"], false);
    check(&["--ask", "read ./AGENTS.md"], false);
}
