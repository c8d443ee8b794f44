//! `cairn models probe`: has a model do small tasks in every way of writing, says how many came out right, and keeps
//! what serves it best for `cairn run`. Nothing of the user's home or project is touched.

mod plan;
mod report;
mod signals;
mod tasks;
mod trial;

pub use tasks::MOST_TASKS;

use super::probes;
use crate::config::Config;
use crate::home::place;
use crate::run::block_on;
use crate::setup::secrets;
use crate::{cli, model};
use anyhow::Result;
use cairn_provider::Provider;
use cairn_types::{PicoUsd, Surface};
use plan::Plan;
use report::Report;
use signals::Signals;
use std::process::ExitCode;
use std::sync::Arc;
use trial::{Bench, Stopped, Temporary, Tried};

/// One way to use a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// How it writes ops.
    surface: Surface,
    /// Whether its decoding is held to the form of a reply.
    constrained: bool,
    /// With few tools and a short beginning.
    small: bool,
}

/// The ways there are, the simplest first: of two that serve as well, the first is used.
const WAYS: [(Surface, bool); 5] = [
    (Surface::Native, false),
    (Surface::Envelope, true),
    (Surface::Tags, false),
    (Surface::Heredoc, false),
    (Surface::Envelope, false),
];

/// What came of one way.
#[derive(Debug, Clone, Default)]
struct ProbeRow {
    tasks: u64,
    correct: u64,
    replies: u64,
    valid: u64,
    tally: crate::output::tally::Tally,
    /// Why it could not be tried.
    problem: Option<String>,
}

impl ProbeRow {
    /// Counts a task. One that was interrupted is not counted, but for what it cost.
    fn take(&mut self, tried: &Tried) {
        self.tally.add_all(&tried.tally);
        if matches!(tried.stopped, Some(Stopped::Interrupted | Stopped::Unreachable(_))) {
            return;
        }
        (self.replies, self.valid) = (self.replies + tried.replies, self.valid + tried.valid);
        (self.tasks, self.correct) = (self.tasks + 1, self.correct + u64::from(tried.correct));
        // A model that never replied was not tried, though it was asked.
        self.problem = tried.silence.clone().filter(|_| self.replies == 0);
    }

    /// Of a hundred tasks, how many came out right; of none nobody knows.
    fn correct(&self) -> Option<f64> {
        (self.tasks > 0).then(|| f64::from(share(self.correct, self.tasks)) / 10.0)
    }

    /// Of a hundred replies, how many could be admitted; of none nobody knows.
    fn valid(&self) -> Option<f64> {
        (self.replies > 0).then(|| f64::from(share(self.valid, self.replies)) / 10.0)
    }

    /// What counts first: tasks, then replies.
    fn score(&self) -> (u64, u32) {
        (self.correct, share(self.valid, self.replies))
    }
}

/// Of a thousand, how many.
fn share(part: u64, of: u64) -> u32 {
    let share = part.saturating_mul(1000).checked_div(of).unwrap_or_default();
    u32::try_from(share).unwrap_or_default()
}

/// Runs the command.
pub fn probe(args: &cli::ModelsProbe) -> Result<ExitCode> {
    let plan = Plan::new(args)?;
    if args.dry_run {
        plan.tell(args.json);
        return Ok(ExitCode::SUCCESS);
    }
    let mut report = Report::new(&plan, args.json);
    let probing = Probing::new(plan)?;
    let found = block_on(probing.all(&mut report))??;
    report.rows();
    let (way, row) = match found {
        Ok(best) => best,
        Err(nothing) => return report.nothing(&nothing),
    };
    let found = probes::Found {
        surface: way.surface,
        small: way.small,
        constrained: way.constrained,
        valid: row.valid().unwrap_or_default(),
        correct: row.correct().unwrap_or_default(),
        at: cairn_runtime::now_ms(),
    };
    probes::record(&probing.bench.model, found.clone())?;
    report.recorded(&found);
    Ok(ExitCode::SUCCESS)
}

/// Why nothing is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Nothing {
    /// It was not tried to the end.
    Stopped(Stopped),
    /// No task came out right.
    Useless,
}

/// A probe of one model.
struct Probing {
    plan: Plan,
    bench: Bench,
    /// The model as it is configured, and with nothing that holds its decoding.
    held: Arc<dyn Provider>,
    free: Arc<dyn Provider>,
}

impl Probing {
    fn new(plan: Plan) -> Result<Probing> {
        let (name, config) = (&plan.model, &plan.config);
        let scrubber = secrets::scrubber(config, [0; 32]);
        let choose = |config: &Config| model::choose(name, config, &place::env, &scrubber);
        let mut unheld = config.clone();
        model::leave_unheld(name, &mut unheld)?;
        let (held, free) = (choose(config)?.provider, choose(&unheld)?.provider);
        let bench = Bench {
            config: config.clone(),
            model: name.clone(),
            most: plan.answer,
            scrubber,
            place: Temporary::new()?,
        };
        Ok(Probing { plan, bench, held, free })
    }

    /// Tries every way with the small profile, the best once more with the full one, and gives the best of all.
    async fn all(&self, report: &mut Report) -> Result<Result<(Way, ProbeRow), Nothing>> {
        let mut signals = Signals::new();
        let mut best: Option<(Way, ProbeRow)> = None;
        for way in &self.plan.ways {
            let row = match self.row(*way, report, &mut signals).await? {
                Ok(row) => row,
                Err(stopped) => return Ok(Err(Nothing::Stopped(stopped))),
            };
            if best.as_ref().is_none_or(|(_, before)| row.score() > before.score()) {
                best = Some((*way, row));
            }
        }
        let Some((way, row)) = best.filter(|(_, row)| row.correct > 0) else {
            return Ok(Err(match report.refused() {
                Some(why) => Nothing::Stopped(Stopped::Refused(why)),
                None => Nothing::Useless,
            }));
        };
        let whole = Way { small: false, ..way };
        Ok(match self.row(whole, report, &mut signals).await? {
            // What can hold everything is given everything.
            Ok(full) if full.problem.is_none() && full.score() >= row.score() => Ok((whole, full)),
            Ok(_) => Ok((way, row)),
            Err(stopped) => Err(Nothing::Stopped(stopped)),
        })
    }

    /// Tries all tasks in one way. A model that refuses to be used so is not asked for the others.
    async fn row(
        &self,
        way: Way,
        report: &mut Report,
        signals: &mut Signals,
    ) -> Result<Result<ProbeRow, Stopped>> {
        let provider = if way.constrained { &self.held } else { &self.free };
        let mut row = ProbeRow::default();
        report.begin();
        for (n, task) in self.plan.tasks.iter().enumerate() {
            report.progress(way, (n, self.plan.tasks.len()), task.name);
            let left = match self.plan.most.map(|most| most.0.checked_sub(report.spent(&row))) {
                None => None,
                Some(Some(left)) => Some(PicoUsd(left)),
                Some(None) => return Ok(Err(Stopped::Cost)),
            };
            let how = (way, provider.clone());
            let tried = self.bench.tries(task, how, (left, &mut *signals)).await?;
            row.take(&tried);
            match tried.stopped {
                None => {}
                Some(Stopped::Refused(why)) => {
                    // What was not tried is not right.
                    row.tasks = self.plan.tasks.len() as u64;
                    row.problem = Some(why);
                    break;
                }
                Some(stopped) => {
                    if let Stopped::Unreachable(why) = &stopped {
                        row.problem = Some(why.clone());
                    }
                    report.add(way, row);
                    return Ok(Err(stopped));
                }
            }
        }
        report.add(way, row.clone());
        Ok(Ok(row))
    }
}
