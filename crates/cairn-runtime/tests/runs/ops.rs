//! Every op on every scheme, by a table that says what each comes to.

use crate::kit::{block_on, store};
use cairn_runtime::{Answer, Client};
use cairn_testkit::TempHome;
use cairn_text::glob::PathGlob;
use cairn_types::{By, Policy};
use cairn_world::{Settings, Workspace, World};
use std::fs;
use std::path::Path;
use std::sync::Arc;

const TABLE: &str = include_str!("ops.txt");

/// One line of the table.
struct Line<'a> {
    number: usize,
    tool: &'a str,
    args: &'a str,
    status: u16,
}

/// The sections: the schemes each holds for, and its lines.
fn sections() -> Vec<(Vec<&'static str>, Vec<Line<'static>>)> {
    let mut sections: Vec<(Vec<&str>, Vec<Line>)> = Vec::new();
    for (number, line) in (1..).zip(TABLE.lines()) {
        if let Some(schemes) = line.strip_prefix('@') {
            sections.push((schemes.split_whitespace().collect(), Vec::new()));
            continue;
        }
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let (tool, rest) = line.split_once(char::is_whitespace).unwrap();
        let end = rest.rfind('}').unwrap() + 1;
        let status = rest[end..].split_whitespace().next().unwrap().parse().unwrap();
        let (args, status) = (rest[..end].trim(), status);
        sections.last_mut().unwrap().1.push(Line { number, tool, args, status });
    }
    sections
}

fn world(root: &Path) -> Arc<World> {
    let settings = Settings::new("/bin/sh".into(), Vec::new());
    Arc::new(World::new(Workspace::open(root).unwrap(), settings))
}

/// A folder with a text and a binary file in it, and a client over it.
async fn client(holder: &Path) -> Client {
    let root = holder.join("root");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("there.md"), "there\n").unwrap();
    fs::write(root.join("binary.bin"), b"\0\x01\x02").unwrap();
    let store = store(&holder.join("home"));
    Client::here(store, world(&root), &root, Policy::default()).await.unwrap()
}

async fn ask(client: &mut Client, tool: &str, args: &str) -> Answer {
    client.op(tool, args, By::Person("ada".to_owned())).await.unwrap()
}

// keeps: ops-by-the-table
#[test]
fn every_op_on_every_scheme_comes_to_what_the_table_says() {
    let sections = sections();
    let mut wrong = Vec::new();
    let mut done = 0;
    for (schemes, lines) in &sections {
        for scheme in schemes {
            let holder = TempHome::new();
            block_on(async {
                let mut client = client(holder.path()).await;
                let first = ask(&mut client, "read", "{\"path\":\"there.md\"}").await;
                let run = first.run.to_string();
                for line in lines {
                    let args = line.args.replace("{S}", scheme).replace("{RUN}", &run);
                    let answer = ask(&mut client, line.tool, &args).await;
                    done += 1;
                    if answer.status.0 != line.status {
                        wrong.push(format!(
                            "line {}, {scheme}: {} {args}: {} {}",
                            line.number, line.tool, answer.status, answer.text
                        ));
                    }
                }
            });
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(done > 300, "{done} lines");
}

#[test]
fn what_is_said_of_files_is_not_said_of_entries() {
    let holder = TempHome::new();
    let root = holder.path().join("root");
    fs::create_dir(&root).unwrap();
    let mut settings = Settings::new("/bin/sh".into(), Vec::new());
    settings.membership.read_only = vec![PathGlob::parse("**").unwrap()];
    let world = Arc::new(World::new(Workspace::open(&root).unwrap(), settings));
    let store = store(&holder.path().join("home"));
    block_on(async {
        let mut client = Client::here(store, world, &root, Policy::default()).await.unwrap();
        let mut check = async |path: &str, status| {
            let args = format!(r#"{{"path":"{path}","content":"x"}}"#);
            assert_eq!(ask(&mut client, "write", &args).await.status.0, status, "{path}");
        };
        check("a.md", 403).await;
        check("known:///a.md", 201).await;
    });
}

// keeps: ops-by-the-table
#[test]
fn copying_into_a_channel_of_a_missing_entry_is_not_found_and_leaves_no_half_entry() {
    let holder = TempHome::new();
    block_on(async {
        let mut client = client(holder.path()).await;
        let copy = r#"{"from":"there.md","to":"known:///half#summary"}"#;
        assert_eq!(ask(&mut client, "copy", copy).await.status.0, 404);
        for path in ["known:///half", "known:///half#summary"] {
            let read = format!(r#"{{"path":"{path}"}}"#);
            assert_eq!(ask(&mut client, "read", &read).await.status.0, 404, "{path}");
        }
        let listed = ask(&mut client, "list", r#"{"path":"known:///"}"#).await;
        assert!(!listed.text.contains("half"), "{}", listed.text);
        // A control: the same into a channel of an entry that is there.
        ask(&mut client, "write", r#"{"path":"known:///is","content":"x"}"#).await;
        let copy = r#"{"from":"there.md","to":"known:///is#summary"}"#;
        assert_eq!(ask(&mut client, "copy", copy).await.status.0, 201);
    });
}

// keeps: ops-by-the-table
#[test]
fn an_address_with_one_slash_is_refused_with_the_right_spelling() {
    let holder = TempHome::new();
    block_on(async {
        let mut client = client(holder.path()).await;
        let add = "*** Begin Patch\\n*** Add File: known:/x\\n+x\\n*** End Patch\\n";
        let diff = "--- /dev/null\\n+++ b/known:/x\\n@@ -0,0 +1 @@\\n+x\\n";
        for (tool, args) in [
            ("write", r#"{"path":"known:/x","content":"x"}"#.to_owned()),
            ("edit", format!(r#"{{"patch":"{add}"}}"#)),
            ("edit", format!(r#"{{"patch":"{diff}"}}"#)),
        ] {
            let answer = ask(&mut client, tool, &args).await;
            assert_eq!(answer.status.0, 400, "{args} {}", answer.text);
            assert!(answer.text.contains("it is written known:///x"), "{}", answer.text);
        }
        assert!(!holder.path().join("root/known:").exists());
    });
}
