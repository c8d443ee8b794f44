//! What the rules say about one op. Strict about what they allow: every path and every command of it
//! must be meant. Generous about what they ask for or forbid: one that may be meant is enough.

use super::protected;
use super::rule::{Rule, What};
use super::{Judged, Rulebook};
use crate::schemes::is_remote;
use cairn_text::glob::{PathGlob, Stance, plain};
use cairn_text::shell::{Denies, Pattern, allows_line, denies, denies_text};
use cairn_types::{
    CommandLine, Effect, Mode, OpName, PolicyRule, Removed, RuleFrom, RuleWord, Subject, Writer,
    scheme_of,
};
use std::collections::HashSet;

/// An op as rules see it.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The op.
    pub op: OpName,
    /// The tool's name.
    pub tool: &'a str,
    /// Who asks.
    pub writer: Writer,
    /// What it may change.
    pub effect: Effect,
    /// What it touches, as it was asked for.
    pub subject: &'a Subject,
    /// What it would change, found out by preparing it.
    pub changed: &'a [String],
    /// What of it git ignores.
    pub ignored: &'a [String],
    /// What of all of it would be gone.
    pub gone: &'a [String],
    /// How much it would remove, found out by preparing it.
    pub removed: Removed,
}

/// A path an op touches.
pub(super) struct Touched {
    pub(super) path: String,
    write: bool,
}

impl Rulebook {
    /// The rules' word on an op. An edit that removes files is judged as removing them, too.
    #[must_use]
    pub fn judge(&self, case: &Case<'_>, mode: Mode, now: u64) -> Judged {
        let judged = self.judge_as_asked(case, mode, now);
        if case.op != OpName::Edit || case.gone.is_empty() {
            return judged;
        }
        judged.or_stricter(self.judge_as(OpName::Kill, case.gone, case, mode, now))
    }

    /// The rules' word on an op as it was asked for: what forbids it, else what asks, else what allows it,
    /// else what holds where no rule speaks.
    fn judge_as_asked(&self, case: &Case<'_>, mode: Mode, now: u64) -> Judged {
        let (mut forbidden, mut ceiling, mut asked) = (None, None, None);
        for (rule, source) in self.in_force(now) {
            let touch = match source.word {
                RuleWord::Allow => continue,
                // Asked about when a host is wanted, and not twice.
                RuleWord::Ask if rule.is_on_network() && self.is_overlaid(case) => continue,
                RuleWord::Ask | RuleWord::Deny => self.touches(rule, case),
            };
            let slot = match (source.word, touch, source.from) {
                (_, Denies::No, _) => continue,
                (RuleWord::Deny, Denies::Yes, _) => &mut forbidden,
                // It may be what must not be: nothing that was said before answers that.
                (RuleWord::Deny, ..) | (_, _, RuleFrom::Operator) => &mut ceiling,
                _ => &mut asked,
            };
            slot.get_or_insert((source, touch));
        }
        if let Some((source, touch)) = forbidden {
            return Judged::by_rule(RuleWord::Deny, source, touch);
        }
        if let Some((source, touch)) = ceiling {
            return Judged { ceiling: true, ..Judged::by_rule(RuleWord::Ask, source, touch) };
        }
        if case.removed.exposed > 0 {
            let why = "git would no longer ignore precious files that are there".to_owned();
            let (word, ceiling) = (RuleWord::Ask, true);
            return Judged { word, why, from: None, ceiling, is_open: false };
        }
        if self.guards(&self.changed_files(case), now) {
            let why = "changes a file that says what git or Cairn runs next".to_owned();
            let (word, ceiling) = (RuleWord::Ask, true);
            return Judged { word, why, from: None, ceiling, is_open: false };
        }
        // Whoever said yes to everything did not think of what a rule asks about.
        let narrow = |rule: &Rule| asked.is_none() || !rule.means_everything();
        if let Some(source) =
            self.allowed(case, now, |rule, from| from == RuleFrom::Answer && narrow(rule))
        {
            return Judged::by_rule(RuleWord::Allow, source, Denies::Yes);
        }
        if let Some((source, touch)) = asked {
            return Judged::by_rule(RuleWord::Ask, source, touch);
        }
        let own = |_: &Rule, from| matches!(from, RuleFrom::User | RuleFrom::Answer);
        match self.allowed(case, now, own) {
            Some(source) => Judged::by_rule(RuleWord::Allow, source, Denies::Yes),
            None if self.is_overlaid(case)
                && !self.policy.keeps_unread
                && self.keeps_from_reading(now) =>
            {
                let why = "what it reads is not known, and a rule keeps files from being read";
                let is_open = !self.policy.no_yolo;
                let (word, why) = (RuleWord::Ask, why.to_owned());
                Judged { word, why, from: None, ceiling: false, is_open }
            }
            None if self.is_overlaid(case) => self.overlaid(case, mode, now),
            None => self.unruled(case, mode),
        }
    }

