//! What a scheme declares of itself: its channels, whose it is, who may write it, what its ops reach.
//! Plain data; what it does is the world's.

use crate::{Effect, Writer};
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// A scheme's declaration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// What its addresses begin with.
    pub name: String,
    /// Its channels, the usual one first.
    pub channels: Vec<Channel>,
    /// Who sees its entries.
    pub scope: Scope,
    /// Who may change them.
    pub writers: Vec<Writer>,
    /// What reading one may reach.
    pub reads: Effect,
    /// What changing one may reach.
    pub writes: Effect,
    /// Whether the model is told of it and may name it.
    pub visible: bool,
}

/// A named content of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// Its name.
    pub name: String,
    /// Its type, where the entry's name does not say otherwise.
    pub mime: String,
}

/// Who sees an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Every run of every session of this home.
    Agent,
    /// The runs of one session.
    Session,
}

impl Manifest {
    /// A scheme whose entries tell what happened: nobody writes them.
    #[must_use]
    pub fn told(name: &str, channels: &[&str]) -> Manifest {
        let channels = channels.iter().map(|name| channel(name)).collect();
        Manifest { channels, ..stored(name, Scope::Session, &[]) }
    }

    /// The channel that an address names; its usual one when it names none.
    #[must_use]
    pub fn channel(&self, named: Option<&str>) -> Option<&Channel> {
        match named {
            None => self.channels.first(),
            Some(name) => self.channels.iter().find(|channel| channel.name == name),
        }
    }

    /// Whether this writer may change its entries.
    #[must_use]
    pub fn lets(&self, writer: Writer) -> bool {
        self.writers.contains(&writer)
    }
}

/// The schemes whose entries servers send as they come.
pub const FEEDS: [&str; 4] = ["sse", "sses", "ws", "wss"];

/// Whether the entries of a scheme are sent by servers as they come.
#[must_use]
pub fn is_feed(scheme: &str) -> bool {
    FEEDS.contains(&scheme)
}

/// Whether addresses of a scheme name streams: feeds, commands, and the rows of both.
#[must_use]
pub fn is_stream(scheme: &str) -> bool {
    is_feed(scheme) || matches!(scheme, "exec" | "log")
}

/// The schemes that every world has, besides files.
#[must_use]
pub fn built_in() -> &'static [Manifest] {
    static ALL: LazyLock<Vec<Manifest>> = LazyLock::new(|| {
        use Writer::{Client, Model, Plugin, System};
        let all = [Model, Client, Plugin, System];
        vec![
            stored("known", Scope::Session, &all),
            stored("unknown", Scope::Session, &all),
            stored("memory", Scope::Agent, &all),
            stored("skill", Scope::Agent, &[Client, Plugin, System]),
            Manifest::told("log", &["result", "output", "input"]),
            Manifest::told("exec", &["output"]),
            Manifest::told("prompt", &["body"]),
            Manifest::told("run", &["body"]),
            Manifest::told("cairn", &["body"]),
            page("http"),
            page("https"),
            feed("sse"),
            feed("sses"),
            feed("ws"),
            feed("wss"),
        ]
    });
    &ALL
}

/// A scheme whose entries are texts that somebody wrote down.
fn stored(name: &str, scope: Scope, writers: &[Writer]) -> Manifest {
    Manifest {
        name: name.to_owned(),
        channels: vec![channel("body"), channel("summary")],
        scope,
        writers: writers.to_vec(),
        reads: Effect::Read,
        writes: Effect::World,
        visible: true,
    }
}

/// A scheme whose entries are what servers answer: nobody writes them, and reading one reaches the server.
fn page(name: &str) -> Manifest {
    let headers = Channel { mime: "text/plain".to_owned(), ..channel("headers") };
    Manifest {
        channels: vec![channel("body"), headers],
        reads: Effect::Network,
        writes: Effect::Network,
        ..stored(name, Scope::Session, &[])
    }
}

/// A scheme whose entries are what servers send as it comes: nobody writes them, and reading one opens it.
fn feed(name: &str) -> Manifest {
    let body = Channel { mime: "text/plain".to_owned(), ..channel("body") };
    Manifest { channels: vec![body], ..page(name) }
}

fn channel(name: &str) -> Channel {
    Channel { name: name.to_owned(), mime: "text/markdown".to_owned() }
}
