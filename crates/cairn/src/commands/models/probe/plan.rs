//! What a probe will ask: which model, in which ways, which tasks, for how much. Reaches nobody and needs no key.

use super::tasks::{TASKS, Task};
use super::{WAYS, Way};
use crate::commands::models::catalogue;
use crate::config::{Config, Layer, Value};
use crate::home::place;
use crate::model::known;
use crate::output::money;
use crate::output::out::say;
use crate::run::{Usage, no_price};
use crate::{cli, model};
use anyhow::Result;
use cairn_provider::Price;
use cairn_types::{PicoUsd, Surface};
use serde_json::json;

/// So often at most a server is tried that no connection can be made to.
const TRIES: u64 = 3;
/// The longest answer of a task, in tokens.
const ANSWER: u64 = 512;
/// The same of a model that thinks before it answers.
const THOUGHT: u64 = 4096;

/// What will be asked.
pub struct Plan {
    /// The configuration, without a project's.
    pub config: Config,
    /// The model's name, `provider/name`.
    pub model: String,
    /// The ways to try.
    pub ways: Vec<Way>,
    /// The tasks of each.
    pub tasks: &'static [Task],
    /// It may cost so much.
    pub most: Option<PicoUsd>,
    /// The longest answer in tokens.
    pub answer: u64,
    price: Option<Price>,
}

impl Plan {
    /// What this command line asks for.
    pub fn new(args: &cli::ModelsProbe) -> Result<Plan> {
        // A project has no say in how a model is used elsewhere.
        let mut config = Config::load(&place::config_files(None), &place::env)?;
        config.lay(Layer::flag("fallback_model", "probe", Value::Text(String::new()))?)?;
        let tries = config.count("provider.unreached_attempts").min(TRIES);
        let tries = Layer::flag("provider.unreached_attempts", "probe", Value::Count(tries))?;
        config.lay(tries)?;
        if args.name.starts_with("scripted/") {
            let why = "is a script and no provider's model: there is nothing to find out";
            return Err(Usage(format!("{} {why}", args.name)).into());
        }
        let wanted: Vec<Surface> =
            args.surface.iter().map(|name| named(name)).collect::<Result<_, _>>()?;
        let (provider, id) = model::parts(&args.name)?;
        let provider = known::canonical(provider);
        model::place_of(provider, &config, &place::env)?;
        let model = format!("{provider}/{id}");
        let can_hold = model::is_held(&model, &config);
        let is_wanted = |surface| wanted.is_empty() || wanted.contains(&surface);
        let ways =
            WAYS.into_iter().filter(|(surface, held)| is_wanted(*surface) && (!held || can_hold));
        let entry = catalogue(&config)?.model(&model);
        let price = entry.as_ref().and_then(|entry| entry.price).map(model::price);
        let most = match &args.max_cost {
            Some(usd) => {
                config.lay(Layer::flag("max_cost", "max-cost", Value::Text(usd.clone()))?)?;
                config.money("max_cost")
            }
            None => None,
        };
        if most.is_some() && price.is_none() {
            return Err(no_price(&model).into());
        }
        let thinks = entry.and_then(|entry| entry.reasoning) == Some(true);
        Ok(Plan {
            ways: ways
                .map(|(surface, constrained)| Way { surface, constrained, small: true })
                .collect(),
            tasks: first(args.tasks),
            answer: if thinks { THOUGHT } else { ANSWER },
            config,
            model,
            most,
            price,
        })
    }

    /// How many runs that takes: every way, and the best once more.
    pub fn runs(&self) -> u64 {
        (self.ways.len() as u64 + 1) * self.tasks.len() as u64
    }

    /// Says how much would be asked.
    pub fn tell(&self, is_json: bool) {
        // A task takes about three requests, each about as long as a small first one, and short answers.
        const REQUESTS: u64 = 3;
        const SENT: u64 = 800;
        const SAID: u64 = 60;
        let (settings, tasks, runs) = (self.ways.len(), self.tasks.len(), self.runs());
        let (sent, said) = (runs * REQUESTS * SENT, runs * REQUESTS * SAID);
        let cost = self.price.map(|price| {
            let cost = price.input.0.saturating_mul(sent);
            PicoUsd(cost.saturating_add(price.output.0.saturating_mul(said)))
        });
        if is_json {
            let model = &self.model;
            return say!(
                "{}",
                json!({"type": "dry-run", "model": model, "settings": settings, "tasks": tasks, "runs": runs, "input": sent, "output": said, "cost": cost})
            );
        }
        let cost = cost.map_or("at an unknown price".to_owned(), |cost| {
            format!("{} at its price", money::shown(cost))
        });
        say!(
            "{tasks} tasks on each of {settings} settings and the best once more: {runs} runs, about {sent} tokens in and {said} out, {cost}. Nothing was asked."
        );
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
