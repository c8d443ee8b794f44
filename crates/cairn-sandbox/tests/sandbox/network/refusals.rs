//! Whom the proxy lets, and that nothing else is ever connected to.

use super::{Origin, ask, patterns, proxy, start, status};
use cairn_sandbox::network::{Options, Reach, Refusal};
use expect_test::expect;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::net::IpAddr;

/// Every name that a wrong comparison could let leads to the origin, so that it would be seen there.
const NAMES: [&str; 7] = [
    "example.org",
    "www.example.org",
    "example.org.evil.test",
    "evil-example.org",
    "evil",
    "other.test",
    "localhost",
];

/// Asks for each target, with CONNECT and with GET, and compares status and visits.
async fn check(allow: &[&str], cases: &[(&str, u16)]) {
    let origin = Origin::start().await;
    let port = origin.port().to_string();
    let allow: Vec<String> = allow.iter().map(|text| text.replace("PORT", &port)).collect();
    let allow: Vec<&str> = allow.iter().map(String::as_str).collect();
    let (_proxy, at) = proxy(&allow, &NAMES, |_| {});
    let mut visits = 0;
    for (target, expected) in cases {
        let target = target.replace("PORT", &port);
        let host = target.split('@').next_back().unwrap();
        let connect = format!("CONNECT {target} HTTP/1.1\r\n\r\n");
        let get = format!("GET http://{target}/ HTTP/1.1\r\nHost: {host}\r\n\r\n");
        for request in [connect, get] {
            visits += usize::from(*expected == 200);
            assert_eq!(status(at, &request).await, *expected, "{request}");
            assert_eq!(origin.visits().await, visits, "{request}");
        }
    }
}

#[tokio::test]
async fn names_are_let_by_what_they_mean() {
    check(
        &["example.org:PORT", "*.example.org:PORT"],
        &[
            ("example.org:PORT", 200),
            ("EXAMPLE.org.:PORT", 200),
            ("www.example.org:PORT", 200),
            ("example.org.evil.test:PORT", 403),
            ("evil-example.org:PORT", 403),
            ("localhost:PORT", 403),
            ("127.0.0.1:PORT", 403),
            ("0x7f.1:PORT", 403),
            ("[::ffff:127.0.0.1]:PORT", 403),
            ("[::1]:PORT", 403),
            ("example.org:22", 403),
            ("example.org@evil:PORT", 400),
            ("evil@example.org:PORT", 400),
            ("example.org%2e:PORT", 400),
            ("example.org\\@evil:PORT", 400),
            ("example.org#@evil:PORT", 400),
            ("example..org:PORT", 400),
            ("*.example.org:PORT", 400),
            ("example.org\t:PORT", 400),
            ("example.org evil:PORT", 400),
            ("example.org\u{a0}:PORT", 400),
            ("example.org:", 400),
            ("example.org:PORT:PORT", 400),
        ],
    )
    .await;
}

#[tokio::test]
async fn an_address_is_let_if_it_is_allowed_as_that_address() {
    check(
        &["127.0.0.1:PORT"],
        &[
            ("127.0.0.1:PORT", 200),
            ("0x7f.1:PORT", 200),
            ("[::ffff:127.0.0.1]:PORT", 200),
            ("127.0.0.2:PORT", 403),
            ("localhost:PORT", 403),
            ("example.org:PORT", 403),
        ],
    )
    .await;
}

