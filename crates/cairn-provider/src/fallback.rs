//! Two models as one: the second is asked when the first cannot be had. Retries are each model's
//! own and come first.

use crate::{Answer, Delta, Fault, FaultClass, Price, Provider, Request};
use async_trait::async_trait;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A model, and another one for when it cannot be had.
#[derive(Clone)]
pub struct Fallback {
    /// The model that is meant.
    pub first: Arc<dyn Provider>,
    /// The model that stands in for it.
    pub then: Arc<dyn Provider>,
    /// What the second is called, `provider/name`.
    pub then_name: String,
}

#[async_trait]
impl Provider for Fallback {
    async fn ask(
        &self,
        request: &Request,
        on_delta: &mut (dyn FnMut(Delta) + Send),
        cancel: &CancellationToken,
    ) -> Result<Answer, Fault> {
        let fault = match self.first.ask(request, on_delta, cancel).await {
            Err(fault) if another_may_do_better(fault.class) => fault,
            ended => return ended,
        };
        let made = fault.attempts;
        let why = format!("{}; {} is asked instead", fault.message, self.then_name);
        on_delta(Delta::Retrying { attempt: made + 1, wait: Duration::ZERO, why });
        let mut count_on = |delta| match delta {
            Delta::Retrying { attempt, wait, why } => {
                on_delta(Delta::Retrying { attempt: made + attempt, wait, why });
            }
            other => on_delta(other),
        };
        match self.then.ask(request, &mut count_on, cancel).await {
            Ok(answer) => {
                let model = answer.model.or_else(|| Some(self.then_name.clone()));
                Ok(Answer { model, attempts: made + answer.attempts, ..answer })
            }
            Err(second) => {
                let attempts = made + second.attempts;
                Err(second.after(attempts))
            }
        }
    }

    /// The dearer one of each, so that a call is never reckoned cheaper than it may become.
    fn price(&self) -> Option<Price> {
        let (first, then) = (self.first.price()?, self.then.price()?);
        Some(Price {
            input: first.input.max(then.input),
            output: first.output.max(then.output),
            cache_read: first.cache_read.max(then.cache_read),
            cache_write: first.cache_write.max(then.cache_write),
        })
    }

    fn form(&self) -> Option<String> {
        self.first.form()
    }
}

fn another_may_do_better(class: FaultClass) -> bool {
    use FaultClass::{NotFound, Overloaded, RateLimited, Timeout, Unreachable};
    matches!(class, RateLimited | Overloaded | Unreachable | Timeout | NotFound)
}
