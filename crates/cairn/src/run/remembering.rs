//! How a person says what a yes is remembered for, how far and how long: `2p`, `1s 7d`.

use cairn_types::Remember;

/// What is remembered of a yes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// How far it reaches.
    pub remember: Remember,
    /// What for, as a rule; every op of this kind when absent.
    pub rule: Option<String>,
    /// When it ends, milliseconds since 1970.
    pub until: Option<u64>,
}

/// What can be answered.
pub const HOW: &str = "a number, then r this run, s this session, p this project, e everywhere; with a \
                       time when it shall end, such as 2p 7d (m, h, d)";

/// The rules to choose from, numbered.
pub fn menu(offers: &[String]) -> String {
    let line = |(n, offer): (usize, &String)| format!("  {}  {offer}", n + 1);
    let lines: Vec<String> = offers.iter().enumerate().map(line).collect();
    format!("remember what?\n{}\nanswer with {HOW}", lines.join("\n"))
}

/// What was answered, if it makes sense.
pub fn read(line: &str, offers: &[String], now: u64) -> Option<Kept> {
    let (which, time) = line.split_once(' ').map_or((line, None), |(a, b)| (a, Some(b.trim())));
    let digits = which.find(|c: char| !c.is_ascii_digit()).unwrap_or(which.len());
    let number: usize = which[..digits].parse().ok()?;
    let remember = match &which[digits..] {
        "" | "r" => Remember::Run,
        "s" => Remember::Session,
        "p" => Remember::Project,
        "e" => Remember::Always,
        _ => return None,
    };
    let until = match time {
        None => None,
        Some(time) => Some(now.checked_add(milliseconds(time)?)?),
    };
    let rule = Some(offers.get(number.checked_sub(1)?)?.clone());
    Some(Kept { remember, rule, until })
}

fn milliseconds(time: &str) -> Option<u64> {
    let unit = time.chars().next_back()?;
    let count = time.strip_suffix(unit)?;
    let unit: u64 = match unit {
        'm' => 60_000,
        'h' => 3_600_000,
        'd' => 86_400_000,
        _ => return None,
    };
    count.trim().parse::<u64>().ok().filter(|n| *n > 0)?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_says_what_how_far_and_how_long() {
        let offers = ["exec ls a".to_owned(), "exec".to_owned()];
        let check = |line: &str, expected: Option<(Remember, &str, Option<u64>)>| {
            let got = read(line, &offers, 1_000);
            let got = got.map(|kept| (kept.remember, kept.rule.unwrap(), kept.until));
            let expected = expected.map(|(scope, rule, until)| (scope, rule.to_owned(), until));
            assert_eq!(got, expected, "{line:?}");
        };
        check("1", Some((Remember::Run, "exec ls a", None)));
        check("2p", Some((Remember::Project, "exec", None)));
        check("1s 2h", Some((Remember::Session, "exec ls a", Some(7_201_000))));
        check("1e 7 d", Some((Remember::Always, "exec ls a", Some(604_801_000))));
        for line in ["", "0", "3", "y", "1x", "1 0d", "1 5", "1 99999999999999999999d", "1é"] {
            check(line, None);
        }
    }
}
