//! The store's promises, kept on real homes.

#![allow(clippy::disallowed_methods, reason = "the store is tested without a journal")]

#[cfg(test)]
mod carry;
#[cfg(test)]
mod entries;
#[cfg(test)]
mod evidence;
#[cfg(test)]
mod kit;
#[cfg(test)]
mod letters;
#[cfg(test)]
mod log;
#[cfg(test)]
mod money;
#[cfg(test)]
mod spooled;