#[tokio::test]
async fn requests_that_are_not_a_proxys_go_nowhere() {
    let origin = Origin::start().await;
    let to = format!("example.org:{}", origin.port());
    let (proxy, at) = proxy(&[&to], &NAMES, |_| {});
    let cases = [
        (format!("GET http://{to}/ HTTP/1.1\r\nHost: other.test\r\n\r\n"), 400),
        (format!("GET http://{to}/ HTTP/1.1\r\nHost: example.org\r\n\r\n"), 400),
        (format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\nHost: {to}\r\n\r\n"), 400),
        (format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\nhost: evil\r\n\r\n"), 400),
        (format!("GET http://{to}/ HTTP/1.1\r\n\r\n"), 400),
        (format!("GET http://{to}/ HTTP/1.1\r\nHost : {to}\r\n\r\n"), 400),
        (format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\n folded\r\n\r\n"), 400),
        (format!("GET http://{to}/ HTTP/1.1\nHost: {to}\n\n"), 400),
        (format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\nA: b\rc\r\n\r\n"), 400),
        (format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\nA: b\0\r\n\r\n"), 400),
        (format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\nContent-Length: 5\r\n\r\nhello"), 400),
        (
            format!(
                "GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\nTransfer-Encoding: chunked\r\n\r\n"
            ),
            400,
        ),
        (format!("GET https://{to}/ HTTP/1.1\r\nHost: {to}\r\n\r\n"), 400),
        (format!("GET ftp://{to}/ HTTP/1.1\r\nHost: {to}\r\n\r\n"), 400),
        (format!("GET http://{to}/#a HTTP/1.1\r\nHost: {to}\r\n\r\n"), 400),
        (format!("GET / HTTP/1.1\r\nHost: {to}\r\n\r\n"), 400),
        (format!("GET  http://{to}/ HTTP/1.1\r\nHost: {to}\r\n\r\n"), 400),
        (format!("GET http://{to}/ HTTP/2.0\r\nHost: {to}\r\n\r\n"), 400),
        (format!("GET http://{to}/\r\n\r\n"), 400),
        (format!("CONNECT http://{to}/ HTTP/1.1\r\n\r\n"), 400),
        ("CONNECT example.org HTTP/1.1\r\n\r\n".to_owned(), 400),
        ("\r\n\r\n".to_owned(), 400),
        ("\u{16}\u{3}\u{1}\r\n\r\n".to_owned(), 400),
        (format!("POST http://{to}/ HTTP/1.1\r\nHost: {to}\r\nContent-Length: 2\r\n\r\nhi"), 405),
        (format!("OPTIONS * HTTP/1.1\r\nHost: {to}\r\n\r\n"), 405),
    ];
    for (request, expected) in cases {
        assert_eq!(status(at, &request).await, expected, "{request:?}");
    }
    assert_eq!(origin.visits().await, 0);
    assert_eq!((proxy.refused(), proxy.reached()), (vec![], vec![]));
    assert_eq!(proxy.unreached(), [(to.parse().unwrap(), Refusal::Method)]);
}

#[tokio::test]
async fn a_refusal_names_host_and_port_and_is_remembered_once() {
    let (proxy, at) = proxy(&[], &[], |_| {});
    let answer = ask(at, "CONNECT Docs.Example.org:443 HTTP/1.1\r\n\r\n").await;
    expect![[r#"
        HTTP/1.1 403 Forbidden
        Content-Type: text/plain
        Content-Length: 68
        Connection: close

        docs.example.org:443 is not among the hosts this command may reach.
    "#]]
    .assert_eq(&answer.replace('\r', ""));
    ask(at, "GET http://example.net/a HTTP/1.1\r\nHost: example.net\r\n\r\n").await;
    ask(at, "CONNECT docs.example.org.:443 HTTP/1.1\r\n\r\n").await;
    let refused: Vec<String> = proxy.refused().iter().map(ToString::to_string).collect();
    assert_eq!(refused, ["docs.example.org:443", "example.net:80"]);
    assert_eq!(proxy.inside(), vec![]);
}

#[tokio::test]
async fn at_most_64_refusals_are_remembered() {
    let (proxy, at) = proxy(&[], &[], |_| {});
    for n in 0..80 {
        ask(at, &format!("CONNECT h{n}.test:443 HTTP/1.1\r\n\r\n")).await;
    }
    let refused: Vec<String> = proxy.refused().iter().map(ToString::to_string).collect();
    let expected: Vec<String> = (0..64).map(|n| format!("h{n}.test:443")).collect();
    assert_eq!(refused, expected);
}

#[tokio::test]
async fn a_name_that_leads_inside_is_refused_unless_the_caller_allows_it() {
    let origin = Origin::start().await;
    for (private, expected, visits) in [(false, 403, 0), (true, 200, 1)] {
        let to = format!("inner.test:{}", origin.port());
        let names = vec![("inner.test".parse().unwrap(), vec![IpAddr::from([127, 0, 0, 1])])];
        let reach = Reach { allow: patterns(&[&to]), private, ..Reach::default() };
        let (proxy, at) = start(reach, Options { names, ..Options::default() });
        assert_eq!(status(at, &format!("CONNECT {to} HTTP/1.1\r\n\r\n")).await, expected);
        assert_eq!(origin.visits().await, visits);
        assert_eq!(proxy.inside().len(), usize::from(!private));
        assert_eq!(proxy.refused(), proxy.inside());
        let why = Refusal::Inside(IpAddr::from([127, 0, 0, 1]));
        let expected = if private { vec![] } else { vec![(to.parse().unwrap(), why)] };
        assert_eq!(proxy.unreached(), expected);
    }
}

#[tokio::test]
async fn an_address_inside_is_reached_if_it_was_allowed_as_one() {
    let origin = Origin::start().await;
    let to = format!("127.0.0.1:{}", origin.port());
    let reach = Reach { allow: patterns(&[&to]), ..Reach::default() };
    let (_proxy, at) = start(reach, Options::default());
    assert_eq!(status(at, &format!("CONNECT {to} HTTP/1.1\r\n\r\n")).await, 200);
    assert_eq!(origin.visits().await, 1);
}

#[tokio::test]
async fn a_host_that_is_let_and_not_there_is_said_to_be_unreachable() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let to = format!("127.0.0.1:{}", closed.port());
    let (proxy, at) = proxy(&[&to, "gone.test"], &[], |options| {
        options.names.push(("gone.test".parse().unwrap(), vec![]));
    });
    assert_eq!(status(at, &format!("CONNECT {to} HTTP/1.1\r\n\r\n")).await, 502);
    assert_eq!(status(at, "CONNECT gone.test:443 HTTP/1.1\r\n\r\n").await, 502);
    assert_eq!((proxy.refused(), proxy.reached()), (vec![], vec![]));
    assert_eq!(proxy.unreached(), [("gone.test:443".parse().unwrap(), Refusal::Unresolved)]);
}

#[tokio::test]
async fn credentials_are_kept_nowhere() {
    let (proxy, at) = proxy(&[], &[], |_| {});
    let secret = "Proxy-Authorization: Basic hunter2\r\nCookie: hunter2";
    let request =
        format!("GET http://a.test/?hunter2 HTTP/1.1\r\nHost: a.test\r\n{secret}\r\n\r\n");
    assert!(!ask(at, &request).await.contains("hunter2"));
    assert_eq!(proxy.refused().len(), 1);
    assert!(!format!("{proxy:?}").contains("hunter2"));
}

/// Pieces of which hosts are made that want to be taken for others.
const PIECES: &str = "example EXAMPLE .org .ORG example.org example.org . org evil @ - * 127.0.0.1 0x7f .1 \
    %2e [::1] [::ffff:127.0.0.1] :80 : xn-- // / \\ # ? \u{9} \u{a0} \0 \r\nHost:example.org";

fn tricky() -> impl Strategy<Value = String> {
    let pieces: Vec<&str> = PIECES.split(' ').chain([" ", "\r\n"]).collect();
    let joined = prop::collection::vec(prop::sample::select(pieces), 1..4);
    let joined = joined.prop_map(|pieces| pieces.concat());
    let meant = Just("ExAmple.org.".to_owned());
    prop_oneof![4 => joined, 1 => meant, 1 => "[a-z.@:%\\[\\]0-9é日😀]{0,12}"]
}

#[test]
fn what_is_refused_never_causes_a_connect() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let origin = runtime.block_on(Origin::start());
    let port = origin.port();
    let (_proxy, at) = {
        let _entered = runtime.enter();
        proxy(&[&format!("example.org:{port}")], &NAMES, |_| {})
    };
    let mut runner =
        TestRunner::new(Config { cases: 400, failure_persistence: None, ..Config::default() });
    let strategy = (tricky(), any::<bool>());
    let let_in = std::cell::Cell::new(0);
    let outcome = runner.run(&strategy, |(host, tunnel)| {
        let request = match tunnel {
            true => format!("CONNECT {host}:{port} HTTP/1.1\r\n\r\n"),
            false => format!("GET http://{host}:{port}/ HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n"),
        };
        let (before, answer, after) = runtime.block_on(async {
            let before = origin.visits().await;
            (before, status(at, &request).await, origin.visits().await)
        });
        let named = host.to_ascii_lowercase();
        let meant = ["example.org", "example.org."].contains(&named.as_str());
        prop_assert!(meant || answer != 200, "{} let {:?}", answer, request);
        prop_assert_eq!(after - before, usize::from(answer == 200), "{:?}", request);
        let_in.set(let_in.get() + after - before);
        Ok(())
    });
    outcome.unwrap();
    assert!(let_in.get() > 0, "nothing was let, so nothing was tried");
}
