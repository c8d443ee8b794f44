//! Expressions that look around or back, matched by trying, within a bound on the whole work.

use crate::effort::Effort;
use fancy_regex::{Expr, Regex, RegexBuilder};

/// How long an expression is, in bytes.
const LONGEST: usize = 4 << 10;
/// How often something within it is repeated by counts, those around it included.
const REPEATS: usize = 1_000;
/// How many instructions it is compiled to.
const INSTRUCTIONS: usize = 10_000;
/// What all attempts on a text may take. Divided by what one attempt on each line may take, this is how
/// many attempts a line may have.
const WORK: u64 = 2_000_000_000;
/// How many attempts a line may have in a short text.
const ATTEMPTS: u64 = 1_000_000;

/// An expression that was understood.
#[derive(Debug, Clone)]
pub(super) struct Backtracking {
    expression: String,
    effort: Effort,
}

/// An expression with the bound for one text.
#[derive(Debug)]
pub(super) struct Run {
    regex: Regex,
    attempts: usize,
}

impl Backtracking {
    /// Reads an expression, its flags written within it, or says why it is none.
    pub(super) fn new(expression: &str) -> Result<Self, String> {
        let read = Self::of_form(expression)?;
        build(expression, 1)?;
        Ok(read)
    }

    /// Reads an expression by its form: what is wrong with it only when it is built is not seen.
    pub(super) fn of_form(expression: &str) -> Result<Self, String> {
        if expression.len() > LONGEST {
            return Err(format!(
                "an expression that looks around or back has {LONGEST} bytes at most"
            ));
        }
        let tree = Expr::parse_tree(expression).map_err(|error| why(&error))?;
        if is_unbounded(&tree.expr) || tree.expr.has_descendant(is_unbounded) {
            return Err("calls of groups and absent operators are not read".to_owned());
        }
        let effort = Effort::of(expression);
        // Counts repeat without an attempt being made.
        if effort.repeats > REPEATS {
            return Err(format!("counts repeat a part of it more than {REPEATS} times"));
        }
        Ok(Self { expression: expression.to_owned(), effort })
    }

    /// The expression with the bound for this text.
    pub(super) fn over(&self, text: &str) -> Result<Run, String> {
        // Looking once through each line comes before the first attempt that fails.
        let once = self.cost(text, self.effort.line);
        let attempts = (WORK / self.cost(text, self.effort.attempt)).clamp(1, ATTEMPTS);
        let attempts = usize::try_from(attempts).unwrap_or(usize::MAX);
        if once > WORK {
            return Err("the text is too long for this expression; \
                        write it without look-around and back-references, or less open"
                .to_owned());
        }
        Ok(Run { regex: build(&self.expression, attempts)?, attempts })
    }

    /// What it takes to go once through each line, where that takes its length to this power.
    fn cost(&self, text: &str, power: u32) -> u64 {
        let states = u64::try_from(self.effort.states).unwrap_or(u64::MAX);
        let costs = text.lines().map(|line| {
            let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
            length.saturating_add(1).saturating_pow(power).saturating_mul(states)
        });
        costs.fold(1, u64::saturating_add)
    }
}

impl Run {
    /// Whether it matches in a line, which has this number.
    pub(super) fn is_match(&self, line: &str, number: usize) -> Result<bool, String> {
        self.regex.is_match(line).map_err(|_| {
            format!(
                "line {number}: the expression takes more than {} attempts there; \
                 write it without look-around and back-references, or less open",
                self.attempts
            )
        })
    }
}

fn build(expression: &str, attempts: usize) -> Result<Regex, String> {
    let built = RegexBuilder::new(expression)
        .backtrack_limit(attempts)
        .max_prog_size(INSTRUCTIONS)
        .delegate_size_limit(1 << 20)
        .delegate_dfa_size_limit(1 << 20)
        .build();
    built.map_err(|error| why(&error))
}

/// Whether a part stands for others, so that its cost is not seen.
fn is_unbounded(expr: &Expr) -> bool {
    let stands_for = matches!(expr, Expr::SubroutineCall(_) | Expr::DefineGroup { .. });
    stands_for || matches!(expr, Expr::AstNode(..) | Expr::Absent(_))
}

/// What the engine says, on one line.
fn why(error: &fancy_regex::Error) -> String {
    let words = error.to_string();
    words.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}
