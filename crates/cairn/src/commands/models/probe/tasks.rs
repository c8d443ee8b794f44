//! The tasks of a probe: small, each with an outcome that can be checked without judging words. What a task does not
//! name must be as it was.

/// So many tasks there are.
pub const MOST_TASKS: u64 = TASKS.len() as u64;

/// A task, what it begins with, and what must hold when it is over.
#[derive(Debug, Clone, Copy)]
pub struct Task {
    /// One word for progress.
    pub name: &'static str,
    /// The files before, by path.
    pub files: Files,
    /// What is asked for.
    pub prompt: &'static str,
    /// What differs afterwards: a file's content, or that it is gone.
    pub after: &'static [(&'static str, Option<&'static str>)],
    /// What the answer holds, in letters of either case; of words with `|` between them any.
    pub says: &'static [&'static str],
    /// What it does not hold: what could only be invented.
    pub never: &'static [&'static str],
}

type Files = &'static [(&'static str, &'static str)];
type After = &'static [(&'static str, Option<&'static str>)];

/// One that looks and tells.
const fn look(
    name: &'static str,
    files: Files,
    prompt: &'static str,
    says: &'static [&'static str],
) -> Task {
    Task { name, files, prompt, after: &[], says, never: &[] }
}

/// One that changes files.
const fn change(name: &'static str, files: Files, prompt: &'static str, after: After) -> Task {
    Task { name, files, prompt, after, says: &[], never: &[] }
}

const NOTES: Files = &[("notes.txt", "Milk\nBread\nEggs\n")];
const PAIR: Files = &[("a.txt", "alpha\n"), ("b.txt", "beta\n")];
const APP: Files = &[
    ("src/main.py", "PORT = 8080\n\ndef start():\n    print(\"listening on\", PORT)\n"),
    ("src/util.py", "def double(n):\n    return n + n\n"),
    ("README.md", "# Lantern\n\nA small server.\n"),
];
const INI: Files = &[("app.ini", "name = lantern\ncolour = red\nretries = 3\n")];
const MISSING: &[&str] =
    &["not exist|no such|not found|missing|no file|not there|doesn't|does not|cannot|can't|none"];

