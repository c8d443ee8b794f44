//! However a reply is cut on its way, the same is read of it and recorded.

use crate::kit::{Told, block_on, script, start, store};
use cairn_runtime::{Manner, Place};
use cairn_store::Store;
use cairn_testkit::{Fault, ModelServer, TempHome};
use cairn_types::{Body, ContentRef, Mode, Surface};
use serde_json::json;
use std::io::Write;
use std::sync::Arc;

/// Numbers by chance, always the same ones.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    /// Cuts something into pieces of one to nine.
    fn cut<'a, T>(&mut self, mut all: &'a [T]) -> Vec<&'a [T]> {
        let mut pieces = Vec::new();
        while !all.is_empty() {
            let (piece, rest) = all.split_at((1 + self.below(9)).min(all.len()));
            pieces.push(piece);
            all = rest;
        }
        pieces
    }
}

/// A reply as a server streams it: in events of a few characters each, which arrive in pieces of a few bytes each.
fn response(reply: &str, dice: &mut Dice) -> Vec<u8> {
    let letters: Vec<char> = reply.chars().collect();
    let mut stream = String::new();
    for piece in dice.cut(&letters) {
        let content: String = piece.iter().collect();
        let event = json!({"choices": [{"delta": {"content": content}}]});
        stream.push_str(&format!("data: {event}\n\n"));
    }
    stream.push_str(
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    );
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
    let mut sent = head.as_bytes().to_vec();
    for piece in dice.cut(stream.as_bytes()) {
        let _ = write!(sent, "{:x}\r\n", piece.len());
        sent.extend(piece);
        sent.extend(b"\r\n");
    }
    sent.extend(b"0\r\n\r\n");
    sent
}

/// What is recorded of a run whose model always sends this.
fn recorded(surface: Surface, sent: Vec<u8>) -> Vec<String> {
    let temp = TempHome::new();
    let store = store(&temp.home());
    let server = ModelServer::start(script(&[]));
    server.fault_always(Fault::Garbage(sent));
    let mut start = start(&store, &temp.workspace(), &server.url(), Arc::new(Told::default()));
    start.mode = Mode::AcceptEdits;
    start.settings.manner = Manner { surface, ..Manner::default() };
    let new = Place::New { new_session: false, name: None };
    let (mut driver, _commands) = block_on(start.take(new, Some("go"))).unwrap();
    block_on(driver.drive(None)).unwrap();
    let facts = store.facts(driver.run_id(), 0).unwrap();
    facts.iter().filter_map(|fact| told(&fact.body, &store)).collect()
}

/// What a fact says of the reply: its words, what was asked for, and what could not be read.
fn told(body: &Body, store: &Store) -> Option<String> {
    let text = |kept: &ContentRef| String::from_utf8(store.content(&kept.hash).unwrap()).unwrap();
    match body {
        Body::Reply(reply) => {
            let (said, problems) =
                (reply.text.as_ref().map(text), reply.problems.as_ref().map(text));
            Some(format!("{said:?} {:?} {problems:?} {:?}", reply.calls, reply.repairs))
        }
        Body::Intent(intent) => {
            Some(format!("{} {} {:?}", intent.at, text(&intent.input), intent.repairs))
        }
        Body::Outcome(outcome) => Some(format!("{} {}", outcome.at, outcome.status)),
        Body::End(end) => Some(format!("{end:?}")),
        _ => None,
    }
}

// keeps: pieces-alike
#[test]
fn a_reply_is_read_alike_however_it_is_cut_on_its_way() {
    let tags = "I wr\u{eb}te – 世 it.\n<think>now</think>\n<set path=\"a.txt\">\none\n</set>\n<get path=\"a.txt\"/>\n\
        <get path=\"\u{7}\"/>\n<sh>echo '</set>'</sh>\n`<rm path=\"a.txt\"/>`\n<update status=\"200\">d\u{f6}ne</update>";
    let heredoc = "Now – 世:\n<<EDIT(a.txt):one\n:EDIT\n<<READ(a.txt)::READ\n<<REED(b)::REED\n<<EXEC:echo :EDIT:EXEC\n\
        `<<KILL(a.txt)::KILL`\n<<SEND[200]:d\u{f6}ne:SEND";
    let envelope = "<think>\u{e9}</think>```json\n{\"tool\":\"read\",\"args\":{\"path\":\"a\u{1f600}\"},\"nonce\":\"another\"}\n```";
    for (surface, reply) in
        [(Surface::Tags, tags), (Surface::Heredoc, heredoc), (Surface::Envelope, envelope)]
    {
        let letters = reply.chars().count();
        let whole = json!({"choices": [{"delta": {"content": reply}, "finish_reason": "stop"}]});
        let whole = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {whole}\n\ndata: [DONE]\n\n"
        );
        let expected = recorded(surface, whole.into_bytes());
        assert!(expected.len() > 3 && letters > 60, "{expected:#?}");
        for seed in 0..8 {
            let sent = response(reply, &mut Dice(seed));
            assert_eq!(recorded(surface, sent), expected, "{surface}, cut by {seed}");
        }
    }
}
