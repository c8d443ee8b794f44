//! Real servers on loopback: what is read of them, what must not reach them, and what is bounded.

use super::Pages;
use crate::reach::{Leads, Web};
use cairn_engine::policy::Rulebook;
use cairn_sandbox::network::HostPort;
use cairn_testkit::{Says, Site};
use cairn_types::{Mode, Policy, PolicyRule, RuleFrom, RuleWord, Uri, Writer};
use cairn_world::Scheme;
use std::net::{Ipv6Addr, TcpListener};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A site whose one page says that it was reached.
fn canary() -> Site {
    Site::start(|_| Says::page("canary"))
}

/// A web in which these hosts may be read.
fn web(private: &[&str]) -> Web {
    let private = private.iter().map(|host| host.parse::<HostPort>().unwrap()).collect();
    Web { private, within: Duration::from_secs(20), ..Web::default() }
}

fn pages(web: &Web, allow: &[&str]) -> Pages {
    let rule = |rule: &&str| PolicyRule {
        word: RuleWord::Allow,
        rule: (*rule).to_owned(),
        place: String::new(),
        from: RuleFrom::User,
        until: None,
    };
    let rules = Policy { rules: allow.iter().map(rule).collect(), ..Policy::default() };
    let rules = Rulebook::read(rules).unwrap();
    let (mode, writer, is_hooked) = (Mode::Act, Writer::Model, false);
    Pages::new("http", web, &Leads { rules, mode, writer, is_hooked })
}

/// What a read comes to: 200, its type and its text, or a status and why.
fn read(pages: &Pages, address: &str) -> (u16, String) {
    let uri: Uri = address.parse().unwrap();
    match pages.fetch(&uri, &CancellationToken::new()) {
        Ok(Some(entry)) => {
            (200, format!("{} {}", entry.mime, String::from_utf8_lossy(&entry.content)))
        }
        Ok(None) => (404, String::new()),
        Err(refusal) => (refusal.status.0, refusal.text),
    }
}

/// The same of a site that may be read.
fn read_of(site: &Site, path: &str) -> (u16, String) {
    read(&pages(&web(&[&site.at().to_string()]), &[]), &site.url(path))
}

// keeps: web-told
#[test]
fn a_page_is_fetched_by_a_plain_get_and_told_with_its_headers() {
    let site = Site::start(|_| Says::page("<h1>Hello</h1><a href=/b>b</a>"));
    let (status, text) = read_of(&site, "/a?b=c");
    let expected = format!("text/markdown # Hello\n\n[b]({})\n", site.url("/b"));
    assert_eq!((status, text), (200, expected));
    let asked = site.asked();
    assert_eq!(asked.len(), 1);
    let head = asked[0].to_ascii_lowercase();
    assert!(head.starts_with("get /a?b=c http/1.1\r\n"), "{head}");
    let agent = format!("user-agent: cairn/{}\r\n", env!("CARGO_PKG_VERSION"));
    assert!(head.contains(&agent) && head.contains("accept-encoding: identity\r\n"), "{head}");
    for none in ["cookie", "authorization", "referer"] {
        assert!(!head.contains(none), "{head}");
    }
    let (status, text) = read_of(&site, "/a#headers");
    assert_eq!(status, 200);
    let begins =
        format!("text/plain GET {}\nHTTP/1.1 200 OK\ncontent-type: text/html", site.url("/a"));
    assert!(text.starts_with(&begins), "{text}");
    // No cookie is kept, and nothing else: it is fetched each time.
    assert_eq!(read_of(&site, "/a").0, 200);
    let asked = site.asked();
    assert_eq!(asked.len(), 2);
    assert!(!asked.concat().to_ascii_lowercase().contains("cookie"), "{asked:?}");
}

