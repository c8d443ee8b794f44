//! Globs over paths as rules have them: what matches a directory matches everything in it. Pure; no
//! path is looked up.

use globset::{GlobBuilder, GlobMatcher};

/// A glob over paths, `/`-separated.
#[derive(Debug, Clone)]
pub struct PathGlob {
    text: String,
    matcher: GlobMatcher,
}

/// Why a text is no glob.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a glob over paths: {why}")]
pub struct GlobError {
    /// The text.
    pub text: String,
    /// What is wrong with it.
    pub why: String,
}

impl PathGlob {
    /// Reads a glob. Without a slash it matches at any depth, with `./` before it in the root alone;
    /// `*` stays within one name, `**` does not.
    pub fn parse(text: &str) -> Result<PathGlob, GlobError> {
        let bad = |why: String| GlobError { text: text.to_owned(), why };
        let here = text.strip_prefix("./");
        let bare = here.unwrap_or(text).trim_end_matches('/');
        if bare.is_empty() {
            return Err(bad("it is empty".to_owned()));
        }
        if bare.split('/').any(|part| part == "..") {
            return Err(bad("`..` matches nothing; paths are compared without it".to_owned()));
        }
        let whole = match here.is_some() || bare.contains('/') || bare == "**" {
            true => bare.to_owned(),
            false => format!("**/{bare}"),
        };
        let glob = GlobBuilder::new(&whole).literal_separator(true).build();
        let matcher = glob.map_err(|e| bad(e.kind().to_string()))?.compile_matcher();
        Ok(PathGlob { text: text.to_owned(), matcher })
    }

    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it matches this path, or a directory that it lies in.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        let mut ends = path.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0);
        self.matcher.is_match(path) || ends.any(|end| self.matcher.is_match(&path[..end]))
    }
}

/// The path without `.`, `..`, doubled and last slashes, as its text reads: `.` for the directory it
/// is relative to. A path that climbs above it keeps the `..` it begins with.
#[must_use]
pub fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            ".." if path.starts_with('/') => {}
            part => parts.push(part),
        }
    }
    match (path.starts_with('/'), parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_matches_a_path_or_a_directory_it_lies_in() {
        let check = |glob: &str, path: &str, expected: bool| {
            assert_eq!(PathGlob::parse(glob).unwrap().matches(path), expected, "{glob} on {path}");
        };
        check(".env", ".env", true);
        check(".env", "a/b/.env", true);
        check(".env", "a/.env/inner", true);
        check(".env", "a/.envrc", false);
        check(".env*", "a/.env.local", true);
        check("src/**", "src/a/b.rs", true);
        check("src/*", "src/a/b.rs", true);
        check("src/*.rs", "src/a/b.rs", false);
        check("src/", "src/a/b.rs", true);
        check("src", "lib/src/a.rs", true);
        check("./a/b", "a/b", true);
        check("./a", "a", true);
        check("./a", "b/a", false);
        check("a/b", "x/a/b", false);
        check("**", "anything/at/all", true);
        check("/etc/**", "/etc/passwd", true);
        check("/etc", "/etc/ssl/key", true);
        check("secrets/**", ".", false);
    }

    #[test]
    fn what_cannot_match_is_said() {
        for (glob, why) in [("", "empty"), ("./", "empty"), ("a/../b", "`..`"), ("a[", "unclosed")]
        {
            let said = PathGlob::parse(glob).unwrap_err().to_string();
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn a_path_is_compared_as_its_text_reads() {
        for (given, expected) in [
            ("a/./b//c/", "a/b/c"),
            ("./a/../.env", ".env"),
            ("a/../../x", "../x"),
            ("../../x", "../../x"),
            ("/a/../../etc", "/etc"),
            (".", "."),
            ("", "."),
        ] {
            assert_eq!(plain(given), expected, "{given}");
        }
    }
}
