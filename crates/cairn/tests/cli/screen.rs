//! What a person sees while a run works: excerpts that say how much they leave out, lines that fit, the
//! model's thoughts as they come.

use crate::bench_world::{Bench, done};
use crate::terminal::Terminal;
use serde_json::json;
use std::io::Write;
use std::process::Stdio;

/// A screen that knows what the program uses: line ends, going up, and clearing.
struct Grid {
    columns: usize,
    rows: Vec<Vec<char>>,
    at: (usize, usize),
}

impl Grid {
    fn of(bytes: &str, columns: usize) -> Grid {
        let mut grid = Grid { columns, rows: vec![Vec::new()], at: (0, 0) };
        let mut rest = bytes.chars();
        while let Some(c) = rest.next() {
            match c {
                '\r' => grid.at.1 = 0,
                '\n' => grid.down(),
                '\u{1b}' => grid.sequence(&code(&mut rest)),
                c => grid.put(c),
            }
        }
        grid
    }

    fn down(&mut self) {
        self.at.0 += 1;
        if self.at.0 == self.rows.len() {
            self.rows.push(Vec::new());
        }
    }

    fn put(&mut self, c: char) {
        if self.at.1 == self.columns {
            self.at.1 = 0;
            self.down();
        }
        let row = &mut self.rows[self.at.0];
        row.resize(row.len().max(self.at.1 + 1), ' ');
        row[self.at.1] = c;
        self.at.1 += 1;
    }

    fn sequence(&mut self, code: &str) {
        let (number, letter) = code[1..].split_at(code.len() - 2);
        match letter {
            "A" => self.at.0 -= number.parse::<usize>().unwrap(),
            "K" => self.rows[self.at.0].truncate(self.at.1),
            "J" => {
                self.rows[self.at.0].truncate(self.at.1);
                self.rows.truncate(self.at.0 + 1);
            }
            "m" => {}
            other => panic!("{other}"),
        }
    }

    fn text(&self) -> String {
        self.rows
            .iter()
            .map(|row| row.iter().collect::<String>().trim_end().to_owned() + "\n")
            .collect()
    }
}

/// A control sequence after its first character: all up to a letter, with it.
fn code(rest: &mut std::str::Chars) -> String {
    let mut text = String::new();
    for c in rest {
        text.push(c);
        if c.is_ascii_alphabetic() {
            break;
        }
    }
    text
}

/// Everything that a run at a terminal of this size shows.
fn seen(bench: &Bench, args: &[&str], size: (u16, u16)) -> String {
    let mut terminal = Terminal::sized(bench, &bench.command(args), size);
    let shown = terminal.until(" tokens in, ") + &terminal.until("run r");
    assert_eq!(terminal.code(), Some(0), "{shown}");
    shown
}

// keeps: screen-true
#[test]
fn of_a_long_output_the_hidden_lines_are_counted_whatever_the_model_is_told_of_it() {
    let command = json!({"tool": "bash", "args": {"command": "seq 1 300000"}});
    let bench = Bench::new(json!([{"calls": [command]}, {"say": "counted"}]));
    let done = bench.cairn(&["run", "--yolo", "count"]);
    let shown: Vec<&str> =
        done.err.lines().filter_map(|line| line.strip_prefix("      ")).collect();
    // 300000 lines and the one that says how it ended, of which 12 are shown.
    let expected = [
        "1",
        "2",
        "3",
        "4",
        "5",
        "6",
        "… 299989 lines …",
        "299996",
        "299997",
        "299998",
        "299999",
        "300000",
        "exit=0",
    ];
    assert_eq!(shown, expected, "{}", done.err);
}

// keeps: screen-true
#[test]
fn an_output_is_not_coloured_like_a_diff_and_a_diff_is() {
    let command = "printf '+ plus\\n- minus\\n'";
    let bench = Bench::new(json!([
        {"calls": [{"tool": "bash", "args": {"command": command}}]},
        {"calls": [{"tool": "write", "args": {"path": "a", "content": "new\n"}}]},
        {"say": "over"},
    ]));
    let shown = seen(&bench, &["run", "--yolo", "work"], (80, 24));
    for line in ["\u{1b}[2m      + plus", "\u{1b}[2m      - minus", "\u{1b}[32m      +new"] {
        assert!(shown.contains(line), "{line:?} in {shown:?}");
    }
}

