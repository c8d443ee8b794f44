//! How a run's model writes: what a flag says, else what is configured for the model, else what a probe found, else
//! tool calls.

use crate::cli;
use crate::commands::models::probes;
use crate::config::Config;
use crate::model;
use crate::run::Usage;
use anyhow::Result;
use cairn_runtime::Manner;
use cairn_surface::native;
use cairn_types::{Surface, ToolUse};

/// The tools that a small model is given. Where the end is said by a tool, that one is among the six, and reading a
/// folder lists it.
pub fn small(surface: Surface) -> [&'static str; 6] {
    match surface {
        Surface::Tags | Surface::Heredoc => {
            ["read", "write", "edit", "remove", "bash", native::SEND]
        }
        Surface::Native | Surface::Envelope | Surface::Client => {
            ["read", "write", "edit", "list", "remove", "bash"]
        }
    }
}

/// How a new run of this model writes.
pub fn of(args: &cli::Manner, model: &str, config: &Config) -> Result<Manner> {
    let key = |what: &str| format!("models.{model}.{what}");
    let probed = probes::found(model)?;
    let named = args.surface.as_deref().or_else(|| config.text(&key("surface")));
    let surface = match named {
        Some(name) => name.parse::<Surface>().map_err(|why| Usage(why.to_string()))?,
        None => probed.as_ref().map_or(Surface::Native, |found| found.surface),
    };
    if args.require_tool && surface != Surface::Envelope {
        let why =
            format!("--require-tool is for the envelope, and this run is written in {surface}");
        return Err(Usage(why).into());
    }
    let is_named = named.is_some();
    let small = args.small
        || config.flag(&key("small"))
        || (!is_named && probed.as_ref().is_some_and(|found| found.small));
    Ok(Manner {
        surface,
        small,
        tools: tools(&args.allowed_tools, (surface, small))?,
        tool_use: match (args.require_tool, args.skip_tools) {
            (true, _) => ToolUse::Required,
            (_, true) => ToolUse::None,
            _ => ToolUse::Free,
        },
    })
}

/// The configuration that a run's model is asked with. Where a probe found that it writes envelopes better when nothing
/// holds its decoding, nothing does.
pub fn asking(args: &cli::Manner, model: &str, config: &Config) -> Result<Config> {
    let mut config = config.clone();
    let name = model::full_name(model);
    let found = probes::found(&name)?;
    let is_free = found.is_some_and(|f| f.surface == Surface::Envelope && !f.constrained);
    if is_free && of(args, &name, &config)?.surface == Surface::Envelope {
        model::leave_unheld(&name, &mut config)?;
    }
    Ok(config)
}

/// The only tools that may be called; all of them when empty. Where the end has to be said, the tool that says it
/// is always among them.
fn tools(named: &[String], (surface, is_small): (Surface, bool)) -> Result<Vec<String>> {
    // What a model is told that calls it: the nearest names, and all.
    let unknown = |name: &String| match native::parse(name.trim(), "{}").action {
        Err(misread) => Usage(misread.message),
        Ok(_) => Usage(format!("there is no tool {name:?}")),
    };
    let own = |name: &String| native::name_of(name.trim()).ok_or_else(|| unknown(name));
    let named = named.iter().map(own).collect::<Result<Vec<&str>, Usage>>()?;
    let mut tools: Vec<&str> = match named.is_empty() {
        false => named,
        true if is_small => small(surface).to_vec(),
        true => Vec::new(),
    };
    let says_end = matches!(surface, Surface::Tags | Surface::Heredoc);
    if says_end && !tools.is_empty() && !tools.contains(&native::SEND) {
        tools.push(native::SEND);
    }
    Ok(tools.into_iter().map(str::to_owned).collect())
}
