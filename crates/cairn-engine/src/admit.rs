//! What happens outside, turned into facts: the model replied, an op was prepared.

use crate::gates::{Asked, Leave, Refusal, Told};
use crate::hooks::HookAsk;
use crate::lap_in_run::LapInRun;
use crate::op::OpState;
use crate::op_in_run::OpInRun;
use crate::policy::Case;
use crate::propose::propose;
use crate::reach::Reach;
use crate::requested_call::{ParsedCall, RequestedCall};
use crate::state::{Engine, Lap};
use crate::surface::Marks;
use crate::words;
use cairn_surface::{Toolbox, native};
use cairn_types::{
    Abort, Body, By, Change, ContentRef, Coord, Decision, Effect, Fault, Finish, Gate, GateVerdict,
    GateWord, Intent, Media, OpName, Outcome, Problem, Prompt, Removed, Reply, Seen, Settled,
    Status, Steer, Subject, Surface, Verdict, Writer,
};

/// How much of files that were not seen is told at once, in bytes; one is always told.
const MOST_SHOWN: usize = 64 << 10;

/// Facts to record, with the contents they name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recording {
    /// The facts, in order.
    pub facts: Vec<Body>,
    /// The contents they name that the store may not have yet.
    pub contents: Vec<Vec<u8>>,
    /// The calls among the facts, as they were parsed for them.
    pub parsed_calls: Vec<ParsedCall>,
}

/// What an op would change, found out without changing it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prepared {
    /// What would change.
    pub changes: Vec<Change>,
    /// What a person is shown: a diff, or a command line.
    pub shown: String,
    /// The same in one line.
    pub label: String,
    /// The files it would edit as they now are; empty where that is nobody's business.
    pub fresh: Vec<String>,
    /// How much it would remove.
    pub removed: Removed,
    /// The parts of an edit that can be taken or left by themselves.
    pub parts: Vec<Part>,
    /// Hosts that a command wanted to reach and may not.
    pub wanted: Vec<String>,
}

/// A part of an edit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// One line for the screen.
    pub label: String,
    /// The file it is of.
    pub path: String,
    /// The place that the file leaves, when it is moved.
    pub from: Option<String>,
}

impl Recording {
    /// One fact without contents.
    #[must_use]
    pub fn of(body: Body) -> Recording {
        Recording { facts: vec![body], ..Recording::default() }
    }

    /// The loop and turn that the model is about to be asked for, if it is.
    #[must_use]
    pub fn asks(&self) -> Option<(u32, u32)> {
        self.facts.iter().find_map(|body| match body {
            Body::Ask(ask) => Some((ask.lap, ask.turn)),
            _ => None,
        })
    }

    /// Keeps a content and names it.
    pub fn keep(&mut self, bytes: impl Into<Vec<u8>>) -> ContentRef {
        let bytes = bytes.into();
        let named = ContentRef::of(&bytes);
        self.contents.push(bytes);
        named
    }

    pub(crate) fn not_performed(
        op: &OpState,
        status: Status,
        told: impl Into<String>,
    ) -> Recording {
        Recording::settled(op, status, told, Settled::NotPerformed)
    }

    pub(crate) fn settled(
        op: &OpState,
        status: Status,
        told: impl Into<String>,
        settled: Settled,
    ) -> Recording {
        let mut recording = Recording::default();
        let result = recording.keep(told.into());
        recording.facts.push(Body::Outcome(outcome(op, status, result, settled)));
        recording
    }

    pub(crate) fn outcome_by_ref(op: &OpState, status: Status, told: ContentRef) -> Recording {
        Recording::of(Body::Outcome(outcome(op, status, told, Settled::NotPerformed)))
    }

    /// It is found done, and what the model is told of it was worked out before it began.
    pub(crate) fn found_done(op: &OpState, told: ContentRef) -> Recording {
        Recording::of(Body::Outcome(outcome(op, Status::OK, told, Settled::FoundDone)))
    }

    pub(crate) fn indeterminate(op: &OpState) -> Recording {
        let told = match op.begin().is_some_and(|begin| !begin.changes.is_empty()) {
            true => words::INDETERMINATE_FILE,
            false => words::INDETERMINATE,
        };
        Recording::settled(op, Status::FAILED, told, Settled::Indeterminate)
    }
}

