//! What is connected to, and what is agreed to.

use super::kit::{EVENTS, ended, growing, head, leads, open, quietly, said, serve, web};
use crate::background::feed::Feed;
use cairn_sandbox::network::HostPort;
use cairn_testkit::{Says, Site};
use cairn_types::Uri;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use tokio::io::AsyncWriteExt;
use tokio_tungstenite::tungstenite;
use tokio_util::sync::CancellationToken;

const SCHEMES: [&str; 4] = ["sse", "sses", "ws", "wss"];

// keeps: feeds-inside
#[tokio::test]
async fn nothing_inside_is_connected_to_unless_it_is_named_with_its_port() {
    let canary = Site::start(|_| Says::page("canary"));
    let port = canary.at().port();
    // The same port of the other loopback, where there is one.
    let six = TcpListener::bind((Ipv6Addr::LOCALHOST, port)).ok();
    let six = six.map(|listener| Site::over(listener, |_| Says::page("canary")));
    let mut hidden = web(&["127.0.0.1:1", "localhost:1"]);
    hidden.names.push(("rebound.example".parse().unwrap(), vec![canary.at().ip()]));
    for scheme in SCHEMES {
        for host in [
            "127.0.0.1",
            "127.1",
            "127.0.0.2",
            "2130706433",
            "0x7f.1",
            "0177.0.0.1",
            "0",
            "[::1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::127.0.0.1]",
            "[64:ff9b::7f00:1]",
            "localhost",
            "LOCALHOST.",
            "a.localhost",
            "rebound.example",
        ] {
            let address = format!("{scheme}://{host}:{port}/");
            let (status, text) = said(open(&address, &hidden).await);
            assert_eq!(status, 403, "{address}: {text}");
            let begins = format!("{scheme}://");
            assert!(text.starts_with(&begins), "{address}: {text}");
            assert!(text.contains("is inside this machine's networks"), "{address}: {text}");
        }
        // What disguises a host, or is none, is not connected to either.
        for host in ["127.0.0.1\\@example.org", "me@127.0.0.1", "127.0.0.1%2f"] {
            let (status, text) = said(open(&format!("{scheme}://{host}:{port}/"), &hidden).await);
            assert!(matches!(status, 400 | 403), "{host}: {status} {text}");
        }
        let (status, text) = said(open(&format!("{scheme}://134744072/"), &hidden).await);
        let full =
            format!("{scheme}://134744072/ is not read: written in full it is {scheme}://8.8.8.8/");
        assert_eq!((status, text), (400, full));
    }
    assert!(canary.asked().is_empty());
    assert!(six.is_none_or(|site| site.asked().is_empty()));
    // The control: it is reached once it is named, and then by that name alone.
    let named = web(&[&format!("127.0.0.1:{port}")]);
    for scheme in ["sse", "ws"] {
        open(&format!("{scheme}://127.0.0.1:{port}/"), &named).await.unwrap_err();
        assert_eq!(said(open(&format!("{scheme}://localhost:{port}/"), &named).await).0, 403);
    }
    assert_eq!(canary.asked().len(), 2);
}

/// Opens a feed where these rules allow, and says what it came to.
async fn opened(address: &str, private: &[&str], allow: &[&str]) -> (u16, String) {
    let uri: Uri = address.parse().unwrap();
    let cancel = CancellationToken::new();
    said(Feed::open(&uri, (&web(private), &leads(allow)), growing(), quietly(), &cancel).await)
}

