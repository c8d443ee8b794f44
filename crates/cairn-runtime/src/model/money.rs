//! Money before a model call: what it may cost at worst, and whether that can be afforded. Prices are
//! the provider's, sums the engine's and the store's; nothing is counted here.

use crate::RunError;
use crate::model::model_calls::ModelCalls;
use crate::model::prepared_ask::PreparedAsk;
use crate::run_record::RunRecord;
use cairn_engine::{Engine, Recording};
use cairn_provider::{Message, Part, Price, Request};
use cairn_store::{Reserve, Reserved};
use cairn_types::{PicoUsd, Visible};

/// An answer of fewer tokens than this is not worth asking for.
const FLOOR: u64 = 256;
/// How long an answer may be of a model whose limit nobody knows.
const LONGEST: u64 = 32_768;
/// Text has fewer tokens than one for so many bytes.
const BYTES_A_TOKEN: u64 = 2;
/// What a picture is reckoned at.
const PICTURE: u64 = 4_000;
/// What is sent besides: names, frames, a word on the turns that are left.
const BESIDES: u64 = 1_000;

/// How long a model's answers may be, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Longest {
    /// Nobody knows.
    #[default]
    Unknown,
    /// So long; a request says it where its money is counted.
    Known(u64),
    /// So long because somebody wants it; every request says it.
    Held(u64),
}

impl Longest {
    fn known(self) -> Option<u64> {
        match self {
            Longest::Unknown => None,
            Longest::Known(tokens) | Longest::Held(tokens) => Some(tokens),
        }
    }

    fn held(self) -> Option<u64> {
        match self {
            Longest::Unknown | Longest::Known(_) => None,
            Longest::Held(tokens) => Some(tokens),
        }
    }
}

/// What a call may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Worst {
    /// What is sent.
    input: PicoUsd,
    /// A token of the answer.
    token: PicoUsd,
    /// How many of those there are at most.
    longest: u64,
}

impl Worst {
    fn of(request: &Request, price: Price, longest: Option<u64>) -> Worst {
        let none = PicoUsd(0);
        let mut worst =
            Worst { input: none, token: price.output, longest: longest.unwrap_or(LONGEST) };
        worst.sends(tokens(request), price);
        worst
    }

    /// So many tokens are sent besides.
    fn sends(&mut self, tokens: u64, price: Price) {
        let token = price.input.max(price.cache_write);
        self.input.0 = self.input.0.saturating_add(tokens.saturating_mul(token.0));
    }

    /// With an answer of so many tokens.
    fn with(&self, tokens: u64) -> PicoUsd {
        PicoUsd(self.input.0.saturating_add(tokens.saturating_mul(self.token.0)))
    }

    /// How long an answer this much affords; nothing when it is not worth it.
    fn affords(&self, money: PicoUsd) -> Option<u64> {
        let rest = money.0.checked_sub(self.input.0)?;
        let tokens = rest.checked_div(self.token.0).unwrap_or(self.longest).min(self.longest);
        (tokens >= FLOOR.min(self.longest)).then_some(tokens)
    }
}

/// More tokens than the request has.
fn tokens(request: &Request) -> u64 {
    let text = request.system.len() + request.tools.len();
    let text = text + request.schema.as_ref().map_or(0, |schema| schema.len());
    let messages = request.messages.iter().map(|message| of_message(message));
    (text as u64 / BYTES_A_TOKEN + BESIDES).saturating_add(messages.sum())
}

fn of_message(message: &Message) -> u64 {
    const FRAME: u64 = 16;
    let bytes = |len: usize| len as u64 / BYTES_A_TOKEN;
    let of_parts = |parts: &[Part]| -> u64 {
        let of = |part: &Part| match part {
            Part::Text(text) => bytes(text.len()),
            Part::Image { .. } => PICTURE,
            Part::Document { data, .. } => bytes(data.len()),
        };
        parts.iter().map(of).sum()
    };
    FRAME
        + match message {
            Message::User { parts } | Message::Result { parts, .. } => of_parts(parts),
            Message::Assistant { text, calls, thoughts } => {
                let calls =
                    calls.iter().map(|call| FRAME + bytes(call.name.len() + call.args.len()));
                let thoughts = thoughts.iter().filter_map(|thought| thought.sealed.as_ref());
                bytes(text.as_ref().map_or(0, |text| text.len()))
                    + calls.sum::<u64>()
                    + thoughts.map(|sealed| bytes(sealed.len())).sum::<u64>()
            }
        }
}

impl ModelCalls {
    /// The model is about to be asked: sets the money for it aside. Where there is less than the
    /// worst case would take, the answer may only be as long as is affordable; where even a short one
    /// is not, the loop ends instead. Where nothing counts, it may be as long as somebody said.
    pub(crate) fn afforded(
        &mut self,
        run: &RunRecord,
        ask: PreparedAsk,
    ) -> Result<Recording, RunError> {
        tracing::trace!(target: "cairn::turn", "ModelCalls::afforded");
        let engine = run.engine();
        let ask = ask.with_max_output(self.longest.held());
        if !counts_money(engine) {
            return Ok(ask.into_recording());
        }
        let Some(worst) = self.worst(run, ask.visible())? else {
            return Ok(ask.into_recording());
        };
        match self.set_aside(run, &worst, worst.longest)? {
            Ok(tokens) => Ok(ask.with_max_output(Some(tokens)).into_recording()),
            Err(why) => Ok(run.open_loop()?.end_unaffordable(&why)),
        }
    }

