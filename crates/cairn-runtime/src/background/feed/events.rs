//! Server-sent events, read as the HTML standard says, whatever pieces they come in. Knows no connection.

use crate::reach::MOST;
use std::mem::take;

/// What came of a stream of events and is not handed on yet.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// The line that has not ended.
    line: Vec<u8>,
    /// Whether a line has ended: only the first may begin with a mark of its encoding.
    has_begun: bool,
    /// Whether a carriage return came last: a line feed after it ends no other line.
    after_return: bool,
    /// What the event is called.
    name: String,
    /// What it says, each line with its end.
    data: String,
}

/// An event is larger than any may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLarge;

impl Events {
    /// Takes a piece, and hands on the events that it ends: what each says and a line feed, and before that its name
    /// where it has one of its own. What `id` and `retry` say is for connecting again, which nobody does.
    pub(super) fn push(
        &mut self,
        piece: &[u8],
        hand_on: &mut dyn FnMut(&[u8]),
    ) -> Result<(), TooLarge> {
        let mut rest = piece;
        while !rest.is_empty() {
            if take(&mut self.after_return) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
            self.line.extend_from_slice(&rest[..end.unwrap_or(rest.len())]);
            if self.line.len() + self.name.len() + self.data.len() > MOST {
                return Err(TooLarge);
            }
            let Some(end) = end else { break };
            self.after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            let line = take(&mut self.line);
            self.end_line(&line, hand_on);
        }
        Ok(())
    }

    fn end_line(&mut self, line: &[u8], hand_on: &mut dyn FnMut(&[u8])) {
        let line = String::from_utf8_lossy(line);
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let line = line.strip_prefix('\u{feff}').filter(|_| is_first).unwrap_or(&line);
        if line.is_empty() {
            return self.end_event(hand_on);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                self.data.push_str(value);
                self.data.push('\n');
            }
            "event" => value.clone_into(&mut self.name),
            // A comment has no field. Unknown ones are left out, as the standard says.
            _ => {}
        }
    }

    /// An event that says nothing is none.
    fn end_event(&mut self, hand_on: &mut dyn FnMut(&[u8])) {
        let (name, data) = (take(&mut self.name), take(&mut self.data));
        if data.is_empty() {
            return;
        }
        match name.as_str() {
            "" | "message" => hand_on(data.as_bytes()),
            name => hand_on(format!("event: {name}\n{data}").as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What is made of a stream that comes in these pieces, and whether it was too large.
    fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (String, bool) {
        let (mut events, mut kept) = (Events::default(), Vec::new());
        let mut hand_on = |text: &[u8]| kept.extend_from_slice(text);
        let ended = pieces.into_iter().try_for_each(|piece| events.push(piece, &mut hand_on));
        (String::from_utf8(kept).unwrap(), ended.is_err())
    }

    // keeps: feeds-told
    #[test]
    fn events_are_read_as_the_standard_says() {
        let check = |stream: &[u8], expected: &str| {
            assert_eq!(read([stream]), (expected.to_owned(), false), "{stream:?}");
        };
        check(b"data: a\n\n", "a\n");
        check(b"data:a\n\ndata:  b\n\n", "a\n b\n");
        check(b"data: a\rdata: b\r\r", "a\nb\n");
        check(b"data: a\r\ndata: b\r\n\r\n", "a\nb\n");
        check(b"data: a\n\r\ndata: b\r\rdata: c\r\n\n", "a\nb\nc\n");
        check(b"\xef\xbb\xbfdata: a\n\n", "a\n");
        check(b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", "");
        check(b"data: a\n\xef\xbb\xbfdata: b\n\n", "a\n");
        check(b": comment\n\n:\n\ndata: a\n: between\n\n", "a\n");
        check(b"event: add\ndata: 1\n\n", "event: add\n1\n");
        check(b"data: 1\nevent: add\ndata: 2\n\ndata: 3\n\n", "event: add\n1\n2\n3\n");
        check(
            b"event: add\r\ndata: 1\r\n\r\nevent: b\rdata: 2\r\r",
            "event: add\n1\nevent: b\n2\n",
        );
        check(b"event: message\ndata: 1\n\nevent:\ndata: 2\n\n", "1\n2\n");
        check(b"event: lost\n\ndata: 1\n\n", "1\n");
        check(b"event: a\nevent: b\ndata: 1\n\n", "event: b\n1\n");
        check(b"id: 7\nretry: 10\ndata: a\n\nid\nretry: x\n\n", "a\n");
        check(b"data\n\ndata:\ndata\n\n", "\n\n\n");
        check(b"data: a: b\n\nDATA: c\n\n data: d\n\nother: e\n\n", "a: b\n");
        check("data: gr\u{fc}n \u{1f600}\n\n".as_bytes(), "gr\u{fc}n \u{1f600}\n");
        check(b"data: \xff\xe2\x82\n\n", "\u{fffd}\u{fffd}\n");
        check(b"data: not ended\n", "");
        check(b"data: not ended", "");
        check(b"", "");
    }

    // keeps: feeds-bounded
    #[test]
    fn an_event_has_a_largest_size_and_a_stream_has_none() {
        let line = [b"data: ".as_slice(), &[b'x'; 1 << 16], b"\n"].concat();
        // Without an end to the line, to the event; and with ends, more than one event may have.
        let endless = std::iter::repeat_n([b'x'; 1 << 16].as_slice(), (MOST >> 16) + 1);
        assert_eq!(read(endless), (String::new(), true));
        assert!(read(std::iter::repeat_n(line.as_slice(), (MOST >> 16) + 1)).1);
        assert!(!read(std::iter::repeat_n(line.as_slice(), (MOST >> 16) - 1)).1);
        let event = [line.as_slice(), b"\n"].concat();
        let (kept, is_too_large) = read(std::iter::repeat_n(event.as_slice(), (MOST >> 16) + 9));
        assert!(!is_too_large && kept.len() > MOST);
        // What came before it is kept.
        let first = [b"data: a\n\n".as_slice(), &vec![b'x'; MOST + 1]].concat();
        assert_eq!(read([first.as_slice()]), ("a\n".to_owned(), true));
    }

    proptest! {
        // keeps: feeds-told
        #[test]
        fn the_same_is_read_whatever_the_pieces(
            words in proptest::collection::vec(prop_oneof![
                Just(b"data: ".to_vec()), Just(b"data".to_vec()), Just(b"event: e".to_vec()),
                Just(b":".to_vec()), Just(b"\n".to_vec()), Just(b"\r".to_vec()), Just(b"\r\n".to_vec()),
                Just(b"\xef\xbb\xbf".to_vec()), Just("😀é日".into()), Just(b"\xe2\x82".to_vec()),
                Just(b"x".to_vec()),
            ], 0..40),
            sizes in proptest::collection::vec(1usize..9, 1..40),
        ) {
            let all = words.concat();
            let (mut pieces, mut rest) = (Vec::new(), all.as_slice());
            for size in sizes.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (piece, after) = rest.split_at(rest.len().min(*size));
                pieces.push(piece);
                rest = after;
            }
            prop_assert_eq!(read(pieces), read([all.as_slice()]));
            prop_assert_eq!(read(all.chunks(1)), read([all.as_slice()]));
        }
    }
}
