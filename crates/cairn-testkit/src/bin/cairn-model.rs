//! Serves a script as a model, for people and shell tests: prints the base URL and goes on until
//! it is ended.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test tool talks to whoever runs it"
)]

use anyhow::{Context, bail};
use cairn_provider::scripted::Script;
use cairn_testkit::{ModelServer, Options};
use std::io::Write;

const USAGE: &str = "usage: cairn-model SCRIPT.json [--port N] [--log FILE]";

fn main() -> anyhow::Result<()> {
    let mut options = Options::default();
    let mut script = None;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().with_context(|| format!("{arg} needs a value; {USAGE}"));
        match arg.as_str() {
            "--port" => {
                let port = value()?;
                options.port =
                    port.parse().with_context(|| format!("{port:?} is not a port; {USAGE}"))?;
            }
            "--log" => options.log = Some(value()?.into()),
            "-h" | "--help" => {
                println!("{USAGE}");
                return Ok(());
            }
            flag if flag.starts_with('-') => bail!("unknown option {flag}; {USAGE}"),
            path if script.is_none() => script = Some(Script::load(path)?),
            extra => bail!("one script at a time, but {extra:?} is another; {USAGE}"),
        }
    }
    let script = script.with_context(|| format!("which script shall be served? {USAGE}"))?;
    let server = ModelServer::listen(script, &options)
        .with_context(|| format!("cannot listen on port {}", options.port))?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", server.url())?;
    out.flush()?;
    server.join();
    Ok(())
}
