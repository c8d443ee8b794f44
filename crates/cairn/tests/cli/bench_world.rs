//! A home, a workspace and a scripted model, and ways to start `cairn` in them.

use cairn_provider::scripted::Script;
use cairn_testkit::{ModelServer, TempHome};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Output, Stdio};

/// One person's machine.
pub struct Bench {
    pub temp: TempHome,
    pub model: ModelServer,
    /// How commands are confined.
    pub level: &'static str,
}

/// What a finished command printed.
#[derive(Debug)]
pub struct Done {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Bench {
    /// With a model that replies like this, reply by reply.
    pub fn new(replies: Value) -> Bench {
        let script = json!({"cairn_script": 1, "name": "test", "replies": replies});
        let script = Script::parse(&script.to_string()).unwrap();
        // Most of these tests are about questions that are asked before a command runs.
        Bench { temp: TempHome::new(), model: ModelServer::start(script), level: "open" }
    }

    /// The same, with commands confined as they are by default.
    pub fn confined(replies: Value) -> Bench {
        Bench { level: "workspace", ..Bench::new(replies) }
    }

    /// The command, not started: nobody at stdin, environment from nothing.
    #[allow(clippy::disallowed_methods, reason = "tests start the program")]
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        command
            .args(args)
            .current_dir(self.temp.workspace())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.temp.path())
            .env("USER", "tester")
            .env("CAIRN_HOME", self.temp.home())
            .env("CAIRN_SANDBOX", self.level)
            .env("CAIRN_MODEL", "openai/test")
            .env("OPENAI_BASE_URL", self.model.url())
            .env("OPENAI_API_KEY", "sk-secret-key")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn cairn(&self, args: &[&str]) -> Done {
        done(self.command(args).output().unwrap())
    }

    /// Runs with `--json` and gives the events.
    pub fn events(&self, args: &[&str]) -> Vec<Value> {
        let done = self.cairn(args);
        let events = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(done.err.is_empty(), "{}", done.err);
        events
    }

    /// A run with somebody at stdin.
    pub fn talk(&self, args: &[&str]) -> Talk {
        Talk::with(&mut self.command(args))
    }

    /// Writes the user's own configuration, or a file beside it.
    pub fn own(&self, name: &str, text: &str) -> PathBuf {
        let folder = self.temp.path().join(".config/cairn");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(name), text).unwrap();
        folder.join(name)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.temp.workspace().join(name)
    }

    /// The bodies the model got.
    pub fn requests(&self) -> Vec<Value> {
        self.model.requests().iter().map(|body| serde_json::from_slice(body).unwrap()).collect()
    }
}

pub fn done(output: Output) -> Done {
    Done {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A running `cairn run --json`.
pub struct Talk {
    pub child: Child,
    pub stdin: Option<ChildStdin>,
    lines: BufReader<std::process::ChildStdout>,
    pub seen: Vec<Value>,
}

impl Talk {
    /// Starts it.
    pub fn with(command: &mut Command) -> Talk {
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Talk { child, stdin, lines, seen: Vec::new() }
    }

    /// Reads events until one of this type; gives it.
    pub fn until(&mut self, kind: &str) -> Value {
        loop {
            let event = self.next(kind);
            if event["type"] == kind {
                return event;
            }
        }
    }

    /// The next event, on the way to one of this type.
    pub fn next(&mut self, kind: &str) -> Value {
        let mut line = String::new();
        let read = self.lines.read_line(&mut line).unwrap();
        assert_ne!(read, 0, "no {kind}; saw {:#?}", self.seen);
        let event: Value = serde_json::from_str(&line).unwrap();
        self.seen.push(event.clone());
        event
    }

    pub fn say(&mut self, command: Value) {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{command}").unwrap();
        stdin.flush().unwrap();
    }

    pub fn hang_up(&mut self) {
        self.stdin = None;
    }

    pub fn result(mut self) -> Value {
        let result = self.until("result");
        let status = self.child.wait().unwrap();
        assert_eq!(Some(result["exit_code"].as_i64().unwrap()), status.code().map(i64::from));
        result
    }
}

/// The types of these events without the ephemeral ones.
pub fn durable(events: &[Value]) -> Vec<&str> {
    events.iter().filter(|e| e["cursor"].is_u64()).map(|e| e["type"].as_str().unwrap()).collect()
}

/// A number of the environment, for longer proofs.
#[allow(clippy::disallowed_methods, reason = "tests take their size from the environment")]
pub fn size(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// A small generator: the same seed gives the same moments.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// A number from 0 to n - 1.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}
