//! How the text surfaces write a tool: by which tag and word, and which argument stands in which place of a
//! statement. The skins stand beside the tools; a surface names none, it looks here.

use crate::Misread;
use crate::native::{Given, Tool, fit_texts};
use cairn_types::{Status, is_feed, scheme_of};
use serde_json::{Map, Value};

/// What a tool looks like in the text surfaces.
#[derive(Debug)]
pub struct Skin {
    /// The tool.
    pub tool: &'static Tool,
    /// The tags that mean it, the one that is taught first.
    pub tags: &'static [&'static str],
    /// The words that mean it in heredocs, the one that is taught first.
    pub words: &'static [&'static str],
    /// The arguments that a target may fill: the first that it fits.
    pub target: &'static [(&'static str, Fits)],
    /// The argument in brackets.
    pub signal: Option<&'static str>,
    /// The argument that says which lines, items or results.
    pub scope: Option<Ranged>,
    /// The argument that a body fills.
    pub body: Option<(&'static str, Body)>,
    /// The argument that a body fills where there is no target.
    pub bare: Option<&'static str>,
    /// Names that only say that this tool is meant, and not another with the same tag.
    pub choosing: &'static [&'static str],
    /// Whether a statement that is called by one of these names means this tool.
    pub meant: fn(&Statement<'_>) -> bool,
    /// Statements from simple to strong, and why each stands there.
    pub examples: &'static [Example],
}

/// A statement that is shown to models.
#[derive(Debug)]
pub struct Example {
    /// As a tag.
    pub tag: &'static str,
    /// As a heredoc.
    pub heredoc: &'static str,
    /// What it teaches; never shown.
    pub why: &'static str,
}

/// What a scope says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranged {
    /// It is this argument, as it stands.
    Argument(&'static str),
    /// From which result to which: how many to skip, and how many there are at most.
    Results(&'static str, &'static str),
    /// This argument in milliseconds, given in seconds.
    Seconds(&'static str),
}

impl Ranged {
    /// Whether a scope says something of this argument.
    #[must_use]
    pub fn says(self, name: &str) -> bool {
        match self {
            Ranged::Argument(argument) | Ranged::Seconds(argument) => argument == name,
            Ranged::Results(skip, limit) => [skip, limit].contains(&name),
        }
    }

    /// The arguments that a scope fills.
    fn given(self, scope: &str) -> Result<Vec<(&'static str, Given)>, String> {
        let count = |text: &str| text.trim().parse::<u64>().ok();
        let text = |n: u64| Given::Text(n.to_string());
        match self {
            Ranged::Argument(name) => Ok(vec![(name, Given::Text(scope.to_owned()))]),
            Ranged::Results(skip, limit) => {
                let (first, last) = scope.split_once([',', '-']).unwrap_or((scope, scope));
                match (count(first), count(last)) {
                    (Some(first), Some(last)) if 0 < first && first <= last => {
                        Ok(vec![(skip, text(first - 1)), (limit, text(last - first + 1))])
                    }
                    _ => Err(format!("{scope:?} are not results, such as 1-20")),
                }
            }
            Ranged::Seconds(name) => match count(scope).and_then(|n| n.checked_mul(1000)) {
                Some(ms) => Ok(vec![(name, text(ms))]),
                None => Err(format!("{scope:?} is not a number of seconds")),
            },
        }
    }
}

/// What a target may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fits {
    /// Anything.
    Any,
    /// A glob over paths.
    Glob,
}

/// How a body is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// As it stands.
    Exact,
    /// Without blanks around it.
    Trimmed,
    /// Without blanks around it, and what is looked for.
    Matcher,
    /// Without blanks around it, and where to.
    Target,
}

/// A statement before it is known which tool it means.
#[derive(Debug, Clone, Default)]
pub struct Statement<'a> {
    /// The tag or word.
    pub name: &'a str,
    /// What it works on.
    pub target: Option<&'a str>,
    /// What stands in brackets.
    pub signal: Option<Given>,
    /// Which lines, items or results.
    pub scope: Option<&'a str>,
    /// What is given by name.
    pub given: Vec<(&'a str, Given)>,
    /// What it holds.
    pub body: Option<&'a str>,
}

