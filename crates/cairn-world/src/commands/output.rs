//! What is kept of a command's output, and what the model is told of it: all of a short one, both
//! ends of a long one with a line between them that says how much is missing. Never cuts a character.

use crate::look::read::whole;
use cairn_sandbox::{Finished, Keep, OnDisk, Printed, Seam, Spool, Spooled};
use cairn_types::{CommandOutput, ContentRef, Hash};
use std::io;
use std::path::Path;

/// How much of an output's beginning the model is told.
const TOLD_HEAD: usize = 4 * 1024;
/// How much of an output's end the model is told.
const TOLD_TAIL: usize = 12 * 1024;
/// How much of each end of an output memory holds.
const IN_MEMORY: usize = 128 * 1024;
/// How much of each end of an output is kept.
const KEPT: u64 = 32 * 1024 * 1024;

/// What is kept of an output, and where it is.
pub(crate) struct Kept {
    pub(crate) output: CommandOutput,
    pub(crate) contents: Vec<Vec<u8>>,
    pub(crate) spooled: Option<Spooled>,
}

/// How much of an output is kept, given a directory for what is too long for memory.
pub(crate) fn limits(spool: Option<&Path>) -> Keep {
    let on_disk =
        spool.map(|directory| OnDisk { directory: directory.to_owned(), head: KEPT, tail: KEPT });
    Keep { in_memory: IN_MEMORY, on_disk }
}

/// Makes what is kept of an output one text.
pub(crate) async fn keep(finished: &mut Finished) -> Kept {
    let spool = finished.spool.take();
    keep_ends(spool, finished.printed(), finished.hash).await
}

/// The same of any text that grew: its hash is that of all of it.
pub(crate) async fn keep_ends(spool: Option<Spool>, printed: Printed<'_>, hash: Hash) -> Kept {
    let bytes = printed.bytes;
    let joined = match spool {
        // It reads and writes as much as is kept.
        Some(spool) => tokio::task::spawn_blocking(|| join(spool)).await.ok().and_then(Result::ok),
        None => None,
    };
    if let Some(spooled) = joined {
        let output = CommandOutput { bytes, hash, kept: spooled.content };
        return Kept { output, contents: Vec::new(), spooled: Some(spooled) };
    }
    let kept = in_memory(printed);
    let output = CommandOutput { bytes, hash, kept: ContentRef::of(&kept) };
    Kept { output, contents: vec![kept], spooled: None }
}

/// Hands on what would be kept of an output if it ended now.
pub(crate) fn each(printed: Printed<'_>, take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
    match printed.spool {
        Some(spool) => spool.each(&seam(spool)?, take),
        None => {
            take(&in_memory(printed));
            Ok(())
        }
    }
}

/// What memory holds of an output, as one text.
fn in_memory(printed: Printed<'_>) -> Vec<u8> {
    ends(printed, (printed.head.len(), printed.tail.len()), not_kept)
}

fn not_kept(missing: u64) -> String {
    format!("\n… {missing} bytes not kept …\n")
}

fn join(spool: Spool) -> io::Result<Spooled> {
    let seam = seam(&spool)?;
    spool.join(&seam)
}

/// What stands between the two parts of an output.
fn seam(spool: &Spool) -> io::Result<Seam> {
    if spool.missing() == 0 {
        return Ok(Seam::default());
    }
    let (end, start) = spool.edges()?;
    let (cut, skip) = ((end.len() - whole(&end)) as u64, continuation(&start) as u64);
    let between = not_kept(spool.missing() + cut + skip).into_bytes();
    Ok(Seam { cut, between, skip })
}

/// What the model is told of an output; the rest is in the row at this address.
pub(crate) fn told(finished: &Finished, row: &str) -> String {
    let between = |missing| format!("\n… {missing} bytes not shown; read {row}#output …\n");
    let shown = ends(finished.printed(), (TOLD_HEAD, TOLD_TAIL), between);
    String::from_utf8_lossy(&shown).into_owned()
}

/// The output, or its two ends of at most so many bytes with what is put between them.
fn ends(
    printed: Printed<'_>,
    (first, last): (usize, usize),
    between: impl Fn(u64) -> String,
) -> Vec<u8> {
    let Printed { head, tail, bytes, .. } = printed;
    let is_whole = (head.len() + tail.len()) as u64 == bytes;
    if is_whole && bytes <= (first + last) as u64 {
        return [head, tail].concat();
    }
    let joined;
    let end = if tail.len() >= last {
        tail
    } else {
        joined = [head, tail].concat();
        &joined
    };
    let head = &head[..head.len().min(first)];
    let head = &head[..whole(head)];
    let tail = &end[end.len().saturating_sub(last)..];
    let tail = &tail[continuation(tail)..];
    let missing = bytes - (head.len() + tail.len()) as u64;
    [head, between(missing).as_bytes(), tail].concat()
}

/// How many bytes at the start are the rest of a character cut before them.
fn continuation(bytes: &[u8]) -> usize {
    bytes.iter().take(3).take_while(|b| (**b & 0xc0) == 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_sandbox::End;
    use proptest::prelude::*;

    fn finished(text: &str, keep: usize) -> Finished {
        let all = text.as_bytes();
        let head = all[..all.len().min(keep)].to_vec();
        let tail = all[head.len().max(all.len().saturating_sub(keep))..].to_vec();
        let (bytes, hash) = (all.len() as u64, Hash::of(all));
        let (end, layers) = (End::Exited(0), Vec::new());
        Finished {
            end,
            head,
            tail,
            spool: None,
            bytes,
            hash,
            ms: 0,
            layers,
            errors: Vec::new(),
            wanted: cairn_sandbox::Wanted::default(),
            starved: 0,
        }
    }

    proptest! {
        #[test]
        fn both_ends_are_whole_characters_and_the_missing_bytes_are_counted(
            text in "[aé日😀]{0,60}", keep in 30usize..60, first in 5usize..20, last in 5usize..30,
        ) {
            let between = |missing| format!("<{missing}>");
            let shown = ends(finished(&text, keep).printed(), (first, last), between);
            let shown = String::from_utf8(shown).unwrap();
            match shown.split_once('<') {
                None => prop_assert_eq!(shown, text),
                Some((head, rest)) => {
                    let (missing, tail) = rest.split_once('>').unwrap();
                    prop_assert!(text.starts_with(head) && text.ends_with(tail));
                    prop_assert!(head.len() <= first && tail.len() <= last);
                    prop_assert!(head.len() + 4 > first && tail.len() + 4 > last);
                    let missing: usize = missing.parse().unwrap();
                    prop_assert_eq!(head.len() + missing + tail.len(), text.len());
                }
            }
        }
    }
}
