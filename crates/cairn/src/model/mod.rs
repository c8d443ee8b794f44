//! From a model's name to a model: `provider/name`, the bundled walkthrough, or whatever local server
//! answers. Which providers there are is `known`, what a model costs is `models`, keys are `credentials`.

pub(crate) mod credentials;
pub(crate) mod known;
pub(crate) mod manner;
pub(crate) mod network;

use crate::commands::models;
use crate::config::{Config, Layer, Value};
use crate::home::place;
use crate::model::known::KNOWN;
use crate::model::network::network;
use crate::run::Usage;
use anyhow::{Context, Result};
use cairn_provider::catalogue::{Entry, Rates};
use cairn_provider::http::{self, Auth, Http, Wire};
use cairn_provider::scripted::{Player, Script};
use cairn_provider::{Abilities, Constraint, Fallback, Limits, Price, Provider, Secret};
use cairn_runtime::Longest;
use cairn_text::scrub::Scrubber;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

const WALKTHROUGH: &str = include_str!("../../walkthrough.json");
/// The bundled scripted model.
pub const WALKTHROUGH_NAME: &str = "scripted/walkthrough";

/// A model and what to tell a person about it.
pub struct Chosen {
    /// `provider/name`.
    pub name: String,
    /// The model.
    pub provider: Arc<dyn Provider>,
    /// A sentence, where one is due.
    pub remark: Option<String>,
    /// What it is known to take besides words.
    pub sees: Sees,
    /// How long its answers may be.
    pub longest: Longest,
}

/// What a model is known to take besides words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sees {
    /// Pictures.
    pub images: bool,
    /// PDFs.
    pub documents: bool,
}

impl Sees {
    /// A script is shown nothing and says what it says.
    const SCRIPT: Sees = Sees { images: true, documents: true };
}

/// Finds the model that `name` means.
pub fn choose(name: &str, config: &Config, env: Env<'_>, scrubber: &Scrubber) -> Result<Chosen> {
    let one = |name| one(name, config, env, scrubber);
    let mut chosen = one(name)?;
    if let Some(then_name) = config.text("fallback_model") {
        let then = one(then_name)?.provider;
        let (first, then_name) = (chosen.provider, then_name.to_owned());
        chosen.provider = Arc::new(Fallback { first, then, then_name });
    }
    Ok(chosen)
}

fn one(name: &str, config: &Config, env: Env<'_>, scrubber: &Scrubber) -> Result<Chosen> {
    match name.split_once('/') {
        Some(("scripted", "walkthrough")) => walkthrough(),
        Some(("scripted", path)) => scripted(path),
        Some((provider, model)) if !model.is_empty() => {
            remote((provider, model), config, env, scrubber)
        }
        _ if name == "local-or-walkthrough" => match local(config, env, scrubber)? {
            Some(found) => Ok(found),
            None => walkthrough(),
        },
        _ => Err(not_a_model(name).into()),
    }
}

/// The provider and the name that a model's name says.
pub fn parts(name: &str) -> Result<(&str, &str), Usage> {
    name.split_once('/').filter(|(_, id)| !id.is_empty()).ok_or_else(|| not_a_model(name))
}

fn not_a_model(name: &str) -> Usage {
    Usage(format!(
        "{name:?} is not a model; write provider/name, for example openai/gpt-5-mini or ollama/qwen3"
    ))
}

fn walkthrough() -> Result<Chosen> {
    let script = Script::parse(WALKTHROUGH).context("the bundled walkthrough is damaged")?;
    Ok(Chosen {
        name: WALKTHROUGH_NAME.to_owned(),
        provider: Arc::new(Player::new(script)),
        remark: Some(
            "This is the bundled walkthrough: a fixed script plays the model, nothing is sent \
             anywhere. Files, commands and the log are real."
                .to_owned(),
        ),
        sees: Sees::SCRIPT,
        longest: Longest::Unknown,
    })
}

fn scripted(path: &str) -> Result<Chosen> {
    let script = Script::load(path).map_err(|why| Usage(why.to_string()))?;
    Ok(Chosen {
        name: format!("scripted/{path}"),
        provider: Arc::new(Player::new(script)),
        remark: Some(format!("A fixed script plays the model: {path}.")),
        sees: Sees::SCRIPT,
        longest: Longest::Unknown,
    })
}

/// Looks up a variable of the environment.
type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

