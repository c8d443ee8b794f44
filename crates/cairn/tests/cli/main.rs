//! The binary as people and programs use it: real processes, real HTTP, real SQLite, real files. Only
//! the model is a script.

mod bench_world;
mod keep;
mod run;
mod survive;
mod tamper;
mod terminal;
