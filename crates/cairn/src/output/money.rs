//! Money and counts as people read them. What programs get is integers.

use cairn_provider::catalogue::decimal;
use cairn_types::PicoUsd;

/// `$0.0123`: four decimals, more where they would be zeros, rounded to the nearest.
#[must_use]
pub fn shown(cost: PicoUsd) -> String {
    let digits = match cost.0 {
        0 => 4,
        1..500_000 => return "under $0.000001".to_owned(),
        500_000..100_000_000 => 6,
        _ => 4,
    };
    let unit = 10u64.pow(12 - digits);
    let rounded = cost.0 / unit + u64::from(cost.0 % unit >= unit / 2);
    let (whole, part) = (rounded / 10u64.pow(digits), rounded % 10u64.pow(digits));
    format!("${whole}.{part:0width$}", width = digits as usize)
}

/// What so many turns cost, when so many of them have no known price.
#[must_use]
pub fn of_turns(cost: Option<PicoUsd>, unpriced: u64) -> String {
    match (cost, unpriced) {
        (None, _) => "cost unknown".to_owned(),
        (Some(cost), 0) => shown(cost),
        (Some(cost), 1) => format!("{} and 1 turn of unknown cost", shown(cost)),
        (Some(cost), n) => format!("{} and {n} turns of unknown cost", shown(cost)),
    }
}

/// A price per token, as US dollars per million with at least two decimals: `$2.50`.
#[must_use]
pub fn per_million(price: PicoUsd) -> String {
    let exact = decimal::per_million(price);
    let decimals = exact.split_once('.').map_or(0, |(_, part)| part.len());
    match decimals {
        0 => format!("${exact}.00"),
        1 => format!("${exact}0"),
        _ => format!("${exact}"),
    }
}

/// A count of tokens on a few characters: `128k`, `1M`, `1048576`.
#[must_use]
pub fn tokens(count: u64) -> String {
    match count {
        0 => "0".to_owned(),
        n if n % 1_000_000 == 0 => format!("{}M", n / 1_000_000),
        n if n % 1_000 == 0 => format!("{}k", n / 1_000),
        n => n.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_shown_with_the_digits_that_matter() {
        for (pico, expect) in [
            (0, "$0.0000"),
            (1, "under $0.000001"),
            (499_999, "under $0.000001"),
            (500_000, "$0.000001"),
            (12_345_678, "$0.000012"),
            (99_999_999, "$0.000100"),
            (100_000_000, "$0.0001"),
            (12_300_000_000, "$0.0123"),
            (12_350_000_000, "$0.0124"),
            (1_999_960_000_000, "$2.0000"),
            (u64::MAX, "$18446744.0737"),
        ] {
            assert_eq!(shown(PicoUsd(pico)), expect, "{pico}");
        }
        assert_eq!(of_turns(None, 3), "cost unknown");
        assert_eq!(of_turns(Some(PicoUsd(0)), 2), "$0.0000 and 2 turns of unknown cost");
        let prices = [3_000_000, 2_500_000, 83_333, 0].map(|n| per_million(PicoUsd(n)));
        assert_eq!(prices, ["$3.00", "$2.50", "$0.083333", "$0.00"]);
        assert_eq!([200_000, 1_000_000, 1_048_576].map(tokens), ["200k", "1M", "1048576"]);
    }
}