// keeps: web-inside
#[test]
fn nothing_inside_is_connected_to_unless_it_is_named_with_its_port() {
    let site = canary();
    let port = site.at().port();
    // The same port of the other loopback, where there is one.
    let six = TcpListener::bind((Ipv6Addr::LOCALHOST, port)).ok();
    let six = six.map(|listener| Site::over(listener, |_| Says::page("canary")));
    let mut hidden = web(&["127.0.0.1:1", "localhost:1"]);
    hidden.names.push(("rebound.example".parse().unwrap(), vec![site.at().ip()]));
    let hosts = [
        "127.0.0.1",
        "127.1",
        "127.0.0.2",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "0177.0.0.1",
        "0",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "a.localhost",
        "rebound.example",
    ];
    for host in hosts {
        let (status, text) = read(&pages(&hidden, &[]), &format!("http://{host}:{port}/"));
        assert_eq!(status, 403, "{host}: {text}");
        assert!(text.contains("is inside this machine's networks"), "{host}: {text}");
    }
    // What disguises a host, or is none, is not connected to either.
    for host in ["127.0.0.1\\@example.org", "me@127.0.0.1", "127.0.0.1%2f"] {
        let (status, text) = read(&pages(&hidden, &[]), &format!("http://{host}:{port}/"));
        assert!(matches!(status, 400 | 403), "{host}: {status} {text}");
    }
    assert!(site.asked().is_empty());
    assert!(six.is_none_or(|site| site.asked().is_empty()));
    // The control: each is reached once it is named, and then that one alone.
    let named = web(&[&format!("127.0.0.1:{port}")]);
    assert_eq!(read(&pages(&named, &[]), &site.url("/")).0, 200);
    assert_eq!(read(&pages(&named, &[]), &format!("http://localhost:{port}/")).0, 403);
    let mut named = web(&[&format!("rebound.example:{port}")]);
    named.names.clone_from(&hidden.names);
    let dotted = format!("http://rebound.example.:{port}/");
    assert_eq!(read(&pages(&named, &[]), &dotted).0, 200);
    let rebound = format!("http://rebound.example:{port}/");
    assert_eq!(read(&pages(&named, &[]), &rebound), (200, "text/markdown canary\n".to_owned()));
    assert_eq!(site.asked().len(), 3);
}

// keeps: web-redirects
#[test]
fn a_redirect_is_another_address_and_checked_like_one() {
    let canary = canary();
    let to = canary.at().to_string();
    let led = to.clone();
    let site = Site::start(move |path| match path {
        "/here" => Says::leads("301 Moved Permanently", "/there?x"),
        "/there?x" => Says::page("there"),
        "/other" => Says::leads("307 Temporary Redirect", &format!("http://{led}/x")),
        "/loop" => Says::leads("302 Found", "/loop"),
        "/file" => Says::leads("302 Found", "file:///etc/passwd"),
        "/user" => Says::leads("302 Found", "http://me:pw@127.0.0.1/"),
        "/nowhere" => Says::leads("302 Found", "http://["),
        "/disguised" => Says::leads("302 Found", &format!("http://2130706433:{}/", &led[10..])),
        "/chain" => Says::leads("302 Found", "/other"),
        _ => Says::whole("300 Multiple Choices", "text/plain", b"choose"),
    });
    assert_eq!(read_of(&site, "/here"), (200, "text/markdown there\n".to_owned()));
    assert_eq!(site.asked().len(), 2);
    let (status, text) = read_of(&site, "/other");
    let leads = format!("307 Temporary Redirect leads to http://{to}/x; read that address");
    assert_eq!((status, text), (409, format!("{}: {leads}", site.url("/other"))));
    for (path, expected) in [
        ("/chain", 409),
        ("/disguised", 409),
        ("/loop", 422),
        ("/file", 422),
        ("/user", 422),
        ("/nowhere", 422),
        ("/", 422),
    ] {
        let (status, text) = read_of(&site, path);
        assert_eq!(status, expected, "{path}: {text}");
    }
    let (_, heads) = read_of(&site, "/chain#headers");
    assert_eq!(heads.matches("HTTP/1.1 30").count(), 2, "{heads}");
    // A rule lets it be followed, and does not open what is inside.
    let (own, rule) = (site.at().to_string(), format!("read[effect=network,host={to}]"));
    let (status, text) = read(&pages(&web(&[&own]), &[&rule]), &site.url("/other"));
    assert_eq!(status, 403, "{text}");
    assert!(
        text.starts_with(&format!("{} leads to http://{to}/x. ", site.url("/other"))),
        "{text}"
    );
    assert!(canary.asked().is_empty());
    let (status, text) = read(&pages(&web(&[&own, &to]), &[&rule]), &site.url("/other"));
    assert_eq!((status, &*text), (200, "text/markdown canary\n"));
    assert_eq!(canary.asked().len(), 1);
}

