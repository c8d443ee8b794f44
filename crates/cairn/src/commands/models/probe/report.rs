//! What a probe tells: how far it is, what came of each way, and what was recorded.

use super::plan::Plan;
use super::trial::Stopped;
use super::{Nothing, ProbeRow, Way};
use crate::commands::models::probes::Found;
use crate::output::money;
use crate::output::out::say;
use crate::output::table::{Side, lined_up};
use anyhow::{Result, anyhow};
use cairn_types::Surface;
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::Instant;

/// What is known so far, for people or for programs.
pub struct Report {
    model: String,
    is_json: bool,
    rows: Vec<(Way, ProbeRow)>,
    /// Progress is drawn over the line before.
    is_drawn: bool,
    /// How many runs there may be, and how many were over before this row.
    runs: (u64, u64),
    /// When this row began.
    began: Instant,
}

/// After so many tasks of a row it is said how long the rest will take.
const ENOUGH: usize = 2;

impl Report {
    /// Nothing yet, of this model.
    pub fn new(plan: &Plan, is_json: bool) -> Report {
        Report {
            model: plan.model.clone(),
            is_json,
            rows: Vec::new(),
            is_drawn: std::io::stderr().is_terminal(),
            runs: (plan.runs(), 0),
            began: Instant::now(),
        }
    }

    /// A row begins.
    pub fn begin(&mut self) {
        self.began = Instant::now();
    }

    /// About how long the rest takes, as long as this row takes for each of its tasks.
    fn rest(&self, done: usize) -> Option<String> {
        let (runs, before) = self.runs;
        let left = runs.saturating_sub(before).saturating_sub(done as u64);
        let spent = self.began.elapsed().as_secs_f64();
        let minutes = spent / done as f64 * left as f64 / 60.0;
        (done >= ENOUGH).then(|| match minutes {
            _ if minutes < 1.0 => "; less than a minute left".to_owned(),
            _ if minutes < 90.0 => format!("; about {minutes:.0} min left"),
            _ => format!("; about {:.1} h left", minutes / 60.0),
        })
    }

    /// Says which task comes now, after so many of how many.
    pub fn progress(&self, way: Way, (done, of): (usize, usize), task: &str) {
        let rest = self.rest(done).unwrap_or_default();
        let said = format!("{}: task {} of {of}, {task}{rest}", way.told(), done + 1);
        let mut out = std::io::stderr().lock();
        let _ = match self.is_drawn {
            true => write!(out, "\r\u{1b}[K{said}").and_then(|()| out.flush()),
            false => writeln!(out, "{said}"),
        };
    }

    /// Takes what came of one way.
    pub fn add(&mut self, way: Way, row: ProbeRow) {
        if self.is_json {
            say!("{}", self.as_json(way, &row));
        }
        self.runs.1 += row.tasks;
        self.rows.push((way, row));
    }

    /// What all of it has cost, with a row that is not over.
    pub fn spent(&self, row: &ProbeRow) -> u64 {
        let rows = self.rows.iter().map(|(_, row)| row).chain([row]);
        let costs = rows.filter_map(|row| row.tally.cost).map(|cost| cost.0);
        costs.fold(0, u64::saturating_add)
    }

    /// Why the model could not be had in any way, if that is so.
    pub fn refused(&self) -> Option<String> {
        let mut problems = self.rows.iter().map(|(_, row)| row.problem.clone());
        let first = problems.next()??;
        problems.all(|problem| problem.is_some()).then_some(first)
    }