impl Statement<'_> {
    /// Whether something is given by this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.given.iter().any(|(given, _)| *given == name)
    }

    /// What is given by this name, if it is a word.
    #[must_use]
    pub fn word(&self, name: &str) -> Option<&str> {
        self.given.iter().find_map(|(given, value)| match value {
            Given::Text(text) if *given == name => Some(text.as_str()),
            _ => None,
        })
    }

    /// Whether it holds anything but blanks.
    #[must_use]
    pub fn says_something(&self) -> bool {
        self.body.is_some_and(|body| !body.trim().is_empty())
    }

    /// Whether its target is a pattern.
    #[must_use]
    pub fn is_glob(&self) -> bool {
        self.target.is_some_and(is_pattern)
    }
}

impl Skin {
    /// A skin by which no statement means the tool.
    pub(crate) fn empty(tool: &'static Tool) -> Skin {
        Skin {
            tool,
            tags: &[],
            words: &[],
            target: &[],
            signal: None,
            scope: None,
            body: None,
            bare: None,
            choosing: &[],
            meant: |_| true,
            examples: &[],
        }
    }

    /// The arguments that a statement gives the tool, as it takes them. Repairs are added to `repairs`.
    pub fn args(
        &self,
        statement: &Statement<'_>,
        repairs: &mut Vec<String>,
    ) -> Result<Map<String, Value>, Misread> {
        let bad = |why: String| Misread {
            status: Status::BAD_REQUEST,
            message: format!("{}: {why}", statement.name),
        };
        let mut given: Vec<(&str, Given)> = Vec::new();
        let mut target = statement.target;
        let mut body = statement.body;
        if let (None, Some(bare), Some(said)) = (target, self.bare, body)
            && statement.says_something()
            && !statement.has(bare)
        {
            target = Some(said.trim());
            body = None;
            if self.target.is_empty() {
                given.push((bare, Given::Text(said.trim().to_owned())));
                target = None;
            }
        }
        if let Some(target) = target {
            let is_chosen = self.choosing.iter().any(|name| statement.has(name));
            let fits = |fits: &Fits| match fits {
                Fits::Any => true,
                // What was named in order to choose this tool is looked for by its name.
                Fits::Glob => scheme_of(target).is_none() && (is_pattern(target) || is_chosen),
            };
            let slot = self.target.iter().find(|(_, kind)| fits(kind)).map(|(name, _)| *name);
            let slot =
                slot.ok_or_else(|| bad(format!("nothing is meant by the target {target:?}")))?;
            given.push((slot, Given::Text(target.to_owned())));
        }
        let no_slot = |what: &str| bad(format!("it takes no {what}"));
        if let Some(signal) = &statement.signal {
            given.push((self.signal.ok_or_else(|| no_slot("signal"))?, signal.clone()));
        }
        if let Some(scope) = statement.scope {
            let ranged = self.scope.ok_or_else(|| no_slot("scope"))?;
            given.extend(ranged.given(scope).map_err(bad)?);
        }
        let named = statement.given.iter().filter(|(name, _)| !self.choosing.contains(name));
        given.extend(named.cloned());
        if let Some(said) = body {
            match self.body {
                Some((_, Body::Trimmed | Body::Matcher | Body::Target)) | None
                    if said.trim().is_empty() => {}
                Some((slot, Body::Trimmed | Body::Matcher | Body::Target)) => {
                    given.push((slot, Given::Text(said.trim().to_owned())))
                }
                Some((slot, Body::Exact)) => given.push((slot, Given::Text(said.to_owned()))),
                None => return Err(no_slot("body")),
            }
        }
        fit_texts(self.tool, given, repairs).map_err(bad)
    }
}

/// Whether a target means whatever is like it. Brackets alone do not make a pattern: they stand in names of files.
#[must_use]
pub fn is_pattern(target: &str) -> bool {
    let has_choice = || {
        let inner = target.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
        inner.is_some_and(|(inner, _)| inner.contains(','))
    };
    match scheme_of(target) {
        None => target.contains(['*', '?']) || has_choice(),
        Some("http" | "https") => false,
        Some(scheme) => !is_feed(scheme) && target.contains('*'),
    }
}
