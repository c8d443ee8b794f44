//! The tags surface: what texts say, in tables, and what holds for all texts.

mod bodies;
mod closers;
mod data;
mod foreign;
mod heads;
mod labels;
mod notation;
mod others;
mod own_closers;
mod properties;
mod prose;
mod quotes;
mod recovery;
mod teaching;
mod values;
