//! Pages that an agent reads: a person is asked or a rule lets it, and the model is told Markdown.

use crate::bench_world::Bench;
use crate::overlay::{decide, told};
use cairn_testkit::{Says, Site};
use serde_json::{Value, json};

const PAGE: &str =
    "<nav>menu</nav><h1>Guide</h1><p>Read <a href='/next'>on</a>.</p><script>evil()</script>";

fn site() -> Site {
    Site::start(|path| match path {
        "/guide" => Says::page(PAGE),
        "/moved" => Says::leads("302 Found", "http://other.example/x"),
        _ => Says::whole("404 Not Found", "text/plain", b"no"),
    })
}

fn call(tool: &str, args: Value) -> Value {
    json!({"tool": tool, "args": args})
}

fn read(url: &str) -> Value {
    json!({"calls": [call("read", json!({"path": url}))]})
}

/// A machine whose user lets this site's pages be read, if a person or a rule says so each time.
fn bench(site: &Site, replies: &[Value]) -> Bench {
    let bench = Bench::new(json!([replies, &[json!({"say": "done"})]].concat()));
    bench.own("cairn.toml", &format!("[web]\nprivate = [\"{}\"]\n", site.at()));
    bench
}

fn statuses(bench: &Bench) -> Vec<u64> {
    let rows = bench.cairn(&["log", "--json"]).out;
    let row = |line: &str| serde_json::from_str::<Value>(line).unwrap()["status"].as_u64().unwrap();
    rows.lines().map(row).collect()
}

// keeps: web-asked
#[test]
fn a_person_is_asked_before_a_page_is_fetched_and_the_answer_is_remembered() {
    let site = site();
    let bench = bench(&site, &[read(&site.url("/guide")), read(&site.url("/none"))]);
    let mut talk = bench.talk(&["run", "--json", "read it"]);
    let question = talk.until("proposal/opened");
    assert_eq!(question["kind"], "look", "{question}");
    assert!(question["shown"].as_str().unwrap().contains(&site.url("/guide")), "{question}");
    let offers =
        json!([format!("read[effect=network,host={}]", site.at()), "read[effect=network]"]);
    assert_eq!(question["offers"], offers, "{question}");
    assert!(site.asked().is_empty());
    talk.say(json!({"type": "decide", "proposal": question["proposal"], "verdict": "allow",
        "remember": "session"}));
    assert_eq!(talk.result()["status"], "done");
    let expected = format!("1\t# Guide\n2\t\n3\tRead [on]({}).", site.url("/next"));
    assert_eq!(told(&bench, 2), expected);
    // What was said for the session covers the host's other pages.
    assert!(told(&bench, 3).contains("404 Not Found: no"), "{}", told(&bench, 3));
    assert_eq!((site.asked().len(), statuses(&bench)), (2, vec![200, 404]));
    let answers = bench.cairn(&["policy", "answers"]).out;
    assert!(answers.contains(&format!("read[effect=network,host={}]", site.at())), "{answers}");
    assert_eq!(bench.cairn(&["verify"]).code, 0);
    assert_eq!(bench.cairn(&["policy", "replay"]).code, 0);
}

// keeps: web-asked
#[test]
fn nobody_fetches_a_page_that_no_person_and_no_rule_let() {
    let site = site();
    let at = site.at();
    let own = format!("read[effect=network,host={at}]");
    let host = format!("read[effect=network,host={}]", at.ip());
    for (args, expected) in [
        (&[][..], 0),
        (&["--allow", "read"], 0),
        (&["--allow", "read **"], 0),
        (&["--allow", &host], 0),
        (&["--allow", "read[effect=network,host=*]"], 0),
        (&["--allow", &own, "--deny", &host], 0),
        (&["--allow", &own, "--ask", "read[scheme=http]"], 0),
        (&["--allow", &own, "--no-web"], 0),
        (&["--yolo", "--no-web"], 0),
        (&["--mode", "accept-edits"], 0),
        (&["--allow", &own], 1),
        (&["--allow", &own, "--mode", "plan"], 1),
        (&["--allow", "read[effect=network]"], 1),
        (&["--allow", "read[scheme=http]"], 1),
        (&["--yolo"], 1),
    ] {
        let bench = bench(&site, &[read(&site.url("/guide"))]);
        let done = bench.cairn(&[&["run"], args, &["read it"]].concat());
        assert_eq!(site.asked().len(), expected, "{args:?}: {}", done.err);
        let status = if expected == 1 { 200 } else { 403 };
        assert_eq!(statuses(&bench), [status], "{args:?}");
    }
}

