//! Money from decimal text to integers, exactly and without floats, and back again.

use cairn_types::PicoUsd;

/// The longest number that is read.
const LONGEST: usize = 40;

/// US dollars per million tokens as pico-dollars per token: `3.0` is 3,000,000. Six decimals are
/// exact; what is finer is rounded to the nearest pico-dollar, halves upwards. `None` for anything
/// that is not a plain non-negative number, or is too large.
#[must_use]
pub fn per_token(usd_per_million: &str) -> Option<PicoUsd> {
    scaled(usd_per_million, 6).map(PicoUsd)
}

/// US dollars as pico-dollars: `0.5` is 500,000,000,000. Twelve decimals are exact; what is finer
/// is rounded to the nearest, halves upwards.
#[must_use]
pub fn dollars(usd: &str) -> Option<PicoUsd> {
    scaled(usd, 12).map(PicoUsd)
}

/// Pico-dollars per token as the shortest decimal of US dollars per million tokens.
#[must_use]
pub fn per_million(price: PicoUsd) -> String {
    let (whole, part) = (price.0 / 1_000_000, price.0 % 1_000_000);
    match part {
        0 => whole.to_string(),
        part => format!("{whole}.{part:06}").trim_end_matches('0').to_owned(),
    }
}

/// The number times ten to the power of `scale`, rounded to the nearest, halves upwards.
fn scaled(text: &str, scale: i32) -> Option<u64> {
    if text.len() > LONGEST {
        return None;
    }
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let has_bare_point = number.contains('.') && part.is_empty();
    if whole.is_empty() || has_bare_point || !is_digits(whole) || !is_digits(part) {
        return None;
    }
    let digits: u128 = format!("{whole}{part}").parse().ok()?;
    let shift = exponent.checked_add(scale)?.checked_sub(i32::try_from(part.len()).ok()?)?;
    let value = match u32::try_from(shift) {
        Ok(up) if digits != 0 => digits.checked_mul(10u128.checked_pow(up)?)?,
        Ok(_) => 0,
        Err(_) => rounded(digits, shift.unsigned_abs()),
    };
    u64::try_from(value).ok()
}

fn rounded(digits: u128, places: u32) -> u128 {
    match 10u128.checked_pow(places) {
        Some(unit) => digits / unit + u128::from(digits % unit >= unit.div_ceil(2)),
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_price_per_million_becomes_an_exact_integer_per_token() {
        for (text, pico) in [
            ("3.0", Some(3_000_000)),
            ("3", Some(3_000_000)),
            ("0", Some(0)),
            ("0.0", Some(0)),
            ("0.1", Some(100_000)),
            ("0.083333", Some(83_333)),
            ("600.0", Some(600_000_000)),
            ("5e-7", Some(1)),
            ("4e-7", Some(0)),
            ("1.5E2", Some(150_000_000)),
            ("0.0000005", Some(1)),
            ("0.00000049999", Some(0)),
            ("2.0000014", Some(2_000_001)),
            ("2.0000015", Some(2_000_002)),
            ("18446744073709.551615", Some(u64::MAX)),
            ("18446744073709.551616", None),
            ("0e999999999", Some(0)),
            ("1e999999999", None),
            ("1e-999999999", Some(0)),
            ("1e99999999999", None),
            ("-1", None),
            ("+1", None),
            ("", None),
            (".", None),
            (".5", None),
            ("5.", None),
            ("1.2.3", None),
            ("1,5", None),
            ("NaN", None),
            ("0x10", None),
            ("1 ", None),
        ] {
            assert_eq!(per_token(text).map(|price| price.0), pico, "{text:?}");
        }
        assert_eq!(dollars("0.5"), Some(PicoUsd(500_000_000_000)));
        assert_eq!(dollars("0.000000000001"), Some(PicoUsd(1)));
    }

    proptest! {
        #[test]
        fn every_price_is_printed_so_that_it_reads_back_the_same(pico in any::<u64>()) {
            prop_assert_eq!(per_token(&per_million(PicoUsd(pico))), Some(PicoUsd(pico)));
        }

        #[test]
        fn no_text_is_a_panic(text in "[0-9eE.+é日😀-]{0,50}") {
            let _ = (per_token(&text), dollars(&text));
        }
    }
}