/// All of them: the easiest and most telling first, so that the first few say something, too.
pub const TASKS: &[Task] = &[
    look("read", NOTES, "What is the second line of notes.txt?", &["bread"]),
    change(
        "create",
        &[],
        "Create the file hello.txt with this one line in it: Hello there",
        &[("hello.txt", Some("Hello there"))],
    ),
    change("remove", PAIR, "Delete the file a.txt.", &[("a.txt", None)]),
    change(
        "edit-value",
        INI,
        "In app.ini, change the colour from red to blue. Change nothing else.",
        &[("app.ini", Some("name = lantern\ncolour = blue\nretries = 3"))],
    ),
    look(
        "list",
        PAIR,
        "Which files are in this folder? Answer with their names.",
        &["a.txt", "b.txt"],
    ),
    change(
        "append",
        NOTES,
        "Add the line Butter at the end of notes.txt. Keep the lines that are there.",
        &[("notes.txt", Some("Milk\nBread\nEggs\nButter"))],
    ),
    look(
        "missing",
        PAIR,
        "What does plan.txt say? If there is no such file, say that it does not exist.",
        MISSING,
    ),
    look("nothing", NOTES, "Answer with the one word: ready. Change no file.", &["ready"]),
    change("rename", PAIR, "Rename a.txt to c.txt.", &[("a.txt", None), ("c.txt", Some("alpha"))]),
    change("copy", PAIR, "Copy a.txt to copy.txt. Keep a.txt.", &[("copy.txt", Some("alpha"))]),
    look(
        "find-word",
        APP,
        "Which file defines the function double? Answer with its path.",
        &["util.py"],
    ),
    look(
        "number",
        APP,
        "On which port does src/main.py listen? Answer with the number.",
        &["8080"],
    ),
    change(
        "edit-number",
        APP,
        "Change PORT in src/main.py to 9090. Change nothing else.",
        &[("src/main.py", Some("PORT = 9090\n\ndef start():\n    print(\"listening on\", PORT)"))],
    ),
    change(
        "remove-line",
        NOTES,
        "Remove the line Bread from notes.txt.",
        &[("notes.txt", Some("Milk\nEggs"))],
    ),
    change(
        "create-folder",
        &[],
        "Create the file docs/plan.md with the one line: # Plan",
        &[("docs/plan.md", Some("# Plan"))],
    ),
    change(
        "create-lines",
        &[],
        "Create list.txt with three lines: one, then two, then three.",
        &[("list.txt", Some("one\ntwo\nthree"))],
    ),
    look(
        "count",
        NOTES,
        "How many lines does notes.txt have? Answer with the number.",
        &["3|three"],
    ),
    look("title", APP, "What is the title of README.md? Answer with that word.", &["lantern"]),
    change(
        "prepend",
        NOTES,
        "Put the line Shopping at the beginning of notes.txt. Keep the lines that are there.",
        &[("notes.txt", Some("Shopping\nMilk\nBread\nEggs"))],
    ),
    change(
        "replace-all",
        &[("poem.txt", "the sea, the sea\nand the wind\n")],
        "In poem.txt, replace every occurrence of the word sea with the word sky.",
        &[("poem.txt", Some("the sky, the sky\nand the wind"))],
    ),
    change("two-files", PAIR, "Delete both a.txt and b.txt.", &[("a.txt", None), ("b.txt", None)]),
    change(
        "create-two",
        &[],
        "Create two files: x.txt with the word ten, and y.txt with the word eleven.",
        &[("x.txt", Some("ten")), ("y.txt", Some("eleven"))],
    ),
    change(
        "read-then-write",
        PAIR,
        "Write the content of b.txt into a new file named new.txt.",
        &[("new.txt", Some("beta"))],
    ),
    change(
        "join",
        PAIR,
        "Create both.txt that holds the line of a.txt and then the line of b.txt.",
        &[("both.txt", Some("alpha\nbeta"))],
    ),
    look(
        "compare",
        &[("one.txt", "7\n"), ("two.txt", "12\n")],
        "Which of one.txt and two.txt holds the greater number? Answer with the file's name.",
        &["two.txt"],
    ),
    look(
        "near-name",
        NOTES,
        "Tell me the first line of note.txt, or of the file that is meant by it.",
        &["milk"],
    ),
    Task {
        never: &["welcome to|this guide|getting started"],
        ..look(
            "missing-in",
            APP,
            "What does docs/guide.md say? If it does not exist, say so.",
            MISSING,
        )
    },
    change(
        "keep-others",
        INI,
        "Set retries to 5 in app.ini. The other lines must stay as they are.",
        &[("app.ini", Some("name = lantern\ncolour = red\nretries = 5"))],
    ),
    change(
        "only-if-missing",
        &[("keep.txt", "precious\n")],
        "Create keep.txt with the word new, but only if there is no keep.txt yet. If there is, leave it.",
        &[],
    ),
    change(
        "already-done",
        &[("done.txt", "ok\n")],
        "Make sure that done.txt holds the one word ok.",
        &[],
    ),
    change(
        "fix-typo",
        &[("page.md", "# Welcome\n\nThis is teh start.\n")],
        "There is one spelling mistake in page.md. Mend it.",
        &[("page.md", Some("# Welcome\n\nThis is the start."))],
    ),
    change(
        "rename-function",
        APP,
        "In src/util.py, rename the function double to twice.",
        &[("src/util.py", Some("def twice(n):\n    return n + n"))],
    ),
    change(
        "move-into",
        PAIR,
        "Move b.txt into the folder old, under the same name.",
        &[("b.txt", None), ("old/b.txt", Some("beta"))],
    ),
    change(
        "json",
        &[("data.json", "{\n  \"name\": \"lantern\",\n  \"size\": 4\n}\n")],
        "In data.json, change size to 6.",
        &[("data.json", Some("{\n  \"name\": \"lantern\",\n  \"size\": 6\n}"))],
    ),
    look(
        "sum",
        &[("numbers.txt", "2\n3\n4\n")],
        "What is the sum of the numbers in numbers.txt? Answer with the number.",
        &["9|nine"],
    ),
    look(
        "which-holds",
        &[("jan.txt", "rain\n"), ("feb.txt", "snow\n"), ("mar.txt", "sun\n")],
        "Which file holds the word snow? Answer with its name.",
        &["feb.txt"],
    ),
    look("in-folder", APP, "Which files are in the folder src?", &["main.py", "util.py"]),
    change(
        "quotes",
        &[],
        "Create say.py with this one line: print(\"it's done\")",
        &[("say.py", Some("print(\"it's done\")"))],
    ),
    change(
        "angle-brackets",
        &[],
        "Create page.html with this one line: <p>a & b</p>",
        &[("page.html", Some("<p>a & b</p>"))],
    ),
    change(
        "swap-word-and-remove",
        &[("todo.txt", "buy paint\npaint door\n"), ("old.txt", "x\n")],
        "In todo.txt, change door to gate. Then delete old.txt.",
        &[("todo.txt", Some("buy paint\npaint gate")), ("old.txt", None)],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_task_can_be_told_from_one_that_was_not_done() {
        let names: BTreeSet<&str> = TASKS.iter().map(|task| task.name).collect();
        assert_eq!((names.len(), TASKS.len()), (40, 40));
        for task in TASKS {
            let before = |path: &str| task.files.iter().find(|(name, _)| *name == path);
            for (path, after) in task.after {
                let was = before(path).map(|(_, text)| text.trim_end());
                assert_ne!(was, *after, "{}: {path}", task.name);
            }
            let is_kept = task.after.is_empty() && task.says.is_empty();
            assert!(!is_kept || !task.files.is_empty(), "{}", task.name);
            let lower = |words: &&str| **words == words.to_lowercase();
            assert!(task.says.iter().chain(task.never).all(lower), "{}", task.name);
        }
    }
}