    /// Whether a yes that is not a person's counts where no rule speaks.
    pub(crate) fn takes_yes(&self) -> bool {
        !self.policy.no_yolo
    }

    /// Whether it runs over an overlay, so that nothing counts before it was looked at.
    pub(super) fn is_overlaid(&self, case: &Case<'_>) -> bool {
        self.policy.overlay && case.op == OpName::Exec && !case.subject.beside
    }

    /// A command that no rule is about runs over an overlay; what it changed is judged as an edit, and what
    /// it removed as a removal. Of what git ignores only rules speak.
    fn overlaid(&self, case: &Case<'_>, mode: Mode, now: u64) -> Judged {
        let why = "runs over an overlay; what it changes is asked about".to_owned();
        let (word, is_open) = (RuleWord::Allow, !self.policy.no_yolo);
        let fine = Judged { word, why, from: None, ceiling: false, is_open };
        if case.effect.is_read_only() {
            return fine;
        }
        let gone = RemovedPaths::new(case.gone);
        let (removed, edited): (Vec<String>, Vec<String>) =
            case.changed.iter().cloned().partition(|path| gone.cover(path));
        let known: HashSet<&String> = removed.iter().collect();
        let ignored_removed: Vec<String> =
            case.gone.iter().filter(|path| !known.contains(path)).cloned().collect();
        let parts = [
            (OpName::Edit, &edited[..], false),
            (OpName::Kill, &removed, false),
            (OpName::Edit, case.ignored, true),
            (OpName::Kill, &ignored_removed, true),
        ];
        let mut strictest = fine;
        for (op, paths, only_rules) in parts {
            if paths.is_empty() {
                continue;
            }
            let said = self.judge_as(op, paths, case, mode, now);
            if !only_rules || said.from.is_some() {
                strictest = strictest.or_stricter(said);
            }
        }
        strictest
    }

    /// The rules' word on part of what an op changes, as if that were all and were done by this op.
    fn judge_as(
        &self,
        op: OpName,
        paths: &[String],
        case: &Case<'_>,
        mode: Mode,
        now: u64,
    ) -> Judged {
        let subject = Subject { writes: paths.to_vec(), ..Subject::default() };
        let (effect, ignored, gone) = (Effect::World, &[][..], &[][..]);
        let part = Case { op, effect, subject: &subject, changed: paths, ignored, gone, ..*case };
        self.judge_as_asked(&part, mode, now)
    }

    /// Whether one of these paths says what git or this program runs next, and nobody allowed everything.
    pub(crate) fn guards(&self, changed: &[String], now: u64) -> bool {
        let allows_all = |(rule, source): (&Rule, &PolicyRule)| {
            source.word == RuleWord::Allow
                && source.from == RuleFrom::User
                && rule.ops.is_empty()
                && rule.means_everything()
                && !(self.policy.no_yolo && rule.is_yolo())
        };
        changed.iter().any(|path| protected::is_guarded(path))
            && !self.in_force(now).any(allows_all)
    }

    /// Whether a rule keeps files from being read: what a program opens by itself is not known.
    fn keeps_from_reading(&self, now: u64) -> bool {
        self.in_force(now).any(|(rule, source)| {
            source.word == RuleWord::Deny
                && rule.ops.contains(&OpName::Read)
                && matches!(rule.what, What::Path(_))
        })
    }

    /// What holds where no rule speaks.
    fn unruled(&self, case: &Case<'_>, mode: Mode) -> Judged {
        let held = |word, why: &str| Judged {
            word,
            why: why.to_owned(),
            from: None,
            ceiling: false,
            is_open: !self.policy.no_yolo,
        };
        if case.effect.is_read_only() {
            return held(RuleWord::Allow, "changes nothing");
        }
        if let Some(path) = self.protected(case) {
            let why = format!("{path} says what may run or be told");
            return Judged { word: RuleWord::Ask, why, from: None, ceiling: false, is_open: false };
        }
        if case.effect == Effect::World && self.is_of_entries(case) {
            return held(RuleWord::Allow, "changes entries and no file");
        }
        if case.effect == Effect::World && case.op == OpName::Send {
            return held(RuleWord::Allow, "says something within the session");
        }
        match (mode, case.effect) {
            (Mode::AcceptEdits, Effect::World) => held(RuleWord::Allow, "edits are accepted"),
            (_, Effect::World) => held(RuleWord::Ask, "changes files"),
            (_, Effect::Network) => held(RuleWord::Ask, "reaches beyond this machine"),
            _ => held(RuleWord::Ask, "can change anything"),
        }
    }

