//! One op of the newest reply: what was asked for, and how far it has come. What to do next with an op depends on
//! its stage alone; the rest of its state counts and remembers.

use crate::hooks::OfOp;
use crate::rails::ResultDigest;
use cairn_types::{
    Begin, By, Coord, Decision, Hash, Intent, OpName, Outcome, Proposal, ProposalKind, Status,
    Verdict,
};

/// An op of the newest reply, as far as it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpState {
    /// What was asked for.
    pub intent: Intent,
    /// How far it has come.
    pub stage: OpStage,
    /// How often a person was asked about it.
    pub(crate) questions: u32,
    /// How often it began.
    pub(crate) begins: u32,
    /// Hosts that a person let it reach.
    pub hosts: Vec<String>,
    /// Whether a person was asked which hosts it may reach.
    pub(crate) asked_hosts: bool,
    /// Whether its command ran where it may have reached hosts.
    pub reached: HostsReached,
    /// Its command had begun to run over an overlay when a person said something: a steer does not skip it.
    pub(crate) has_run: bool,
    /// Who allowed the command in the background whose changes this op is.
    pub(crate) allowed_by: Option<By>,
    pub(crate) hooks: OfOp,
}

/// How far an op has come. Each stage holds what was recorded on the way to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum OpStage {
    /// It was asked for and is not decided on.
    #[default]
    Requested,
    /// A question about it waits for an answer.
    Held(Proposal),
    /// A person or the gates decided on it.
    Decided(Decided),
    /// It began, and its end is not recorded.
    Begun(Box<Begun>),
    /// It was performed; hooks look at the result.
    Performed {
        /// What happened.
        outcome: Outcome,
        /// The stage before.
        before: Box<OpStage>,
    },
    /// It has an outcome.
    Settled {
        /// The status of its row.
        status: Status,
        /// What its row says, as far as the rails look at it.
        result: ResultDigest,
        /// The stage before.
        before: Box<OpStage>,
    },
}

/// A decision on an op, and the question it answers, if there was one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// The question; none where the gates decided by themselves.
    pub question: Option<Proposal>,
    /// The decision.
    pub decision: Decision,
}

/// The beginning of an op, the newest if it began more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    /// What it was about to change.
    pub begin: Begin,
    /// Who let it.
    pub decided: Option<Decided>,
    /// The question how it ended, where a crash left that unknown.
    pub doubt: Option<EndingQuestion>,
}

/// The question how an op ended that began and was not seen to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndingQuestion {
    /// The question.
    pub question: Proposal,
    /// The answer, once there is one.
    pub decision: Option<Decision>,
}

/// Whether a command ran where it may have reached hosts. What it did there is not done twice, unless a person lets
/// it run again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HostsReached {
    /// It did not.
    #[default]
    Not,
    /// It did, under the present driver, which has what came of it.
    Here,
    /// It did, under an earlier driver, and what came of it is gone with that one.
    Lost,
}

impl OpStage {
    fn decided(&self) -> Option<&Decided> {
        match self {
            OpStage::Requested | OpStage::Held(_) => None,
            OpStage::Decided(decided) => Some(decided),
            OpStage::Begun(begun) => begun.decided.as_ref(),
            OpStage::Performed { before, .. } | OpStage::Settled { before, .. } => before.decided(),
        }
    }

    fn begun(&self) -> Option<&Begun> {
        match self {
            OpStage::Requested | OpStage::Held(_) | OpStage::Decided(_) => None,
            OpStage::Begun(begun) => Some(begun),
            OpStage::Performed { before, .. } | OpStage::Settled { before, .. } => before.begun(),
        }
    }

    /// A question about the op was put.
    fn after_proposal(self, proposal: &Proposal) -> OpStage {
        let question = proposal.clone();
        match self {
            OpStage::Requested | OpStage::Held(_) | OpStage::Decided(_) => OpStage::Held(question),
            OpStage::Begun(mut begun) => {
                begun.doubt = Some(EndingQuestion { question, decision: None });
                OpStage::Begun(begun)
            }
            ended @ (OpStage::Performed { .. } | OpStage::Settled { .. }) => ended,
        }
    }

    /// The op was decided on.
    fn after_decision(self, decision: &Decision) -> OpStage {
        let decision = decision.clone();
        match self {
            OpStage::Requested => OpStage::Decided(Decided { question: None, decision }),
            OpStage::Held(question) => {
                OpStage::Decided(Decided { question: Some(question), decision })
            }
            OpStage::Decided(decided) => OpStage::Decided(Decided { decision, ..decided }),
            OpStage::Begun(mut begun) => {
                if let Some(doubt) = &mut begun.doubt {
                    doubt.decision = Some(decision);
                }
                OpStage::Begun(begun)
            }
            ended @ (OpStage::Performed { .. } | OpStage::Settled { .. }) => ended,
        }
    }

    /// The op begins. An answer about an earlier beginning says nothing about this one.
    fn after_begin(self, begin: &Begin) -> OpStage {
        let decided = match self {
            OpStage::Decided(decided) => Some(decided),
            OpStage::Begun(begun) => begun.decided,
            OpStage::Requested
            | OpStage::Held(_)
            | OpStage::Performed { .. }
            | OpStage::Settled { .. } => None,
        };
        OpStage::Begun(Box::new(Begun { begin: begin.clone(), decided, doubt: None }))
    }

