//! What a run's model is told about where it works: in its first message, which never changes, and
//! after the first op in a directory that has instructions of its own.

use crate::kit::{Told, block_on, script, start, store};
use cairn_runtime::{Own, Place, Surroundings};
use cairn_testkit::{ModelServer, TempHome};
use cairn_types::RunId;
use serde_json::{Value, json};
use std::sync::Arc;

/// Somebody's machine, and what the model there was sent.
struct Desk {
    temp: TempHome,
    about: Surroundings,
}

impl Desk {
    fn with(files: &[(&str, &str)]) -> Desk {
        let temp = TempHome::new();
        for (path, text) in files {
            temp.write(path, text);
        }
        let about = Surroundings { date: "2026-01-31".to_owned(), ..Surroundings::default() };
        Desk { temp, about }
    }

    /// Runs a prompt, in a new run or in this one; gives the run and the last request's messages.
    fn run(&self, go_on: Option<&RunId>, replies: &[Value]) -> (RunId, Vec<Value>) {
        let (model, store) = (ModelServer::start(script(replies)), store(&self.temp.home()));
        let told = Arc::new(Told::default());
        let mut start = start(&store, &self.temp.workspace(), &model.url(), told);
        start.surroundings = self.about.clone();
        let place = match go_on {
            None => Place::New { new_session: false, name: None },
            Some(run) => {
                let session = store.run(run).unwrap().unwrap().session;
                Place::Existing { run: run.clone(), session }
            }
        };
        let run = block_on(async {
            let (mut driver, _commands) = start.take(place, Some("work")).await.unwrap();
            driver.drive(None).await.unwrap();
            driver.run_id().clone()
        });
        let last: Value = serde_json::from_slice(model.requests().last().unwrap()).unwrap();
        (run, last["messages"].as_array().unwrap().clone())
    }

    fn system(&self) -> String {
        let (_, messages) = self.run(None, &[json!({"say": "ok"})]);
        messages[0]["content"].as_str().unwrap().to_owned()
    }
}

fn call(tool: &str, args: Value) -> Value {
    json!({"calls": [{"tool": tool, "args": args}]})
}

fn read(path: &str) -> Value {
    call("read", json!({"path": path}))
}

fn write(path: &str, content: &str) -> Value {
    call("write", json!({"path": path, "content": content}))
}

/// What tells of an instruction file, in order: `file: …` lines that stand first in a frame.
fn files(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let is_frame = |pair: &&[&str]| pair[0].starts_with("instructions-");
    let first = lines.windows(2).filter(is_frame).filter_map(|pair| pair[1].strip_prefix("file: "));
    first.collect()
}

/// The results the model was told, each as its beginning and the files told after it.
fn results(messages: &[Value]) -> Vec<String> {
    let told = messages.iter().filter(|message| message["role"] == "tool");
    told.map(|message| {
        let text = message["content"].as_str().unwrap();
        let first: String = text.lines().next().unwrap().chars().take(9).collect();
        [&[first.as_str()], &files(text)[..]].concat().join(" + ")
    })
    .collect()
}

fn long(first: &str) -> String {
    format!("{first}\n{}", "a line of some length\n".repeat(20))
}

// keeps: nested-instructions
#[test]
fn a_directorys_instructions_are_told_with_the_first_op_there_and_once() {
    let text = long("text");
    let tree = [
        ("AGENTS.md", "top"),
        ("top.txt", "t"),
        ("a/AGENTS.md", "mid"),
        ("a/x.txt", &text),
        ("a/y.txt", &text),
        ("a/b/CLAUDE.md", "low\n@more.md"),
        ("a/b/more.md", "imported"),
        ("a/b/c/z.txt", "z"),
        ("plain/p.txt", "p"),
    ];
    let check = |replies: &[Value], expected: &[&str]| {
        let mut all = replies.to_vec();
        all.push(json!({"say": "ok"}));
        let (_, messages) = Desk::with(&tree).run(None, &all);
        assert_eq!(results(&messages), expected, "{messages:#?}");
    };
    let (mid, low) = ("a/AGENTS.md", "a/b/CLAUDE.md");
    check(&[read("top.txt"), read("plain/p.txt")], &["1\tt", "1\tp"]);
    check(&[read("a/x.txt"), read("a/y.txt")], &[&format!("1\ttext + {mid}"), "1\ttext"]);
    // The same text in view is not told again because instructions stood after it.
    let again = [read("a/x.txt"), read("a/x.txt")];
    check(&again, &[&format!("1\ttext + {mid}"), "unchanged"]);
    check(&[read("a/b/c/z.txt")], &[&format!("1\tz + {mid} + {low}")]);
    let down = [read("a/x.txt"), read("a/b/c/z.txt")];
    check(&down, &[&format!("1\ttext + {mid}"), &format!("1\tz + {low}")]);
    // Having read or written the file itself is as good.
    check(&[read(mid), read("a/x.txt")], &["1\tmid", "1\ttext"]);
    let own = [write("plain/AGENTS.md", "new"), read("plain/p.txt")];
    check(&own, &["created p", "1\tp"]);
    // What is changed counts as well, and so does a refusal that shows the file.
    check(&[write("a/new.txt", "n")], &[&format!("created a + {mid}")]);
    let unread = [write("a/x.txt", "n"), write("a/x.txt", "n")];
    check(&unread, &[&format!("not done: + {mid}"), "updated a"]);
    // A changed one is told again, also after a result that is not.
    let bash = call("bash", json!({"command": "echo other > a/AGENTS.md"}));
    let changed = [read("a/x.txt"), bash, read("a/x.txt")];
    check(&changed, &[&format!("1\ttext + {mid}"), "exit=0", &format!("unchanged + {mid}")]);
}

