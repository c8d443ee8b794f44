//! Half-open spans of numbers.

/// From `start` up to, but not including, `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    /// The span of both, if they touch.
    pub fn join(self, other: Span) -> Option<Span> {
        if self.end < other.start || other.end < self.start {
            return None;
        }
        Some(Span { start: self.start.min(other.start), end: self.end.max(other.end) })
    }

    /// How many numbers are in it.
    pub fn len(self) -> u32 {
        self.end - self.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_join() {
        let joined = Span { start: 1, end: 3 }.join(Span { start: 3, end: 7 });
        assert_eq!(joined, Some(Span { start: 1, end: 7 }));
    }

    #[test]
    fn strangers_do_not() {
        assert_eq!(Span { start: 1, end: 2 }.join(Span { start: 4, end: 5 }), None);
    }
}