pub(crate) fn outcome(
    op: &OpState,
    status: Status,
    result: ContentRef,
    settled: Settled,
) -> Outcome {
    let is_done = matches!(settled, Settled::FoundDone | Settled::SaidDone);
    let begin = op.begin().filter(|_| is_done);
    let ran = begin.and_then(|begin| begin.ran.clone());
    let (exit, output, layers) =
        ran.map_or((None, None, Vec::new()), |ran| (ran.exit, ran.output, ran.layers));
    let changes = begin.map(|begin| begin.changes.clone()).unwrap_or_default();
    let told = Outcome::told(op.intent.at, (status, result), settled);
    Outcome { exit, output, changes, layers, ..told }
}

impl Engine {
    /// Someone wants something done.
    #[must_use]
    pub fn prompted(&self, text: &str, writer: Writer) -> Recording {
        self.prompted_with(text, Vec::new(), writer)
    }

    /// Someone wants something done, and shows something with it: type, name and bytes of each.
    #[must_use]
    pub fn prompted_with(
        &self,
        text: &str,
        shown: Vec<(String, String, Vec<u8>)>,
        writer: Writer,
    ) -> Recording {
        let mut recording = Recording::default();
        let text = recording.keep(text);
        let media = shown
            .into_iter()
            .map(|(mime, name, bytes)| Media { mime, name, content: recording.keep(bytes) })
            .collect();
        recording.facts.push(Body::Prompt(Prompt {
            lap: self.next_lap(),
            text,
            media,
            writer,
            from: None,
            of: None,
        }));
        recording
    }
}

impl Lap {
    /// Someone says something to it. Absent when it is stopping. An op has `begun` whose command runs over an
    /// overlay, or has run and is not decided on.
    #[must_use]
    pub fn steer(&self, text: &str, writer: Writer, begun: Option<Coord>) -> Option<Recording> {
        if self.aborted.is_some() || self.fault.is_some() {
            return None;
        }
        let mut recording = Recording::default();
        let text = recording.keep(text);
        recording.facts.push(Body::Steer(Steer { text, writer, begun, from: None }));
        Some(recording)
    }

    /// Someone stops it. Absent when it was stopped before.
    #[must_use]
    pub fn abort(&self, why: &str, writer: Writer) -> Option<Recording> {
        let is_stopped = self.aborted.is_some();
        (!is_stopped).then(|| Recording::of(Body::Abort(Abort { writer, why: why.to_owned() })))
    }

    /// The model could not be had.
    #[must_use]
    pub fn faulted(&self, class: &str, message: &str, attempts: u32) -> Recording {
        let (lap, turn) = (self.lap, self.asked_turn());
        let (class, message) = (class.to_owned(), message.to_owned());
        Recording::of(Body::Fault(Fault { lap, turn, class, message, attempts }))
    }

    /// The turn that the model was asked for.
    fn asked_turn(&self) -> u32 {
        self.asked.unwrap_or(self.turn.saturating_add(1))
    }
}

