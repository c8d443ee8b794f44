//! A WebSocket: how it is agreed on, what is handed on until it ends, and what is written to it. What it is agreed
//! over is an answer like any; redirects are not followed.

use super::{Ending, refused};
use crate::reach::{Address, Asked, Asking, Head, MOST, Said, Web, refusal};
use cairn_types::{Status, StreamState};
use cairn_world::Refusal;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use reqwest::Upgraded;
use reqwest::header::{
    CONNECTION, HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS,
    SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message, error::ProtocolError};

/// The most bytes that wait to be sent: one message, and answers to pings. A server that asks and does not listen gets
/// no further answers.
const WAITING: usize = MOST + (64 << 10);
/// How long the other side may take to agree that it is over.
const PARTING: Duration = Duration::from_secs(1);

/// What is written to.
pub(super) type Writer = Arc<Mutex<SplitSink<WebSocketStream<Upgraded>, Message>>>;

/// What is read from.
pub(super) type Reader = SplitStream<WebSocketStream<Upgraded>>;

/// Agrees on a WebSocket with the server at an address.
pub(super) async fn open(address: &Address, web: &Web) -> Result<(Reader, Writer), Refusal> {
    let key = generate_key();
    let failed = |why: String| refusal(Status::FAILED, format!("{address} was not opened: {why}"));
    let sent_key = HeaderValue::from_str(&key).map_err(|why| failed(why.to_string()))?;
    let headers = HeaderMap::from_iter([
        (CONNECTION, HeaderValue::from_static("Upgrade")),
        (UPGRADE, HeaderValue::from_static("websocket")),
        (SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13")),
        (SEC_WEBSOCKET_KEY, sent_key),
    ]);
    let asked = Asking { web, leads: None, headers }.ask(address).await?;
    let response = match asked {
        Asked { said: Said::More(response), heads } if response.status() == 101 => {
            heads.last().map_or(Ok(()), |head| agreed(head, &key))?;
            response
        }
        asked => return Err(refused(asked, "it speaks no WebSocket").await),
    };
    let socket = response.upgrade().await.map_err(|why| failed(why.to_string()))?;
    let config = WebSocketConfig::default()
        .read_buffer_size(16 << 10)
        .write_buffer_size(0)
        .max_write_buffer_size(WAITING)
        .max_message_size(Some(MOST))
        .max_frame_size(Some(MOST));
    let socket = WebSocketStream::from_raw_socket(socket, Role::Client, Some(config)).await;
    let (writer, reader) = socket.split();
    Ok((reader, Arc::new(Mutex::new(writer))))
}

/// Whether the server agreed to what was asked for, and to nothing else.
fn agreed(head: &Head, key: &str) -> Result<(), Refusal> {
    let said = |name: &HeaderName| {
        let value = head.headers.get(name).map(HeaderValue::as_bytes).unwrap_or_default();
        String::from_utf8_lossy(value).into_owned()
    };
    let upgrades =
        |name, to: &str| said(name).split(',').any(|one| one.trim().eq_ignore_ascii_case(to));
    let why = if !upgrades(&UPGRADE, "websocket") || !upgrades(&CONNECTION, "upgrade") {
        "the server changes to another protocol"
    } else if said(&SEC_WEBSOCKET_ACCEPT) != derive_accept_key(key.as_bytes()) {
        "the server's answer is to somebody else's question"
    } else if [SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_PROTOCOL]
        .iter()
        .any(|one| !said(one).is_empty())
    {
        "the server wants what nobody asked for"
    } else {
        return Ok(());
    };
    Err(refusal(Status::UNPROCESSABLE, format!("{} was not opened: {why}", head.address)))
}

/// Hands on what comes until the server ends it.
pub(super) async fn run(
    reader: &mut Reader,
    writer: &Writer,
    hand_on: &mut impl FnMut(&[u8]),
) -> Ending {
    while let Some(message) = reader.next().await {
        match message {
            Ok(Message::Text(text)) => {
                hand_on(&[text.as_bytes(), b"\n"].concat());
            }
            Ok(Message::Binary(bytes)) => {
                hand_on(format!("(binary, {} bytes)\n", bytes.len()).as_bytes());
            }
            Ok(Message::Close(said)) => {
                part(reader, writer).await;
                return (StreamState::Exited, closed(said));
            }
            // Pings are answered by whoever reads frames.
            Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => {}
            Err(why) => return (StreamState::Failed, broken(&why)),
        }
    }
    (StreamState::Exited, closed(None))
}

/// Says that it is over, if that was not said, and lets the other side agree.
pub(super) async fn part(reader: &mut Reader, writer: &Writer) {
    let parting = async {
        let mut writer = writer.lock().await;
        if writer.close().await.is_ok() {
            while let Some(Ok(_)) = reader.next().await {}
        }
    };
    // A side that does not answer is left.
    let _ = timeout(PARTING, parting).await;
}

fn closed(said: Option<CloseFrame>) -> String {
    match said {
        None => "closed by the server".to_owned(),
        Some(CloseFrame { code, reason }) if reason.is_empty() => {
            format!("closed by the server, {}", u16::from(code))
        }
        Some(CloseFrame { code, reason }) => {
            format!("closed by the server, {}: {reason}", u16::from(code))
        }
    }
}

fn broken(why: &Error) -> String {
    match why {
        Error::Capacity(_) => format!("413: a message is larger than {} MiB", MOST >> 20),
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => {
            "the connection broke: the server went away without a word".to_owned()
        }
        Error::Io(why) => format!("the connection broke: {why}"),
        Error::Utf8(_) => "a text of the server is not UTF-8".to_owned(),
        why => format!("what the server sent is no message: {why}"),
    }
}

/// Writes one message.
pub(super) async fn write(writer: &Writer, text: &str) -> Result<(), Error> {
    let mut writer = writer.lock().await;
    // What waits to be sent goes first, so that there is room.
    writer.flush().await?;
    writer.send(Message::text(text)).await
}