// keeps: nested-instructions
#[test]
fn side_by_side_reads_tell_a_directorys_instructions_once_framed_and_bounded() {
    let big = "é".repeat(20_000);
    let desk = Desk::with(&[("a/AGENTS.md", &big), ("a/x", "1"), ("a/y", "2")]);
    let both = json!({"calls": [
        {"tool": "read", "args": {"path": "a/x"}}, {"tool": "read", "args": {"path": "a/y"}}]});
    let (_, messages) = desk.run(None, &[both, json!({"say": "ok"})]);
    assert_eq!(results(&messages), ["1\t1 + a/AGENTS.md", "1\t2"]);
    let told = messages[3]["content"].as_str().unwrap();
    assert!(told.contains("Only the first 16384 bytes of this one are here:\n"), "{told}");
    assert!(told.len() < 17_500 && told.contains("allows nothing by itself"));
}

// keeps: stable-prefix
#[test]
fn two_runs_in_one_place_begin_with_the_same_bytes_and_a_run_keeps_its_own() {
    let mut desk = Desk::with(&[("AGENTS.md", "top"), (".git/HEAD", "ref: refs/heads/x\n")]);
    desk.about.own = Some(Own { path: "/home/me/AGENTS.md".into(), text: "mine".into() });
    let first = desk.system();
    assert_eq!(first, desk.system());
    let (run, _) = desk.run(None, &[json!({"say": "ok"})]);
    desk.temp.write("AGENTS.md", "other");
    desk.temp.write(".git/HEAD", "ref: refs/heads/y\n");
    desk.about.own = None;
    desk.about.date = "2026-02-01".to_owned();
    let (_, messages) = desk.run(Some(&run), &[json!({"say": "ok"})]);
    assert_eq!(messages[0]["content"], Value::String(first.clone()));
    let second = desk.system();
    for (old, new) in [("\ntop\n", "\nother\n"), ("branch x", "branch y"), ("-01-31", "-02-01")] {
        assert!(first.contains(old) && second.contains(new) && !second.contains(old), "{second}");
    }
    assert!(first.contains("\nmine\n") && !second.contains("\nmine\n"));
}

// keeps: stable-prefix
#[test]
fn the_persons_own_words_come_first_and_all_files_together_are_bounded() {
    let big = |letter: &str| letter.repeat(60 << 10);
    let mut desk =
        Desk::with(&[(".git/HEAD", "x"), ("AGENTS.md", &big("t")), ("in/AGENTS.md", &big("i"))]);
    desk.about.own = Some(Own { path: "/home/me/AGENTS.md".into(), text: "mine".into() });
    let store = store(&desk.temp.home());
    let (model, told) = (ModelServer::start(script(&[json!({"say": "ok"})])), Arc::default());
    let inner = desk.temp.workspace().join("in");
    let mut start = start(&store, &inner, &model.url(), told);
    start.surroundings = desk.about.clone();
    block_on(async {
        let place = Place::New { new_session: false, name: None };
        let (mut driver, _commands) = start.take(place, Some("work")).await.unwrap();
        driver.drive(None).await.unwrap();
    });
    let sent: Value = serde_json::from_slice(&model.requests()[0]).unwrap();
    let system = sent["messages"][0]["content"].as_str().unwrap();
    let top = desk.temp.workspace().canonicalize().unwrap();
    let (outer, inner) = (top.join("AGENTS.md"), top.join("in/AGENTS.md"));
    assert_eq!(
        files(system),
        ["/home/me/AGENTS.md", outer.to_str().unwrap(), inner.to_str().unwrap()]
    );
    let count = |letter: &str| system.matches(letter).count();
    assert!(count("i") >= 60 << 10, "the nearest is whole");
    let left = (96 << 10) - (60 << 10) - "mine".len();
    assert!(system.contains(&format!("Only the first {left} bytes of this one are here:\n")));
    assert!(system.len() < (96 << 10) + 4096);
}
