//! What is found, what is not, and that it does not matter how a text is cut.

use super::*;
use proptest::prelude::*;
use std::sync::LazyLock;

fn secret(text: &str) -> Secret {
    Secret::new(text)
}

static SCRUBBER: LazyLock<Scrubber> = LazyLock::new(|| {
    let known = [
        Known::new("OTHER_TOKEN", &secret("correct horse \"battery\"")),
        Known::new("deploy key!", &secret("Zm9vYmFy+/secret")),
        Known::new("SHORT", &secret("hunter2")),
    ];
    Scrubber::new([7; 32], known)
});

fn scrubber() -> Scrubber {
    SCRUBBER.clone()
}

/// The text with the tags of its markers taken out.
fn scrubbed(text: &str) -> String {
    let scrubbed = scrubber().text(text).into_owned();
    let mut parts = scrubbed.split(MARK);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |so_far, part| match part.split_once(' ') {
        Some((name, rest)) if rest.get(4..5) == Some("]") => {
            format!("{so_far}<{name}>{}", &rest[5..])
        }
        _ => format!("{so_far}{MARK}{part}"),
    })
}

#[test]
fn keys_of_every_shape_are_found() {
    let check = |text: &str, expected: &str| assert_eq!(scrubbed(text), expected, "{text}");
    let long = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5hJ7k";
    check(&format!("export K=sk-proj-{long}\n"), "export K=<openai>\n");
    check(&format!("sk-ant-api03-{long}."), "<anthropic>.");
    check("sk-canary-0123456789abcdef01", "<openai>");
    check(&format!("\"ghp_{}\"", &long[..36]), "\"<github>\"");
    check(&format!("line\\nghp_{}\\n", &long[..36]), "line\\n<github>\\n");
    check(&format!("a%3Dghp_{}", &long[..36]), "a%3D<github>");
    check(&format!("github_pat_{}_{long}", &long[..22]), "<github>");
    check("glpat-aB3dE5gH7jK9mN1pQ3sT", "<gitlab>");
    check("xoxb-123456789012-aB3dE5gH7jK9", "<slack>");
    check("AKIAABCDEFGHIJKLMNOP AKIAIOSFODNN7EXAMPLE", "<aws> AKIAIOSFODNN7EXAMPLE");
    check(&format!("AIza{}", &long[..35]), "<google>");
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6y";
    check(&format!("cookie {jwt};"), "cookie <jwt>;");
    check(
        &format!("Authorization: Bearer {long}\r\n"),
        "Authorization: Bearer <authorization>\r\n",
    );
    check("Authorization: Basic dXNlcjpwYXNzd29yZDEyMw==", "Authorization: Basic <authorization>");
    check(&format!("x-api-key: {long}"), "x-api-key: <authorization>");
    for word in ["BEARER", "bearer", "Basic"] {
        check(&format!("{word} {long}"), &format!("{word} <authorization>"));
    }
    check(&format!("Authorization: token {long}"), "Authorization: token <authorization>");
    check(&format!("authorization: Token {long}"), "authorization: Token <authorization>");
    check(&format!("x-api-key:{long}"), "x-api-key:<authorization>");
    check(&format!("X-API-KEY: {long}"), "X-API-KEY: <authorization>");
    check(&format!("{{\"x-api-key\": \"{long}\"}}"), "{\"x-api-key\": \"<authorization>\"}");
    check(&format!("{{\"X-Api-Key\":\"{long}\"}}"), "{\"X-Api-Key\":\"<authorization>\"}");
    check("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", "<google>");
    let age = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE";
    check(&format!("# key\nAGE-SECRET-KEY-1{age}\n"), "# key\n<age>\n");
    let aws = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzKEY12345";
    check(&format!("aws_secret_access_key = {aws}\n"), "aws_secret_access_key = <aws>\n");
    check(&format!("AWS_SECRET_ACCESS_KEY={aws}\n"), "AWS_SECRET_ACCESS_KEY=<aws>\n");
    check("postgres://app:s3cr3t-9@db:5432/x", "postgres://app:<password>@db:5432/x");
    check("https://user:p@ss-w0rd-9@host/x@y", "https://user:<password>@host/x@y");
    check("https://user:p@ss-w0rd-9@[::1]:80?a@b", "https://user:<password>@[::1]:80?a@b");
    check("https://u:s3cr3t-9@host me@example.org", "https://u:<password>@host me@example.org");
}