// keeps: screen-true
#[test]
fn piped_input_is_shown_by_its_first_lines_and_a_count() {
    let bench = Bench::new(json!([{"say": "read"}]));
    let mut child = bench.command(&["run", "review this"]).stdin(Stdio::piped()).spawn().unwrap();
    let lines: String = (1..=1000).map(|n| format!("line {n}\n")).collect();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let done = done(child.wait_with_output().unwrap());
    // The task, a blank line, and then what was piped in.
    assert!(done.err.contains("> review this\n\nline 1\n"), "{}", done.err);
    assert!(done.err.contains("line 6\n  … and 994 lines more\n"), "{}", done.err);
    assert!(!done.err.contains("line 7\n"), "{}", done.err);
    let sent = bench.requests()[0]["messages"].to_string();
    assert!(sent.contains("line 1000"), "the model is told all of it");
}

// keeps: screen-true
#[test]
fn a_moving_line_fits_a_narrow_screen_and_leaves_nothing_behind() {
    let command = "for i in 1 2 3; do echo a rather long line $i; sleep 0.4; done; echo end";
    let bench = Bench::new(json!([
        {"calls": [{"tool": "bash", "args": {"command": command}}]},
        {"say": "over"},
    ]));
    for columns in [20, 61] {
        let shown = seen(&bench, &["run", "--yolo", "work"], (columns, 24));
        let moving: Vec<&str> = shown.split("\r\u{1b}[K").collect();
        assert!(moving.len() > 2, "it moved: {shown:?}");
        for line in &moving[..moving.len() - 1] {
            let line = line.rsplit("\u{1b}[2m").next().unwrap().trim_end_matches("\u{1b}[0m");
            assert!(line.chars().count() < usize::from(columns), "{columns}: {line:?}");
        }
        let text = Grid::of(&shown, columns.into()).text();
        assert_eq!(text.matches("  1/1/1").count(), 1, "{text}");
    }
}

const THOUGHT: &str = "First, look.\n\nThen think about it for quite a while, as one does.\nAnd \
                       again.\n1\n2\n3\n4\n5\n";

// keeps: screen-true
#[test]
fn a_thought_is_seen_while_it_comes_and_is_a_count_once_the_answer_begins() {
    for columns in [20, 80] {
        let bench = Bench::new(json!([{"reasoning": THOUGHT, "say": "The answer."}]));
        let shown = seen(&bench, &["run", "work"], (columns, 24));
        let columns = usize::from(columns);
        assert!(shown.contains("\u{1b}[2mFirst,"), "it streams, dimmed: {shown:?}");
        // Drawn for the last time, then cleared, then counted.
        let (drawn, rest) = shown.rsplit_once("\u{1b}[J").unwrap();
        let drawn = Grid::of(drawn.rsplit_once('\r').unwrap().0, columns).text();
        assert!(drawn.ends_with("\n1\n2\n3\n4\n5\n"), "{drawn}");
        let count = "  thought 9 lines; cairn show 1/1#reasoning";
        assert!(
            rest.starts_with(&format!("\u{1b}[2m{count}\u{1b}[0m\r\nThe answer.\r\n")),
            "{rest:?}"
        );
        let left = Grid::of(&shown, columns).text();
        assert!(left.contains("\n> work\n  thought 9 lines;") && !left.contains("look."), "{left}");
        assert_eq!(bench.cairn(&["show", "1/1#reasoning"]).out, THOUGHT);
    }
}

// keeps: screen-true
#[test]
fn a_thought_goes_into_no_pipe_and_without_colours_only_its_count_is_shown() {
    let bench = Bench::new(json!([{"reasoning": THOUGHT, "say": "The answer."}]));
    let piped = bench.cairn(&["run", "work"]);
    assert_eq!(piped.out, "The answer.\n");
    assert!(!piped.err.contains("thought") && !piped.err.contains("look."), "{}", piped.err);
    let mut terminal = Terminal::open(&bench, bench.command(&["run", "work"]));
    let shown = terminal.until("done: 1 turn,");
    assert!(shown.contains("  thought 9 lines; cairn show 1/1#reasoning\r\n"), "{shown:?}");
    assert!(!shown.contains("look.") && !shown.contains('\u{1b}'), "{shown:?}");
}