// keeps: web-ops
#[test]
fn reads_of_a_turn_do_not_depend_on_each_other_and_copies_are_asked_about() {
    let site = site();
    let calls = json!({"calls": [
        call("read", json!({"path": site.url("/none")})),
        call("read", json!({"path": site.url("/guide")})),
        call("read", json!({"path": site.url("/moved")})),
        call("read", json!({"path": "http://localhost:1/"})),
        call("find", json!({"under": site.url("/"), "text": "x"})),
        call("copy", json!({"from": site.url("/guide"), "to": "guide.md"})),
        call("copy", json!({"from": site.url("/guide"), "to": "known:///guide"})),
    ]});
    let bench = bench(&site, &[calls]);
    let rule = format!("read[effect=network,host={}]", site.at());
    let mut talk = bench.talk(&["run", "--json", "--allow", &rule, "read them"]);
    for to in ["guide.md", "known:///guide"] {
        let question = talk.until("proposal/opened");
        let shown = question["shown"].as_str().unwrap();
        let expected =
            format!("copy {} to {to}; it is fetched once this is allowed\n", site.url("/guide"));
        assert_eq!(shown, expected);
        assert!(!bench.file("guide.md").exists() || to != "guide.md");
        decide(&mut talk, &question, "allow");
    }
    assert_eq!(talk.result()["status"], "done");
    assert_eq!(statuses(&bench), [404, 200, 409, 403, 501, 201, 201]);
    assert_eq!(site.asked().len(), 5);
    let page = format!("# Guide\n\nRead [on]({}).\n", site.url("/next"));
    assert_eq!(bench.temp.read("guide.md"), page);
    assert_eq!(bench.cairn(&["undo"]).code, 0);
    assert!(!bench.file("guide.md").exists());
    assert_eq!(bench.cairn(&["op", "read", "known:///guide"]).code, 1);
    assert_eq!((site.asked().len(), bench.cairn(&["verify"]).code), (0, 0));
}

// keeps: web-inside
#[test]
fn what_is_inside_is_named_by_the_user_alone_and_refused_unasked_otherwise() {
    let site = site();
    let bench = Bench::new(json!([read(&site.url("/guide")), {"say": "done"}]));
    let private = format!("[web]\nprivate = [\"{}\"]\n", site.at());
    bench.temp.write("cairn.toml", &private);
    let refused = bench.cairn(&["run", "--yolo", "read it"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains("a project may not set web.private"), "{refused:?}");
    std::fs::remove_file(bench.file("cairn.toml")).unwrap();
    let ran = bench.cairn(&["run", "--yolo", "read it"]);
    assert_eq!(statuses(&bench), [403], "{ran:?}");
    assert!(told(&bench, 2).contains("is inside this machine's networks"), "{}", told(&bench, 2));
    let op = bench.cairn(&["op", "read", &site.url("/guide")]);
    assert!(op.code == 1 && op.err.contains("403"), "{op:?}");
    assert!(site.asked().is_empty());
    bench.own("cairn.toml", "[web]\nprivate = [\"localhost\"]\n");
    let bad = bench.cairn(&["op", "read", "known:///x"]);
    assert!(
        bad.code == 2 && bad.err.contains("web.private holds \"localhost\": a port is"),
        "{bad:?}"
    );
    bench.own("cairn.toml", &private);
    let op = bench.cairn(&["op", "read", &site.url("/guide")]);
    assert!(op.out.starts_with("1\t# Guide\n"), "{op:?}");
    assert_eq!(site.asked().len(), 1);
    let world = bench.cairn(&["world", &site.url("/guide")]);
    assert!(world.code == 2 && world.err.contains("cairn op read"), "{world:?}");
    assert!(site.asked().is_empty());
}

// keeps: web-asked
#[test]
fn explain_says_what_holds_of_a_page() {
    let bench = Bench::new(json!([]));
    let check = |args: &[&str], expected: &[&str]| {
        let said = bench.cairn(&[&["policy", "explain"], args].concat()).out;
        for line in expected {
            assert!(said.contains(line), "{args:?}: {said}");
        }
    };
    let page = "https://docs.example/a";
    check(
        &["read", page],
        &["reaches beyond this machine", "a person is asked", "host docs.example: asked"],
    );
    let rule = "read[effect=network,host=docs.example]";
    check(&["--allow", rule, "read", page], &["allowed", rule, "host docs.example: reached"]);
    check(
        &["--allow", rule, "read", "https://docs.example:81/a"],
        &["host docs.example:81: asked"],
    );
    check(&["--deny", rule, "copy", page, "a.md"], &["refused, by gate:policy", "not reached"]);
    check(&["--no-web", "read", page], &["refused, by gate:mode"]);
    check(&["edit", page], &["refused, by gate:writer"]);
}
