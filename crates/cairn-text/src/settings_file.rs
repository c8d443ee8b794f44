//! Settings files without their secret values: `key = value` in TOML, INI, YAML, git's and Cabal's forms, and
//! string literals in Gradle scripts. Generous: what may be a secret is taken out.

use crate::scrub::Scrubber;

/// Parts of names whose values are secret.
const SECRET_NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "token",
    "secret",
    "apikey",
    "api-key",
    "api_key",
    "authorization",
    "authident",
    "extraheader",
    "private-key",
    "private_key",
    "privatekey",
];
/// What stands in place of a value that stood bare.
const EMPTY: &str = "\"\"";
/// A name before an `@` in a URL that is at least as long may be a token.
const LONG_USER: usize = 20;

/// In what form settings are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsForm {
    /// Lines with a name and a value.
    Values,
    /// A program, in which only string literals are values.
    Script,
}

impl SettingsForm {
    /// The form of the file of this name.
    #[must_use]
    pub fn of_file(name: &str) -> SettingsForm {
        match name.ends_with(".gradle") || name.ends_with(".kts") {
            true => SettingsForm::Script,
            false => SettingsForm::Values,
        }
    }
}

/// The text with secret values left out; `None` where it has none.
#[must_use]
pub fn without_secret_values(text: &str, form: SettingsForm) -> Option<String> {
    let mut open = Open::Nothing;
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', '\r']);
        let end = &line[bare.len()..];
        if let Some((closing, rest)) = open.rest_of(bare) {
            let without = Line { form, out: closing.to_owned() }.take(rest, &mut open);
            out.push_str(&without_users(&without));
        }
        out.push_str(end);
    }
    let out = Scrubber::default().text(&out).into_owned();
    (out != text).then_some(out)
}

/// What a secret value goes on with in the next line.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Open {
    Nothing,
    /// A text that has not ended: what ends it.
    Quoted(&'static str),
    /// A line that ends with a backslash.
    Continued,
    /// Lines that are indented by more than this.
    Indented(usize),
}

impl Open {
    /// What closes the secret before, and what of a line comes after it; `None` if all of the line is secret.
    fn rest_of<'a>(&mut self, line: &'a str) -> Option<(&'static str, &'a str)> {
        match self.clone() {
            Open::Nothing => Some(("", line)),
            Open::Quoted(quote) => {
                let end = end_of_text(line, quote)?;
                *self = Open::Nothing;
                Some((quote, &line[end + quote.len()..]))
            }
            Open::Continued => {
                if !line.ends_with('\\') {
                    *self = Open::Nothing;
                }
                None
            }
            Open::Indented(indent) if line.trim().is_empty() || indent_of(line) > indent => None,
            Open::Indented(_) => {
                *self = Open::Nothing;
                Some(("", line))
            }
        }
    }
}

/// One line as it is written anew.
struct Line {
    form: SettingsForm,
    out: String,
}

impl Line {
    /// Takes a line, and says what of it is still open.
    fn take(mut self, line: &str, open: &mut Open) -> String {
        let mut at = 0;
        let mut within: Option<char> = None;
        while let Some(c) = line[at..].chars().next() {
            if is_of_name(c) {
                let name = &line[at..];
                let end = name.find(|c| !is_of_name(c)).unwrap_or(name.len());
                let name = &name[..end];
                self.out.push_str(name);
                at += end;
                if is_secret(name) {
                    at = self.value(line, at, within, open);
                }
                continue;
            }
            match within {
                Some(quote) if c == quote => within = None,
                None if matches!(c, '"' | '\'') => within = Some(c),
                _ => {}
            }
            self.out.push(c);
            at += c.len_utf8();
        }
        self.out
    }

    /// Leaves out the value after a name that ends here; where the line goes on.
    fn value(&mut self, line: &str, at: usize, within: Option<char>, open: &mut Open) -> usize {
        let rest = &line[at..];
        // The name may be quoted itself, and in brackets.
        let sign = rest.trim_start_matches(['"', '\'', ']', ')', ' ', '\t']);
        let signed = sign.strip_prefix("+=").or_else(|| sign.strip_prefix(['=', ':']));
        let is_signed = signed.is_some();
        let value = match signed {
            Some(value) => value.trim_start_matches([' ', '\t']),
            None => rest.trim_start_matches([' ', '\t', '(']),
        };
        let start = line.len() - value.len();
        if let Some(quote) = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|q| value.starts_with(q))
            && (is_signed || start > at)
        {
            self.out.push_str(&line[at..start + quote.len()]);
            let from = start + quote.len();
            match end_of_text(&line[from..], quote) {
                Some(end) => {
                    self.out.push_str(quote);
                    return from + end + quote.len();
                }
                None => {
                    *open = Open::Quoted(quote);
                    return line.len();
                }
            }
        }
        if !is_signed || (self.form == SettingsForm::Script && within.is_none()) {
            return at;
        }
        self.out.push_str(&line[at..start]);
        if let Some(quote) = within {
            let end = value.find([quote, ' ', ';', '&']);
            return start + end.unwrap_or(value.len());
        }
        if value.is_empty() {
            *open = Open::Indented(indent_of(line));
        } else {
            self.out.push_str(EMPTY);
            if value.ends_with('\\') {
                *open = Open::Continued;
            }
        }
        line.len()
    }
}

