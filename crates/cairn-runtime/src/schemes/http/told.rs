//! What is made of an answer: a page as Markdown, other texts as they are, in whatever they were encoded; the rest
//! as bytes with their type. And what is told of one that says no.

use super::markdown;
use crate::reach::{Answer, Head, refusal};
use cairn_text::mime;
use cairn_types::Status;
use cairn_world::{Entry, Refusal};
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use reqwest::header::CONTENT_TYPE;
use std::fmt::Write as _;

/// So much of a page is looked at for how it is encoded, in bytes.
const HEAD: usize = 1024;
/// So much of what a server says besides its status is told, in characters.
const BRIEF: usize = 500;
/// The most that is told of how answers begin, in bytes.
const MOST_HEADERS: usize = 64 << 10;

/// Answers' statuses, and what a row says of them.
fn status_of(status: u16) -> Status {
    match status {
        401 | 403 | 407 | 451 => Status::REFUSED,
        404 => Status::NOT_FOUND,
        408 | 504 => Status::TIMED_OUT,
        410 => Status::GONE,
        429 => Status::LIMIT,
        500.. => Status::FAILED,
        _ => Status::UNPROCESSABLE,
    }
}

/// What an answer says.
pub(crate) fn body(answer: Answer) -> Result<Entry, Refusal> {
    let Answer { heads, body, leads } = answer;
    let nothing = || refusal(Status::FAILED, "nobody answered".to_owned());
    let head = heads.last().ok_or_else(nothing)?;
    if let Some(to) = leads {
        let text = format!("{}: {} leads to {to}; read that address", head.address, head.status);
        return Err(refusal(Status::CONFLICT, text));
    }
    let is_success = head.status.is_success();
    let entry = entry(head, body);
    match is_success {
        true => Ok(entry),
        false => Err(refused(head, &entry)),
    }
}

/// The answer says no: that, and the beginning of why.
fn refused(head: &Head, entry: &Entry) -> Refusal {
    let text = match mime::is_binary(&entry.mime) {
        true => String::new(),
        false => String::from_utf8_lossy(&entry.content).into_owned(),
    };
    let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = words.char_indices().nth(BRIEF) {
        words.truncate(end);
        words.push('…');
    }
    let said = if words.is_empty() { String::new() } else { format!(": {words}") };
    let text = format!("{}: the server answers {}{said}", head.address, head.status);
    refusal(status_of(head.status.as_u16()), text)
}

/// How all answers on the way begin, each as its server wrote it.
pub(super) fn headers(answer: &Answer) -> Entry {
    let mut text = String::new();
    for head in &answer.heads {
        let lead = if text.is_empty() { "" } else { "\n" };
        let _ = writeln!(text, "{lead}GET {}\n{:?} {}", head.address, head.version, head.status);
        for (name, value) in &head.headers {
            let _ = writeln!(text, "{name}: {}", String::from_utf8_lossy(value.as_bytes()));
        }
    }
    if text.len() > MOST_HEADERS {
        let end = (0..=MOST_HEADERS).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or_default());
        text.push_str("…\n");
    }
    Entry { content: text.into_bytes(), mime: "text/plain".to_owned(), tags: Vec::new() }
}

/// A body by what its type says, and where that says nothing by its bytes.
fn entry(head: &Head, body: Vec<u8>) -> Entry {
    let declared = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let declared = declared.unwrap_or_default().trim().to_ascii_lowercase();
    let (essence, parameters) = declared.split_once(';').unwrap_or((&declared, ""));
    let essence = match essence.trim() {
        "" | "application/octet-stream" | "binary/octet-stream" => {
            mime::of(head.address.url().path(), &body[..body.len().min(HEAD)]).name()
        }
        essence => essence,
    };
    let made = |content: Vec<u8>, mime: &str| {
        let (mime, tags) = (mime.to_owned(), Vec::new());
        Entry { content, mime, tags }
    };
    if mime::is_binary(essence) {
        return made(body, essence);
    }
    let Some(text) = decoded(&body, essence, charset(parameters)) else {
        return made(body, "application/octet-stream");
    };
    match essence {
        "text/html" | "application/xhtml+xml" => {
            made(markdown::of(&text, head.address.url()).into_bytes(), "text/markdown")
        }
        essence => made(text.into_bytes(), essence),
    }
}

