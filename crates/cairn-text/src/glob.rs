//! Globs over paths as rules have them: what matches a directory matches everything in it. Pure; no
//! path is looked up.

use globset::{GlobBuilder, GlobMatcher};

/// A glob over paths, `/`-separated.
#[derive(Debug, Clone)]
pub struct PathGlob {
    text: String,
    matcher: GlobMatcher,
    /// Its parts between slashes; absent for `**`.
    parts: Vec<Option<Part>>,
    /// No part was taken to be anything though it is not `**`.
    is_exact: bool,
}

/// A part of a glob that is one name.
#[derive(Debug, Clone)]
struct Part {
    text: String,
    matcher: GlobMatcher,
}

/// How a path stands to what a glob matches, when nothing is known of what lies beneath it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stance {
    /// Nothing that the glob matches is there or beneath.
    Apart,
    /// Something that the glob matches may lie beneath, behind a name that begins with a dot.
    AboveHidden,
    /// Something that the glob matches may lie beneath.
    Above,
    /// Everything beneath is matched.
    Around,
    /// It is matched itself, or lies in what is.
    Within,
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
        // Where a slash stands within brackets or braces a part is no glob: it may be anything.
        let part = |text: &str| match text {
            "**" | "" => None,
            text => GlobBuilder::new(text)
                .build()
                .ok()
                .map(|glob| Part { text: text.to_owned(), matcher: glob.compile_matcher() }),
        };
        let texts = || whole.trim_start_matches('/').split('/');
        let parts: Vec<Option<Part>> = texts().map(part).collect();
        let is_exact = texts().zip(&parts).all(|(text, part)| part.is_some() || text == "**");
        Ok(PathGlob { text: text.to_owned(), matcher, parts, is_exact })
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

impl PathGlob {
    /// How a path stands to it that is told as the glob's are: relative to the root, or absolute. Its
    /// names may be globs of a shell; a `~` before the others is any directory.
    #[must_use]
    pub fn stance(&self, path: &str) -> Stance {
        let places = self.places(path, Part::may_be);
        let rest = |at: &usize| self.parts[*at..].iter().collect::<Vec<_>>();
        places.iter().map(|at| stance_of(&rest(at))).max().unwrap_or(Stance::Apart)
    }

    /// The places in the glob from which names beneath a directory go on to match, the path told as for
    /// `stance`, its names as they are. Beneath two directories with the same places it matches the same. `None`
    /// where the places do not say all: the glob has a slash in brackets or braces.
    #[must_use]
    pub fn places_beneath(&self, directory: &str) -> Option<Vec<usize>> {
        let is_name = |part: &Part, name: &str| part.matcher.is_match(name);
        (self.is_exact && !directory.starts_with('~')).then(|| self.places(directory, is_name))
    }

    /// Every place in the glob that a path may lead to, `fits` saying whether a part may be a name.
    fn places(&self, path: &str, fits: impl Fn(&Part, &str) -> bool) -> Vec<usize> {
        let rooted = self.text.starts_with('/');
        let names: Vec<&str> = path.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
        // One glob is about the root, the other path about what lies outside of it.
        if rooted != path.starts_with('/') && !self.is_anywhere() && !path.starts_with('~') {
            return Vec::new();
        }
        let mut places = self.with_any(vec![0]);
        for (n, name) in names.iter().enumerate() {
            if n == 0 && name.starts_with('~') {
                continue;
            }
            if places.contains(&self.parts.len()) {
                return vec![self.parts.len()];
            }
            let next = places.iter().flat_map(|at| match &self.parts[*at] {
                None if at + 1 == self.parts.len() => vec![*at, at + 1],
                None => vec![*at],
                Some(part) if fits(part, name) => vec![at + 1],
                Some(_) => Vec::new(),
            });
            // The root may lie anywhere beneath a home.
            let again = path.starts_with('~').then_some(0);
            places = self.with_any(next.chain(again).collect());
        }
        places
    }

    /// Whether what it matches may lie at any depth.
    #[must_use]
    pub fn is_anywhere(&self) -> bool {
        matches!(self.parts.first(), Some(None))
    }

