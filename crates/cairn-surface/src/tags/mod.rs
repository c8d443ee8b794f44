//! The tags surface: ops written as tags in a text, `<get path="a"/>`, `<set path="b">content</set>`. Names no
//! tool and no tag: what a tag means stands in the skins beside the tools.
//!
//! Reading takes two passes. The first finds every tag that means something and which closer belongs to which
//! opener; the second walks over the text outside bodies, quotes and thoughts and makes ops of what it meets.
//! Both are linear in the text.

mod foreign;
mod found;
mod head;
mod labels;
mod later;
mod marks;
mod meaning;
mod passed;
mod print;
mod scan;
mod statements;
mod teach;
mod unclosed;

pub use print::print;
pub use teach::{instructions, requirements};

use crate::Reading;
use found::Found;
use scan::Scan;

/// Reads a reply. No more than `cap` ops are taken of it.
#[must_use]
pub fn parse(text: &str, cap: usize) -> Reading {
    let mut found = Found::new(cap);
    Scan::new(text, 0, &mut found).run();
    found.done(text)
}
