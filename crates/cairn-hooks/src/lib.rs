//! Hooks: code of the user or an embedding program that is asked when something happens, and which configuration of a project may run.
//! Rust values for those who embed the runtime, commands for people. In which order hooks are asked, and what
//! follows from an answer, is the engine's.

mod calls;
mod command;
mod declared;
mod event;
mod reading;
mod settings;
pub mod trust;

pub use cairn_types::{HookEvent, HookSays as Answer, HookWord, ToolSpec};
pub use calls::{TOOLS, names_of};
pub use command::{CommandHook, Setup};
pub use declared::{Declared, DeclaredError, Entry, Listed, Matcher, not_asked_yet, parse_toml};
pub use event::{Call, Done, Event, Place, Request, Senseless, What, Word};
pub use settings::parse_settings;

use cairn_types::HookPlan;
use futures_util::future::BoxFuture;
use std::fmt;
use std::sync::Arc;

/// Somebody's code that is asked when something happens.
pub trait Hook: Send + Sync {
    /// Its name, for the log.
    fn name(&self) -> &str;

    /// Whether it is asked at this event, and about this tool where the event is about an op. Asked
    /// once per driver, so it must not depend on anything else.
    fn wants(&self, event: HookEvent, tool: Option<&str>) -> bool;

    /// Asks it. What it says is recorded; it is asked again only if the process dies before.
    /// Dropping the future means that nobody waits any longer.
    fn on<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Answer>;
}

/// Hooks, in the order in which they are asked.
#[derive(Clone, Default)]
pub struct Hooks(Arc<[(String, Arc<dyn Hook>)]>);

impl Hooks {
    /// These hooks. Those that have the same name are told apart by a number.
    #[must_use]
    pub fn new(hooks: Vec<Arc<dyn Hook>>) -> Hooks {
        let mut named: Vec<(String, Arc<dyn Hook>)> = Vec::with_capacity(hooks.len());
        for hook in hooks {
            let same = named.iter().filter(|(_, other)| other.name() == hook.name()).count();
            let name = match same {
                0 => hook.name().to_owned(),
                n => format!("{} ({})", hook.name(), n + 1),
            };
            named.push((name, hook));
        }
        Hooks(named.into())
    }

    /// The same under other names, such as names without secrets. Each stays the only one of its name.
    #[must_use]
    pub fn renamed(self, rename: impl Fn(&str) -> String) -> Hooks {
        let mut all: Vec<(String, Arc<dyn Hook>)> = Vec::with_capacity(self.0.len());
        for (name, hook) in self.0.iter() {
            let mut name = rename(name);
            while all.iter().any(|(known, _)| *known == name) {
                name.push('\'');
            }
            all.push((name, Arc::clone(hook)));
        }
        Hooks(all.into())
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Which hook is asked at which event and about which tools: the built-in ones and those from `outside`.
    #[must_use]
    pub fn plans(&self, outside: &[ToolSpec]) -> Vec<HookPlan> {
        let plan = |event: HookEvent, (name, hook): &(String, Arc<dyn Hook>)| {
            let tools: Vec<String> = match event.is_of_op() {
                true => TOOLS
                    .into_iter()
                    .chain(outside.iter().map(|spec| spec.name.as_str()))
                    .filter(|tool| hook.wants(event, Some(tool)))
                    .map(str::to_owned)
                    .collect(),
                false => Vec::new(),
            };
            let is_asked = !tools.is_empty() || !event.is_of_op() && hook.wants(event, None);
            is_asked.then(|| HookPlan { event, name: name.clone(), tools })
        };
        HookEvent::ALL
            .into_iter()
            .flat_map(|event| self.0.iter().filter_map(move |hook| plan(event, hook)))
            .collect()
    }

    /// The hook of this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<Arc<dyn Hook>> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, hook)| Arc::clone(hook))
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}
