//! A statement that is framed as one and asks for nothing that makes sense is one problem. What stands before it is
//! kept; what stands after it says so.

use cairn_surface::any::Turn;
use cairn_surface::native;
use cairn_types::Surface;

/// The problems' kinds, and each op's tool and target; one that follows what was not understood with a `!`.
fn read(surface: Surface, text: &str) -> (Vec<&'static str>, Vec<String>) {
    let tools: Vec<&'static native::Tool> = native::tools().iter().collect();
    let turn = Turn { surface, tools: &tools, nonce: "", is_first: true, requires_tool: false };
    let reading = turn.read(text, 100);
    let op = |op: &cairn_surface::Written| {
        let target = op.parsed.action.as_ref().map(cairn_types::Action::target);
        let mark = if op.follows_misread { "!" } else { "" };
        format!("{mark}{} {}", op.tool, target.unwrap_or_default())
    };
    let kinds = reading.problems.iter().map(|one| one.kind).collect();
    (kinds, reading.ops.iter().map(op).collect())
}

fn check(surface: Surface, text: &str, problems: &[&str], ops: &[&str]) {
    let got = read(surface, text);
    assert_eq!(got, (problems.to_vec(), ops.iter().map(|op| (*op).to_owned()).collect()), "{text}");
}

// keeps: one-error
#[test]
fn a_bad_value_is_one_problem_and_costs_no_other_statement() {
    let finds: String = (1..=4).map(|n| format!("<<FIND(*.md):word{n}:FIND\n")).collect();
    let found: Vec<String> = (1..=4).map(|n| format!("find *.md word{n}")).collect();
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    check(Surface::Heredoc, &format!("{finds}<<FIND(*.md):~x:FIND\n"), &["matcher"], &found);
    let text = "<<EDIT(a):x:EDIT\n<<EDIT(b)<nine>:y:EDIT\n<<READ(c)::READ\n<<EDIT(d):z:EDIT\n";
    check(Surface::Heredoc, text, &["scope"], &["write a", "!read c", "!write d"]);
    let text = "<set path=\"a\">x</set>\n<set path=\"b\" bogus=\"1\">y</set>\n\
                <get path=\"c\"/>\n<set path=\"d\">z</set>\n";
    check(Surface::Tags, text, &["arguments"], &["write a", "!read c", "!write d"]);
    let text = "<set path=\"a\">x</set>\n<set path=\"\">y</set>\n<rm path=\"d\"/>\n";
    check(Surface::Tags, text, &["arguments"], &["write a", "!remove d"]);
    let text = "<sh>true</sh>\n<sett path=\"b\">y</sett>\n<sh>false</sh>\n";
    check(Surface::Tags, text, &["tag_unknown"], &["bash true", "!bash false"]);
}

// keeps: one-error
#[test]
fn a_pair_that_is_only_spoken_of_still_makes_what_it_may_end_doubtful() {
    let text = "<set path=\"a\">x</set> and <set>y</set> or\n";
    let (problems, ops) = read(Surface::Tags, text);
    assert_eq!((problems.contains(&"closer_alone"), ops.len()), (true, 0));
}