/// The encoding that a type's parameters, or a tag of a page, name.
fn charset(text: &str) -> Option<&'static Encoding> {
    let after = &text[text.find("charset=")? + "charset=".len()..];
    let is_end = |c: char| c.is_ascii_whitespace() || "\"';>/".contains(c);
    let name = after.trim_start_matches(['"', '\'']).split(is_end).next()?;
    Encoding::for_label(name.as_bytes())
}

/// Bytes as text, by what was said of them; none where they are none.
fn decoded(body: &[u8], essence: &str, said: Option<&'static Encoding>) -> Option<String> {
    let is_page = essence.contains("html");
    let in_page = || {
        let head = String::from_utf8_lossy(&body[..body.len().min(HEAD)]).to_ascii_lowercase();
        charset(&head).filter(|_| is_page)
    };
    let is_utf8 = || std::str::from_utf8(body).is_ok();
    let encoding = match said.or_else(in_page) {
        Some(encoding) => encoding,
        None if is_utf8() => UTF_8,
        None => WINDOWS_1252,
    };
    let text = encoding.decode(body).0.into_owned();
    // A page may hold anything; of other texts none holds this.
    (is_page || !text.contains('\0')).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach::Address;
    use reqwest::header::HeaderMap;
    use reqwest::{StatusCode, Version};

    fn answer(status: u16, declared: &str, body: &[u8]) -> Answer {
        let mut headers = HeaderMap::new();
        if !declared.is_empty() {
            headers.insert(CONTENT_TYPE, declared.parse().unwrap());
        }
        let address = Address::of("https://e.example/a").unwrap();
        let (version, status) = (Version::HTTP_11, StatusCode::from_u16(status).unwrap());
        let head = Head { address, version, status, headers };
        Answer { heads: vec![head], body: body.to_vec(), leads: None }
    }

    // keeps: web-told
    #[test]
    fn a_body_is_told_by_its_type() {
        let check = |declared: &str, sent: &[u8], mime: &str, content: &str| {
            let entry = body(answer(200, declared, sent)).unwrap();
            let told = (entry.mime.as_str(), String::from_utf8_lossy(&entry.content));
            assert_eq!(told, (mime, content.into()), "{declared} {sent:?}");
        };
        check("text/html", b"<h1>A</h1>", "text/markdown", "# A\n");
        check("Text/HTML; charset=ISO-8859-1", b"<p>\xfc</p>", "text/markdown", "\u{fc}\n");
        check("text/html", b"<meta charset='shift_jis'>\x83e", "text/markdown", "\u{30c6}\n");
        check("text/html", b"\xfc", "text/markdown", "\u{fc}\n");
        check("text/html", "\u{feff}x".as_bytes(), "text/markdown", "x\n");
        check("application/json", b"{\"a\":1}", "application/json", "{\"a\":1}");
        check("text/plain; charset=\"utf-16le\"", b"a\0b\0", "text/plain", "ab");
        check("text/plain", b"a\0b", "application/octet-stream", "a\0b");
        check("image/png", b"x", "image/png", "x");
        check("", b"plain words", "text/markdown", "plain words");
    }

    // keeps: web-told
    #[test]
    fn a_server_that_says_no_is_told_with_the_status_that_fits() {
        for (said, expected) in [
            (400, 422),
            (401, 403),
            (402, 422),
            (403, 403),
            (404, 404),
            (405, 422),
            (408, 408),
            (410, 410),
            (418, 422),
            (429, 429),
            (451, 403),
            (500, 500),
            (503, 500),
            (504, 408),
            (599, 500),
            (304, 422),
        ] {
            let refused = body(answer(said, "text/html", b"<p>No, <b>sorry</b>")).unwrap_err();
            assert_eq!(refused.status.0, expected, "{said}");
            let begins = format!("https://e.example/a: the server answers {said}");
            assert!(refused.text.starts_with(&begins), "{}", refused.text);
            assert!(refused.text.ends_with(": No, sorry"), "{}", refused.text);
        }
        let long = body(answer(404, "text/plain", "ä ".repeat(9_000).as_bytes())).unwrap_err();
        assert!(long.text.chars().count() < 600, "{}", long.text.len());
    }
}