impl LapInRun<'_> {
    /// The model replied, on whatever surface. `calls` are the arguments of the calls that its words come to, in
    /// order, and how each was written; `reply` names them.
    #[must_use]
    pub fn replied_in(
        &self,
        mut reply: Reply,
        calls: &[(&str, Marks)],
        tools: &Toolbox,
    ) -> Recording {
        tracing::trace!(target: "cairn::turn", "LapInRun::replied_in");
        let (lap, turn) = (self.lap.lap, self.lap.asked_turn());
        (reply.lap, reply.turn) = (lap, turn);
        let mut recording = Recording::default();
        let mut intents = Vec::with_capacity(calls.len());
        // What follows an op without an end may be part of what it holds.
        let mut is_guessed = false;
        for (seq, (call, (args, marks))) in (1..).zip(reply.calls.iter().zip(calls)) {
            let at = Coord { lap, turn, seq };
            let schemes = self.run.driving.schemes();
            let requested = RequestedCall { at, call, args, schemes, tools };
            let mut intent = requested.record(&mut recording);
            intent.surface = self.run.surface();
            is_guessed |= marks.unclosed;
            intent.unclosed = is_guessed;
            intent.repairs.extend(marks.repairs.iter().cloned());
            let is_last = seq as usize == calls.len();
            let is_cut = reply.finish == Finish::Length;
            if let Some((status, told)) = self.refusal_before_gates(&intent, marks, is_last, is_cut)
            {
                let message = recording.keep(told);
                intent.effect = Effect::Pure;
                intent.problem = Some(Problem { status, message });
            }
            intents.push(Body::Intent(intent));
        }
        recording.facts.push(Body::Reply(reply));
        recording.facts.extend(intents);
        recording
    }

    /// Why a call is refused before the gates see it, if it is: its reply was cut, it has no end, there are too many
    /// calls, the model was not given the tool, or a call before it was not understood.
    fn refusal_before_gates(
        &self,
        intent: &Intent,
        marks: &Marks,
        is_last: bool,
        is_cut: bool,
    ) -> Option<(Status, String)> {
        if let Some(why) = &marks.refused {
            return Some((Status::REFUSED, why.clone()));
        }
        if is_cut && !intent.surface.is_text() {
            return Some((Status::UNPROCESSABLE, words::CUT.to_owned()));
        }
        let is_end = intent.says.is_some_and(Status::ends_work);
        let is_doubtful = match intent.effect > Effect::Read {
            true => is_cut || is_last,
            false => is_cut && is_end,
        };
        if intent.unclosed && is_doubtful {
            return Some((Status::UNPROCESSABLE, words::UNCLOSED.to_owned()));
        }
        let cap = self.run.driving.drive.as_ref().map_or(u32::MAX, |drive| drive.caps.ops);
        if intent.at.seq > cap {
            return Some((Status::LIMIT, words::over_cap(cap)));
        }
        if let Some(not_given) = self.not_given(&intent.tool) {
            return Some((Status::REFUSED, not_given));
        }
        // As after any call that was not understood; a last word has its own rule.
        let is_skipped = marks.follows_misread && intent.effect > Effect::Read;
        is_skipped.then(|| (Status::CANCELLED, words::AFTER_MISREAD.to_owned()))
    }
}