    /// These places, and those behind each `**`, which may also be nothing.
    fn with_any(&self, mut places: Vec<usize>) -> Vec<usize> {
        let mut n = 0;
        while let Some(at) = places.get(n).copied() {
            if matches!(self.parts.get(at), Some(None)) && !places.contains(&(at + 1)) {
                // A last `**` is something.
                if at + 1 < self.parts.len() {
                    places.push(at + 1);
                }
            }
            n += 1;
        }
        places.sort_unstable();
        places.dedup();
        places
    }
}

/// How a path stands to a glob of which these parts are left behind it.
fn stance_of(rest: &[&Option<Part>]) -> Stance {
    let is_hidden = |part: &&&Option<Part>| part.as_ref().is_some_and(|p| p.text.starts_with('.'));
    match rest {
        [] => Stance::Within,
        [None] => Stance::Around,
        [Some(part)] if part.text == "*" => Stance::Around,
        rest if rest.iter().any(|part| is_hidden(&part)) => Stance::AboveHidden,
        _ => Stance::Above,
    }
}

impl Part {
    /// Whether a name, which may be a glob of a shell, may be one that it matches.
    fn may_be(&self, name: &str) -> bool {
        match name.contains(['*', '?', '[']) {
            false => self.matcher.is_match(name),
            true => may_be_one(name, &self.text),
        }
    }
}

/// Whether one name may fit two globs, the first a shell's: how each begins and ends speaks against
/// it, or nothing does.
fn may_be_one(a: &str, b: &str) -> bool {
    let ends = |glob: &str| {
        let special = |c: char| "*?[{".contains(c);
        let (first, last) = (glob.find(special), glob.rfind(|c: char| "*?]}".contains(c)));
        let tail = last.map_or(0, |at| at + 1);
        (glob[..first.unwrap_or(glob.len())].to_owned(), glob[tail..].to_owned())
    };
    let ((begin_a, end_a), (begin_b, end_b)) = (ends(a), ends(b));
    // The shell's globs leave out names that begin with a dot.
    let hidden = begin_a.is_empty() && begin_b.starts_with('.');
    !hidden
        && (begin_a.starts_with(&begin_b) || begin_b.starts_with(&begin_a))
        && (end_a.ends_with(&end_b) || end_b.ends_with(&end_a))
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
    fn a_path_stands_to_a_glob_as_far_as_its_names_tell() {
        let check = |glob: &str, path: &str, expected: Stance| {
            assert_eq!(PathGlob::parse(glob).unwrap().stance(path), expected, "{glob} and {path}");
        };
        use Stance::{Above, AboveHidden, Apart, Around, Within};
        check("secrets/**", ".", Above);
        check("secrets/**", "secrets", Around);
        check("secrets/*", "secrets", Around);
        check("secrets/**", "secrets/a/b", Within);
        check("secrets/**", "src", Apart);
        check("secrets/**", "src/secrets", Apart);
        check("secrets", "secrets", Within);
        check("secrets", "src", Above);
        check("a/b/*.pem", "a", Above);
        check("a/b/*.pem", "a/b", Above);
        check("a/b/*.pem", "a/c", Apart);
        check("a/**/c", "a/x/y", Above);
        check("a/**/c", "a/x/c", Within);
        check(".env", "src", AboveHidden);
        check(".env", "src/.env", Within);
        check("./.env", "src", Apart);
        check("./.env", ".", AboveHidden);
        check(".cfg/key", ".cfg", Above);
        check("secrets/**", "sec*/f", Within);
        check("secrets/**", "*/f", Within);
        check("secrets/**", "s*", Around);
        check("secrets/**", "t*/f", Apart);
        check("secrets/**", "~/proj/secrets/f", Within);
        check("secrets/**", "~/x", Above);
        check("secrets/**", "~", Above);
        check(".env", "*", AboveHidden);
        check("*.pem", "server.p*", Within);
        check("*.pem", "*.rs", Above);
        check("/etc/**", "/", Above);
        check("/etc/**", "/etc", Around);
        check("/etc/**", "etc", Apart);
        check("secrets/**", "/etc", Apart);
        check(".env", "/srv/x/.env", Within);
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
