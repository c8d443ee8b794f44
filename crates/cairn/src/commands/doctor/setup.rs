//! What a person set up: configuration, model, keys, tools on the path, the terminal. A broken file is
//! named, and the rest is still looked at.

use super::{Finding, note, ok, problem};
use crate::commands::login;
use crate::config::Config;
use crate::home::place;
use crate::model;
use crate::setup::secrets;
use rustix::fs::{Access, access};
use std::io::IsTerminal;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

/// Programs that Cairn or its proofs can use, and what for.
const TOOLS: [(&str, &str); 3] = [
    ("git", "commands of the agent can use it; Cairn itself reads repositories without it"),
    ("strace", "only the crash proofs of `make prove` need it"),
    ("rg", "commands of the agent can use it; `find` does not need it"),
];

pub(super) fn findings() -> Vec<Finding> {
    let root = place::root(None);
    let mut findings = Vec::new();
    if let Err(why) = &root {
        findings.push(problem("folder", why.to_string(), "go to a folder that is there"));
    }
    let files = place::config_files(root.as_deref().ok());
    let (config, broken) = Config::what_can_be_read(&files, &place::env);
    if broken.is_empty() {
        findings.push(ok("configuration", "every file can be read"));
    }
    for error in broken {
        findings.push(problem("configuration", error.to_string(), "correct that line"));
    }
    findings.extend(models(&config));
    findings.push(keys(&config));
    findings.extend(TOOLS.iter().map(|(name, use_of)| tool(name, use_of)));
    findings.push(terminal());
    findings
}

fn models(config: &Config) -> Vec<Finding> {
    let what = "model";
    let Some(name) = config.text("model") else {
        let file = place::user_file().map_or("your cairn.toml".into(), |p| p.display().to_string());
        let fix = format!("put model = \"provider/name\" into {file}, or use --model");
        return vec![note(what, "none is chosen", fix)];
    };
    // Its own sentence says what to do.
    if let Err(why) = model::choose(name, config, &place::env, &secrets::in_messages()) {
        return vec![problem(what, crate::sentence(&why), "then run `cairn doctor` again")];
    }
    let mut findings = vec![ok(what, name)];
    findings.extend(model::endpoint(name, config, &place::env).map(|url| endpoint(&url)));
    findings
}

/// Whether somebody listens on this machine; nobody else is asked.
fn endpoint(url: &str) -> Finding {
    let what = "endpoint";
    let Some(address) = loopback(url) else {
        return ok(what, format!("{url} is on the net and was not tried"));
    };
    match TcpStream::connect_timeout(&address, Duration::from_millis(500)) {
        Ok(_) => ok(what, format!("{url} answers")),
        Err(why) => {
            let said = format!("nothing answers at {url} ({why})");
            problem(what, said, "start the model server, or choose another model")
        }
    }
}

/// The address of a server on this machine.
fn loopback(url: &str) -> Option<SocketAddr> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let usual = if scheme == "https" { 443 } else { 80 };
    if let Ok(address) = authority.parse::<SocketAddr>() {
        return Some(address).filter(|address| address.ip().is_loopback());
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !authority.ends_with(']') => (host, port.parse().ok()?),
        _ => (authority, usual),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let ip = match host {
        "localhost" => IpAddr::V4(Ipv4Addr::LOCALHOST),
        host => host.parse().ok()?,
    };
    Some(SocketAddr::new(ip, port)).filter(|address| address.ip().is_loopback())
}

fn keys(config: &Config) -> Finding {
    let none = "`cairn login PROVIDER` stores one; servers on this machine need none";
    match login::keys(config) {
        Ok(keys) if keys.is_empty() => note("keys", "no key is set", none),
        Ok(keys) => {
            let keys: Vec<_> =
                keys.iter().map(|key| format!("{} ({})", key.provider, key.from())).collect();
            ok("keys", keys.join(", "))
        }
        Err(why) => problem("keys", crate::sentence(&why), "then run `cairn doctor` again"),
    }
}

fn tool(name: &'static str, use_of: &str) -> Finding {
    let path = place::env("PATH").unwrap_or_default();
    let is_there = |folder: &str| {
        let file = Path::new(folder).join(name);
        !folder.is_empty() && file.is_file() && access(&file, Access::EXEC_OK).is_ok()
    };
    match path.split(':').find(|folder| is_there(folder)) {
        Some(folder) => ok(name, format!("{folder}/{name}")),
        None => note(name, "it is not on the PATH", use_of),
    }
}

fn terminal() -> Finding {
    let (stdin, stdout, stderr) = (
        std::io::stdin().is_terminal(),
        std::io::stdout().is_terminal(),
        std::io::stderr().is_terminal(),
    );
    let yes = |is: bool| if is { "yes" } else { "no" };
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| place::env(name));
    let locale = locale.unwrap_or_default();
    let utf8 = ["utf-8", "utf8"].iter().any(|word| locale.to_lowercase().contains(word));
    let colour = stderr && place::wants_colour();
    let said = format!(
        "typed at: {}, seen: {}, colour: {}, UTF-8: {}",
        yes(stdin),
        yes(stdout && stderr),
        yes(colour),
        yes(utf8)
    );
    match utf8 || !(stdout || stderr) {
        true => ok("terminal", said),
        false => note(
            "terminal",
            said,
            "set LANG to a UTF-8 locale, such as C.UTF-8, to see all letters",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_ever_tried() {
        let check = |url: &str, expect: Option<&str>| {
            assert_eq!(loopback(url), expect.map(|a| a.parse().unwrap()), "{url}");
        };
        check("http://127.0.0.1:11434/v1", Some("127.0.0.1:11434"));
        check("http://localhost:8080", Some("127.0.0.1:8080"));
        check("http://[::1]:9/v1", Some("[::1]:9"));
        check("http://localhost/v1", Some("127.0.0.1:80"));
        check("https://[::1]/v1", Some("[::1]:443"));
        check("https://api.openai.com/v1", None);
        check("http://10.0.0.1:80/v1", None);
        check("http://localhost.evil.com/v1", None);
        check("http://127.0.0.1@evil.com/v1", None);
        check("nonsense", None);
    }
}