impl OpInRun<'_> {
    /// What the gates say now where they have said something before; `None` for the op of a client, whose gates are not
    /// asked again.
    #[must_use]
    pub fn gates_again(&self, decision: &Decision) -> Option<Vec<GateVerdict>> {
        let is_asked_of_gates = self.intent.surface != Surface::Client;
        is_asked_of_gates.then(|| self.leave(&Reach::from(decision)).gates().to_vec())
    }

    /// Whether a command that was allowed as such changed what says what runs next: that is kept only when
    /// it was shown.
    #[must_use]
    pub fn changes_what_runs_next(&self, prepared: &Prepared) -> bool {
        self.run.driving.rules.guards(&Reach::from(prepared).changed, self.run.now)
    }

    /// What the model is told of such a change.
    #[must_use]
    pub fn refuse_guarded(&self) -> Recording {
        Recording::not_performed(self.op, Status::REFUSED, words::GUARDED)
    }

    /// Whether a command that runs over an overlay is run before anybody is asked: the gates let it, and
    /// what it changed is what will be looked at. Otherwise the question is about the command itself.
    #[must_use]
    pub fn runs_before_question(&self) -> bool {
        match self.question() {
            Some(question) => question.items.iter().any(|item| item.change.is_some()),
            None => matches!(self.leave(&Reach::default()), Leave::Granted(..)),
        }
    }

    /// It was prepared, and a person would be asked about it: the hook that is asked before.
    #[must_use]
    pub fn hook_before_question(&self, prepared: &Prepared) -> Option<HookAsk> {
        let hosts = self.asked_hosts(prepared);
        if !hosts.is_empty() {
            return self.before_hosts(hosts);
        }
        if self.allowed_by.is_some() {
            return None;
        }
        let is_asked = matches!(self.leave(&Reach::from(prepared)), Leave::Ask(_));
        let ask = self.before_question().filter(|_| is_asked)?;
        self.unseen(prepared).is_none().then_some(ask)
    }

    /// It was prepared: it may run, is held, or is refused.
    #[must_use]
    pub fn judge_prepared(&self, prepared: &Prepared) -> Recording {
        tracing::trace!(target: "cairn::turn", "OpInRun::judge_prepared");
        let hosts = self.asked_hosts(prepared);
        if !hosts.is_empty() {
            return self.put_hosts(&hosts);
        }
        let reach = Reach::from(prepared);
        let leave = self.leave(&reach);
        if let Some(covered) = self.covered(prepared, &leave) {
            return covered;
        }
        if let Leave::Refused(gates, refusal) = leave {
            return self.refuse(gates, refusal).naming_paths(&reach).record();
        }
        if let Some(unseen) = self.unseen(prepared) {
            return unseen;
        }
        match leave {
            Leave::Granted(gates, by) => self.grant(gates, by).naming_paths(&reach).record(),
            Leave::Ask(_) | Leave::Refused(..) => {
                propose(self.op, prepared, &self.run.driving.rules)
            }
            // Asked before it was prepared.
            Leave::Hook(_) | Leave::Answered(..) => Recording::default(),
        }
    }

    /// It was allowed and is about to act. What the present driver's gates refuse is not done, nor
    /// what they would no longer let pass where nobody but they allowed it: it may change other paths
    /// by now.
    #[must_use]
    pub fn refusal_before_acting(&self, prepared: &Prepared) -> Option<Recording> {
        tracing::trace!(target: "cairn::turn", "OpInRun::refusal_before_acting");
        let by_gates = self.newest_decision().is_some_and(Decision::is_by_gates);
        let reach = Reach::from(prepared);
        let refused = |gates, refusal| {
            let ruling = self.refuse(gates, refusal).naming_paths(&reach);
            Some(match self.has_not_happened() {
                true => ruling.record(),
                false => ruling.leaving_it_indeterminate().record(),
            })
        };
        match self.leave(&reach) {
            Leave::Refused(gates, refusal) if refusal.is_final => refused(gates, refusal),
            // Of what has not begun they are asked before it is allowed.
            Leave::Hook(_) | Leave::Answered(..) => refused(unhooked(), Refusal::unhooked()),
            Leave::Granted(..) => None,
            Leave::Ask(_) | Leave::Refused(..) => by_gates.then(|| self.refuse_as_not_shown()),
        }
    }

    /// What the gates say about an op, given how far it reaches as far as that was found out. They are asked again
    /// only when the op, its effect or the policy has changed since they were asked last.
    pub(crate) fn leave(&self, reach: &Reach) -> Leave {
        let driving = &self.run.driving;
        let (at, version) = (self.at(), driving.policy_version(self.run.now));
        let evaluate = || self.ask_gates(reach);
        self.unless_too_late(driving.judgements.recall_or_evaluate(at, reach, version, evaluate))
    }

    /// What the gates would say if it reached so far. That is not remembered.
    pub(crate) fn leave_if(&self, reach: &Reach) -> Leave {
        let judgements = &self.run.driving.judgements;
        self.unless_too_late(judgements.evaluate(|| self.ask_gates(reach)))
    }

    fn ask_gates(&self, reach: &Reach) -> Leave {
        match self.put(reach) {
            Some(asked) => asked.leave(),
            None => Leave::Granted(Vec::new(), By::Gate(Gate::Mode)),
        }
    }

    /// What began cannot be changed or answered any more, so hooks are not asked about it.
    fn unless_too_late(&self, leave: Leave) -> Leave {
        let too_late = self.op.begin().is_some()
            && match leave {
                Leave::Hook(_) | Leave::Answered(..) => true,
                Leave::Granted(..) | Leave::Ask(_) => self.step_accepting().is_some(),
                Leave::Refused(..) => false,
            };
        if too_late { Leave::Refused(unhooked(), Refusal::unhooked()) } else { leave }
    }

    /// The question that the gates are asked about an op; none where it names no op.
    fn put<'b>(&'b self, reach: &'b Reach) -> Option<Asked<'b>> {
        let asked = Asked::new(
            self.case(reach)?,
            self.run.driving.terms(),
            &self.run.driving.rules,
            self.run.now,
        );
        Some(
            asked
                .knowing(self.run.driving.schemes())
                .hooked(self.hooks_said())
                .within(self.call_budget())
                .guessed(self.op.is_guessed())
                .again(self.made_before()),
        )
    }

    /// An op as rules see it; none where it names no op.
    pub(crate) fn case<'b>(&'b self, reach: &'b Reach) -> Option<Case<'b>> {
        static NONE: Subject = Subject {
            reads: Vec::new(),
            writes: Vec::new(),
            command: None,
            text: None,
            cwd: None,
            hosts: Vec::new(),
            beside: false,
        };
        Some(Case {
            op: self.op.intent.op?,
            tool: native::name_of(&self.op.intent.tool).unwrap_or(&self.op.intent.tool),
            writer: self.op.intent.writer,
            effect: self.op.intent.effect,
            subject: self.op.intent.subject.as_ref().unwrap_or(&NONE),
            changed: &reach.changed,
            ignored: &reach.ignored,
            gone: &reach.gone,
            removed: reach.removed,
        })
    }

    /// Why an op that a crash cut in the middle is not finished, if it is not: the present driver's
    /// gates refuse it, or it is what only a person allows and none did. What would merely be asked
    /// about today was allowed when it began, and a whole change is better than half of one.
    pub(crate) fn not_finished(&self) -> Option<Recording> {
        let reach = Reach::begun(self.op)?;
        let asked = self.put(&reach)?;
        let by_person = self.op.decision().is_some_and(|decision| !decision.is_by_gates());
        let (gates, refusal) = match self.leave(&reach) {
            Leave::Refused(gates, refusal)
                if refusal.is_final && refusal.status != Status::LIMIT =>
            {
                (gates, refusal)
            }
            Leave::Ask(gates) | Leave::Refused(gates, _) if asked.is_ceiling() && !by_person => {
                (gates, Refusal::unasked())
            }
            _ => return None,
        };
        let told = Told::Words(match &refusal.told {
            Told::Words(why) => words::not_finished(why),
            Told::Kept(_) => words::PARTLY.to_owned(),
        });
        let refusal = Refusal { told, ..refusal };
        let ruling = self.refuse(gates, refusal).naming_paths(&reach);
        Some(ruling.leaving_it_indeterminate().record())
    }

    /// A hook, or an earlier call, gave an op's result.
    pub(crate) fn answered(&self, gates: Vec<GateVerdict>, result: ContentRef) -> Recording {
        let by = By::Gate(gates.last().map_or(Gate::Hooks, |last| last.gate.clone()));
        let decision = Decision::new(self.op.intent.at, Verdict::Skip, by, gates);
        let outcome = outcome(self.op, Status::OK, result, Settled::NotPerformed);
        let facts = vec![Body::Decision(decision), self.result_fact(outcome)];
        Recording { facts, ..Recording::default() }
    }

    /// A file is edited only by a model that has seen it as it is. If it has not, it is shown, and
    /// the edit is refused.
    pub(crate) fn unseen(&self, prepared: &Prepared) -> Option<Recording> {
        if self.op.intent.op != Some(OpName::Edit) || self.op.intent.writer != Writer::Model {
            return None;
        }
        let known = |change: &&Change| {
            // Only files must have been read first; an entry may be rewritten unread.
            if change.entry().is_some() {
                return true;
            }
            let is = change.before.as_ref().and_then(|state| state.hash);
            is.is_none() || self.run.model_view.seen.get(&change.path) == is.as_ref()
        };
        let first = prepared.changes.iter().find(|change| !known(change))?;
        let (why, now) = match self.run.model_view.seen.contains_key(&first.path) {
            true => (words::stale(&first.path), "It is now:"),
            false => (words::unread(&first.path), "It is:"),
        };
        if !prepared.changes.iter().all(|change| self.run.policy_in_force().may_show(&change.path))
        {
            return Some(Recording::not_performed(self.op, Status::CONFLICT, why));
        }
        let told = format!("{why} {now}\n{}", shown_at_most(&prepared.fresh));
        let mut recording = Recording::default();
        let result = recording.keep(told);
        let outcome = outcome(self.op, Status::CONFLICT, result, Settled::NotPerformed);
        let seen = prepared.changes.iter().filter_map(seen_before).collect();
        recording.facts.push(Body::Outcome(Outcome { seen, ..outcome }));
        Some(recording)
    }
}

/// The word of the gate `hooks` where it is too late to ask one.
fn unhooked() -> Vec<GateVerdict> {
    let (gate, verdict) = (Gate::Hooks, GateWord::Refuse);
    vec![GateVerdict { gate, verdict, why: "one was not asked before it began".to_owned() }]
}

/// As many of the files as are told at once; the others are named.
fn shown_at_most(fresh: &[String]) -> String {
    let mut told = String::new();
    for (n, file) in fresh.iter().enumerate() {
        if n > 0 && told.len() + file.len() > MOST_SHOWN {
            return format!("{told}\n… and {} more files", fresh.len() - n);
        }
        if n > 0 {
            told.push('\n');
        }
        told.push_str(file);
    }
    told
}

fn seen_before(change: &Change) -> Option<Seen> {
    let hash = change.before.as_ref()?.hash?;
    Some(Seen { path: change.path.clone(), hash, part: false })
}
