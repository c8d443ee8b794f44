//! HTTPS with a certificate authority of one's own, directly and through a proxy. The certificates
//! beside this file are for this test; nothing else knows them.

use crate::kit::{KEY, ask, once, show, stream};
use cairn_provider::http::{Config, Http, Network, Wire};
use cairn_provider::{FaultClass, Secret};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

const CA: &[u8] = include_bytes!("tls/ca.pem");

/// A server that answers every connection with the first reply of the script.
fn secure_server() -> SocketAddr {
    let chain = CertificateDer::from_pem_slice(include_bytes!("tls/server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("tls/server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![chain], key)
        .unwrap();
    let config = Arc::new(config);
    serve(move |tcp| {
        let connection = ServerConnection::new(Arc::clone(&config)).map_err(io::Error::other)?;
        let mut tls = StreamOwned::new(connection, tcp);
        read_until(&mut tls, b"\"go\"}]}")?;
        tls.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
        tls.write_all(stream(Wire::Chat).as_bytes())?;
        tls.conn.send_close_notify();
        tls.flush()
    })
}

/// A proxy that connects everything to this server, whatever was asked for.
fn proxy_to(server: SocketAddr) -> SocketAddr {
    serve(move |mut near| {
        let head = read_until(&mut near, b"\r\n\r\n")?;
        assert!(head.starts_with("CONNECT model.example.invalid:443 "), "{head}");
        assert!(!head.contains(KEY), "{head}");
        near.write_all(b"HTTP/1.1 200 Connected\r\n\r\n")?;
        let mut far = TcpStream::connect(server)?;
        let (mut from, mut to) = (near.try_clone()?, far.try_clone()?);
        std::thread::spawn(move || drop(io::copy(&mut from, &mut to)));
        io::copy(&mut far, &mut near).map(drop)
    })
}

fn serve(answer: impl Fn(TcpStream) -> io::Result<()> + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    // A client that does not trust us goes away in the middle.
    std::thread::spawn(move || listener.incoming().flatten().for_each(|tcp| drop(answer(tcp))));
    address
}

fn read_until(from: &mut impl Read, end: &[u8]) -> io::Result<String> {
    let (mut all, mut byte) = (Vec::new(), [0]);
    while !all.ends_with(end) {
        from.read_exact(&mut byte)?;
        all.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&all).into_owned())
}

async fn answer(base_url: &str, network: Network) -> Result<String, FaultClass> {
    let config = Config {
        key: Some(Secret::new(KEY)),
        limits: once(),
        network,
        ..Config::new("demo", Wire::Chat, base_url, "demo-1")
    };
    ask(&Http::new(config).unwrap()).await.map(|a| show(Ok(a))).map_err(|fault| fault.class)
}

#[tokio::test]
async fn an_authority_of_ones_own_is_trusted_when_it_is_given() {
    let server = secure_server();
    let trusting = || Network { ca_pem: Some(CA.into()), ..Network::default() };
    let direct = format!("https://{server}/v1");
    let told = answer(&direct, trusting()).await.unwrap();
    assert!(told.starts_with("Calls \"I look"), "{told}");
    assert_eq!(answer(&direct, Network::default()).await, Err(FaultClass::Unreachable));

    let proxy = Some(Secret::new(format!("http://{}", proxy_to(server))));
    let far = "https://model.example.invalid/v1";
    let through = Network { proxy: proxy.clone(), ..trusting() };
    assert_eq!(answer(far, through).await.as_deref(), Ok(told.as_str()));
    let untrusting = Network { proxy, ..Network::default() };
    assert_eq!(answer(far, untrusting).await, Err(FaultClass::Unreachable));
}