/// Where a quoted text ends; a backslash keeps the quote after it from ending it.
fn end_of_text(text: &str, quote: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let end = from + text[from..].find(quote)?;
        let escapes = text[..end].bytes().rev().take_while(|byte| *byte == b'\\').count();
        if escapes % 2 == 0 || quote.starts_with('\'') {
            return Some(end);
        }
        from = end + 1;
    }
}

/// A line without users and passwords in URLs. A short user alone, as in `ssh://git@host`, is no secret.
fn without_users(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("://") {
        let (start, after) = rest.split_at(at + 3);
        out.push_str(start);
        let ends = |c: char| matches!(c, '/' | '?' | '#' | '"' | '\'') || c.is_whitespace();
        let authority = &after[..after.find(ends).unwrap_or(after.len())];
        rest = match authority.rsplit_once('@') {
            Some((user, _)) if user.contains(':') || user.len() >= LONG_USER => {
                &after[user.len() + 1..]
            }
            _ => after,
        };
    }
    out.push_str(rest);
    out
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(
            without_secret_values(text, SettingsForm::Values).as_deref(),
            expected,
            "{text}"
        );
    }

    #[test]
    fn secret_values_are_left_out_and_settings_stay() {
        check("[build]\njobs = 4\n[net]\ngit-fetch-with-cli = true\n", None);
        check(
            "[registries.my]\nindex = \"x\"\ntoken = \"abc\"\n[build]\njobs = 4\n",
            Some("[registries.my]\nindex = \"x\"\ntoken = \"\"\n[build]\njobs = 4\n"),
        );
        check(
            "r = { token = \"a\\\"b\", index = \"i\" }\n",
            Some("r = { token = \"\", index = \"i\" }\n"),
        );
        check("\"token\" = 'a'\nx = 1\n", Some("\"token\" = ''\nx = 1\n"));
        check("token = \"\"\"a\nb\"\"\"\nx = 1\n", Some("token = \"\"\"\n\"\"\"\nx = 1\n"));
        check(
            "repository hackage\n  url: http://x/\nusername: me\npassword: hunter2\njobs: 3",
            Some("repository hackage\n  url: http://x/\nusername: me\npassword: \"\"\njobs: 3"),
        );
        check("password:\n  hunter2\njobs: 3\n", Some("password:\n\njobs: 3\n"));
        check(
            "[http \"https://h/\"]\n\textraheader = AUTHORIZATION: basic Zm9v\n[user]\n\tname = Me\n",
            Some("[http \"https://h/\"]\n\textraheader = \"\"\n[user]\n\tname = Me\n"),
        );
        check("[x]\n\ttoken = a\\\nb\n\ty = 1\n", Some("[x]\n\ttoken = \"\"\n\n\ty = 1\n"));
        check("[credential]\n\thelper = store\n", None);
        check(
            "[credential]\n\thelper = \"!f() { echo password=abc; }; f\"\n",
            Some("[credential]\n\thelper = \"!f() { echo password=; }; f\"\n"),
        );
        check(
            "[url \"https://me:pw@github.com/\"]\n\tinsteadOf = https://github.com/\n",
            Some("[url \"https://github.com/\"]\n\tinsteadOf = https://github.com/\n"),
        );
        check("[url \"ssh://git@github.com/\"]\n\tinsteadOf = gh:\n", None);
    }

    #[test]
    fn of_a_script_only_literals_are_left_out() {
        let check = |text: &str, expected: Option<&str>| {
            let got = without_secret_values(text, SettingsForm::Script);
            assert_eq!(got.as_deref(), expected, "{text}");
        };
        check("credentials {\n  password 'abc'\n}\n", Some("credentials {\n  password ''\n}\n"));
        check("password = \"abc\"\n", Some("password = \"\"\n"));
        check("password = System.getenv('X')\n", None);
        check("project.ext.set(\"token\", 1)\nurl = 'https://repo/'\n", None);
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "[a-z=:'\"\\\\ \\n\\t@/é日😀tokenpassword]{0,80}") {
            for form in [SettingsForm::Values, SettingsForm::Script] {
                if let Some(without) = without_secret_values(&text, form) {
                    prop_assert_eq!(without.matches('\n').count(), text.matches('\n').count());
                }
            }
        }
    }
}
