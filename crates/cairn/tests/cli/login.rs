//! Keys that are stored: for their owner alone, used after the environment's, shown nowhere.

use crate::bench_world::{Bench, Done, done};
use crate::terminal::Terminal;
use serde_json::json;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

const KEY: &str = "sk-stored-0123456789";

fn bench() -> Bench {
    Bench::new(json!([{"say": "hi"}, {"say": "hi"}]))
}

fn piped(bench: &Bench, args: &[&str], text: &[u8]) -> Done {
    let mut child = bench.command(args).stdin(Stdio::piped()).spawn().unwrap();
    // Who takes no key does not read to the end.
    let _ = child.stdin.take().unwrap().write_all(text);
    done(child.wait_with_output().unwrap())
}

fn file(bench: &Bench) -> PathBuf {
    bench.temp.path().join(".config/cairn/credentials.toml")
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Every file beneath a folder that holds these bytes.
fn holding(folder: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path, bytes));
        } else if fs::read(&path).unwrap().windows(bytes.len()).any(|w| w == bytes) {
            found.push(path);
        }
    }
    found
}

/// A server that repeats the key it was sent, as some do, and what it was sent.
fn parrot() -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut request, mut piece) = (String::new(), [0; 4096]);
        while !request.contains("\r\n\r\n") {
            let n = stream.read(&mut piece).unwrap();
            request.push_str(&String::from_utf8_lossy(&piece[..n]));
        }
        let head = request.lines().find(|line| line.to_lowercase().starts_with("authorization:"));
        let key = head.and_then(|line| line.rsplit(' ').next()).unwrap_or_default().to_owned();
        let body = json!({"error": {"message": format!("the key {key} is wrong")}}).to_string();
        let answer = format!(
            "HTTP/1.1 401 No\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(answer.as_bytes()).unwrap();
        key
    });
    (url, heard)
}

// keeps: keys-private
#[test]
fn a_stored_key_is_its_owners_alone_is_used_and_is_shown_nowhere() {
    let bench = bench();
    let stored = piped(&bench, &["login", "openai"], format!("{KEY}\n").as_bytes());
    assert_eq!(stored.code, 0, "{stored:?}");
    assert!(stored.out.contains("OPENAI_API_KEY is set in this environment and is used before it"));
    assert_eq!((mode(&file(&bench)), mode(file(&bench).parent().unwrap())), (0o600, 0o700));
    let mut said = vec![stored];
    let mut without = |args: &[&str], url: &str| {
        let mut command = bench.command(args);
        let output = command.env_remove("OPENAI_API_KEY").env("OPENAI_BASE_URL", url).output();
        let done = done(output.unwrap());
        said.push(Done { code: done.code, out: done.out.clone(), err: done.err.clone() });
        done
    };
    let (url, heard) = parrot();
    let failed = without(&["run", "--yolo", "--json", "x"], &url);
    assert_eq!(heard.join().unwrap(), KEY, "{failed:?}");
    assert!(failed.out.contains("the key [secret openai "), "{failed:?}");
    let ok = without(&["run", "--yolo", "printenv"], &bench.model.url());
    assert_eq!(ok.code, 0, "{ok:?}");
    let list = without(&["login", "--list"], "");
    assert_eq!(list.out, "openai  file\n");
    for args in [&["log", "--facts"][..], &["config", "--all"], &["models", "list"], &["usage"]] {
        without(args, "");
    }
    assert!(said.iter().all(|done| !done.out.contains(KEY) && !done.err.contains(KEY)));
    assert_eq!(holding(bench.temp.path(), KEY.as_bytes()), [file(&bench)]);
    // The environment's is used before it.
    let (url, heard) = parrot();
    let mut command = bench.command(&["run", "x"]);
    assert_eq!(command.env("OPENAI_BASE_URL", url).output().unwrap().status.code(), Some(1));
    assert_eq!(heard.join().unwrap(), "sk-secret-key");
}