    /// The files it would change, as far as that is known; of a command over an overlay what git ignores
    /// is left out.
    fn changed_files(&self, case: &Case<'_>) -> Vec<String> {
        if self.is_overlaid(case) {
            return case.changed.to_vec();
        }
        let written = self.touched(case).into_iter().filter(|touched| touched.write);
        written.map(|touched| touched.path).filter(|path| scheme_of(path).is_none()).collect()
    }

    /// Whether all that it changes are entries, which stand on no disk.
    fn is_of_entries(&self, case: &Case<'_>) -> bool {
        let mut written = self.touched(case).into_iter().filter(|touched| touched.write).peekable();
        let is_entry = |touched: &Touched| scheme_of(&touched.path).is_some_and(|s| s != "log");
        written.peek().is_some() && written.all(|touched| is_entry(&touched))
    }

    /// What it would change that says what may run. Of a command only its effect is known.
    fn protected(&self, case: &Case<'_>) -> Option<String> {
        if case.op == OpName::Exec {
            return None;
        }
        let written = self.touched(case).into_iter().filter(|touched| touched.write);
        written.map(|touched| touched.path).find(|path| protected::is(path))
    }

    pub(super) fn in_force(&self, now: u64) -> impl Iterator<Item = (&Rule, &PolicyRule)> {
        let lasts = move |source: &PolicyRule| source.until.is_none_or(|until| now < until);
        self.rules.iter().zip(&self.policy.rules).filter(move |(_, source)| lasts(source))
    }

    /// Whether rules of these origins allow all of it; the last one needed.
    fn allowed(
        &self,
        case: &Case<'_>,
        now: u64,
        of: impl Fn(&Rule, RuleFrom) -> bool,
    ) -> Option<&PolicyRule> {
        let protected = self.protected(case).is_some();
        let rules: Vec<(&Rule, &PolicyRule)> = self
            .in_force(now)
            .filter(|(rule, source)| {
                source.word == RuleWord::Allow && of(rule, source.from) && covers_kind(rule, case)
            })
            // Whoever said yes to all edits, or to all in a folder, did not think of this one.
            .filter(|(rule, _)| !(self.policy.no_yolo && rule.is_yolo()))
            .filter(|(rule, source)| {
                !(protected && source.from == RuleFrom::Answer && rule.is_broad())
            })
            .collect();
        // Whoever let files be read did not think of what is beyond this machine.
        let may_all = |rule: &Rule| {
            rule.means_everything() && (case.effect != Effect::Network || rule.is_beyond())
        };
        if let Some((_, source)) = rules.iter().find(|(rule, _)| may_all(rule)) {
            return Some(source);
        }
        let rules: Vec<_> =
            rules.into_iter().filter(|(rule, _)| names_only_its_host(rule, case.subject)).collect();
        // What reads what is said is not known, so no rule on commands allows it.
        let command = case.subject.command.as_ref().filter(|_| case.op != OpName::Send);
        match command {
            Some(line @ CommandLine::Known(commands)) if !self.policy.strange_shell => {
                // What a command does depends on where it runs.
                let here = case.subject.cwd.as_deref().is_none_or(|cwd| plain(cwd) == ".");
                let rules: Vec<_> =
                    rules.into_iter().filter(|(rule, _)| rule.scheme.is_none()).collect();
                let patterns: Vec<Pattern> =
                    rules.iter().filter_map(|(rule, _)| pattern(rule)).collect();
                if !here || !allows_line(&patterns, line) {
                    return None;
                }
                let first = commands.first()?;
                let by = |rule: &Rule| pattern(rule).is_some_and(|pattern| pattern.allows(first));
                rules.iter().find(|(rule, _)| by(rule)).map(|(_, source)| *source)
            }
            Some(_) => None,
            None => {
                let paths = self.touched(case);
                let by = |touched: &Touched| {
                    rules.iter().find(|(rule, _)| {
                        is_scheme(rule, &touched.path)
                            && (rule.is_beyond() || !is_remote(&touched.path))
                            && match &rule.what {
                                What::Any => true,
                                What::Path(glob) => names(rule, glob, &touched.path),
                                What::Command(_) => false,
                            }
                    })
                };
                paths.iter().map(by).collect::<Option<Vec<_>>>()?.last().map(|(_, source)| *source)
            }
        }
    }