fn remote(
    (given, model): (&str, &str),
    config: &Config,
    env: Env<'_>,
    scrubber: &Scrubber,
) -> Result<Chosen> {
    let provider = known::canonical(given);
    let (base_url, wire) = place_of(provider, config, env)?;
    let name = format!("{provider}/{model}");
    let entry = models::catalogue(config)?.model(&name);
    let network = network(&base_url, config, env)?;
    let constraint = setting(provider, "constrain", config).and_then(Constraint::of_word);
    let abilities = Abilities {
        constraint: constraint.unwrap_or_default(),
        ..abilities(provider, entry.as_ref())
    };
    let sees = Sees { images: abilities.vision, documents: abilities.pdf };
    // What the configuration says is a wish; a list of models only knows.
    let longest = match abilities.output {
        Some(tokens) if config.count(&format!("models.{name}.max_output")) > 0 => {
            Longest::Held(tokens)
        }
        Some(tokens) => Longest::Known(tokens),
        None => Longest::Unknown,
    };
    let http = Http::new(http::Config {
        key: key_of(provider, config, env)?,
        auth: if provider == "azure" { Auth::Header("api-key".to_owned()) } else { wire.auth() },
        limits: limits(config),
        price: entry.as_ref().and_then(|entry| entry.price).map(price),
        abilities,
        network,
        record: config.text("provider.record").map(PathBuf::from),
        scrubber: scrubber.clone(),
        ..http::Config::new(provider, wire, base_url, model)
    });
    let http = http.map_err(|fault| Usage(fault.message))?;
    Ok(Chosen { name, provider: Arc::new(http), remark: None, sees, longest })
}

/// What the model can do, as far as the catalogue knows it.
fn abilities(provider: &str, entry: Option<&Entry>) -> Abilities {
    let usual = Abilities {
        cache_marks: provider == "openrouter",
        echo_reasoning: provider == "deepseek",
        ..Abilities::default()
    };
    let Some(entry) = entry else { return usual };
    Abilities {
        vision: entry.images.unwrap_or(false),
        pdf: entry.pdf.unwrap_or(false),
        reasoning: entry.reasoning.unwrap_or(false),
        tools: entry.tools.unwrap_or(true),
        context: entry.context,
        output: entry.output,
        ..usual
    }
}

/// What the user set of a provider, under its name or another that people have for it.
pub fn setting<'a>(provider: &str, what: &str, config: &'a Config) -> Option<&'a str> {
    known::names(provider).find_map(|name| config.text(&format!("providers.{name}.{what}")))
}

/// The name that a model is known by here: its provider's own.
pub fn full_name(name: &str) -> String {
    match name.split_once('/') {
        Some((provider, model)) => format!("{}/{model}", known::canonical(provider)),
        None => name.to_owned(),
    }
}

/// Whether something holds what this model decodes to a form.
pub fn is_held(name: &str, config: &Config) -> bool {
    let provider = name.split_once('/').map_or(name, |(provider, _)| provider);
    setting(known::canonical(provider), "constrain", config) != Some(Constraint::None.word())
}

/// Lets nothing hold what this model decodes.
pub fn leave_unheld(name: &str, config: &mut Config) -> Result<()> {
    let provider = name.split_once('/').map_or(name, |(provider, _)| provider);
    let key = format!("providers.{}.constrain", known::canonical(provider));
    let none = Value::Text(Constraint::None.word().to_owned());
    Ok(config.lay(Layer::flag(&key, "probe", none)?)?)
}

/// Where a model's requests go; none for a script.
pub fn endpoint(name: &str, config: &Config, env: Env<'_>) -> Option<String> {
    let (provider, _) = name.split_once('/').filter(|(provider, _)| *provider != "scripted")?;
    let (url, _) = place_of(known::canonical(provider), config, env).ok()?;
    // One with a password in it is refused, and shown without.
    Some(Scrubber::default().text(&url).into_owned())
}

/// Where a provider stands, and what it speaks there.
pub fn place_of(provider: &str, config: &Config, env: Env<'_>) -> Result<(String, Wire)> {
    let known = known::find(provider);
    let told = known
        .and_then(|known| known.url_env)
        .and_then(env)
        .or_else(|| setting(provider, "base_url", config).map(str::to_owned));
    let elsewhere = told.is_some();
    let own = known.and_then(|known| known.url()).map(str::to_owned);
    let base_url = told.or(own).ok_or_else(|| no_place(provider))?;
    let usual = match known.map(|known| (known.wire, known.place)) {
        // Most servers that stand in for OpenAI's speak its older format only.
        Some((Wire::Responses, known::Place::Net(_))) if elsewhere => Wire::Chat,
        Some((wire, _)) => wire,
        None => Wire::Chat,
    };
    let set = setting(provider, "wire", config).and_then(Wire::of_word);
    Ok((base_url, set.unwrap_or(usual)))
}