// keeps: feeds-inside
#[tokio::test]
async fn a_redirect_of_events_is_checked_like_an_address_and_one_of_a_socket_is_not_followed() {
    let canary = Site::start(|_| Says::Stalls(EVENTS.into()));
    let to = canary.at().to_string();
    let led = to.clone();
    let site = Site::start(move |path| match path {
        "/here" => Says::leads("301 Moved Permanently", "/there"),
        "/there" => Says::Stalls(EVENTS.into()),
        "/loop" => Says::leads("302 Found", "/loop"),
        "/file" => Says::leads("302 Found", "file:///etc/passwd"),
        "/disguised" => Says::leads("302 Found", &format!("http://2130706433:{}/", &led[10..])),
        _ => Says::leads("307 Temporary Redirect", &format!("http://{led}/x")),
    });
    let own = site.at().to_string();
    let at = |scheme: &str, path: &str| format!("{scheme}://{own}{path}");
    assert_eq!(opened(&at("sse", "/here"), &[&own], &[]).await, (102, String::new()));
    assert_eq!(site.asked().len(), 2);
    for (path, expected) in [("/loop", 422), ("/file", 422), ("/disguised", 409)] {
        let (status, text) = opened(&at("sse", path), &[&own], &[]).await;
        assert_eq!(status, expected, "{path}: {text}");
    }
    let other = at("sse", "/other");
    let leads = format!("{other}: 307 Temporary Redirect leads to sse://{to}/x; read that address");
    assert_eq!(opened(&other, &[&own], &[]).await, (409, leads));
    // A rule lets it be followed, and does not open what is inside.
    let rule = format!("read[effect=network,host={to}]");
    let (status, text) = opened(&other, &[&own], &[&rule]).await;
    assert_eq!(status, 403, "{text}");
    assert!(text.starts_with(&format!("{other} leads to sse://{to}/x. ")), "{text}");
    let socket = at("ws", "/here");
    let leads =
        format!("{socket}: 301 Moved Permanently leads to ws://{own}/there; read that address");
    assert_eq!(opened(&socket, &[&own, &to], &["*"]).await, (409, leads));
    assert!(canary.asked().is_empty());
    assert_eq!(opened(&other, &[&own, &to], &[&rule]).await, (102, String::new()));
    // A rule about pages is none about events.
    let pages = format!("read[scheme=http] {to}/**");
    assert_eq!(opened(&other, &[&own, &to], &[&pages]).await.0, 409);
    assert_eq!(canary.asked().len(), 1);
}

// keeps: feeds-agreed
#[tokio::test]
async fn only_what_was_asked_for_is_opened() {
    let upgrade =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
    let site = Site::start(move |path| match path {
        "/events" => Says::whole("200 OK", "Text/Event-Stream; charset=utf-8", b"data: a\n\n"),
        "/page" => Says::page("<p>no</p>"),
        "/untyped" => Says::Stalls(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()),
        "/packed" => {
            Says::Stalls(EVENTS.replacen("\r\n", "\r\nContent-Encoding: gzip\r\n", 1).into())
        }
        "/none" => Says::Bytes(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec()),
        "/gone" => Says::whole("410 Gone", "text/html", b"<p>Not <b>here</b>"),
        "/busy" => Says::whole("429 Too Many Requests", "text/plain", b"later"),
        "/else" => Says::Stalls(
            b"HTTP/1.1 101 Other\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n".to_vec(),
        ),
        "/forged" => Says::Stalls(format!("{upgrade}Sec-WebSocket-Accept: x\r\n\r\n").into()),
        _ => Says::Bytes(b"nonsense".to_vec()),
    });
    let own = site.at().to_string();
    let check = async |address: &str, expected: u16, why: &str| {
        let address = address.replace("//", &format!("//{own}"));
        let (status, text) = opened(&address, &[&own], &[]).await;
        assert_eq!(status, expected, "{address}: {text}");
        assert!(text.ends_with(why), "{address}: {text}");
    };
    check("sse:///events", 102, "").await;
    check("sse:///page", 415, "is text/html, not text/event-stream, and is not opened").await;
    check("sse:///untyped", 415, "is of no type, not text/event-stream, and is not opened").await;
    check("sse:///packed", 415, "was sent packed (gzip), which nobody asked for").await;
    check("sse:///none", 422, "the server answers 204 No Content, that is no stream of events")
        .await;
    check("sse:///gone", 410, "the server answers 410 Gone: Not here").await;
    check("sse:///busy", 429, "the server answers 429 Too Many Requests: later").await;
    check("sse:///bad", 500, "").await;
    check("ws:///page", 422, "the server answers 200 OK, it speaks no WebSocket").await;
    check("ws:///busy", 429, "the server answers 429 Too Many Requests: later").await;
    check("ws:///else", 422, "was not opened: the server changes to another protocol").await;
    check("ws:///forged", 422, "the server's answer is to somebody else's question").await;
    check("ws:///bad", 500, "").await;
    let (status, text) = opened(&format!("http://{own}/events"), &[&own], &[]).await;
    assert_eq!((status, text), (501, format!("http://{own}/events is a page, and no feed")));
}