    /// Whether this rule may be about it. What is written to a command is looked at as one besides.
    pub(super) fn touches(&self, rule: &Rule, case: &Case<'_>) -> Denies {
        let own = self.touches_as(rule, case);
        match case.op == OpName::Send && case.subject.command.is_some() {
            true => own.max(self.touches_as(rule, &Case { op: OpName::Exec, ..*case })),
            false => own,
        }
    }

    /// Whether it may be about an op of this name.
    fn touches_as(&self, rule: &Rule, case: &Case<'_>) -> Denies {
        // Whatever else a command does, it reaches the hosts that it names.
        let reaching = rule.is_on_network() && case.op == OpName::Exec;
        let reaching = reaching && case.effect != Effect::Network;
        let effect = if reaching { Effect::Network } else { case.effect };
        if !is_kind(rule, &Case { effect, ..*case }) {
            return Denies::No;
        }
        let unsure = match &case.subject.command {
            Some(CommandLine::Unsure { .. }) => true,
            Some(CommandLine::Known(_)) => self.policy.strange_shell,
            None => false,
        };
        if let Some(host) = rule.host.as_deref().or(reaching.then_some("*"))
            && !case.subject.hosts.iter().any(|one| is_host(host, one))
        {
            // Which hosts it reaches over an overlay is seen when it does.
            let is_seen = reaching && self.is_overlaid(case);
            let may_be = unsure || mentions(case.subject, host.trim_start_matches("*."));
            let named = may_be && !is_seen;
            return if named { Denies::Perhaps } else { Denies::No };
        }
        let own = rule.ops.is_empty() || rule.ops.contains(&case.op);
        // What is edited is shown, and what is moved can be read where it then is.
        let shows = matches!(case.op, OpName::Edit | OpName::Move);
        let removes = matches!(case.op, OpName::Exec | OpName::Move);
        let by_role = |touched: &Touched| {
            let reads = !touched.write || shows;
            let gone = touched.write && removes && rule.ops.contains(&OpName::Kill);
            (own || gone
                || touched.write && rule.ops.contains(&OpName::Edit)
                || reads && rule.ops.contains(&OpName::Read))
                && is_scheme(rule, &touched.path)
        };
        match &rule.what {
            What::Command(pattern) => match &case.subject.command {
                Some(line) if own => {
                    let found = match &case.subject.text {
                        Some(text) => denies_text(pattern, text),
                        None => denies(pattern, line),
                    };
                    // Another shell may read it otherwise.
                    if self.policy.strange_shell { found.max(Denies::Perhaps) } else { found }
                }
                _ => Denies::No,
            },
            What::Any if own && rule.scheme.is_none() => Denies::Yes,
            // What a command touches besides is not known.
            What::Any if case.op == OpName::Exec => Denies::No,
            What::Any => yes(self.touched(case).iter().any(by_role)),
            What::Path(glob) => {
                let paths = self.touched(case);
                let named = paths.iter().any(|one| by_role(one) && names(rule, glob, &one.path));
                // A directory may have been changed with all that is in it.
                let changed = case.changed.iter().chain(case.ignored);
                let whole = self.is_overlaid(case)
                    && changed.clone().any(|path| self.is_around(glob, path))
                    && paths.iter().any(by_role);
                let opened = self.opens(rule, glob, case);
                let opened = if unsure || whole { opened.max(Denies::Perhaps) } else { opened };
                if named { Denies::Yes } else { opened }
            }
        }
    }

    /// Whether a glob is about a path, or about all that is in it.
    fn is_around(&self, glob: &PathGlob, path: &str) -> bool {
        glob.stance(&self.beneath(".", path)) >= Stance::Around
    }

    /// The paths an op touches, without `..` and relative to the root where they lie in it; none of
    /// those that a command names.
    pub(super) fn touched(&self, case: &Case<'_>) -> Vec<Touched> {
        let subject = case.subject;
        let cwd = subject.cwd.as_deref().unwrap_or(".");
        let touched = |path: &str, write| Touched { path: self.beneath(cwd, path), write };
        let mut all: Vec<Touched> = subject.reads.iter().map(|path| touched(path, false)).collect();
        all.extend(subject.writes.iter().map(|path| touched(path, true)));
        let changed = case.changed.iter().chain(case.ignored);
        all.extend(changed.map(|path| touched(path, true)));
        all
    }

