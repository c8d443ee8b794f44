//! Edits quoted a little wrongly come out right or are refused, never otherwise: cases written by
//! hand, and damage done by chance to right edits of the project's own files.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail by panicking")]
#![allow(clippy::print_stderr, reason = "a test tells the shares it measured")]

#[path = "near_misses/damage.rs"]
mod damage;
#[path = "near_misses/dice.rs"]
mod dice;
#[path = "near_misses/right.rs"]
mod right;
#[path = "near_misses/table.rs"]
mod table;

use cairn_text::edit::{EditProblem, replace};
use dice::Dice;
use std::collections::BTreeMap;
use table::Meant;

/// One case of the table: what is wrong with how it came out, if anything.
fn check(case: &table::Case) -> Option<String> {
    let came = replace(&case.content, &case.old, &case.new, false);
    let right = match (&case.meant, &came) {
        (Meant::Content(meant), Ok(done)) => *meant == done.content,
        (Meant::Refused(words), Err(problem)) => problem.to_string().contains(words),
        _ => false,
    };
    let came = match came {
        Ok(done) => format!("{:?} {:?}", done.content, done.notes),
        Err(problem) => format!("refused: {problem}"),
    };
    (!right).then(|| {
        format!(
            "{}\nold {:?}\nnew {:?}\ncame {came}\nmeant {:?}\n",
            case.class, case.old, case.new, case.meant
        )
    })
}

#[test]
fn each_near_miss_of_the_table_comes_out_as_meant_or_in_the_words_given() {
    let cases = table::cases();
    assert!(cases.len() >= 150, "only {} cases", cases.len());
    let wrong: Vec<String> = cases.iter().filter_map(check).collect();
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// How a damaged edit came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Came {
    /// As meant.
    Right,
    /// Refused, with what the file has.
    Refused,
    /// Neither.
    Wrong,
    /// The damaged text stands in the file as it is: a plain edit, not a near miss.
    Plain,
}

/// A text without the blanks at its line ends.
fn bare(text: &str) -> Vec<&str> {
    text.split('\n').map(str::trim_end).collect()
}

/// Whether nothing was tolerated but line ends.
fn untold(notes: &[String]) -> bool {
    notes.iter().all(|note| note == "line ends differed")
}

fn came_out(case: usize, kind: &str, right: &right::Right, damaged: &damage::Damaged) -> Came {
    let (content, old, new) = (&right.content, &damaged.old, &damaged.new);
    let lf = |text: &str| text.replace("\r\n", "\n");
    // Blank lines that the file has too are no damage, whatever blanks it has in them.
    let edges = kind == "blank edges"
        && bare(&format!("{content}\n")).join("\n").contains(&bare(old).join("\n"));
    let stands = content.contains(old.as_str()) || lf(content).contains(&lf(old)) || edges;
    match replace(content, old, new, false) {
        Ok(done) if done.content == right.result => Came::Right,
        // Which line end a new line takes is no matter where the lines around it differ.
        Ok(done) if right.mixed && lf(&done.content) == lf(&right.result) => Came::Right,
        // Nobody can tell blanks again that were lost from lines the edit changes.
        Ok(done) if damaged.lossy && bare(&done.content) == bare(&right.result) => Came::Right,
        Ok(done) if stands && (untold(&done.notes) || edges) => Came::Plain,
        Ok(done) => {
            eprintln!(
                "case {case}: a wrong edit ({kind})\nnotes {:?}\nold\n{old}\nnew\n{new}\nmeant\n{}\n---\n{}\n\ngot\n{}",
                done.notes,
                right.old.join("\n"),
                right.new.join("\n"),
                cairn_text::diff::unified("meant", "got", &right.result, &done.content),
            );
            Came::Wrong
        }
        Err(EditProblem::Same) => Came::Refused,
        Err(EditProblem::Several { lines }) => {
            assert!(lines.len() > 1, "case {case}");
            Came::Refused
        }
        Err(EditProblem::NotFound { preview, .. }) => {
            assert!(
                !preview.is_empty() || old.chars().filter(|c| !c.is_whitespace()).count() < 8,
                "case {case}: nothing shown for\n{old}"
            );
            Came::Refused
        }
        Err(EditProblem::Empty) => panic!("case {case}: empty\n{old:?}"),
    }
}

/// A number that whoever runs the test may set: `CAIRN_CASES`, how many cases, and `CAIRN_SEED`,
/// which ones.
#[allow(clippy::disallowed_methods, reason = "a test asks how long it shall run")]
fn told(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn a_damaged_edit_of_a_real_file_comes_out_right_or_is_refused() {
    let files = right::files();
    let mut shares: BTreeMap<(&str, &str), BTreeMap<Came, usize>> = BTreeMap::new();
    let (cases, seed) = (told("CAIRN_CASES", 2_100), told("CAIRN_SEED", 0));
    for case in 0..cases {
        let kind = damage::KINDS[case % damage::KINDS.len()];
        let both = !(case / damage::KINDS.len()).is_multiple_of(3);
        let mut dice = Dice::seeded((seed as u64) << 32 | case as u64);
        let (right, damaged) = std::iter::repeat_with(|| {
            let right = right::edit(&mut dice, &files);
            damage::done(&mut dice, &right, kind, both).map(|damaged| (right, damaged))
        })
        .flatten()
        .find(|(right, damaged)| kind == "line ends" || !right.is_old(&damaged.old))
        .unwrap();
        let came = came_out(case, kind, &right, &damaged);
        let side = if both { "both" } else { "old" };
        *shares.entry((kind, side)).or_default().entry(came).or_default() += 1;
    }
    for ((kind, side), came) in &shares {
        eprintln!("{kind:22} {side:4} {:3}% {came:?}", accepted(came));
    }
    let wrong: usize = shares.values().filter_map(|came| came.get(&Came::Wrong)).sum();
    assert_eq!(wrong, 0, "wrong edits of {cases}, seed {seed}");
    eprintln!("{cases} damaged edits, 0 wrong");
    for (kind, least) in LEAST {
        let Some(came) = shares.get(&(kind, "both")) else { continue };
        let got = accepted(came);
        // Three times what chance does to so many cases; the more there are, the stricter it is.
        let chance = 150.0 / (came.values().sum::<usize>() as f64).sqrt();
        assert!(
            got as f64 >= least as f64 - chance,
            "{kind}: {got}% came out right, less than {least}%"
        );
    }
}

/// How many of a hundred damaged edits must come out right where old and new are damaged alike:
/// a tolerance that refuses everything is useless.
const LEAST: [(&str, usize); 16] = [
    ("shifted", 50),
    ("stripped", 5),
    ("first line stripped", 80),
    ("tabs for blanks", 70),
    ("blanks for tabs", 60),
    ("rescaled", 40),
    ("trailing blanks added", 60),
    ("trailing blanks lost", 50),
    ("curly quotes", 40),
    ("plain quotes", 35),
    ("line numbers", 90),
    ("elided", 75),
    ("escaped", 25),
    ("quotes escaped", 40),
    ("blank edges", 80),
    ("line ends", 90),
];

/// How many of a hundred near misses came out right.
fn accepted(came: &BTreeMap<Came, usize>) -> usize {
    let count = |which| came.get(&which).copied().unwrap_or_default();
    let all = count(Came::Right) + count(Came::Refused) + count(Came::Wrong);
    100 * count(Came::Right) / all.max(1)
}
