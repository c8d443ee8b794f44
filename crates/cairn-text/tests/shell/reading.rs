//! How single lines are read, one table; that any line gives a value; and what is no pattern.

use cairn_text::shell::{Denies, Pattern, allows_line, denies, denies_text, parse};
use cairn_types::{CommandLine, Joint, RedirectKind, Simple};
use proptest::prelude::*;

/// A command on one line: `A= [words] >file`, open words with a `…` behind them.
fn shown(command: &Simple) -> String {
    let joint = match command.joint {
        Joint::Then => "",
        Joint::And => "&& ",
        Joint::Or => "|| ",
        Joint::Pipe => "| ",
    };
    let mut parts: Vec<String> = command.assigns.iter().map(|name| format!("{name}=")).collect();
    let word =
        |w: &cairn_types::ShellWord| format!("[{}]{}", w.text, if w.open { "…" } else { "" });
    parts.extend(command.words.iter().map(word));
    parts.extend(command.redirects.iter().map(|redirect| {
        let sign = match redirect.kind {
            RedirectKind::Read => "<",
            RedirectKind::Write => ">",
            RedirectKind::Append => ">>",
            RedirectKind::ReadWrite => "<>",
            RedirectKind::Dup => "&",
            RedirectKind::HereDoc => "<<",
        };
        let harmless = if redirect.is_harmless() { "" } else { "!" };
        format!("{sign}{}{harmless}", redirect.target)
    }));
    format!("{joint}{}", parts.join(" "))
}

fn check(line: &str, meant: &str) {
    let came = match parse(line) {
        CommandLine::Known(commands) => commands.iter().map(shown).collect::<Vec<_>>().join(" ; "),
        CommandLine::Unsure { why } => format!("unsure: {why}"),
    };
    assert_eq!(came, meant, "{line:?}");
}

#[test]
fn a_line_is_read_as_the_shell_reads_it() {
    check("", "");
    check("a", "[a]");
    check(" a\t'b c'  \"d e\" f\\ g", "[a] [b c] [d e] [f g]");
    check("a;b&&c||d|e\nf", "[a] ; [b] ; && [c] ; || [d] ; | [e] ; [f]");
    check("a '' \"\"", "[a] [] []");
    check("a \"\\$x \\a \\\\ \\\" \\\nb\"", "[a] [$x \\a \\ \" b]");
    check("A=1 B='x y' a b=c", "A= B= [a] [b=c]");
    check("A=1", "A=");
    check("'A'=1 a", "[A=1] [a]");
    check("a #b\n#c\nd#e", "[a] ; [d#e]");
    check("a * b? [c] ~ ~/x d~ e=~ '*'", "[a] [*]… [b?]… [[c]]… [~]… [~/x]… [d~] [e=~]… [*]");
    check("a <b >c >>d >|e <>f 2>&1 >&- 2>/dev/null", "[a] <b! >c! >>d! >e! <>f! &1 &- >/dev/null");
    check("a2>b \"2\">c", "[a2] [2] >b! >c!");
    check("cat <<E <<-'F' | b\nx\nE\n\t$y\n\tF\nc", "[cat] <<E <<F ; | [b] ; [c]");
    check("cat <<-E\n E\n\tE\nb", "[cat] <<E ; [b]");
    check("\\if 'then' x if", "[if] [then] [x] [if]");
    check("find . -exec a {} \\;", "[find] [.] [-exec] [a] [{}] [;]");
    check("a foo$ \"b$\" \"c$|d\"", "[a] [foo$] [b$] [c$|d]");
    check("a \\\n  b\\\nc", "[a] [bc]");
    check("set -euo pipefail; a", "[set] [-euo] [pipefail] ; [a]");
}

#[test]
fn what_is_not_certain_is_unsure_and_says_why() {
    let cases = [
        ("$x", "an expansion"),
        ("a \"$(b)\"", "an expansion"),
        ("`a`", "a command substitution"),
        ("a <(b)", "a process substitution"),
        ("a {b,c}", "a brace expansion"),
        ("a {1..3}", "a brace expansion"),
        ("a &", "a command in the background"),
        ("a &> b", "&>, which shells read differently"),
        ("a |& b", "|&, which only bash knows"),
        ("a <<< b", "<<<, which only bash knows"),
        ("(a)", "a parenthesis"),
        ("f() { a; }", "a parenthesis"),
        ("{ a; }", "a compound command"),
        ("i\\\nf a", "a compound command"),
        ("a; ! b", "a compound command"),
        ("time a", "a compound command"),
        ("[[ a ]]", "a compound command"),
        ("A=1 if", "a compound command"),
        ("a 'b", "a quote without end"),
        ("a \\", "a backslash at the end"),
        ("a &&", "an operator without a command"),
        ("; a", "an operator without a command"),
        ("a\r\n", "a control character"),
        ("a\u{a0}b", "a blank that is none to the shell"),
        ("a 10>b", "a descriptor that shells read differently"),
        ("a 1\\\n>b", "a descriptor that shells read differently"),
        ("a >&b", "a descriptor that shells read differently"),
        ("a {b}>c", "a redirect to a variable"),
        ("a > *", "a redirect to a file only the shell knows"),
        ("a >", "a redirect without a target"),
        ("a <<E\n$x\nE", "an expansion in a here-document"),
        ("a <<E\nx\\\nE\ny\nE", "an expansion in a here-document"),
        ("a <<E\nx", "a here-document without end"),
        ("a <<E 'x\ny'\nE", "a here-document after a line that goes on"),
        ("a &\\\n& b", "a command in the background"),
        ("a >\\\n> b", "an operator before a joined line"),
        ("a+=1 b", "an assignment that only bash knows"),
        ("a[1]=2", "an assignment that only bash knows"),
        ("alias a=b", "a builtin that changes how words are read"),
        ("command alias a=b", "a builtin that changes how words are read"),
        ("set -k; a", "a builtin that changes how words are read"),
        ("%1", "a job"),
    ];
    for (line, why) in cases {
        check(line, &format!("unsure: {why}"));
    }
}

