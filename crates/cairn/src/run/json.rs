//! The event stream: one JSON object per line on stdout.

use super::outcome::Watch;
use crate::output::to_wire;
use cairn_protocol::{Envelope, Event as Wire, RunResult};
use cairn_runtime::{Driver, Event, Sink};
use std::io::Write;
use std::sync::OnceLock;

/// Events on stdout.
#[derive(Default)]
pub struct Json {
    place: OnceLock<to_wire::Place>,
    pub(super) watch: Watch,
}

impl Json {
    pub(super) fn began(&self, driver: &Driver, remarks: &[String]) {
        let _ = self.place.set(to_wire::Place {
            session: driver.session_id().clone(),
            run: driver.run_id().clone(),
            store: driver.store().clone(),
        });
        for remark in remarks {
            self.event(&Event::Notice(remark.clone()));
        }
    }

    pub(super) fn ended(&self, driver: &Driver, result: RunResult) {
        print(&Envelope {
            event: Wire::Result(result),
            session: driver.session_id().to_string(),
            run: driver.run_id().to_string(),
            cursor: None,
            at: None,
        });
    }
}

impl Sink for Json {
    fn event(&self, event: &Event) {
        self.watch.look(event);
        if let Some(place) = self.place.get() {
            print(&to_wire::event(event, place));
        }
    }
}

fn print(envelope: &Envelope) {
    if let Ok(line) = serde_json::to_string(envelope) {
        // A reader that went away must not end the run.
        let _ = writeln!(crate::output::out::stdout(), "{line}");
    }
}
