//! What a proxy remembers for the row and the question: where its command went, how much passed, and
//! where it was not let. Nothing of what was said.

use super::host::HostPort;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many refused hosts are remembered.
const REFUSED: usize = 64;
/// How many reached hosts are remembered.
const REACHED: usize = 1024;

/// A host that was reached, and what passed so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// The host and port, as they were asked for.
    pub to: HostPort,
    /// How many connections there were.
    pub connections: u64,
    /// How many bytes went there.
    pub sent: u64,
    /// How many bytes came from there.
    pub received: u64,
}

/// Why a host was not reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// No pattern covers it.
    NotCovered,
    /// It is covered, but its name leads inside, to this address first.
    Inside(IpAddr),
    /// It is covered, but its name leads nowhere.
    Unresolved,
    /// Something else than GET and HEAD was wanted of it over plain http.
    Method,
}

/// The bytes that passed to and from one host.
#[derive(Debug, Default)]
pub(super) struct Flow {
    pub(super) connections: AtomicU64,
    pub(super) sent: AtomicU64,
    pub(super) received: AtomicU64,
}

/// What is remembered.
#[derive(Debug, Default)]
pub(super) struct Account(Mutex<Lists>);

#[derive(Debug, Default)]
struct Lists {
    refused: Vec<(HostPort, Refusal)>,
    reached: Vec<(HostPort, Arc<Flow>)>,
}

impl Account {
    /// Remembers that a host was not reached, once for each reason.
    pub(super) fn refuse(&self, to: &HostPort, why: Refusal) {
        let mut lists = self.lists();
        if lists.refused.len() < REFUSED
            && lists.refused.iter().all(|known| *known != (to.clone(), why))
        {
            lists.refused.push((to.clone(), why));
        }
    }

    /// Remembers a connection, and gives where its bytes are counted.
    pub(super) fn reach(&self, to: &HostPort) -> Arc<Flow> {
        let mut lists = self.lists();
        let known = lists.reached.iter().find(|(known, _)| known == to);
        let flow = known.map(|(_, flow)| flow.clone()).unwrap_or_default();
        if known.is_none() && lists.reached.len() < REACHED {
            lists.reached.push((to.clone(), flow.clone()));
        }
        flow.connections.fetch_add(1, Relaxed);
        flow
    }

    /// The hosts that were not reached, and why.
    pub(super) fn refused(&self) -> Vec<(HostPort, Refusal)> {
        self.lists().refused.clone()
    }

    /// The hosts that were reached.
    pub(super) fn reached(&self) -> Vec<Reached> {
        let lists = self.lists();
        let each = lists.reached.iter().map(|(to, flow)| Reached {
            to: to.clone(),
            connections: flow.connections.load(Relaxed),
            sent: flow.sent.load(Relaxed),
            received: flow.received.load(Relaxed),
        });
        each.collect()
    }

    fn lists(&self) -> MutexGuard<'_, Lists> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