// keeps: web-bounded
#[test]
fn an_answer_has_an_end_whatever_the_server_does() {
    let page = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";
    let site = Site::start(move |path| match path {
        "/endless" => Says::Endless(format!("{page}\r\nx").into_bytes()),
        "/claims" => {
            Says::Stalls(format!("{page}Content-Length: 99999999999\r\n\r\n").into_bytes())
        }
        "/stalls" => Says::Stalls(format!("{page}Content-Length: 9\r\n\r\nabc").into_bytes()),
        "/silent" => Says::Stalls(Vec::new()),
        "/cut" => Says::Bytes(format!("{page}Content-Length: 9\r\n\r\nabc").into_bytes()),
        "/packed" => Says::Bytes(
            format!("{page}Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\u{1f}\u{8b}")
                .into_bytes(),
        ),
        "/no" => {
            Says::Endless(b"HTTP/1.1 503 Busy\r\nContent-Type: text/plain\r\n\r\nno ".to_vec())
        }
        "/headers" => Says::Endless(b"HTTP/1.1 200 OK\r\nA: x".to_vec()),
        _ => Says::Bytes(b"nonsense".to_vec()),
    });
    let mut web = web(&[&site.at().to_string()]);
    let check = |web: &Web, path: &str, expected: u16| {
        let (status, text) = read(&pages(web, &[]), &site.url(path));
        assert_eq!(status, expected, "{path}: {text}");
        assert!(text.len() < 1000, "{path}: {} bytes", text.len());
    };
    for (path, expected) in [
        ("/endless", 413),
        ("/claims", 413),
        ("/cut", 500),
        ("/packed", 415),
        ("/no", 500),
        ("/headers", 500),
        ("/bad", 500),
        ("/claims#headers", 200),
    ] {
        check(&web, path, expected);
    }
    web.within = Duration::from_millis(300);
    check(&web, "/stalls", 408);
    check(&web, "/silent", 408);
}

// keeps: web-bounded
#[test]
fn a_read_that_is_cancelled_ends() {
    let site = Site::start(|_| Says::Stalls(Vec::new()));
    let web = Web { within: Duration::from_secs(3600), ..web(&[&site.at().to_string()]) };
    let cancel = CancellationToken::new();
    let (pages, uri) = (pages(&web, &[]), site.url("/").parse::<Uri>().unwrap());
    let ended = std::thread::scope(|scope| {
        let reading = scope.spawn(|| pages.fetch(&uri, &cancel));
        while site.asked().is_empty() {
            std::thread::sleep(Duration::from_millis(1));
        }
        cancel.cancel();
        reading.join().unwrap()
    });
    assert_eq!(ended.unwrap_err().status.0, 499);
}

// keeps: web-inside
#[test]
fn nothing_is_reached_but_by_a_read() {
    let site = canary();
    let pages = pages(&web(&[&site.at().to_string()]), &[]);
    let uri: Uri = site.url("/").parse().unwrap();
    assert_eq!(pages.get(&uri).unwrap_err().status.0, 403);
    assert_eq!(pages.list(&uri).unwrap_err().status.0, 501);
    assert_eq!(pages.admit(&uri), Ok(()));
    assert!(site.asked().is_empty());
}
