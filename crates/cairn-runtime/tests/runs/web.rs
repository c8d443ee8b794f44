//! Ops on pages, by a table that says what each comes to, over a real server on loopback.

use crate::kit::{block_on, store};
use cairn_runtime::schemes::Web;
use cairn_runtime::{Answer, Client};
use cairn_testkit::{Says, Site, TempHome};
use cairn_types::{By, Policy, PolicyRule, RuleFrom, RuleWord};
use cairn_world::{Settings, Workspace, World};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::Arc;

fn site() -> Site {
    Site::start(|path| match path {
        "/page" => Says::page("<title>T</title><ul><li>one<li>two</ul>"),
        "/data" => Says::whole("200 OK", "application/json", b"[1, 2, {\"a\": 3}]"),
        "/picture" => Says::whole("200 OK", "image/png", b"\x89PNG\r\n\0\0"),
        "/drawn" => Says::whole("200 OK", "image/png", b"\x89PNG\r\n\x1a\n\0\0\0"),
        "/zeros" => Says::whole("200 OK", "application/octet-stream", b"\0\0\0"),
        "/gone" => Says::whole("410 Gone", "text/plain", b"left"),
        "/login" => Says::whole("401 Unauthorized", "text/plain", b"who are you"),
        "/busy" => Says::whole("429 Too Many Requests", "text/plain", b""),
        "/broken" => Says::whole("502 Bad Gateway", "text/plain", b""),
        "/moved" => Says::leads("302 Found", "http://elsewhere.example/"),
        _ => Says::whole("404 Not Found", "text/html", b"<h1>Nothing here</h1>"),
    })
}

fn world(root: &Path) -> Arc<World> {
    let settings = Settings::new("/bin/sh".into(), Vec::new());
    Arc::new(World::new(Workspace::open(root).unwrap(), settings))
}

async fn client(holder: &Path, site: &Site, deny: &[&str]) -> Client {
    let root = holder.join("root");
    fs::create_dir(&root).unwrap();
    let rule = |rule: &&str| PolicyRule {
        word: RuleWord::Deny,
        rule: (*rule).to_owned(),
        place: String::new(),
        from: RuleFrom::User,
        until: None,
    };
    let policy = Policy { rules: deny.iter().map(rule).collect(), ..Policy::default() };
    let private = vec![site.at().to_string().parse().unwrap()];
    let client = Client::here(store(&holder.join("home")), world(&root), &root, policy).await;
    client.unwrap().reaching(&Web { private, ..Web::default() })
}

async fn ask(client: &mut Client, tool: &str, args: Value) -> Answer {
    client.op(tool, &args.to_string(), By::Person("ada".to_owned())).await.unwrap()
}

