//! How much work a regular expression may take, judged by its form: no engine counts its steps, so a caller
//! that must stay bounded compares this with the length of the text before it matches.

use fancy_regex::Expr;

/// What is taken for an expression that cannot be judged.
const UNKNOWN: Effort = Effort { states: 1_000, attempt: 2, line: 2, repeats: 1 };
/// A literal character that no count repeats is cheaper than a class, by this much.
const CHEAPER: usize = 16;

/// The form of an expression, as far as it costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Effort {
    /// How many states an automaton for it has, roughly. A linear engine takes this much time for each byte
    /// at worst.
    pub(crate) states: usize,
    /// An engine that tries takes the length of the line to this power for each attempt and state.
    pub(crate) attempt: u32,
    /// It takes the length of the line to this power for each state, before the first attempt fails.
    pub(crate) line: u32,
    /// How often counts repeat the part that they repeat most.
    pub(crate) repeats: usize,
}

/// How many steps a linear engine takes for each byte of a text at worst, for an expression with its flags
/// written within it.
#[must_use]
pub fn steps(expression: &str) -> usize {
    Effort::of(expression).states
}

impl Effort {
    /// Judges an expression, its flags written within it.
    pub(crate) fn of(expression: &str) -> Effort {
        let Ok(tree) = Expr::parse_tree(expression) else { return UNKNOWN };
        let refers = |expr: &Expr| matches!(expr, Expr::Backref { .. });
        let refers_back = refers(&tree.expr) || tree.expr.has_descendant(refers);
        let mut judge = Judge { parts: 0, repeats: 1, refers_back };
        let whole = judge.take(&tree.expr, Around { times: 1, is_kept: false });
        let states = (judge.parts / CHEAPER).saturating_add(1);
        Effort { states, attempt: whole.attempt, line: whole.line.max(1), repeats: judge.repeats }
    }
}

/// What an expression has, as far as it was looked through.
struct Judge {
    parts: usize,
    repeats: usize,
    refers_back: bool,
}

/// What a part lies in.
#[derive(Debug, Clone, Copy)]
struct Around {
    /// How often the counts around it repeat it.
    times: usize,
    /// Whether what matched is kept and not tried otherwise, so that no attempt is counted for it.
    is_kept: bool,
}

/// What is known of a part.
#[derive(Debug, Clone, Copy)]
struct Part {
    attempt: u32,
    line: u32,
    /// Whether it is matched by trying; other parts are handed to a linear engine.
    is_tried: bool,
}

impl Judge {
    fn take(&mut self, expr: &Expr, around: Around) -> Part {
        self.count(expr, around.times);
        let times = match expr {
            Expr::Repeat { lo, hi: usize::MAX, .. } => (*lo).max(1),
            Expr::Repeat { hi, .. } => (*hi).max(1),
            _ => 1,
        };
        let within = Around {
            times: around.times.saturating_mul(times),
            is_kept: around.is_kept || keeps(expr),
        };
        let mut part = Part { attempt: 0, line: 0, is_tried: self.is_tried(expr) };
        for child in expr.children_iter() {
            let child = self.take(child, within);
            part.attempt = part.attempt.max(child.attempt);
            part.line = part.line.max(child.line);
            part.is_tried |= child.is_tried;
        }
        match expr {
            // To compare with what a group matched may take the length of the line.
            Expr::Backref { .. } => Part { attempt: 1, line: 1, is_tried: true },
            Expr::Repeat { hi: usize::MAX, .. } if part.is_tried => {
                // Each round can be tried otherwise, and counts as an attempt then.
                part.attempt += u32::from(around.is_kept);
                part.line += 1;
                part
            }
            Expr::Repeat { hi: usize::MAX, .. } => Part { attempt: 1, line: 1, is_tried: false },
            _ => part,
        }
    }

    fn count(&mut self, expr: &Expr, times: usize) {
        let cost = match expr {
            Expr::Literal { val, .. } if times == 1 => val.len(),
            Expr::Literal { val, .. } => val.len().saturating_mul(CHEAPER),
            Expr::Group(_) | Expr::Repeat { .. } => CHEAPER,
            Expr::Alt(branches) => branches.len().saturating_mul(CHEAPER),
            _ if expr.is_leaf_node() => CHEAPER,
            _ => 0,
        };
        self.parts = self.parts.saturating_add(times.saturating_mul(cost));
        self.repeats = self.repeats.max(times);
    }

    /// Whether a part is matched by trying whatever lies in it.
    fn is_tried(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Group(_) => self.refers_back,
            Expr::Empty
            | Expr::Any { .. }
            | Expr::Assertion(_)
            | Expr::Literal { .. }
            | Expr::LiteralBytes { .. }
            | Expr::Delegate { .. }
            | Expr::Concat(_)
            | Expr::Alt(_)
            | Expr::Repeat { .. } => false,
            _ => true,
        }
    }
}

/// Whether what lies in a part is not tried otherwise once it matched.
fn keeps(expr: &Expr) -> bool {
    matches!(expr, Expr::LookAround(..) | Expr::AtomicGroup(_) | Expr::Conditional { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_judged_by_their_form() {
        let check = |expression: &str, states, (attempt, line), repeats| {
            let expected = Effort { states, attempt, line, repeats };
            assert_eq!(Effort::of(expression), expected, "{expression}");
        };
        check("abc", 1, (0, 1), 1);
        check(r"\d{4}-\d{2}", 9, (0, 1), 4);
        check("(?:[ab]{1,100}){1,90}c", 9092, (0, 1), 9000);
        check("(?:a|b){500}", 2002, (0, 1), 500);
        check("(?:[ab]{2,}){3}", 11, (1, 1), 6);
        check("(a+)+b", 4, (1, 1), 1);
        check("(?=(a+)+b)", 4, (1, 1), 1);
        check(r"(a+)+\1", 5, (1, 2), 1);
        check("(?:(?!foo).)*", 3, (0, 1), 1);
        check("(?>(?:(?!foo).)*)", 3, (1, 1), 1);
        check("(?:(?=.*b).)*", 5, (1, 2), 1);
        check("(?>(?:(?=(?:(?=.*b).)*).)*)", 7, (3, 3), 1);
        check("(", UNKNOWN.states, (UNKNOWN.attempt, UNKNOWN.line), UNKNOWN.repeats);
    }
}