    /// The stage that an outcome keeps: what is only performed is settled, and nothing is settled twice.
    fn before_outcome(self) -> Box<OpStage> {
        match self {
            OpStage::Performed { before, .. } | OpStage::Settled { before, .. } => before,
            stage => Box::new(stage),
        }
    }
}

impl OpState {
    pub(crate) fn new(intent: &Intent) -> OpState {
        OpState {
            intent: intent.clone(),
            stage: OpStage::Requested,
            questions: 0,
            begins: 0,
            hosts: Vec::new(),
            asked_hosts: false,
            reached: HostsReached::Not,
            has_run: false,
            allowed_by: None,
            hooks: OfOp::default(),
        }
    }

    /// Its coordinate.
    #[must_use]
    pub fn at(&self) -> Coord {
        self.intent.at
    }

    /// The hash of its arguments.
    #[must_use]
    pub fn input(&self) -> Hash {
        self.intent.input.hash
    }

    /// The question put last on whether it may be done, answered or not.
    #[must_use]
    pub fn question(&self) -> Option<&Proposal> {
        match &self.stage {
            OpStage::Held(question) => Some(question),
            stage => stage.decided()?.question.as_ref(),
        }
    }

    /// Who decided that it may be done or not, and how.
    #[must_use]
    pub fn decision(&self) -> Option<&Decision> {
        self.stage.decided().map(|decided| &decided.decision)
    }

    /// That it began, the last time.
    #[must_use]
    pub fn begin(&self) -> Option<&Begin> {
        self.stage.begun().map(|begun| &begun.begin)
    }

    /// The question how it ended, where a crash left that unknown.
    #[must_use]
    pub fn doubt(&self) -> Option<&EndingQuestion> {
        self.stage.begun()?.doubt.as_ref()
    }

    /// The newest question about it, answered or not.
    #[must_use]
    pub fn newest_question(&self) -> Option<&Proposal> {
        self.doubt().map(|doubt| &doubt.question).or_else(|| self.question())
    }

    /// The newest decision on it.
    #[must_use]
    pub fn newest_decision(&self) -> Option<&Decision> {
        self.doubt().and_then(|doubt| doubt.decision.as_ref()).or_else(|| self.decision())
    }

    /// What happened, while hooks look at the result.
    #[must_use]
    pub fn performed(&self) -> Option<&Outcome> {
        match &self.stage {
            OpStage::Performed { outcome, .. } => Some(outcome),
            _ => None,
        }
    }

    /// Its status, once it has one.
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        match self.stage {
            OpStage::Settled { status, .. } => Some(status),
            _ => None,
        }
    }

    /// What its row says, once it has an outcome.
    pub(crate) fn result(&self) -> Option<ResultDigest> {
        match self.stage {
            OpStage::Settled { result, .. } => Some(result),
            _ => None,
        }
    }

    /// The open question which hosts it may reach.
    pub(crate) fn question_of_hosts(&self) -> Option<&Proposal> {
        match &self.stage {
            OpStage::Held(question) if question.kind == ProposalKind::Network => Some(question),
            _ => None,
        }
    }

    /// A hook made another op of it: nothing said about the earlier one counts.
    pub(crate) fn became(&mut self, intent: &Intent) {
        self.intent = intent.clone();
        self.stage = OpStage::Requested;
        (self.hosts, self.asked_hosts, self.reached) = (Vec::new(), false, HostsReached::Not);
        self.hooks.became_another();
    }

    pub(crate) fn took_proposal(&mut self, proposal: &Proposal) {
        self.hooks.opened();
        self.questions += u32::from(proposal.kind != ProposalKind::Indeterminate);
        self.stage = std::mem::take(&mut self.stage).after_proposal(proposal);
    }

    /// The op was decided on. Returns the kind of op that an answer is remembered for: none where the decision is
    /// about something else than whether this op may be done.
    pub(crate) fn took_decision(&mut self, decision: &Decision) -> Option<OpName> {
        let has_begun = self.begin().is_some();
        if !has_begun && !decision.hosts.is_empty() {
            self.took_answer_on_hosts(decision);
            return None;
        }
        self.stage = std::mem::take(&mut self.stage).after_decision(decision);
        self.intent.op.filter(|_| !has_begun)
    }

    /// A person said which hosts it may reach. The question about the op itself is still to come.
    fn took_answer_on_hosts(&mut self, decision: &Decision) {
        self.stage = OpStage::Requested;
        self.asked_hosts = true;
        if decision.verdict == Verdict::Allow {
            self.hosts.clone_from(&decision.hosts);
            // Its command runs again with them.
            self.reached = HostsReached::Not;
        }
    }

    pub(crate) fn took_begin(&mut self, begin: &Begin) {
        self.begins += 1;
        self.stage = std::mem::take(&mut self.stage).after_begin(begin);
    }

    pub(crate) fn took_performed(&mut self, outcome: &Outcome) {
        let before = std::mem::take(&mut self.stage).before_outcome();
        self.stage = OpStage::Performed { outcome: outcome.clone(), before };
    }

    pub(crate) fn took_outcome(&mut self, outcome: &Outcome) {
        let before = std::mem::take(&mut self.stage).before_outcome();
        self.stage = OpStage::Settled {
            status: outcome.status,
            result: ResultDigest::of_outcome(outcome),
            before,
        };
    }
}