// keeps: web-ops
#[test]
fn every_op_on_a_page_comes_to_what_the_table_says() {
    let (holder, site) = (TempHome::new(), site());
    let at = |path: &str| site.url(path);
    let table = [
        ("read", json!({"path": at("/page")}), 200, "1\t# T\n2\t\n3\t- one\n4\t- two"),
        ("read", json!({"path": at("/page#body"), "scope": "3"}), 200, "3\t- one"),
        ("read", json!({"path": at("/page"), "scope": "9"}), 416, ""),
        ("read", json!({"path": at("/page"), "matching": "two"}), 200, "4:\t- two"),
        ("read", json!({"path": at("/page"), "matching": "six"}), 204, ""),
        (
            "read",
            json!({"path": at("/page#headers"), "matching": "HTTP*"}),
            200,
            "2:\tHTTP/1.1 200 OK",
        ),
        ("read", json!({"path": at("/page#other")}), 400, "there are #body, #headers"),
        ("read", json!({"path": at("/data"), "scope": "2"}), 200, "2"),
        ("read", json!({"path": at("/data"), "matching": "$..a"}), 200, "3"),
        ("read", json!({"path": at("/picture")}), 415, "is image/png, 8 bytes, and not text"),
        ("read", json!({"path": at("/drawn")}), 200, "/drawn: image/png, 11 bytes"),
        ("read", json!({"path": at("/zeros")}), 415, "3 bytes, and not text"),
        ("read", json!({"path": at("/none")}), 404, "404 Not Found: # Nothing here"),
        ("read", json!({"path": at("/none#headers")}), 200, "HTTP/1.1 404 Not Found"),
        ("read", json!({"path": at("/gone")}), 410, "410 Gone: left"),
        ("read", json!({"path": at("/login")}), 403, "401 Unauthorized: who are you"),
        ("read", json!({"path": at("/busy")}), 429, "429 Too Many Requests"),
        ("read", json!({"path": at("/broken")}), 500, "502 Bad Gateway"),
        (
            "read",
            json!({"path": at("/moved")}),
            409,
            "leads to http://elsewhere.example/; read that",
        ),
        ("read", json!({"path": "http://127.0.0.1:1/"}), 403, "inside this machine's networks"),
        ("read", json!({"path": "https://"}), 400, "names no host"),
        ("read", json!({"path": "http://me@example.org/"}), 400, "a user or a password"),
        ("find", json!({"under": at("/"), "text": "one"}), 501, ""),
        ("list", json!({"path": at("/")}), 501, ""),
        ("write", json!({"path": at("/page"), "content": "x"}), 403, ""),
        ("edit", json!({"path": at("/page"), "old": "one", "new": "x"}), 403, ""),
        ("remove", json!({"path": at("/page")}), 403, ""),
        ("move", json!({"from": at("/page"), "to": "known:///moved"}), 403, ""),
        ("write", json!({"path": "known:///own", "content": "x"}), 201, ""),
        ("copy", json!({"from": "known:///own", "to": at("/page")}), 403, ""),
        ("copy", json!({"from": at("/page"), "to": "known:///page", "tags": ["t"]}), 201, "copied"),
        ("copy", json!({"from": at("/page"), "to": "known:///page"}), 409, ""),
        ("copy", json!({"from": at("/page"), "to": "docs/page.md"}), 201, "copied"),
        ("copy", json!({"from": at("/page"), "to": "docs/page.md"}), 304, ""),
        ("copy", json!({"from": at("/data"), "to": "known:///data.json"}), 201, ""),
        ("copy", json!({"from": at("/data"), "to": "known:///data"}), 415, ""),
        ("copy", json!({"from": at("/page#headers"), "to": "known:///headers"}), 201, ""),
        ("copy", json!({"from": at("/picture"), "to": "a.png"}), 201, ""),
        ("copy", json!({"from": at("/none"), "to": "known:///none"}), 404, ""),
        ("copy", json!({"from": "http://localhost:1/", "to": "known:///none"}), 403, "inside"),
        ("read", json!({"path": "known:///page"}), 200, "1\t# T\n2\t\n3\t- one\n4\t- two\ntags: t"),
    ];
    block_on(async {
        let mut client = client(holder.path(), &site, &[]).await;
        for (tool, args, status, text) in table {
            let line = format!("{tool} {args}");
            let answer = ask(&mut client, tool, args).await;
            assert_eq!(answer.status.0, status, "{line}: {}", answer.text);
            assert!(answer.text.contains(text), "{line}: {}", answer.text);
            assert!(answer.receipt.is_some(), "{line}");
        }
    });
    let copied = fs::read(holder.path().join("root/docs/page.md")).unwrap();
    assert_eq!(copied, b"# T\n\n- one\n- two\n");
    assert_eq!(fs::read(holder.path().join("root/a.png")).unwrap(), b"\x89PNG\r\n\0\0");
    assert!(site.asked().iter().all(|head| head.starts_with("GET /")));
}

// keeps: web-asked
#[test]
fn what_a_rule_is_against_is_not_asked_of_a_server() {
    let site = site();
    let (host, port) = (site.at().ip(), site.at().port());
    for (rule, expected) in [
        (format!("read[host={host}]"), [403, 403]),
        (format!("read[host={host}:{port}]"), [403, 403]),
        (format!("*[host={host}]"), [403, 403]),
        ("*[effect=network]".to_owned(), [403, 403]),
        ("read[scheme=http]".to_owned(), [403, 403]),
        (format!("read[scheme=http] {host}:{port}/page"), [403, 403]),
        (format!("copy[host={host}]"), [200, 403]),
        (format!("read[host={host}:1]"), [200, 201]),
        ("read[scheme=https]".to_owned(), [200, 201]),
        ("read **".to_owned(), [200, 201]),
    ] {
        let holder = TempHome::new();
        block_on(async {
            let mut client = client(holder.path(), &site, &[&rule]).await;
            let read = ask(&mut client, "read", json!({"path": site.url("/page")})).await;
            let call = json!({"from": site.url("/page"), "to": "known:///x"});
            let copied = ask(&mut client, "copy", call).await;
            assert_eq!([read.status.0, copied.status.0], expected, "{rule}: {}", read.text);
        });
        let allowed = expected.iter().filter(|status| **status < 400).count();
        assert_eq!(site.asked().len(), allowed, "{rule}");
    }
}
