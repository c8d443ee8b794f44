//! The surfaces as their users see them: tables of texts and what they say, and what holds for all texts.

mod actions;
mod calls;
mod heredoc;
mod heredoc_holds;
mod heredoc_taught;