// keeps: keys-private
#[test]
fn at_a_terminal_the_key_is_asked_for_and_not_shown() {
    let bench = bench();
    let mut terminal = Terminal::open(&bench, bench.command(&["login", "gemini"]));
    terminal.until("key of google (it is not shown): ");
    terminal.keys("wrong\x15sk-typed-0123456789x\x7f\r");
    let shown = terminal.until("is stored in ");
    assert!(!shown.contains("sk-typed") && !shown.contains("wrong"), "{shown}");
    assert_eq!(terminal.code(), Some(0));
    let text = fs::read_to_string(file(&bench)).unwrap();
    assert!(text.ends_with("= \"sk-typed-0123456789\"\n") && text.contains("google"), "{text}");
    let mut terminal = Terminal::open(&bench, bench.command(&["login"]));
    terminal.until("provider (openai, ");
    terminal.keys("groq\n");
    terminal.until("key of groq (it is not shown): ");
    terminal.keys("sk-half\x03");
    terminal.until("cancelled; nothing is stored");
    assert_eq!(terminal.code(), Some(3));
    assert_eq!(fs::read_to_string(file(&bench)).unwrap(), text);
}

// keeps: keys-private
#[test]
fn a_key_on_the_command_line_is_refused_and_not_repeated() {
    let bench = bench();
    for args in [
        &["login", "openai", KEY][..],
        &["login", KEY],
        &["login", "openai", "--key", KEY],
        &["login", "openai", &format!("--key={KEY}")],
        &["login", &format!("--key={KEY}")],
        &["logout", KEY],
    ] {
        let done = piped(&bench, args, b"");
        assert_eq!(done.code, 2, "{args:?}: {done:?}");
        assert!(!done.err.contains(KEY) && !done.out.contains(KEY), "{args:?}: {done:?}");
    }
    assert!(!file(&bench).exists());
}

// keeps: keys-private
#[test]
fn what_cannot_be_a_key_is_not_stored_and_a_file_that_others_can_read_is_not_used() {
    let bench = bench();
    for (text, told) in [
        (&b""[..], "no key was given; nothing is stored"),
        (b"two words", "that is not a key"),
        (b"sk-a\nsk-b\n", "that is not a key"),
        (b"sk-\xff\xfe", "the piped input is not text"),
        (&[b'x'; 9000], "that is not a key"),
    ] {
        let done = piped(&bench, &["login", "openai"], text);
        assert_eq!(done.code, 2, "{done:?}");
        assert!(done.err.contains(told), "{}", done.err);
    }
    assert!(!file(&bench).exists());
    assert_eq!(piped(&bench, &["login"], b"sk-x").code, 2, "whose key it is must be said");
    assert_eq!(piped(&bench, &["login", "groq"], KEY.as_bytes()).code, 0);
    let run = || bench.cairn(&["run", "--model", "groq/x", "x"]);
    for loose in [0o640, 0o604, 0o660] {
        fs::set_permissions(file(&bench), fs::Permissions::from_mode(loose)).unwrap();
        let done = run();
        assert_eq!(done.code, 2, "{done:?}");
        assert!(
            done.err.contains("others can read it; make it yours alone: chmod 600 "),
            "{}",
            done.err
        );
        assert_eq!(piped(&bench, &["login", "openai"], KEY.as_bytes()).code, 2);
    }
    fs::set_permissions(file(&bench), fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(file(&bench), format!("groq = {KEY}\n")).unwrap();
    let broken = run();
    assert_eq!(broken.code, 2);
    assert!(
        broken.err.contains("it is not a list of keys") && !broken.err.contains(KEY),
        "{}",
        broken.err
    );
}

// keeps: keys-private
#[test]
fn logging_out_forgets_one_key_and_keeps_the_others() {
    let bench = bench();
    bench.own("cairn.toml", "[providers.\"my.own\"]\nbase_url = \"http://127.0.0.1:9/v1\"\n");
    for provider in ["openai", "my.own", "together"] {
        assert_eq!(piped(&bench, &["login", provider], KEY.as_bytes()).code, 0);
    }
    let list = || bench.cairn(&["login", "--list"]).out;
    assert_eq!(
        list(),
        "openai  environment (OPENAI_API_KEY); the stored one is not used\ntogetherai  file\nmy.own  file\n"
    );
    let out = bench.cairn(&["logout", "openai"]);
    assert!(
        out.out.contains("forgotten") && out.out.contains("OPENAI_API_KEY is still set"),
        "{out:?}"
    );
    assert_eq!(bench.cairn(&["logout", "together"]).code, 0);
    assert_eq!(list(), "openai  environment (OPENAI_API_KEY)\nmy.own  file\n");
    let none = bench.cairn(&["logout", "openai"]);
    assert_eq!(none.code, 2);
    assert!(none.err.contains("no key of openai is stored"), "{}", none.err);
}