    /// The model was about to be asked by an earlier driver: its money was given back, and is set
    /// aside again. Why the loop ends, where that cannot be.
    pub(crate) fn afforded_again(
        &mut self,
        run: &RunRecord,
    ) -> Result<Option<Recording>, RunError> {
        let engine = run.engine();
        let longest = engine.lap().and_then(cairn_engine::Lap::max_output);
        let (Some(longest), false) = (longest, self.has_reserved) else { return Ok(None) };
        if !counts_money(engine) {
            return Ok(None);
        }
        let Some(worst) = self.worst(run, &[])? else { return Ok(None) };
        Ok(match self.set_aside(run, &worst, longest)? {
            Ok(tokens) if tokens >= longest => None,
            Ok(_) => {
                let why = "too little of the budget is left to ask again";
                Some(run.open_loop()?.end_unaffordable(why))
            }
            Err(why) => Some(run.open_loop()?.end_unaffordable(&why)),
        })
    }

    /// What the next call may cost. What it will show as it stands comes on top of what the last one showed, which some
    /// of it replaces.
    fn worst(&self, run: &RunRecord, shown: &[Visible]) -> Result<Option<Worst>, RunError> {
        let Some(price) = self.provider.price() else { return Ok(None) };
        let mut request = run.messages.next(run.engine(), &|hash| run.content(hash))?;
        request.schema = self.schema.clone();
        let mut worst = Worst::of(&request, price, self.longest.known());
        let bytes: u64 = shown.iter().map(|one| one.content.bytes + one.path.len() as u64).sum();
        worst.sends(bytes / BYTES_A_TOKEN, price);
        Ok(Some(worst))
    }

    /// How long an answer is affordable, the money for it set aside; or why none is.
    fn set_aside(
        &mut self,
        run: &RunRecord,
        worst: &Worst,
        longest: u64,
    ) -> Result<Result<u64, String>, RunError> {
        let worst = Worst { longest, ..*worst };
        let mut most = worst.with(longest);
        if let Some(left) = run.engine().lap_in_run().and_then(|lap| lap.money_left()) {
            if worst.affords(left).is_none() {
                return Ok(Err(format!(
                    "{left} of the loop's cap on money are left, and another turn may cost {}",
                    worst.with(FLOOR.min(longest))
                )));
            }
            most = most.min(left);
        }
        if let Some(budget) = run.engine().driving().session_budget() {
            let journal = &run.journal;
            let (run, session) = (journal.run_id(), journal.session());
            let least = worst.with(FLOOR.min(longest));
            let wish = Reserve { run, session, budget, least, most };
            match journal.store().reserve(&wish)? {
                Reserved::Granted(granted) => most = granted,
                Reserved::Short { spent, reserved } => {
                    return Ok(Err(format!(
                        "the session has cost {spent} of its budget of {budget}, calls of other runs \
                         may cost {reserved}, and another turn may cost {least}"
                    )));
                }
            }
        }
        self.has_reserved = true;
        Ok(worst.affords(most).ok_or_else(|| "nothing of the budget is left".to_owned()))
    }
}

/// Whether what calls cost is bounded.
fn counts_money(engine: &Engine) -> bool {
    engine.lap_in_run().and_then(|lap| lap.money_left()).is_some()
        || engine.driving().session_budget().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn worst(input: u64, token: u64, longest: u64) -> Worst {
        Worst { input: PicoUsd(input), token: PicoUsd(token), longest }
    }

    #[test]
    fn an_answer_is_as_long_as_the_money_affords_and_never_shorter_than_the_floor() {
        for (worst, money, expected) in [
            (worst(100, 2, 1000), 2100, Some(1000)),
            (worst(100, 2, 1000), 9999, Some(1000)),
            (worst(100, 2, 1000), 1100, Some(500)),
            (worst(100, 2, 1000), 612, Some(256)),
            (worst(100, 2, 1000), 611, None),
            (worst(100, 2, 1000), 99, None),
            (worst(100, 2, 10), 120, Some(10)),
            (worst(0, 0, 1000), 0, Some(1000)),
            (worst(u64::MAX, u64::MAX, 1000), u64::MAX - 1, None),
        ] {
            assert_eq!(worst.affords(PicoUsd(money)), expected, "{worst:?} {money}");
        }
    }

    #[test]
    fn what_is_sent_is_reckoned_at_the_dearest_price_and_with_all_its_parts() {
        let text = Part::Text(Arc::from("x".repeat(2000)));
        let image = Part::Image { mime: Arc::from("image/png"), data: Arc::from(vec![0; 1 << 20]) };
        let request = Request {
            system: Arc::from("y".repeat(1000)),
            messages: vec![Arc::new(Message::User { parts: vec![text, image] })],
            ..Request::default()
        };
        let price = Price { input: PicoUsd(10), cache_write: PicoUsd(12), ..Price::default() };
        let tokens = 500 + BESIDES + 16 + 1000 + PICTURE;
        assert_eq!(Worst::of(&request, price, None).input, PicoUsd(tokens * 12));
    }
}
