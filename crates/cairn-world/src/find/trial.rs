//! Whether an expression gets through a text in time, found out before the text is searched. The engine takes one
//! step for a byte as long as the states it remembers are enough; where they are not, it takes as many as the
//! expression has states, and says nothing. So what is long is gone through first by one that says so.

use memchr::memchr;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Input, MatchErrorKind};

/// How many steps at worst a text takes that is not tried first.
const LITTLE: usize = 5_000_000;
/// How many a text takes that cannot be tried.
const MUCH: usize = 1_000_000_000;
/// After so many times that everything was forgotten, new states must be worth it,
const FORGETS: usize = 3;
/// which they are for so many bytes each.
const WORTH: usize = 10;

/// How an expression goes through texts.
#[derive(Debug)]
pub(crate) struct Pace {
    steps: usize,
    /// Absent where nothing is to be tried.
    dfa: Option<DFA>,
}

impl Pace {
    /// That of a text that is looked for as it is.
    pub(crate) fn of_literal() -> Self {
        Self { steps: 0, dfa: None }
    }

    /// That of an expression, its flags written within it. It is not larger than `size` when compiled, and
    /// remembers as much as fits into `cache`.
    pub(crate) fn of(expression: &str, size: usize, cache: usize) -> Self {
        let config = DFA::config()
            .cache_capacity(cache)
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(Some(FORGETS))
            .minimum_bytes_per_state(Some(WORTH))
            .unicode_word_boundary(true);
        let dfa = DFA::builder()
            .configure(config)
            .syntax(syntax::Config::new().multi_line(true).utf8(false))
            .thompson(thompson::Config::new().utf8(false).nfa_size_limit(Some(size)))
            .build(expression);
        Self { steps: cairn_text::effort::steps(expression), dfa: dfa.ok() }
    }

    fn is_within(&self, bytes: usize, bound: usize) -> bool {
        bytes.saturating_mul(self.steps) <= bound
    }
}

/// Tries texts, one after another.
pub(crate) struct Trial<'a> {
    pace: &'a Pace,
    cache: Option<Cache>,
}

impl<'a> Trial<'a> {
    pub(crate) fn new(pace: &'a Pace) -> Self {
        Self { pace, cache: None }
    }

    /// Whether texts of this length need not be tried.
    pub(crate) fn is_little(&self, bytes: usize) -> bool {
        self.pace.is_within(bytes, LITTLE)
    }

    /// Whether the expression gets through a text.
    pub(crate) fn passes(&mut self, text: &[u8]) -> bool {
        let is_short = self.pace.is_within(text.len(), MUCH);
        let Some(dfa) = self.pace.dfa.as_ref() else { return is_short };
        let cache = self.cache.get_or_insert_with(|| dfa.create_cache());
        // What earlier texts left behind would decide, and threads take texts in any order.
        cache.reset(dfa);
        let mut at = 0;
        while at < text.len() {
            match dfa.try_search_fwd(cache, &Input::new(text).range(at..)) {
                Ok(None) => return true,
                // The line is found; what follows it is looked through in turn.
                Ok(Some(found)) => match memchr(b'\n', &text[found.offset().max(at)..]) {
                    Some(end) => at = found.offset().max(at) + end + 1,
                    None => return true,
                },
                Err(stopped) => {
                    return is_short && !matches!(stopped.kind(), MatchErrorKind::GaveUp { .. });
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_refused_where_an_expression_needs_more_states_than_are_remembered() {
        let mut state = 1u32;
        let mut letter = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if state >> 31 == 0 { b'a' } else { b'b' }
        };
        let text: Vec<u8> = (0..4 << 20).map(|_| letter()).collect();
        let check = |expression: &str, expected: bool| {
            let pace = Pace::of(expression, 8 << 20, 8 << 20);
            let mut trial = Trial::new(&pace);
            assert_eq!(trial.passes(&text), expected, "{expression}");
            // What was tried before changes nothing.
            assert_eq!(trial.passes(&text), expected, "{expression} again");
        };
        check("abc", true);
        check("[0-9a-f]{64}c", true);
        check(r"\bone|two\b", true);
        check("(a+)+$", true);
        check("(?i)A(a|b)*C", true);
        check("(a|b)*a(a|b){25}c", false);
        check("(?:[ab]{1,100}){1,90}c", false);
        // What cannot be compiled is not tried, and has a thousand states.
        check("(", false);
        assert!(Trial::new(&Pace::of_literal()).is_little(usize::MAX));
    }
}