#[test]
fn private_keys_are_found_however_they_are_listed() {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let check = |text: String, expected: &str| assert_eq!(scrubbed(&text), expected, "{text}");
    let (begin, end) = ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----");
    check(format!("a\n{begin}\n{line}\n{line}\nabc=\n{end}\nb"), "a\n<private-key>\nb");
    check(format!("1:\t{begin}\n2:\t{line}\n3:\t{end}\n4:\tb"), "1:\t<private-key>\n4:\tb");
    check(format!("+{begin}\n+{line}\n+{end}\n b"), "+<private-key>\n b");
    check(format!("\"{begin}\\n{line}\\n{end}\\n\""), "\"<private-key>\\n\"");
    check(format!("{begin}\nProc-Type: 4,ENCRYPTED\n\n{line}\n{end}"), "<private-key>");
    check(format!("{begin}\n{line}\nThe rest is missing."), "<private-key>The rest is missing.");
    for none in [format!("{begin}\nhere it stands\n{end}"), format!("if text.has(\"{begin}\") {{")]
    {
        check(none.clone(), &none);
    }
    let public = format!("-----BEGIN PUBLIC KEY-----\n{line}\n-----END PUBLIC KEY-----");
    check(public.clone(), &public);
}

#[test]
fn words_that_are_no_secrets_stay() {
    for text in [
        "task-force-of-the-year-2024-with-some-more-words sk-learn sk-circle-fade-dot",
        "Bearer authentication is described below, Bearer $OPENAI_API_KEY, Bearer <token>",
        "http://localhost:8080/a@b https://user@host/x http://127.0.0.1:3000",
        "postgres://postgres:postgres@localhost/x mysql://root:password@h redis://:$PASS@h",
        "eyJhbGciOiJIUzI1NiJ9 is a header; AKIA is a prefix; ghp_ as well; AIzaShort",
        "hf_config npm_config_registry xai-org/grok xox sk_test_mode github_pat_of_mine",
        "primary-key:id and a \"sort-key\": \"name-of-the-column\", secret_access_key = $SECRET",
        "hunter2 is too short to be told from a word",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "[secret openai 12] [secret openai 12x] [secret",
    ] {
        assert_eq!(scrubbed(text), text);
        assert!(matches!(scrubber().text(text), Cow::Borrowed(_)), "{text}");
    }
}

#[test]
fn a_known_value_is_found_in_every_usual_encoding() {
    let value = "correct horse \"battery\"";
    let hex: String = value.bytes().map(|b| format!("{b:02x}")).collect();
    let encoded = "correct%20horse%20%22battery%22";
    let json = r#"correct horse \"battery\""#;
    for form in [value, &hex, &hex.to_uppercase(), encoded, json] {
        assert_eq!(scrubbed(&format!("a{form}b")), "a<OTHER_TOKEN>b", "{form}");
    }
    for before in ["", "x", "xy", "user:"] {
        for engine in [
            &base64::engine::general_purpose::STANDARD,
            &base64::engine::general_purpose::URL_SAFE_NO_PAD as &dyn Encode,
        ] {
            let encoded = engine.of(&format!("{before}Zm9vYmFy+/secret and more"));
            let found = scrubbed(&encoded);
            assert!(found.contains("<deploy-key->"), "{before} {encoded} {found}");
        }
    }
    assert_eq!(scrubbed("hunter2"), "hunter2");
}

trait Encode {
    fn of(&self, text: &str) -> String;
}

impl<T: base64::Engine> Encode for T {
    fn of(&self, text: &str) -> String {
        self.encode(text)
    }
}

#[test]
fn equal_secrets_look_equal_and_a_marker_says_nothing_else() {
    let of = |salt, text: &str| Scrubber::new([salt; 32], Vec::new()).text(text).into_owned();
    let (a, b) = ("sk-0123456789abcdefghij", "sk-0123456789abcdefghijklmnopqrs");
    assert_eq!(of(1, a), of(1, a));
    assert_ne!(of(1, a), of(1, b));
    assert_ne!(of(1, a), of(2, a), "the salt counts");
    assert_eq!(of(1, a).len(), of(1, b).len());
    assert_eq!(of(1, a).len(), "[secret openai 3f2a]".len());
}

#[test]
fn what_is_found_is_named() {
    let text = "Zm9vYmFy+/secret sk-0123456789abcdefghij redis://u:geheim@h [secret aws 01ab]";
    let finds = scrubber().finds(text);
    let known = Find::Known("deploy-key-".to_owned());
    assert_eq!(finds, [known, Find::Key("openai"), Find::Password, Find::Marker]);
    assert!(!format!("{:?}", scrubber()).contains("Zm9v"));
}

