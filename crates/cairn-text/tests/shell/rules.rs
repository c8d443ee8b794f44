//! Tables of rules and commands: attacks that no rule allows, with the proof that they are attacks,
//! commands that the rules meant, and what rules that deny find.

use crate::real::{self, Folder};
use cairn_text::shell::{Denies, Pattern, allows_line, denies, denies_text, parse};
use cairn_types::CommandLine;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The rows of a table, each with its columns, escapes undone.
fn rows<const N: usize>(table: &str) -> Vec<[String; N]> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    let columns = |line: &str| line.split('\t').map(unescaped).collect::<Vec<_>>();
    lines.map(|line| columns(line).try_into().unwrap_or_else(|_| panic!("{line}"))).collect()
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut parts = text.chars();
    while let Some(c) = parts.next() {
        out.push(match (c, c == '\\') {
            (c, false) => c,
            _ => match parts.next().unwrap() {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'u' => {
                    let code: String = parts.by_ref().skip(1).take_while(|c| *c != '}').collect();
                    char::from_u32(u32::from_str_radix(&code, 16).unwrap()).unwrap()
                }
                c => c,
            },
        });
    }
    out
}

fn patterns(rules: &str) -> Vec<Pattern> {
    rules.split(" ++ ").map(|rule| Pattern::parse(rule).unwrap()).collect()
}

fn bypasses() -> Vec<[String; 3]> {
    rows(include_str!("bypasses.tsv"))
}

// keeps: reads-like-the-shell
#[test]
fn no_attack_of_the_table_is_allowed() {
    let rows = bypasses();
    assert!(rows.len() >= 300, "only {} attacks", rows.len());
    let allowed: Vec<_> = rows
        .iter()
        .filter(|[_, rules, command]| allows_line(&patterns(rules), &parse(command)))
        .collect();
    assert!(allowed.is_empty(), "{allowed:#?}");
}

/// A program that makes the canary, and one that does not.
fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Whether bash, given the command in a folder with a harmless `cargo` on the path and evil ones beside
/// it, makes the canary.
fn sings(folder: &Path, command: &str) -> bool {
    let _ = fs::remove_dir_all(folder);
    let work = folder.join("work");
    script(&folder.join("bin/cargo"), "test \"$1\" != fail");
    for evil in ["cargo", "evil/cargo", "5/cargo", "evil.sh"] {
        script(&work.join(evil), ": > canary");
    }
    let path = format!("{}:/usr/bin:/bin", folder.join("bin").display());
    let mut bash = real::command("bash");
    bash.args(["-c", "--", command]).current_dir(&work).env_clear();
    bash.env("PATH", path).env("HOME", &work).status().unwrap();
    let found = || work.join("canary").exists() || work.join("evil/canary").exists();
    // What runs beside the command may come later than its end.
    for _ in 0..100 {
        if found() {
            return true;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    false
}

// keeps: reads-like-the-shell
#[test]
fn the_attacks_of_the_table_are_attacks() {
    if !real::has("bash") {
        return eprintln!("there is no bash to show it with");
    }
    let folder = Folder::new("canary");
    let rows: Vec<_> = bypasses().into_iter().filter(|[kind, ..]| kind == "real").collect();
    assert!(rows.len() >= 150, "only {} attacks are shown", rows.len());
    assert!(!sings(folder.path(), "cargo test"), "the harmless command makes a canary");
    let silent: Vec<_> = rows.iter().filter(|[_, _, c]| !sings(folder.path(), c)).collect();
    assert!(silent.is_empty(), "{silent:#?}");
}

// keeps: reads-like-the-shell
#[test]
fn what_the_rules_meant_is_allowed() {
    let rows: Vec<[String; 2]> = rows(include_str!("honest.tsv"));
    assert!(rows.len() >= 80, "only {} commands", rows.len());
    let refused: Vec<_> = rows
        .iter()
        .map(|[rules, command]| (rules, command, parse(command)))
        .filter(|(rules, _, line)| !allows_line(&patterns(rules), line))
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

// keeps: reads-like-the-shell
#[test]
fn what_a_rule_denies_is_found_and_what_is_innocent_is_not() {
    let rows: Vec<[String; 3]> = rows(include_str!("denials.tsv"));
    let (mut wrong, mut found) = (Vec::new(), 0);
    for [want, rule, command] in &rows {
        let pattern = Pattern::parse(rule).unwrap();
        let (line, came) = (parse(command), denies_text(&pattern, command));
        let want = match want.as_str() {
            "yes" => Denies::Yes,
            "perhaps" => Denies::Perhaps,
            _ => Denies::No,
        };
        found += usize::from(want != Denies::No);
        let known = matches!(line, CommandLine::Known(_));
        let read = denies(&pattern, &line);
        if came != want || (known && read != came) || (!known && read == Denies::No) {
            wrong.push(format!("{rule:?} {command:?} came {came:?} {read:?}, meant {want:?}"));
        }
    }
    assert!(found >= 120 && rows.len() - found >= 60, "only {found} of {} denied", rows.len());
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}
