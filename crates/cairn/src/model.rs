//! From a model's name to a model: `provider/name`, the bundled walkthrough, or whatever local server
//! answers. Reads keys from the environment; never prints one.

use crate::config::Config;
use crate::network::network;
use crate::run::Usage;
use anyhow::{Context, Result};
use cairn_provider::http::{self, Http, Wire};
use cairn_provider::scripted::{Player, Script};
use cairn_provider::{Limits, Price, Provider, Secret};
use cairn_types::PicoUsd;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

const WALKTHROUGH: &str = include_str!("../walkthrough.json");
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
}

/// A provider known without being declared: name, endpoint, key variable, endpoint variable.
type Known = (&'static str, &'static str, Option<&'static str>, Option<&'static str>);

const KNOWN: &[Known] = &[
    ("openai", "https://api.openai.com/v1", Some("OPENAI_API_KEY"), Some("OPENAI_BASE_URL")),
    ("ollama", "http://127.0.0.1:11434/v1", None, None),
    ("lmstudio", "http://127.0.0.1:1234/v1", None, None),
    ("llamacpp", "http://127.0.0.1:8080/v1", None, None),
    ("vllm", "http://127.0.0.1:8000/v1", None, None),
];

/// Finds the model that `name` means.
pub fn choose(name: &str, config: &Config, env: &dyn Fn(&str) -> Option<String>) -> Result<Chosen> {
    match name.split_once('/') {
        Some(("scripted", "walkthrough")) => walkthrough(),
        Some(("scripted", path)) => scripted(path),
        Some((provider, model)) if !model.is_empty() => chat(provider, model, config, env),
        _ if name == "local-or-walkthrough" => match local(config, env)? {
            Some(found) => Ok(found),
            None => walkthrough(),
        },
        _ => Err(Usage(format!(
            "{name:?} is not a model; write provider/name, for example openai/gpt-5-mini or ollama/qwen3"
        ))
        .into()),
    }
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
    })
}

fn scripted(path: &str) -> Result<Chosen> {
    let script = Script::load(path).map_err(|why| Usage(why.to_string()))?;
    Ok(Chosen {
        name: format!("scripted/{path}"),
        provider: Arc::new(Player::new(script)),
        remark: Some(format!("A fixed script plays the model: {path}.")),
    })
}

fn chat(
    provider: &str,
    model: &str,
    config: &Config,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Chosen> {
    let known = KNOWN.iter().find(|known| known.0 == provider);
    let key = |what: &str| format!("providers.{provider}.{what}");
    let base_url = known
        .and_then(|known| known.3)
        .and_then(env)
        .or_else(|| config.text(&key("base_url")).map(str::to_owned))
        .or_else(|| known.map(|known| known.1.to_owned()));
    let Some(base_url) = base_url else {
        let names: Vec<&str> = KNOWN.iter().map(|known| known.0).collect();
        return Err(Usage(format!(
            "there is no provider {provider:?}; known are {}. To add one, put this into your cairn.toml:\n\n  \
             [providers.{provider}]\n  base_url = \"http://127.0.0.1:8080/v1\"\n",
            names.join(", ")
        ))
        .into());
    };
    let key_env = config.text(&key("key_env")).or_else(|| known.and_then(|known| known.2));
    let secret = match key_env {
        None => None,
        Some(variable) => Some(env(variable).filter(|key| !key.is_empty()).ok_or_else(|| {
            Usage(format!("{provider} needs a key: set {variable}, or choose a model that needs none with --model"))
        })?),
    };
    let price = |what| match config.count(&key(what)) {
        0 => None,
        micro_per_million => Some(PicoUsd(micro_per_million)),
    };
    let price = price("input_price").zip(price("output_price")).map(|(input, output)| Price {
        input,
        output,
        cache_read: input,
        cache_write: input,
    });
    let chat = Http::new(http::Config {
        network: network(&base_url, env),
        key: secret.map(Secret::new),
        limits: limits(config),
        record: config.text("provider.record").map(PathBuf::from),
        price,
        ..http::Config::new(provider, Wire::Chat, base_url, model)
    });
    let chat = chat.map_err(|fault| Usage(fault.message))?;
    Ok(Chosen { name: format!("{provider}/{model}"), provider: Arc::new(chat), remark: None })
}

fn limits(config: &Config) -> Limits {
    let ms = |name| Duration::from_millis(config.count(name));
    Limits {
        connect: ms("provider.connect_ms"),
        first_byte: ms("provider.first_byte_ms"),
        idle: ms("provider.idle_ms"),
        deadline: ms("provider.deadline_ms"),
        attempts: u32::try_from(config.count("provider.attempts")).unwrap_or(1),
        ..Limits::default()
    }
}

/// The first local server that answers, with its first model.
fn local(config: &Config, env: &dyn Fn(&str) -> Option<String>) -> Result<Option<Chosen>> {
    for (provider, url, _, _) in KNOWN.iter().copied().filter(|known| known.2.is_none()) {
        let Some(model) = first_model(url) else { continue };
        let mut chosen = chat(provider, &model, config, env)?;
        chosen.remark = Some(format!("A local model server answers at {url}: {provider}/{model}."));
        return Ok(Some(chosen));
    }
    Ok(None)
}

/// Asks a loopback server for its models; a server that takes longer than a moment is none.
fn first_model(url: &str) -> Option<String> {
    use std::io::{Read, Write};
    let address: SocketAddr = url.strip_prefix("http://")?.strip_suffix("/v1")?.parse().ok()?;
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_millis(200)).ok()?;
    stream.set_read_timeout(Some(Duration::from_millis(1000))).ok()?;
    let request = format!("GET /v1/models HTTP/1.0\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.take(1 << 20).read_to_end(&mut answer).ok()?;
    let body = answer.windows(4).position(|w| w == b"\r\n\r\n").map(|at| &answer[at + 4..])?;
    let models: serde_json::Value = serde_json::from_slice(body).ok()?;
    models["data"][0]["id"].as_str().map(str::to_owned)
}

/// The bytes that this model is sent for a request. Needs no key.
pub fn body(name: &str, request: &cairn_provider::Request) -> Vec<u8> {
    let (provider, model) = name.split_once('/').unwrap_or(("", name));
    let config = http::Config::new(provider, Wire::Chat, "", model);
    http::render(&config, request).unwrap_or_default()
}
