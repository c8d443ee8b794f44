//! `cairn models probe`: has a model do small tasks in every way of writing, says how many came out right, and keeps
//! what serves it best for `cairn run`. Nothing of the user's home or project is touched.

mod report;
mod tasks;
mod trial;

use super::{catalogue, probes};
use crate::cli;
use crate::config::{Config, Layer, Value};
use crate::out::say;
use crate::run::{Usage, block_on, no_price};
use crate::{model, place, secrets};
use anyhow::Result;
use cairn_provider::Provider;
use cairn_types::{PicoUsd, Surface};
use report::Report;
use std::process::ExitCode;
use std::sync::Arc;
use tasks::{TASKS, Task};
use tokio::signal::unix::{Signal, SignalKind, signal};
use trial::{Bench, Stopped, Temporary};

/// The longest answer of a task, in tokens.
const ANSWER: u64 = 512;
/// The same of a model that thinks before it answers.
const THOUGHT: u64 = 4096;

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
struct Row {
    tasks: u64,
    correct: u64,
    replies: u64,
    valid: u64,
    tally: crate::tally::Tally,
    /// Why it could not be tried.
    problem: Option<String>,
}

impl Row {
    /// Of a hundred tasks, how many came out right.
    fn correct(&self) -> f64 {
        f64::from(share(self.correct, self.tasks)) / 10.0
    }

    /// Of a hundred replies, how many could be admitted.
    fn valid(&self) -> f64 {
        f64::from(share(self.valid, self.replies)) / 10.0
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
    let probing = Probing::new(args)?;
    if args.dry_run {
        say!("{}", probing.dry_run());
        return Ok(ExitCode::SUCCESS);
    }
    let mut report = Report::new(&probing.bench.model, args.json);
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
        valid: row.valid(),
        correct: row.correct(),
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
    bench: Bench,
    /// The model as it is configured, and with nothing that holds its decoding.
    held: Arc<dyn Provider>,
    free: Arc<dyn Provider>,
    ways: Vec<Way>,
    tasks: &'static [Task],
    /// It may cost so much.
    most: Option<PicoUsd>,
}

impl Probing {
    fn new(args: &cli::ModelsProbe) -> Result<Probing> {
        // A project has no say in how a model is used elsewhere.
        let mut config = Config::load(&place::config_files(None), &place::env)?;
        config.lay(Layer::flag("fallback_model", "probe", Value::Text(String::new()))?)?;
        if args.name.starts_with("scripted/") {
            let why = "is a script and no provider's model: there is nothing to find out";
            return Err(Usage(format!("{} {why}", args.name)).into());
        }
        let wanted: Vec<Surface> =
            args.surface.iter().map(|name| named(name)).collect::<Result<_, _>>()?;
        let scrubber = secrets::scrubber(&config, [0; 32]);
        let chosen = model::choose(&args.name, &config, &place::env, &scrubber)?;
        let mut unheld = config.clone();
        model::leave_unheld(&chosen.name, &mut unheld)?;
        let free = model::choose(&chosen.name, &unheld, &place::env, &scrubber)?.provider;
        let can_hold = model::is_held(&chosen.name, &config);
        let is_wanted = |surface| wanted.is_empty() || wanted.contains(&surface);
        let ways =
            WAYS.into_iter().filter(|(surface, held)| is_wanted(*surface) && (!held || can_hold));
        let most = match &args.max_cost {
            Some(usd) => {
                config.lay(Layer::flag("max_cost", "max-cost", Value::Text(usd.clone()))?)?;
                config.money("max_cost")
            }
            None => None,
        };
        if most.is_some() && chosen.provider.price().is_none() {
            return Err(no_price(&chosen.name).into());
        }
        let thinks = catalogue(&config)?.model(&chosen.name).and_then(|entry| entry.reasoning);
        let answer = if thinks == Some(true) { THOUGHT } else { ANSWER };
        Ok(Probing {
            held: chosen.provider,
            free,
            ways: ways
                .map(|(surface, constrained)| Way { surface, constrained, small: true })
                .collect(),
            tasks: first(args.tasks),
            most,
            bench: Bench {
                config,
                model: chosen.name,
                most: answer,
                scrubber,
                place: Temporary::new()?,
            },
        })
    }

