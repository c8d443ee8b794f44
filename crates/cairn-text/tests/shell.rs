//! Shell words are read as real shells read them, and rules on commands allow what they say and no
//! more: tables of attacks and of honest commands, and chance against bash and dash.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail by panicking")]
#![allow(clippy::print_stderr, reason = "a test tells the shares it measured")]

#[path = "shell/alike.rs"]
mod alike;
#[path = "near_misses/dice.rs"]
mod dice;
#[path = "shell/reading.rs"]
mod reading;
#[path = "shell/real.rs"]
mod real;
#[path = "shell/rules.rs"]
mod rules;
#[path = "shell/soup.rs"]
mod soup;
