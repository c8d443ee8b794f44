//! Documents that an operator names: every run begins with them, reads them as they are by then, and writes none.

use crate::bench_world::Bench;
use serde_json::{Value, json};

fn call(tool: &str, args: Value) -> Value {
    json!({"calls": [{"tool": tool, "args": args}]})
}

/// What the model was told first, in each request.
fn systems(bench: &Bench) -> Vec<String> {
    let system = |request: &Value| request["messages"][0]["content"].as_str().unwrap().to_owned();
    bench.requests().iter().map(system).collect()
}

/// What became of each row of the newest run, with its text.
fn told(bench: &Bench, row: &str) -> String {
    bench.cairn(&["show", &format!("{row}#result")]).out
}

/// A file of the person's, and the configuration that names it.
fn with_style(bench: &Bench, text: &str) {
    let path = bench.own("style.md", text);
    bench.own("cairn.toml", &format!("[docs]\nstyle = \"{}\"\n", path.display()));
}

// keeps: docs
#[test]
fn every_run_begins_with_the_text_and_one_that_goes_on_keeps_what_it_began_with() {
    let bench = Bench::new(json!([
        {"say": "one"},
        call("read", json!({"path": "cairn:///style.md"})),
        call("read", json!({"path": "cairn:///style.md", "scope": "2"})),
        call("read", json!({"path": "cairn:///style.md", "matching": "/coffee/"})),
        call("find", json!({"under": "cairn:///", "text": "coffee"})),
        call("write", json!({"path": "cairn:///style.md", "content": "x"})),
        {"say": "two"}
    ]));
    with_style(&bench, "Drink tea.\nsk-secret-key\n");
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    assert_eq!(bench.cairn(&["run", "--yolo", "again"]).code, 0);
    bench.own("style.md", "Drink coffee.\nMuch coffee.\n");
    assert_eq!(bench.cairn(&["run", "--yolo", "-c", "go on"]).code, 0);
    let systems = systems(&bench);
    assert_eq!(systems.len(), 8);
    for system in &systems {
        assert_eq!(system, &systems[0], "the same bytes in every request of every run");
    }
    assert_eq!(systems[0].matches("Drink tea.").count(), 1, "{}", systems[0]);
    assert!(systems[0].contains("\nfile: cairn:///style.md\nDrink tea.\n"), "{}", systems[0]);
    assert!(!systems[0].contains("sk-secret-key"), "{}", systems[0]);
    assert_eq!(told(&bench, "2/1/1"), "1\tDrink coffee.\n2\tMuch coffee.");
    assert!(told(&bench, "2/2/1").starts_with("2\tMuch coffee."));
    assert_eq!(told(&bench, "2/3/1"), "1:\tDrink coffee.\n2:\tMuch coffee.");
    assert!(told(&bench, "2/4/1").contains("cairn:///style.md\n1:\tDrink coffee.\n"));
    assert!(told(&bench, "2/5/1").contains("cairn: entries are not written here"));
    let listed = bench.cairn(&["world", "cairn:///"]).out;
    assert_eq!(listed, "cairn:///catalog.json\ncairn:///style.md\n");
    let config = bench.cairn(&["config"]).out;
    assert!(config.contains("docs.style = ") && config.contains("cairn.toml:2"), "{config}");
    let catalog = bench.cairn(&["op", "read", "cairn:///catalog.json", "--match", "style"]).out;
    assert!(catalog.contains("\"path\":\"cairn:///style.md\""), "{catalog}");
}

// keeps: docs
#[test]
fn a_project_names_members_and_its_words_are_told_as_its_own() {
    let bench = Bench::new(json!([{"say": "one"}]));
    bench.temp.write("notes/guide.txt", "Use tabs.\n");
    bench.temp.write("cairn.toml", "[docs]\n\"guide.txt\" = \"notes/guide.txt\"\n");
    with_style(&bench, "Drink tea.\n");
    assert_eq!(bench.cairn(&["run", "work"]).code, 0);
    let system = systems(&bench).remove(0);
    let (own, project) = system.split_once("The project gives you these documents.").unwrap();
    assert!(own.contains("The person you work for gives you these documents."), "{own}");
    assert!(own.contains("Drink tea.") && !own.contains("Use tabs."), "{system}");
    assert!(project.contains("\nfile: cairn:///guide.txt\nUse tabs.\n"), "{project}");
    assert_eq!(bench.cairn(&["run", "--no-repo", "work"]).code, 0);
    let apart = systems(&bench).remove(1);
    assert!(apart.contains("Drink tea.") && !apart.contains("Use tabs."), "{apart}");
}

// keeps: docs
#[test]
fn what_cannot_be_told_is_named_by_its_key_before_anything_is_done() {
    let check = |own: &str, project: &str, expected: &str| {
        let bench = Bench::new(json!([{"say": "one"}]));
        bench.temp.write("in.md", "in\n");
        bench.temp.write("picture", b"\x89PNG\0\0");
        bench.temp.write(".git/HEAD", "ref: refs/heads/main\n");
        bench.temp.write(".gitignore", "hidden.md\n");
        bench.temp.write("hidden.md", "hidden\n");
        let here = bench.temp.workspace().display().to_string();
        bench.own("cairn.toml", &own.replace("HERE", &here));
        bench.temp.write("cairn.toml", project);
        let done = bench.cairn(&["run", "work"]);
        assert_eq!((done.code, bench.requests().len()), (2, 0), "{own} {project}: {}", done.err);
        assert!(done.err.contains(expected), "{own} {project}: {}", done.err);
    };
    check("[docs]\na = \"HERE/gone.md\"", "", "cairn.toml:2: docs.a cannot be used: ");
    check(
        "[docs]\na = \"HERE/picture\"",
        "",
        "picture is a binary file, 6 bytes; name a text file",
    );
    check("[docs]\na = \"HERE\"", "", "is not a file; name a text file that is there");
    check("[docs]\na = \"in.md\"", "", "docs.a would be another file in every project");
    check("[docs]\na = [\"in.md\"]", "", "docs.a must be a text in quotes");
    check("[docs]\n\"a/b\" = \"HERE/in.md\"", "", "docs.a/b cannot be an entry's name");
    check(
        "[docs]\n\"catalog.json\" = \"HERE/in.md\"",
        "",
        "docs.catalog.json cannot be an entry's",
    );
    check(
        "[docs]\na = \"HERE/in.md\"\n\"a.md\" = \"HERE/in.md\"",
        "",
        "docs.a.md is cairn:///a.md, which another key is already",
    );
    check("", "[docs]\na = \"../x.md\"", "docs.a cannot be used: ");
    check("", "[docs]\na = \"/etc/passwd\"", "docs.a cannot be used: ");
    check("", "[docs]\na = \"hidden.md\"", "docs.a cannot be used: hidden.md is not a member");
    check("", "[docs]\na = \"picture\"", "picture is a binary file");
    check("[docs]\na = \"HERE/in.md\"", "[docs]\na = \"in.md\"", "docs.a is set already");
    let deny = "[policy]\ndeny = [\"read in.md\"]\n";
    check(deny, "[docs]\na = \"in.md\"", "in.md is kept from being read by the policy");
}
