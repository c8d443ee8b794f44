//! Numbers: printed as they were written, compared by what they are.

use std::cmp::Ordering;

/// A number as JSON writes them.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    text: Box<str>,
    quantity: Quantity,
}

/// What a number is. Whole numbers are exact where 64 bits hold them, however they were written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Quantity {
    /// A whole number.
    Whole(i64),
    /// A whole number beyond the others.
    Large(u64),
    /// Any other.
    Real(f64),
}

impl Number {
    /// The number that a text is, if JSON writes numbers so.
    #[must_use]
    pub fn parse(text: &str) -> Option<Number> {
        (extent(text.as_bytes())? == text.len()).then(|| Self::of(text))
    }

    /// The number that a text begins with, and how many bytes it takes.
    pub(crate) fn prefix(text: &str) -> Option<(Number, usize)> {
        let end = extent(text.as_bytes())?;
        Some((Self::of(&text[..end]), end))
    }

    /// A number of a form that writes them in more ways than JSON; absent if it is not finite.
    pub(super) fn foreign(text: &str) -> Option<Number> {
        let real = || text.parse::<f64>().ok().filter(|real| real.is_finite());
        Self::parse(text).or_else(|| Some(Self::of(&format!("{:?}", real()?))))
    }

    /// A whole number written to some base, with its sign if it has one.
    pub(super) fn whole(digits: &str, radix: u32) -> Option<Number> {
        i128::from_str_radix(digits, radix).ok().map(|whole| Self::of(&whole.to_string()))
    }

    fn of(text: &str) -> Number {
        Number { text: text.into(), quantity: Quantity::of(text) }
    }

    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn quantity(&self) -> Quantity {
        self.quantity
    }
}

impl Quantity {
    fn of(text: &str) -> Self {
        if let Ok(whole) = text.parse() {
            return Self::Whole(whole);
        }
        if let Ok(large) = text.parse() {
            return Self::Large(large);
        }
        let real: f64 = text.parse().unwrap_or(f64::NAN);
        // Both bounds are powers of two, so that the comparisons and the casts are exact.
        let is_whole = real.fract() == 0.0;
        match real {
            r if is_whole && (-(2f64.powi(63))..2f64.powi(63)).contains(&r) => {
                Self::Whole(r as i64)
            }
            r if is_whole && (2f64.powi(63)..2f64.powi(64)).contains(&r) => Self::Large(r as u64),
            r => Self::Real(r),
        }
    }

    /// Which of two numbers is less.
    pub(crate) fn compare(self, other: Self) -> Option<Ordering> {
        match (self.exact(), other.exact()) {
            (Ok(one), Ok(two)) => Some(one.cmp(&two)),
            (Err(one), Err(two)) => one.partial_cmp(&two),
            (Ok(one), Err(two)) => between(one, two),
            (Err(one), Ok(two)) => between(two, one).map(Ordering::reverse),
        }
    }

    fn exact(self) -> Result<i128, f64> {
        match self {
            Self::Whole(whole) => Ok(whole.into()),
            Self::Large(large) => Ok(large.into()),
            Self::Real(real) => Err(real),
        }
    }
}

/// How a whole number stands to one that is not whole, or beyond 64 bits.
fn between(whole: i128, real: f64) -> Option<Ordering> {
    if real.is_nan() {
        return None;
    }
    // The cast keeps to the bounds of its type, which lie beyond every whole number here.
    Some(if whole <= real.floor() as i128 { Ordering::Less } else { Ordering::Greater })
}

/// How many bytes a JSON number at the beginning takes.
fn extent(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    at += match (bytes.get(at)?, digits(at)) {
        (_, 0) => return None,
        (b'0', _) => 1,
        (_, count) => count,
    };
    if bytes.get(at) == Some(&b'.') && digits(at + 1) > 0 {
        at += 1 + digits(at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let from = at + 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        if digits(from) > 0 {
            at = from + digits(from);
        }
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_as_json_writes_them_are_numbers() {
        for text in ["0", "-0", "10", "-1.50", "1e5", "1E+5", "0.1e-9", "123456789012345678901234"]
        {
            assert_eq!(Number::parse(text).map(|n| n.as_str().to_owned()), Some(text.to_owned()));
        }
        for text in ["", "-", "01", "+1", "1.", ".5", "1e", "0x1", "1 ", "NaN", "١"] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_compared_by_what_they_are() {
        let check = |one: &str, expected, two: &str| {
            let quantity = |text| Number::parse(text).expect(text).quantity();
            assert_eq!(quantity(one).compare(quantity(two)), Some(expected), "{one} {two}");
            assert_eq!(quantity(two).compare(quantity(one)), Some(expected.reverse()));
        };
        check("1", Ordering::Equal, "1.0");
        check("100", Ordering::Equal, "1e2");
        check("-0", Ordering::Equal, "0.0");
        check("9223372036854775807", Ordering::Less, "9223372036854775808");
        check("9007199254740992", Ordering::Less, "9007199254740993");
        check("18446744073709551615", Ordering::Less, "18446744073709551616");
        check("18446744073709551615", Ordering::Greater, "1.5");
        check("1", Ordering::Less, "1.5");
        check("2", Ordering::Greater, "1.5");
        check("-2", Ordering::Less, "-1.5");
        check("-1", Ordering::Greater, "-1.5");
        check("-1e400", Ordering::Less, "-9223372036854775808");
    }
}
