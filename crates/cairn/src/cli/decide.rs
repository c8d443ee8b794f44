//! The shape of `cairn decide`.

use clap::{Args, ValueEnum};
use std::fmt;

/// Say a word on a question of a run that another process drives.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn decide                              the open questions of all runs that are driven now
  cairn decide p1.2.1                       what is asked
  cairn decide p1.2.1 allow
  cairn decide p1.2.1 allow --items 1,3                 only these parts of an edit
  cairn decide p1.2.1 allow --text src/a.rs=mine.rs     this text instead of the proposed one
  cairn decide p1.2.1 refuse --words \"use the other file\"
  cairn decide p1.2.1 allow --remember project --rule \"exec cargo test *\"
  cairn decide p1.2.1 answer --words \"the second one\"
  cairn decide p1.2.1 allow --mode accept-edits   a plan, which then edits files unasked
The first word on a question wins; whoever comes second is told who said what, and when. A run that has
nobody at its own terminal waits for this with `cairn run --await`.")]
pub struct Decide {
    /// The question.
    pub proposal: Option<String>,
    /// The word; the question is shown when absent.
    #[arg(value_enum)]
    pub word: Option<Say>,
    /// The run; every run that is driven now when absent.
    #[arg(long)]
    pub run: Option<String>,
    /// With allow, of an edit: the items that are taken, by number; all when absent.
    #[arg(long, value_name = "N,…", value_delimiter = ',', requires = "word")]
    pub items: Option<Vec<u32>>,
    /// With allow, of an edit: what shall stand in a file in place of what is proposed, from another
    /// file, or from stdin (-); may be given several times.
    #[arg(long = "text", value_name = "PATH=FILE", requires = "word")]
    pub texts: Vec<String>,
    /// With answer: the answer, or the number of one; with refuse: what it shall do instead.
    #[arg(long, requires = "word")]
    pub words: Option<String>,
    /// With allow: how far it is remembered.
    #[arg(long, value_enum, requires = "word")]
    pub remember: Option<Far>,
    /// With --remember: for what, as a rule; the narrowest that is offered when absent.
    #[arg(long, requires = "remember")]
    pub rule: Option<String>,
    /// With allow, of a plan: the mode in which the run goes on; act when absent, if the run was planning.
    #[arg(long, value_enum, requires = "word")]
    pub mode: Option<PlanMode>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// The words.
#[derive(Clone, Copy, ValueEnum)]
pub enum Say {
    /// Do it.
    Allow,
    /// Do not.
    Refuse,
    /// Of one that was interrupted: it happened.
    Happened,
    /// Of one that was interrupted: leave it.
    Skip,
    /// Of a question of the agent's: --words is the answer.
    Answer,
}

impl fmt::Display for Say {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Say::Allow => "allow",
            Say::Refuse => "refuse",
            Say::Happened => "happened",
            Say::Skip => "skip",
            Say::Answer => "answer",
        })
    }
}

/// The modes in which a plan can be carried out.
#[derive(Clone, Copy, ValueEnum)]
pub enum PlanMode {
    /// It goes on planning.
    Plan,
    /// Changes are asked about.
    Act,
    /// Files are changed unasked.
    AcceptEdits,
}

/// How far a word is remembered.
#[derive(Clone, Copy, ValueEnum)]
pub enum Far {
    /// In this run.
    Run,
    /// In this session.
    Session,
    /// In this project's folder.
    Project,
    /// Everywhere.
    Always,
}
