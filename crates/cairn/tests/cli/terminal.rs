//! `cairn run` at a real terminal: questions, keys, typed words, interrupts.

use crate::bench_world::Bench;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::json;
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// A person at a terminal.
pub struct Terminal {
    keys: File,
    screen: Receiver<Vec<u8>>,
    seen: String,
    child: Child,
}

impl Terminal {
    /// In front of `cairn run` with these arguments.
    fn start(bench: &Bench, args: &[&str]) -> Terminal {
        Terminal::open(bench, bench.command(&[&["run"], args].concat()))
    }

    /// In front of this command, without colours.
    pub fn open(bench: &Bench, mut run: Command) -> Terminal {
        run.env("NO_COLOR", "1");
        Terminal::sized(bench, &run, (80, 24))
    }

    /// Ends the program as a system that shuts down does, and waits for that.
    pub fn end(mut self) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        self.child.wait().unwrap();
    }

    /// In front of this command, on a screen of so many columns and rows.
    pub fn sized(bench: &Bench, run: &Command, (columns, rows): (u16, u16)) -> Terminal {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave =
            rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())
                .unwrap();
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&slave, size).unwrap();
        // `setsid --ctty` makes the terminal the program's own, so that Ctrl-C reaches it.
        #[allow(clippy::disallowed_methods, reason = "tests start the program")]
        let mut command = Command::new("setsid");
        command.args(["--ctty", "--wait"]).arg(run.get_program()).args(run.get_args());
        command.env_clear().envs(run.get_envs().filter_map(|(k, v)| Some((k, v?))));
        command.current_dir(bench.temp.workspace());
        let end = || Stdio::from(slave.try_clone().unwrap());
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        drop(slave);
        let keys = File::from(master);
        let mut reader = keys.try_clone().unwrap();
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            // A terminal whose last user is gone answers with an error; that is its end.
            while let Ok(n) = reader.read(&mut piece) {
                if n == 0 || sender.send(piece[..n].to_vec()).is_err() {
                    return;
                }
            }
        });
        Terminal { keys, screen, seen: String::new(), child }
    }

    /// Waits until the screen shows this after what was waited for before.
    pub fn until(&mut self, text: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(at) = self.seen.find(text) {
                let rest = self.seen.split_off(at + text.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.screen.recv_timeout(left) {
                Ok(piece) => self.seen.push_str(&String::from_utf8_lossy(&piece)),
                Err(_) => panic!("the screen never shows {text:?}:\n{}", self.seen),
            }
        }
    }

    /// Types.
    pub fn keys(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the program's end.
    pub fn code(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

fn write(path: &str) -> serde_json::Value {
    json!({"calls": [{"tool": "write", "args": {"path": path, "content": format!("{path} is here\n")}}]})
}

// keeps: asks-first
#[test]
fn a_person_is_shown_the_diff_and_answers_with_one_letter() {
    let bench = Bench::new(json!([
        write("a"),
        write("b"),
        write("c"),
        write("d"),
        {"calls": [{"tool": "bash", "args": {"command": "touch e"}}]},
        {"say": "finished"},
    ]));
    let mut terminal = Terminal::start(&bench, &["work"]);
    let shown = terminal.until("r refuse with words: ");
    assert!(shown.contains("+a is here"), "{shown}");
    assert!(!bench.file("a").exists());
    terminal.keys("d\n");
    assert!(terminal.until("r refuse with words: ").contains("+a is here"));
    terminal.keys("what\n");
    terminal.until("r refuse with words: ");
    terminal.keys("y\n");
    assert!(terminal.until("r refuse with words: ").contains("+b is here"));
    assert!(bench.file("a").exists());
    terminal.keys("r\n");
    terminal.until("what shall it do instead? ");
    terminal.keys("name it differently\n");
    assert!(terminal.until("r refuse with words: ").contains("+c is here"));
    assert!(!bench.file("b").exists());
    terminal.keys("a\n");
    // d is allowed by the answer for c; a command is another kind and is asked for.
    let shown = terminal.until("r refuse with words: ");
    assert!(shown.contains("a all commands in this run"), "{shown}");
    assert!(bench.file("c").exists() && bench.file("d").exists());
    terminal.keys("n\n");
    terminal.until("finished");
    terminal.until("done: 6 turns");
    assert_eq!(terminal.code(), Some(0));
    assert!(!bench.file("e").exists());
    let requests = bench.requests();
    let third = requests[2]["messages"].as_array().unwrap().clone();
    assert_eq!(third.last().unwrap()["content"], "name it differently");
}

// keeps: steering
#[test]
fn a_typed_line_is_told_to_the_agent() {
    let bench = Bench::new(json!([
        {"calls": [{"tool": "bash", "args": {"command": "sleep 1"}}]},
        {"say": "heard"},
    ]));
    let mut terminal = Terminal::start(&bench, &["--yolo", "work"]);
    terminal.until("> work");
    terminal.keys("mind the gap\n");
    terminal.until("heard");
    assert_eq!(terminal.code(), Some(0));
    let told = bench.requests()[1]["messages"].as_array().unwrap().clone();
    assert_eq!(told.last().unwrap()["content"], "mind the gap");
}

// keeps: interrupts
#[test]
fn ctrl_c_stops_the_work_and_what_it_started_with_code_3() {
    let bench = Bench::new(json!([
        {"calls": [{"tool": "bash", "args": {"command": "touch began; sleep 60; touch never"}}]},
    ]));
    let mut terminal = Terminal::start(&bench, &["--yolo", "work"]);
    let deadline = Instant::now() + Duration::from_secs(10);
    while !bench.file("began").exists() {
        assert!(Instant::now() < deadline, "the command never began");
        std::thread::sleep(Duration::from_millis(5));
    }
    let began = Instant::now();
    terminal.keys("\x03");
    terminal.until("cancelled: interrupted");
    assert_eq!(terminal.code(), Some(3));
    assert!(began.elapsed() < Duration::from_secs(2));
    assert_eq!(bench.cairn(&["log"]).out.matches("499").count(), 2, "the op and the loop");
}

// keeps: interrupts
#[test]
fn a_second_ctrl_c_ends_the_process_at_once() {
    let bench = Bench::new(json!([{"say": "never told"}]));
    bench.model.delay(Duration::from_secs(30));
    let mut terminal = Terminal::start(&bench, &["work"]);
    terminal.until("> work");
    terminal.keys("\x03\x03");
    let began = Instant::now();
    assert_eq!(terminal.code(), Some(3));
    assert!(began.elapsed() < Duration::from_secs(5));
}

// keeps: clean-screen
#[test]
fn control_characters_of_models_and_tools_never_reach_the_terminal() {
    let bench = Bench::new(json!([
        {"say": "red \u{1b}[31malert\u{1b}]0;title\u{7}", "calls": [{"tool": "bash", "args": {"command": "printf 'x\\033[2Jy\\n'"}}]},
        {"say": "over"},
    ]));
    let mut terminal = Terminal::start(&bench, &["--yolo", "work"]);
    let shown = terminal.until("over") + &terminal.until("done: 2 turns");
    assert!(shown.contains("alert"));
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{7}'), "{shown:?}");
    assert_eq!(terminal.code(), Some(0));
}
