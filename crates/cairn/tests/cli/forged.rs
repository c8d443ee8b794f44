//! A bundle of a session that this home holds: what another key signed of its runs is refuted, and what
//! another home did after an import is named.

use crate::bench_world::{Bench, Done, done};
use crate::undo::{run_of, write};
use ed25519_dalek::{Signer, SigningKey};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => copy_folder(&entry.path(), &to),
            kind if kind.is_file() => drop(fs::copy(entry.path(), to).unwrap()),
            _ => {}
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A copy of the home of somebody who has its rows and signs them with a key of their own.
#[allow(clippy::disallowed_methods, reason = "the forger changes rows behind the store's back")]
fn forgers_home(bench: &Bench) -> PathBuf {
    let home = bench.temp.path().join("forger");
    copy_folder(&bench.temp.home(), &home);
    let key = SigningKey::from_bytes(&[7; 32]);
    fs::write(home.join("keys/signing"), format!("{}\n", hex(&[7; 32]))).unwrap();
    let database = rusqlite::Connection::open(home.join("cairn.db")).unwrap();
    let mut receipts = database.prepare("SELECT id, hash FROM receipts").unwrap();
    let rows = receipts.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let rows: Vec<(i64, String)> = rows.map(Result::unwrap).collect();
    for (id, hash) in rows {
        let hash: cairn_types::Hash = hash.parse().unwrap();
        let signature = hex(&key.sign(&hash.0).to_bytes());
        let sql = "UPDATE receipts SET signature = ? WHERE id = ?";
        database.execute(sql, rusqlite::params![signature, id]).unwrap();
    }
    database.execute("DELETE FROM checkpoints", []).unwrap();
    home
}

fn cairn_in(bench: &Bench, home: &Path, args: &[&str]) -> Done {
    done(bench.command(args).env("CAIRN_HOME", home).output().unwrap())
}

fn bundle(bench: &Bench, home: &Path, name: &str) -> String {
    let file = bench.temp.path().join(name).display().to_string();
    let written = cairn_in(bench, home, &["bundle", "-o", &file]);
    assert_eq!(written.code, 0, "{written:?}");
    file
}

fn one_run() -> Bench {
    let bench = Bench::new(json!([]));
    run_of(&bench, json!([write("a", "a\n"), {"say": "done"}]), &["one"]);
    bench
}

// keeps: forged-with-another-key
#[test]
fn a_bundle_of_this_home_names_its_key() {
    let bench = one_run();
    let file = bundle(&bench, &bench.temp.home(), "own.cairn");
    // The run goes on: the bundle is then the beginning of what is here.
    let more = json!([{"say": "unused"}, {"say": "unused"}, write("b", "b\n"), {"say": "done"}]);
    run_of(&bench, more, &["-c", "more"]);
    let verify = bench.cairn(&["verify", &file]);
    assert_eq!(verify.code, 0, "{verify:?}");
    assert!(verify.out.contains("signed with ") && verify.out.contains(", the key of this home"));
    let told: Value = serde_json::from_str(&bench.cairn(&["verify", &file, "--json"]).out).unwrap();
    assert_eq!(told["signers"][0]["own"], true);
    let elsewhere = cairn_in(&bench, &bench.temp.path().join("none"), &["verify", &file]);
    assert!(elsewhere.out.contains("signed with "), "{elsewhere:?}");
}

// keeps: forged-with-another-key
#[test]
fn a_bundle_that_another_key_signed_again_is_refuted_where_the_session_is_held() {
    let bench = one_run();
    let forger = forgers_home(&bench);
    let file = bundle(&bench, &forger, "forged.cairn");
    let elsewhere = cairn_in(&bench, &bench.temp.path().join("none"), &["verify", &file]);
    assert_eq!(elsewhere.code, 0, "the file agrees with itself: {elsewhere:?}");
    let verify = bench.cairn(&["verify", &file]);
    assert_eq!(verify.code, 1, "{verify:?}");
    assert!(verify.out.starts_with("REFUTED: rcpt_"), "{}", verify.out);
    assert!(verify.out.contains(", the key of another home"), "{}", verify.out);
    let told: Value = serde_json::from_str(&bench.cairn(&["verify", &file, "--json"]).out).unwrap();
    assert_eq!((&told["verdict"], &told["signers"][0]["own"]), (&json!("REFUTED"), &json!(false)));
}

// keeps: forged-with-another-key
#[test]
fn a_bundle_with_other_receipts_of_a_held_run_is_refuted() {
    let bench = Bench::new(json!([]));
    run_of(&bench, json!([{"say": "nothing yet"}]), &["one"]);
    let forger = forgers_home(&bench);
    let more = |path: &str| json!([{"say": "unused"}, write(path, "x\n"), {"say": "done"}]);
    run_of(&bench, more("honest"), &["-c", "more"]);
    let model = Bench::new(more("forged"));
    let mut command = bench.command(&["run", "--yolo", "-c", "more"]);
    command.env("OPENAI_BASE_URL", model.model.url()).env("CAIRN_HOME", &forger);
    assert_eq!(done(command.output().unwrap()).code, 0);
    let file = bundle(&bench, &forger, "forged.cairn");
    let verify = bench.cairn(&["verify", &file]);
    assert_eq!(verify.code, 1, "{verify:?}");
    assert!(verify.out.contains("This home holds the session"), "{}", verify.out);
}

// keeps: forged-with-another-key
#[test]
fn what_another_home_signed_after_an_import_is_named_and_not_refuted() {
    let bench = one_run();
    let there = bench.temp.path().join("there");
    let export = bench.temp.path().join("session.cairn").display().to_string();
    assert_eq!(bench.cairn(&["sessions", "export", "-o", &export]).code, 0);
    let import = ["sessions", "import", &export, "--root", ".", "--json"];
    let imported = cairn_in(&bench, &there, &import);
    assert_eq!(imported.code, 0, "{imported:?}");
    let imported: Value = serde_json::from_str(&imported.out).unwrap();
    let go_on = |home: &Path, args: &[&str]| {
        let more =
            json!([{"say": "unused"}, {"say": "unused"}, write("c", "c\n"), {"say": "done"}]);
        let model = Bench::new(more);
        let mut command = bench.command(&[&["run", "--yolo"], args].concat());
        command.env("OPENAI_BASE_URL", model.model.url()).env("CAIRN_HOME", home);
        let went = done(command.output().unwrap());
        assert_eq!(went.code, 0, "{went:?}");
    };
    go_on(&there, &["--resume", imported["session"].as_str().unwrap(), "go on"]);
    let theirs = bundle(&bench, &there, "theirs.cairn");
    let verify = bench.cairn(&["verify", &theirs]);
    assert_eq!(verify.code, 0, "{verify:?}");
    assert!(verify.out.contains(", the key of this home"), "{}", verify.out);
    assert!(verify.out.contains(", the key of another home"), "{}", verify.out);
    // The home where it began goes on with the very run, and the other one only holds its beginning.
    go_on(&bench.temp.home(), &["-c", "go on"]);
    let ours = bundle(&bench, &bench.temp.home(), "ours.cairn");
    let verify = cairn_in(&bench, &there, &["verify", &ours]);
    assert_eq!(verify.code, 0, "{verify:?}");
}