    pub(super) fn beneath(&self, cwd: &str, path: &str) -> String {
        if scheme_of(path).is_some() {
            return path.to_owned();
        }
        let home = self.policy.home.trim_end_matches('/');
        let at_home =
            path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let path = match at_home.filter(|_| !home.is_empty()) {
            Some(rest) => &format!("{home}{rest}"),
            None => path,
        };
        let whole = match path.starts_with('/') {
            true => plain(path),
            false => plain(&format!("{cwd}/{path}")),
        };
        let root = self.policy.root.trim_end_matches('/');
        match whole.strip_prefix(root).filter(|_| !root.is_empty() && whole.starts_with('/')) {
            Some("") => ".".to_owned(),
            Some(inner) if inner.starts_with('/') => inner[1..].to_owned(),
            _ => whole,
        }
    }
}

/// The paths that an op would remove.
pub(crate) struct RemovedPaths<'a>(HashSet<&'a str>);

impl<'a> RemovedPaths<'a> {
    pub(crate) fn new(gone: &'a [String]) -> RemovedPaths<'a> {
        RemovedPaths(gone.iter().map(String::as_str).collect())
    }

    /// Whether a path would be gone, by itself or with a directory that it lies in.
    pub(crate) fn cover(&self, path: &str) -> bool {
        let mut directories = path.match_indices('/').map(|(at, _)| &path[..at]);
        self.0.contains(path) || directories.any(|directory| self.0.contains(directory))
    }
}

/// The commands a rule is about.
fn pattern(rule: &Rule) -> Option<Pattern> {
    match &rule.what {
        What::Command(pattern) => Some(pattern.clone()),
        What::Any => Pattern::parse("*").ok(),
        What::Path(_) => None,
    }
}

fn yes(is: bool) -> Denies {
    if is { Denies::Yes } else { Denies::No }
}

/// Whether writer, effect and tool are the rule's.
fn is_kind(rule: &Rule, case: &Case<'_>) -> bool {
    rule.writer.is_none_or(|writer| writer == case.writer)
        && rule.effect.is_none_or(|effect| effect == case.effect)
        && rule.tool.as_deref().is_none_or(|tool| tool == case.tool)
}

/// Whether an allow rule is for ops of this kind.
fn covers_kind(rule: &Rule, case: &Case<'_>) -> bool {
    is_kind(rule, case) && (rule.ops.is_empty() || rule.ops.contains(&case.op))
}

fn is_scheme(rule: &Rule, path: &str) -> bool {
    let scheme = scheme_of(path).unwrap_or("file");
    rule.scheme.as_deref().is_none_or(|wanted| wanted == scheme)
}

/// Whether a rule's glob names this path. One over addresses says of which scheme: all others are over
/// files.
fn names(rule: &Rule, glob: &PathGlob, path: &str) -> bool {
    match (scheme_of(path), &rule.scheme) {
        (None, _) => glob.matches(path),
        (Some(_), None) => false,
        (Some(_), Some(_)) => {
            let inner = path.split_once("://").map_or("", |(_, inner)| inner);
            glob.matches(path) || glob.matches(inner.trim_start_matches('/'))
        }
    }
}

/// Whether an op names hosts of this rule only, where it has a condition on them. A command does as one
/// whose other words cannot be hosts.
fn names_only_its_host(rule: &Rule, subject: &Subject) -> bool {
    let Some(host) = &rule.host else { return true };
    let line = match &subject.command {
        None => return is_its_host(host, &subject.hosts),
        Some(CommandLine::Known(line)) => line,
        Some(CommandLine::Unsure { .. }) => return false,
    };
    let [simple] = &line[..] else { return false };
    let plain = |text: &str| !text.contains(['.', ':', '@']);
    let own = |text: &str| super::subject::host(text).is_some_and(|one| is_host(host, &one));
    let mut words = simple.words.iter().skip(1);
    !subject.hosts.is_empty() && words.all(|word| plain(&word.text) || own(&word.text))
}

/// Whether the host of an entry is the rule's; on a port that is not a usual one only if the rule names it.
fn is_its_host(host: &str, named: &[String]) -> bool {
    match named {
        [one] => is_host(host, one),
        [_, with_port] => host != "*" && is_host(host, with_port),
        _ => false,
    }
}

/// Whether a word of the command holds this name.
fn mentions(subject: &Subject, name: &str) -> bool {
    let Some(CommandLine::Known(line)) = &subject.command else { return false };
    let mut words = line.iter().flat_map(|simple| &simple.words);
    words.any(|word| word.text.to_ascii_lowercase().contains(name))
}

/// Whether a host is the one a rule names; `*.example.org` are those beneath it.
pub(super) fn is_host(wanted: &str, host: &str) -> bool {
    match wanted.strip_prefix("*.") {
        Some(parent) => host.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.')),
        None => wanted == "*" || wanted == host,
    }
}