    /// Tries every way with the small profile, the best once more with the full one, and gives the best of all.
    async fn all(&self, report: &mut Report) -> Result<Result<(Way, Row), Nothing>> {
        let mut interrupts = signal(SignalKind::interrupt())?;
        let mut best: Option<(Way, Row)> = None;
        for way in &self.ways {
            let row = match self.row(*way, report, &mut interrupts).await? {
                Ok(row) => row,
                Err(stopped) => return Ok(Err(Nothing::Stopped(stopped))),
            };
            if best.as_ref().is_none_or(|(_, before)| row.score() > before.score()) {
                best = Some((*way, row));
            }
        }
        let Some((way, row)) = best.filter(|(_, row)| row.correct > 0) else {
            return Ok(Err(match report.unreachable() {
                Some(why) => Nothing::Stopped(Stopped::Unreachable(why)),
                None => Nothing::Useless,
            }));
        };
        let whole = Way { small: false, ..way };
        Ok(match self.row(whole, report, &mut interrupts).await? {
            // What can hold everything is given everything.
            Ok(full) if full.problem.is_none() && full.score() >= row.score() => Ok((whole, full)),
            Ok(_) => Ok((way, row)),
            Err(stopped) => Err(Nothing::Stopped(stopped)),
        })
    }

    /// Tries all tasks in one way. A model that cannot be had so is not asked for the others.
    async fn row(
        &self,
        way: Way,
        report: &mut Report,
        interrupts: &mut Signal,
    ) -> Result<Result<Row, Stopped>> {
        let provider = if way.constrained { &self.held } else { &self.free };
        let mut row = Row::default();
        for (n, task) in self.tasks.iter().enumerate() {
            report.progress(way, (n + 1, self.tasks.len()), task.name);
            let left = match self.most.map(|most| most.0.checked_sub(report.spent(&row))) {
                None => None,
                Some(Some(left)) => Some(PicoUsd(left)),
                Some(None) => return Ok(Err(Stopped::Cost)),
            };
            let how = (way, provider.clone());
            let tried = self.bench.tries(task, how, (left, &mut *interrupts)).await?;
            row.tally.add_all(&tried.tally);
            (row.replies, row.valid) = (row.replies + tried.replies, row.valid + tried.valid);
            (row.tasks, row.correct) = (row.tasks + 1, row.correct + u64::from(tried.correct));
            match tried.stopped {
                None => {}
                Some(Stopped::Unreachable(why)) => {
                    row.problem = Some(why);
                    break;
                }
                Some(stopped) => {
                    report.add(way, row);
                    return Ok(Err(stopped));
                }
            }
        }
        if row.problem.is_some() {
            // What was not tried is not right.
            row.tasks = self.tasks.len() as u64;
        }
        report.add(way, row.clone());
        Ok(Ok(row))
    }

    /// How much would be asked.
    fn dry_run(&self) -> String {
        // A task takes about three requests, each about as long as a small first one, and short answers.
        const REQUESTS: u64 = 3;
        const SENT: u64 = 800;
        const SAID: u64 = 60;
        let runs = (self.ways.len() as u64 + 1) * self.tasks.len() as u64;
        let (sent, said) = (runs * REQUESTS * SENT, runs * REQUESTS * SAID);
        let cost = self.held.price().map(|price| {
            let cost = price.input.0.saturating_mul(sent);
            PicoUsd(cost.saturating_add(price.output.0.saturating_mul(said)))
        });
        let cost = cost.map_or("at an unknown price".to_owned(), |cost| {
            format!("{} at its price", crate::money::shown(cost))
        });
        format!(
            "{} tasks on each of {} settings and the best once more: {runs} runs, about {sent} tokens in and {said} out, {cost}. Nothing was asked.",
            self.tasks.len(),
            self.ways.len()
        )
    }
}

fn named(name: &str) -> Result<Surface, Usage> {
    name.parse().map_err(|why: cairn_types::NoSuchSurface| Usage(why.to_string()))
}

/// The first so many tasks.
fn first(wanted: Option<u64>) -> &'static [Task] {
    let wanted = wanted.and_then(|n| usize::try_from(n).ok()).unwrap_or(TASKS.len());
    TASKS.get(..wanted).unwrap_or(TASKS)
}
