//! `cairn usage`: tokens and money over the home, by day, model, run or session.

use crate::cli;
use crate::home::place;
use crate::output::out::say;
use crate::output::table::{Side, lined_up};
use crate::output::tally::Tally;
use crate::run::Usage;
use anyhow::Result;
use cairn_store::{Replies, ReplyRow};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::json;
use std::collections::BTreeMap;
use std::process::ExitCode;

/// Runs the command.
pub fn usage(args: &cli::Usage) -> Result<ExitCode> {
    let since = args.since.as_deref().map(start_of_day).transpose()?.unwrap_or(0);
    let store = place::store_to_read()?;
    let (mut groups, mut total) = (BTreeMap::<Vec<String>, Tally>::new(), Tally::default());
    let zone = TimeZone::system();
    store.replies(&Replies { since, session: None }, &mut |reply| {
        groups.entry(key(args.by, &reply, &zone)).or_default().add(reply.usage, reply.cost);
        total.add(reply.usage, reply.cost);
    })?;
    let heads = heads(args.by);
    if args.json {
        for (key, tally) in &groups {
            let mut line = tally.as_json();
            heads.iter().zip(key).for_each(|(head, word)| line[*head] = json!(word));
            say!("{line}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    if groups.is_empty() {
        let when = args.since.as_deref().map(|since| format!(" since {since}")).unwrap_or_default();
        say!("no model was asked{when}");
        return Ok(ExitCode::SUCCESS);
    }
    say!("{}", drawn(heads, &groups, &total).trim_end());
    Ok(ExitCode::SUCCESS)
}

fn heads(by: Option<cli::By>) -> &'static [&'static str] {
    match by {
        None => &["day", "model"],
        Some(cli::By::Day) => &["day"],
        Some(cli::By::Model) => &["model"],
        Some(cli::By::Run) => &["run"],
        Some(cli::By::Session) => &["session"],
    }
}

/// The words a reply is counted under.
fn key(by: Option<cli::By>, reply: &ReplyRow, zone: &TimeZone) -> Vec<String> {
    match by {
        None => vec![day(reply.at, zone), reply.model.clone()],
        Some(cli::By::Day) => vec![day(reply.at, zone)],
        Some(cli::By::Model) => vec![reply.model.clone()],
        Some(cli::By::Run) => vec![reply.run.to_string()],
        Some(cli::By::Session) => vec![reply.session.to_string()],
    }
}

fn day(at_ms: u64, zone: &TimeZone) -> String {
    let at = i64::try_from(at_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    at.map_or_else(|| "?".to_owned(), |at| at.to_zoned(zone.clone()).date().to_string())
}

/// When a day began here, milliseconds since 1970.
fn start_of_day(day: &str) -> Result<u64, Usage> {
    let wrong = || Usage(format!("{day:?} is not a day; write it as 2026-01-31"));
    let date: Date = day.parse().map_err(|_| wrong())?;
    let start = date.to_zoned(TimeZone::system()).map_err(|_| wrong())?;
    Ok(u64::try_from(start.timestamp().as_millisecond()).unwrap_or(0))
}

fn drawn(heads: &[&str], groups: &BTreeMap<Vec<String>, Tally>, total: &Tally) -> String {
    let counted = ["turns", "input", "cached", "output", "reasoning", "cost"];
    let row = |words: Vec<String>, tally: &Tally| {
        let usage = tally.usage;
        let counts = [tally.turns, usage.input, usage.cache_read, usage.output, usage.reasoning];
        let counts = counts.iter().enumerate().map(|(column, count)| match column {
            1.. if tally.unmeasured == tally.turns => "?".to_owned(),
            _ => count.to_string(),
        });
        let cost = tally.cost_shown().replace("cost unknown", "unknown");
        words.into_iter().chain(counts).chain([cost]).collect::<Vec<_>>()
    };
    let mut rows = vec![heads.iter().chain(&counted).map(|head| (*head).to_owned()).collect()];
    rows.extend(groups.iter().map(|(words, tally)| row(words.clone(), tally)));
    if groups.len() > 1 {
        let words = (0..heads.len()).map(|at| if at == 0 { "total" } else { "" }.to_owned());
        rows.push(row(words.collect(), total));
    }
    let mut sides = vec![Side::Left; heads.len()];
    sides.extend([Side::Right; 5]);
    sides.push(Side::Left);
    let mut out = lined_up(&sides, &rows);
    if total.unmeasured > 0 && total.unmeasured < total.turns {
        let turns = if total.unmeasured == 1 { "turn" } else { "turns" };
        let n = total.unmeasured;
        out += &format!("of {n} {turns} the provider did not say the tokens\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_written_one_way_and_anything_else_is_said() {
        assert!(start_of_day("2026-02-29").is_err());
        assert!(start_of_day("yesterday").unwrap_err().0.contains("write it as 2026-01-31"));
        let begin = start_of_day("2026-03-01").unwrap();
        assert_eq!(day(begin, &TimeZone::system()), "2026-03-01");
        assert_eq!(day(begin - 1, &TimeZone::system()), "2026-02-28");
    }
}