    /// The table.
    pub fn rows(&self) {
        if self.is_drawn {
            let _ = write!(std::io::stderr().lock(), "\r\u{1b}[K");
        }
        if self.is_json || self.rows.is_empty() {
            return;
        }
        let head = [
            "surface",
            "constrained",
            "profile",
            "replies",
            "valid",
            "tasks",
            "correct",
            "in",
            "out",
            "cost",
        ];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(self.rows.iter().map(|(way, row)| drawn(*way, row)));
        let mut sides = [Side::Right; 10];
        (sides[0], sides[1], sides[2]) = (Side::Left, Side::Left, Side::Left);
        say!("{}", lined_up(&sides, &rows).trim_end());
        for (way, row) in &self.rows {
            if let Some(why) = &row.problem {
                say!("{} could not be tried: {}", way.told(), cairn_text::shown::clean(why));
            }
        }
    }

    /// What was recorded.
    pub fn recorded(&self, found: &Found) {
        match self.is_json {
            true => say!(
                "{}",
                json!({"type": "end", "model": self.model, "recorded": found, "why": null})
            ),
            false => say!("\n{} is used with {} from now on.", self.model, found.told()),
        }
    }

    /// That nothing was, and why.
    pub fn nothing(&self, why: &Nothing) -> Result<ExitCode> {
        let (said, code) = match why {
            Nothing::Useless => ("no task came out right".to_owned(), None),
            Nothing::Stopped(Stopped::Refused(why) | Stopped::Unreachable(why)) => {
                (format!("{} could not be had: {why}", self.model), None)
            }
            Nothing::Stopped(Stopped::Interrupted) => ("it was interrupted".to_owned(), Some(3)),
            Nothing::Stopped(Stopped::Cost) => {
                ("it would have cost more than --max-cost".to_owned(), Some(4))
            }
        };
        if self.is_json {
            say!("{}", json!({"type": "end", "model": self.model, "recorded": null, "why": said}));
        }
        let said = format!("{said}; nothing was recorded");
        let Some(code) = code else { return Err(anyhow!(said)) };
        let _ = writeln!(std::io::stderr().lock(), "{said}");
        Ok(ExitCode::from(code))
    }

    fn as_json(&self, way: Way, row: &ProbeRow) -> Value {
        json!({
            "type": "row",
            "model": self.model,
            "surface": way.surface,
            "constrained": way.constrained,
            "small": way.small,
            "replies": row.replies,
            "valid": row.valid(),
            "tasks": row.tasks,
            "correct": row.correct(),
            "usage": row.tally.usage,
            "cost": row.tally.cost,
            "problem": row.problem,
        })
    }
}

impl Way {
    /// In words.
    fn told(self) -> String {
        told(self.surface, self.constrained, self.small)
    }
}

impl Found {
    /// In words: how the model is used, and how well that served.
    pub fn told(&self) -> String {
        let used = told(self.surface, self.constrained, self.small);
        format!("{used} ({}% of replies valid, {}% of tasks correct)", self.valid, self.correct)
    }
}

fn told(surface: Surface, constrained: bool, small: bool) -> String {
    let held = match (surface, constrained) {
        (Surface::Envelope, true) => ", constrained",
        (Surface::Envelope, false) => ", unconstrained",
        _ => "",
    };
    format!("{surface}{held}, {} profile", profile(small))
}

fn profile(small: bool) -> &'static str {
    if small { "small" } else { "full" }
}

fn percent(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), |share| format!("{share}%"))
}

fn drawn(way: Way, row: &ProbeRow) -> Vec<String> {
    let constrained = match (way.surface, way.constrained) {
        (Surface::Envelope, true) => "yes",
        (Surface::Envelope, false) => "no",
        _ => "-",
    };
    let tokens = |count: u64| match row.tally.unmeasured == row.tally.turns {
        true => "?".to_owned(),
        false => count.to_string(),
    };
    vec![
        way.surface.to_string(),
        constrained.to_owned(),
        profile(way.small).to_owned(),
        row.replies.to_string(),
        percent(row.valid()),
        row.tasks.to_string(),
        percent(row.correct()),
        tokens(row.tally.usage.input),
        tokens(row.tally.usage.output),
        row.tally.cost.map_or("?".to_owned(), money::shown),
    ]
}