#[test]
fn what_is_too_long_is_unsure() {
    let long = [
        "a;".repeat(65),
        format!("a {}", "b".repeat(16 << 10)),
        "a ".repeat(9 << 10),
        format!("a #{}", "b".repeat(1 << 20)),
    ];
    for line in long {
        check(&line, "unsure: too long");
    }
    let fits = "a;".repeat(64);
    assert!(matches!(parse(&fits), CommandLine::Known(commands) if commands.len() == 64));
}

#[test]
fn a_large_line_costs_no_more_than_its_share() {
    let deny = Pattern::parse("rm -rf x *").unwrap();
    let scraps = [
        "a=",
        "a[",
        "-=",
        "a+=",
        "{",
        "\\\n",
        "'",
        "\"\\",
        "$ ",
        "~:",
        "# ",
        "\n",
        "a <<'b'\n",
        "sudo ",
        "rm ",
        "sudo rm ",
        "sudo -a ",
        "sudo -r rm -f ",
        "xargs rm -rf ",
        "sh -c 'a b' ",
        "eval '$a' ",
        "eval \"",
        "$(",
        "rm -rf $a;",
        "*a*",
        "let a[ ",
        "é",
        "ssh a 'b;c' ",
    ];
    for scrap in scraps {
        for (size, end) in [(16 << 10, ""), (15 << 10, "$"), (15 << 10, "; $x"), (1 << 20, " $x")] {
            let text = format!("{}{end}", scrap.repeat(size / scrap.len()));
            let line = parse(&text);
            let allow = Pattern::parse("*a*a*a*a* a *").unwrap();
            let _ = (allows_line(&[allow], &line), denies(&deny, &line), denies_text(&deny, &text));
            let nested = format!("sudo sh -c '{}'", text.replace('\'', "'\\''"));
            let _ = denies_text(&deny, &nested);
        }
    }
}

#[test]
fn what_is_no_pattern_is_refused_with_the_reason() {
    let cases = [
        ("", "the pattern is empty"),
        ("  ", "the pattern is empty"),
        ("a 'b", "has no end"),
        ("a \\", "has no end"),
        ("a; b", "';' is special to the shell"),
        ("a | b", "'|' is special to the shell"),
        ("a $b", "'$' is special to the shell"),
        ("a \"$b\"", "'$' is special to the shell"),
        ("a > b", "'>' is special to the shell"),
        ("~/a", "'~' is special to the shell"),
        ("a #b", "'#' is special to the shell"),
        ("A=1 a", "begins with a variable"),
    ];
    for (pattern, why) in cases {
        let problem = Pattern::parse(pattern).unwrap_err().to_string();
        assert!(problem.contains(why), "{pattern:?}: {problem}");
    }
}

#[test]
fn only_a_star_alone_is_everything() {
    for (pattern, everything) in
        [("*", true), (" * ", true), ("'*'", false), ("\\*", false), ("* *", false), ("a *", false)]
    {
        assert_eq!(Pattern::parse(pattern).unwrap().is_everything(), everything, "{pattern:?}");
    }
}

/// Scraps that mean something to a shell.
const SCRAPS: [&str; 44] = [
    "a",
    "rm",
    "-rf",
    " ",
    " ",
    "\n",
    ";",
    "&",
    "|",
    "<",
    ">",
    "<<a\n",
    "\na\n",
    "'",
    "\"",
    "\\",
    "$",
    "$(",
    ")",
    "(",
    "`",
    "{",
    "}",
    ",",
    "*",
    "~",
    "=",
    "#",
    "!",
    "sh -c ",
    "eval ",
    "sudo ",
    "xargs ",
    "find ",
    "2>&1",
    "\\\n",
    "é",
    "\u{a0}",
    "\r",
    "if ",
    "1",
    "-",
    "python -c ",
    "'\\''",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_line_and_any_pattern_give_a_value(
        scraps in proptest::collection::vec(0..SCRAPS.len(), 0..24),
        rule in proptest::collection::vec(0..SCRAPS.len(), 0..6),
    ) {
        let text: String = scraps.iter().map(|at| SCRAPS[*at]).collect();
        let rule: String = rule.iter().map(|at| SCRAPS[*at]).collect();
        let line = parse(&text);
        if let Ok(pattern) = Pattern::parse(&rule) {
            let allowed = allows_line(std::slice::from_ref(&pattern), &line);
            // What a rule allows, the same rule finds when it denies.
            prop_assert!(!allowed || denies(&pattern, &line) != Denies::No, "{rule:?} {text:?}");
            let by_text = denies_text(&pattern, &text);
            if let CommandLine::Known(_) = line {
                prop_assert_eq!(by_text, denies(&pattern, &line));
            }
        }
    }

    #[test]
    fn words_that_are_quoted_come_back_as_they_were(
        words in proptest::collection::vec("[ -~é日😀\n\t]{0,8}", 1..6),
    ) {
        let quoted: Vec<String> =
            words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
        let CommandLine::Known(commands) = parse(&quoted.join(" ")) else {
            let odd = matches!(words[0].as_str(), "alias" | "unalias" | "shopt" | "set");
            prop_assert!(odd || words[0].starts_with('%'), "{words:?}");
            return Ok(());
        };
        let came: Vec<&str> = commands[0].words.iter().map(|word| word.text.as_str()).collect();
        prop_assert_eq!(&came, &words);
        prop_assert!(commands.len() == 1 && commands[0].words.iter().all(|word| !word.open));
    }
}
