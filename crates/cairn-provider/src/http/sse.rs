//! Server-sent events as bytes come in: lines end in CR, LF or CRLF, an event ends at an empty
//! line. Knows nothing of what the events say.

/// Splits a stream into the data of its events.
#[derive(Debug, Default)]
pub(crate) struct Sse {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_cr: bool,
    begun: bool,
    understood: bool,
    foreign: Option<String>,
}

impl Sse {
    /// The data of every event that these bytes complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut events = Vec::new();
        let mut rest = bytes;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = rest.iter().position(|b| matches!(b, b'\n' | b'\r')) {
            self.line.extend_from_slice(&rest[..end]);
            events.extend(self.end_line());
            let width = if rest[end..].starts_with(b"\r\n") { 2 } else { 1 };
            self.after_cr = rest.len() == end + 1 && rest[end] == b'\r';
            rest = &rest[end + width..];
        }
        self.line.extend_from_slice(rest);
        events
    }

    /// The data of an event whose end never came. It may be half of one.
    pub(crate) fn end(&mut self) -> Option<Vec<u8>> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.end_event()
    }

    /// The line before any data that is no line of an event stream. Later ones are ignored, as the
    /// standard wants it.
    pub(crate) fn foreign(&self) -> Option<&str> {
        self.foreign.as_deref()
    }

    /// Whether the line that has begun holds data.
    pub(crate) fn is_within_data(&self) -> bool {
        self.line.starts_with(b"data:")
    }

    fn end_line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        let line = match line.strip_prefix("\u{feff}".as_bytes()) {
            Some(rest) if !self.begun => rest,
            _ => &line,
        };
        self.begun = true;
        if line.is_empty() {
            return self.end_event();
        }
        let (field, value) = match line.iter().position(|b| *b == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        match field {
            b"data" => self.add_data(value.strip_prefix(b" ").unwrap_or(value)),
            b"" | b"event" | b"id" | b"retry" => {}
            _ if self.foreign.is_none() && !self.understood && !is_cut_field(line) => {
                let shown = &line[..line.len().min(200)];
                self.foreign = Some(String::from_utf8_lossy(shown).into_owned());
            }
            _ => {}
        }
        None
    }

    fn add_data(&mut self, value: &[u8]) {
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.understood = true;
        self.data.extend_from_slice(value);
    }

    fn end_event(&mut self) -> Option<Vec<u8>> {
        let data = std::mem::take(&mut self.data);
        std::mem::take(&mut self.has_data).then_some(data)
    }
}

/// Whether a line may be the beginning of one whose rest never came.
fn is_cut_field(line: &[u8]) -> bool {
    ["data", "event", "id", "retry"].iter().any(|field| field.as_bytes().starts_with(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fed whole and byte by byte, a stream gives the same events.
    fn check(stream: &str, expected: &[&str]) {
        for size in [1, 2, 3, 7, stream.len().max(1)] {
            let mut sse = Sse::default();
            let mut events: Vec<Vec<u8>> =
                stream.as_bytes().chunks(size).flat_map(|piece| sse.push(piece)).collect();
            events.extend(sse.end());
            let events: Vec<String> =
                events.into_iter().map(|e| String::from_utf8(e).unwrap()).collect();
            assert_eq!(events, expected, "{stream:?} in pieces of {size}");
        }
    }

    #[test]
    fn events_are_found_however_their_lines_end_and_wherever_pieces_break() {
        check("data: a\n\ndata: b\n\n", &["a", "b"]);
        check("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]);
        check("data: a\r\rdata: b\r\r", &["a", "b"]);
        check("data:a\n\n\n\n\r\n", &["a"]);
        check("data: a\ndata: b\ndata\n\n", &["a\nb\n"]);
        check(": a comment\nevent: x\nid: 7\nretry: 1\ndata:  two spaces\n\n", &[" two spaces"]);
        check("\u{feff}data: é€😀\n\n", &["é€😀"]);
        check("data: no blank line", &["no blank line"]);
        check("data: no blank line\r\n", &["no blank line"]);
        check("event: x\n\n", &[]);
        check("data:\n\n", &[""]);
        check("", &[]);
    }

    #[test]
    fn what_is_no_event_stream_is_noticed_and_a_cut_one_is_not_taken_for_that() {
        let check = |stream: &[u8], foreign| {
            let mut sse = Sse::default();
            sse.push(stream);
            sse.end();
            assert_eq!(sse.foreign(), foreign);
        };
        check(b"Hello there\ndata: a\n\n", Some("Hello there"));
        check(b"Hello there", Some("Hello there"));
        check(b"data: a\n\nHello there\n", None);
        check(b"dat", None);
    }
}