#[test]
fn a_known_value_is_called_by_its_name_wherever_it_stands() {
    let known = [Known::new("PROXY", &secret("geh-eim-99x0123456789"))];
    let scrubber = Scrubber::new([0; 32], known.clone());
    for text in ["http://me:geh-eim-99x0123456789@h", "Bearer geh-eim-99x0123456789 "] {
        assert_eq!(scrubber.finds(text), [Find::Known("PROXY".to_owned())], "{text}");
    }
    let more = scrubber.and([Known::new("again", &secret("geh-eim-99x0123456789"))]);
    assert_eq!(more.finds("geh-eim-99x0123456789"), [Find::Known("PROXY".to_owned())]);
}

#[test]
fn a_known_value_that_reaches_out_of_a_shape_is_hidden_whole() {
    let value = "sk-0123456789abcdefghij!and!more";
    let inner = "789abcdefghij!and!more";
    for known in [value, inner] {
        let scrubber = Scrubber::new([0; 32], [Known::new("k", &secret(known))]);
        let found = scrubber.text(value).into_owned();
        assert!(!found.contains("more") && !found.contains("012"), "{found}");
    }
}

#[test]
fn a_key_longer_than_any_is_hidden_whole_in_bounded_memory() {
    let mut window = scrubber().window();
    let mut out = window.push(b"go sk-0a");
    for _ in 0..10_000 {
        out.extend(window.push(b"0123456789abcdef"));
        assert!(window.held() <= 5000);
    }
    out.extend(window.push(b"! done"));
    out.extend(window.finish());
    let out = String::from_utf8(out).unwrap();
    assert!(out.starts_with("go [secret openai ") && out.ends_with("]! done"), "{out}");
    assert_eq!(out.len(), "go [secret openai 0000]! done".len());
}

#[test]
fn text_that_cannot_be_a_secret_is_not_held_back() {
    let mut window = scrubber().window();
    assert_eq!(window.push(b"Continue? [y/N]"), b"Continue? [y/N]");
    assert_eq!(window.push(b" 12%....."), b" 12%.....");
    assert_eq!(window.held(), 0);
}

const LINE: &str = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";

/// Pieces of text that secrets are made of, or nearly.
#[rustfmt::skip]
const PIECES: [&str; 41] = [
    "sk-", "sk-ant-", "0123456789abcdefABCDEF", "ghp_", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5",
    "correct horse ", "\"battery\"", "correct horse \"battery\"", "Zm9vYmFy+/secret", "Zm9v",
    "eyJhbGciOiJIUzI1NiJ9.", "eyJzdWIiOiIxMjM0In0.", "SflKxwRJSMeKKF2QT4fwpMeJf36POk6y", "://",
    "u:s3cr3t@h", "user", ":", "@", "Bearer ", "-----BEGIN PRIVATE KEY-----\n", LINE, "\n", "\\n",
    "-----END PRIVATE KEY-----", "[secret ", "openai ", "3f2a]", "[secret aws 01ab]", " ", ".", "é",
    "日", "😀", "AKIA", "ABCDEFGHIJKLMNOP", "%3D", "\\", "1:\t", "x-api-key: ",
    "x-api-key:", "u:p@s3cr3t@h",
];

fn soup_word() -> impl Strategy<Value = String> {
    let piece = || proptest::sample::select(&PIECES[..]);
    (piece(), piece()).prop_map(|(a, b)| format!("{a}{b}"))
}

fn soup() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..12).prop_map(|w| w.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_marker_is_never_scrubbed_and_no_known_value_stays(text in soup()) {
        let once = scrubber().text(&text).into_owned();
        let twice = scrubber().text(&once).into_owned();
        let tags = |text: &str| scrubber().finds(text).iter().filter(|f| **f == Find::Marker).count();
        prop_assert!(tags(&twice) >= tags(&once), "{once} {twice}");
        prop_assert!(!once.contains("correct horse \"battery\"") && !once.contains("Zm9vYmFy+/secret"));
    }

    #[test]
    fn scrubbing_twice_changes_nothing(words in proptest::collection::vec(soup_word(), 0..12)) {
        let once = scrubber().text(&words.join(" ")).into_owned();
        prop_assert_eq!(scrubber().text(&once).into_owned(), once.clone());
    }

    #[test]
    fn it_does_not_matter_how_a_text_is_cut(text in soup(), cuts in proptest::collection::vec(1usize..9, 1..40)) {
        let mut window = scrubber().window();
        let (mut out, mut rest) = (Vec::new(), text.as_bytes());
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at(rest.len().min(*cut));
            out.extend(window.push(piece));
            rest = after;
        }
        out.extend(window.finish());
        prop_assert_eq!(String::from_utf8_lossy(&out).into_owned(), scrubber().text(&text).into_owned());
    }

    #[test]
    fn scrubbing_is_total(text in "(?s)(é|日|😀|.){0,80}") {
        let _ = scrubber().text(&text);
    }
}