fn no_place(provider: &str) -> Usage {
    let file = place::user_file().map_or("your cairn.toml".to_owned(), |p| p.display().to_string());
    if known::find(provider).is_some() {
        return Usage(format!(
            "{provider} stands where you say. Put this into {file}:\n\n  \
             [providers.{provider}]\n  base_url = \"https://NAME.openai.azure.com/openai/v1\"\n"
        ));
    }
    let names: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
    Usage(format!(
        "there is no provider {provider:?}; known are {}. To add one, put this into {file}:\n\n  \
         [providers.{provider}]\n  base_url = \"http://127.0.0.1:8080/v1\"\n",
        names.join(", ")
    ))
}

/// The key, if there is one; an error if there must be.
fn key_of(provider: &str, config: &Config, env: Env<'_>) -> Result<Option<Secret>> {
    let key = credentials::key(provider, config, env)?;
    let configured = setting(provider, "key_env", config).is_some();
    let needed = configured || known::find(provider).is_some_and(known::Known::needs_key);
    if key.is_none() && needed {
        let variables = credentials::variables(provider, config).join(" or ");
        return Err(Usage(format!(
            "{provider} needs a key: set {variables}, store one with `cairn login {provider}`, or \
             choose a model that needs none"
        ))
        .into());
    }
    Ok(key)
}

/// What turns are charged at. Cached tokens without a price of their own cost what others do; where
/// thoughts cost more than answers, all of an answer counts as thought, so that no cap is overrun.
pub fn price(rates: Rates) -> Price {
    Price {
        input: rates.input,
        output: rates.output.max(rates.reasoning.unwrap_or_default()),
        cache_read: rates.cache_read.unwrap_or(rates.input),
        cache_write: rates.cache_write.unwrap_or(rates.input),
    }
}

fn limits(config: &Config) -> Limits {
    let ms = |name| Duration::from_millis(config.count(name));
    Limits {
        connect: ms("provider.connect_ms"),
        first_byte: ms("provider.first_byte_ms"),
        idle: ms("provider.idle_ms"),
        deadline: ms("provider.deadline_ms"),
        attempts: u32::try_from(config.count("provider.attempts")).unwrap_or(1),
        unreached: u32::try_from(config.count("provider.unreached_attempts")).unwrap_or(1),
        ..Limits::default()
    }
}

/// The first local server that answers, with its first model.
fn local(config: &Config, env: Env<'_>, scrubber: &Scrubber) -> Result<Option<Chosen>> {
    for (provider, url) in known::local() {
        let Some(model) = local_models(url).into_iter().next() else { continue };
        let mut chosen = remote((provider, &model), config, env, scrubber)?;
        chosen.remark = Some(format!("A local model server answers at {url}: {provider}/{model}."));
        return Ok(Some(chosen));
    }
    Ok(None)
}

/// The models that a loopback server says it has; one that takes longer than a moment has none.
pub fn local_models(url: &str) -> Vec<String> {
    let ids = |models: serde_json::Value| -> Option<Vec<String>> {
        let models = models["data"].as_array()?.iter();
        Some(models.filter_map(|model| model["id"].as_str().map(str::to_owned)).collect())
    };
    asked_for_models(url).and_then(ids).unwrap_or_default()
}

fn asked_for_models(url: &str) -> Option<serde_json::Value> {
    use std::io::{Read, Write};
    let address: SocketAddr = url.strip_prefix("http://")?.strip_suffix("/v1")?.parse().ok()?;
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_millis(200)).ok()?;
    stream.set_read_timeout(Some(Duration::from_millis(1000))).ok()?;
    let request = format!("GET /v1/models HTTP/1.0\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.take(1 << 20).read_to_end(&mut answer).ok()?;
    let body = answer.windows(4).position(|w| w == b"\r\n\r\n").map(|at| &answer[at + 4..])?;
    serde_json::from_slice(body).ok()
}

/// The bytes that a model was sent. One that nothing is sent to, such as a script, is shown what it
/// would be sent in the most usual format.
pub fn body(name: &str, asked: &cairn_runtime::Asked) -> Vec<u8> {
    let model = name.split_once('/').map_or(name, |(_, model)| model);
    let usual = || http::Config::new("", Wire::Chat, "", model).form();
    let form = asked.form.clone().unwrap_or_else(usual);
    http::render_as(&form, &asked.request).unwrap_or_default()
}