// keeps: feeds-agreed
#[tokio::test]
async fn a_server_that_wants_more_than_it_was_asked_is_left() {
    for more in ["Sec-WebSocket-Extensions: permessage-deflate", "Sec-WebSocket-Protocol: chat"] {
        let at = serve(move |mut stream| async move {
            let head = head(&mut stream).await;
            let key = head.lines().find_map(|line| line.strip_prefix("sec-websocket-key: ")).unwrap();
            let accept = tungstenite::handshake::derive_accept_key(key.as_bytes());
            let answer = format!(
                "HTTP/1.1 101 Yes\r\nUpgrade: WebSocket\r\nConnection: keep-alive, upgrade\r\n{more}\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
            );
            stream.write_all(answer.as_bytes()).await.unwrap();
        })
        .await;
        let address = format!("ws://{at}/");
        let (status, text) = opened(&address, &[&at.to_string()], &[]).await;
        let why = format!("{address} was not opened: the server wants what nobody asked for");
        assert_eq!((status, text), (422, why));
    }
}

/// A server over TLS, for one connection, that a client trusts who knows its authority.
fn secure(
    act: impl FnOnce(StreamOwned<ServerConnection, std::net::TcpStream>) + Send + 'static,
) -> SocketAddr {
    let pem = include_bytes!("../../../../../cairn-provider/tests/wires/tls/server.pem");
    let key = include_bytes!("../../../../../cairn-provider/tests/wires/tls/server.key");
    let chain = CertificateDer::from_pem_slice(pem).unwrap();
    let key = PrivateKeyDer::from_pem_slice(key).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![chain], key)
        .unwrap();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let at = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (tcp, _) = listener.accept().unwrap();
        act(StreamOwned::new(ServerConnection::new(Arc::new(config)).unwrap(), tcp));
    });
    at
}

// keeps: feeds-agreed
#[tokio::test]
async fn over_tls_only_a_server_is_believed_whose_authority_is_known() {
    let events = || {
        secure(|mut tls| {
            let (mut head, mut byte) = (Vec::new(), [0]);
            // Who does not believe it goes away.
            while !head.ends_with(b"\r\n\r\n") && tls.read_exact(&mut byte).is_ok() {
                head.push(byte[0]);
            }
            let _ = tls.write_all(format!("{EVENTS}data: secret\n\n").as_bytes());
            tls.conn.send_close_notify();
            let _ = tls.flush();
        })
    };
    let socket = || {
        secure(|tls| {
            let Ok(mut socket) = tungstenite::accept(tls) else { return };
            socket.send(tungstenite::Message::text("secret")).unwrap();
            socket.close(None).unwrap();
            while socket.read().is_ok() {}
        })
    };
    for (scheme, server) in [("sses", &events as &dyn Fn() -> SocketAddr), ("wss", &socket)] {
        for is_known in [true, false] {
            let port = server().port();
            let host: HostPort = format!("model.example.invalid:{port}").parse().unwrap();
            let mut web = web(&[&host.to_string()]);
            web.names.push((host.host.clone(), vec![Ipv4Addr::LOCALHOST.into()]));
            let ca = include_bytes!("../../../../../cairn-provider/tests/wires/tls/ca.pem");
            web.ca_pem = is_known.then(|| ca.as_slice().into());
            let opened = open(&format!("{scheme}://{host}/"), &web).await;
            match is_known {
                true => assert_eq!(ended(opened.unwrap()).await.2, "secret\n", "{scheme}"),
                false => assert_eq!(said(opened).0, 500, "{scheme}"),
            }
        }
    }
}
