//! Ordinary files in ordinary replies: every file of this project is written whole and unaltered, and nothing beside it
//! is lost, on tags and on heredocs. What is read with care must not be read too carefully.

use cairn_surface::{Reading, heredoc, tags};
use std::fs;
use std::path::{Path, PathBuf};

const CAP: usize = 100;
const BEFORE: &str =
    "I'll write it now. Here's the plan:\n\n1. Create `index.html`\n2. Don't touch the rest\n\n";

/// The texts of a folder and those below it, but for what is built and what is written to be an edit.
fn texts(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let name = entry.file_name();
        match path.is_dir() {
            true if ["target", "node_modules", "edits"].iter().any(|skipped| name == *skipped) => {}
            true => texts(&path, found),
            false => found.extend(fs::read_to_string(&path).ok().map(|text| (path, text))),
        }
    }
}

/// What a reading would do: the tools in their order, and what the first writes. Those whose end was not written have a
/// question mark.
fn told(reading: &Reading) -> (Vec<String>, Option<&str>) {
    let mark = |is_unclosed| if is_unclosed { "?" } else { "" };
    let tools = reading.ops.iter().map(|op| format!("{}{}", op.tool, mark(op.is_unclosed)));
    let content = reading.ops.first().and_then(|op| op.args.get("content")?.as_str());
    (tools.collect(), content)
}

#[test]
fn every_file_of_this_project_is_written_as_it_is_and_nothing_beside_it_is_lost() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for folder in ["crates", "docs", "tools", "bench", "sample", "xtask"] {
        texts(&root.join(folder), &mut found);
    }
    found.retain(|(_, text)| text.len() < 200_000);
    let wanted: Vec<String> = ["write", "remove", "bash", "send"].map(str::to_owned).to_vec();
    let mut counts = [0, 0];
    for (path, text) in &found {
        if !text.contains("</set") {
            let reply = format!(
                "{BEFORE}<set path=\"f\">\n{text}</set>\n\nThen I remove the old one:\n\n- first\n    <rm path=\"old\"/>\n\n<sh>make test</sh>\n<update status=\"102\">Working.</update>\n"
            );
            let reading = tags::parse(&reply, CAP);
            assert_eq!(told(&reading), (wanted.clone(), Some(&**text)), "{}", path.display());
            assert!(reading.problems.is_empty(), "{}", path.display());
            counts[0] += 1;
        }
        if !text.contains(":EDIT") && !text.contains("<<EDIT") {
            let reply = format!(
                "{BEFORE}<<EDIT(f):{text}:EDIT\n\nThen I remove the old one:\n\n<<KILL(old)::KILL\n\n<<EXEC:make test:EXEC\n<<SEND[102]:Working.:SEND\n"
            );
            let reading = heredoc::parse(&reply, CAP);
            assert_eq!(told(&reading), (wanted.clone(), Some(&**text)), "{}", path.display());
            assert!(reading.problems.is_empty(), "{}", path.display());
            counts[1] += 1;
        }
    }
    println!("{} files on tags, {} on heredocs", counts[0], counts[1]);
    assert!(counts[0] > 500 && counts[1] > 500, "{counts:?}");
}
