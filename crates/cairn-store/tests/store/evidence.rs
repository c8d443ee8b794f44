//! Receipts, checkpoints, bundles and verdicts: what was tampered with is found.

use crate::kit::{Bench, Driver, end, session};
use cairn_store::{Report, StoreError, Verdict, verify_bytes};
use cairn_types::{CheckpointPayload, ReceiptPayload, canonical, to_canonical};
use ed25519_dalek::{Signer, SigningKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A session with two runs, one a fork, `receipts` receipts and several checkpoints.
async fn session_of(receipts: u32) -> Bench {
    let bench = Bench::new();
    let mut driver = Driver::start(&bench.store, 1).await;
    for i in 0..receipts - 2 {
        driver.next_op("one").await;
        if i % 5 == 3 {
            driver.commit(end()).await;
        }
    }
    let mut child = driver.fork(driver.n).await;
    child.drive().await;
    child.next_op("two").await;
    child.next_op("\u{e9}\u{1}\n").await;
    child.commit(end()).await;
    bench
}

fn lines(bytes: &[u8]) -> Vec<String> {
    std::str::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
}

fn bytes(lines: &[String]) -> Vec<u8> {
    lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}

fn places(lines: &[String], kind: &str) -> Vec<usize> {
    let mark = format!("\"type\":\"{kind}\"}}");
    (0..lines.len()).filter(|i| lines[*i].ends_with(&mark)).collect()
}

/// Judges a changed bundle.
fn check(lines: &[String], anchor: Option<&str>) -> Report {
    verify_bytes(&bytes(lines), anchor)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

#[tokio::test]
async fn an_honest_bundle_is_verified_against_any_of_its_anchors() {
    let bench = session_of(20).await;
    let bundle = bench.bundle().await;
    let free = verify_bytes(&bundle, None);
    assert_eq!((free.verdict, free.receipts), (Verdict::Unanchored, 20), "{}", free.why);
    let lines = lines(&bundle);
    assert!(free.checkpoints >= 4);
    for place in places(&lines, "checkpoint") {
        let line: Value = serde_json::from_str(&lines[place]).unwrap();
        let anchor = line["hash"].as_str().unwrap();
        assert_eq!(check(&lines, Some(anchor)).verdict, Verdict::Verified);
        assert_eq!(bench.verdict(Some(anchor)), Verdict::Verified);
    }
    assert_eq!(check(&lines, Some(&"0".repeat(64))).verdict, Verdict::Refuted);
    // Another checkpoint is not made when the last one covers everything.
    let again = bench.store.checkpoint(&session(), 100).await.unwrap();
    assert_eq!(Some(again), free.anchor);
}

#[tokio::test]
async fn a_receipt_cannot_be_deleted_swapped_doubled_or_cut_off() {
    let bundle = session_of(20).await.bundle().await;
    let good = lines(&bundle);
    let receipts = places(&good, "receipt");
    let anchor = verify_bytes(&bundle, None).anchor;
    let refuted = |name: &str, changed: &[String]| {
        for anchor in [anchor.as_deref(), None] {
            assert_eq!(check(changed, anchor).verdict, Verdict::Refuted, "{name}");
        }
    };
    for (i, place) in receipts.iter().enumerate() {
        let mut changed = good.clone();
        changed.remove(*place);
        refuted(&format!("receipt {i} deleted"), &changed);
        let mut changed = good.clone();
        changed.insert(*place, good[*place].clone());
        refuted(&format!("receipt {i} doubled"), &changed);
        if i > 0 {
            let mut changed = good.clone();
            changed.swap(receipts[i - 1], *place);
            refuted(&format!("receipts {} and {i} swapped", i - 1), &changed);
        }
    }
    for length in 1..good.len() {
        refuted(&format!("cut after line {length}"), &good[..length]);
    }
    let unended = verify_bytes(&bundle[..bundle.len() - 1], anchor.as_deref());
    assert_eq!(unended.verdict, Verdict::Refuted);
}

#[tokio::test]
async fn a_receipt_that_was_changed_and_signed_again_breaks_the_chain() {
    let bench = session_of(20).await;
    let seed = std::fs::read_to_string(bench.home().join("keys/signing")).unwrap();
    let key = SigningKey::from_bytes(&unhex(seed.trim()).try_into().unwrap());
    let bundle = bench.bundle().await;
    let anchor = verify_bytes(&bundle, None).anchor;
    let good = lines(&bundle);
    for place in places(&good, "receipt") {
        let mut line: Value = serde_json::from_str(&good[place]).unwrap();
        line["payload"]["decided_by"] = json!("yolo");
        let payload: ReceiptPayload = serde_json::from_value(line["payload"].clone()).unwrap();
        let mut sum = Sha256::new();
        sum.update(to_canonical(&payload).unwrap());
        sum.update(unhex(line["hmac"].as_str().unwrap()));
        let hash: [u8; 32] = sum.finalize().into();
        line["hash"] = json!(hex(&hash));
        line["signature"] = json!(hex(&key.sign(&hash).to_bytes()));
        let mut changed = good.clone();
        changed[place] = canonical(&line).unwrap();
        for anchor in [anchor.as_deref(), None] {
            assert_eq!(check(&changed, anchor).verdict, Verdict::Refuted, "line {place}");
        }
    }
}

#[tokio::test]
async fn a_checkpoint_signed_again_is_no_longer_the_anchor() {
    let bench = session_of(20).await;
    let seed = std::fs::read_to_string(bench.home().join("keys/signing")).unwrap();
    let key = SigningKey::from_bytes(&unhex(seed.trim()).try_into().unwrap());
    let bundle = bench.bundle().await;
    let anchor = verify_bytes(&bundle, None).anchor;
    let mut changed = lines(&bundle);
    let last = changed.len() - 1;
    let mut line: Value = serde_json::from_str(&changed[last]).unwrap();
    line["payload"]["timestamp"] = json!(5);
    let payload: CheckpointPayload = serde_json::from_value(line["payload"].clone()).unwrap();
    let hash: [u8; 32] = Sha256::digest(to_canonical(&payload).unwrap()).into();
    line["hash"] = json!(hex(&hash));
    line["signature"] = json!(hex(&key.sign(&hash).to_bytes()));
    changed[last] = canonical(&line).unwrap();
    assert_eq!(check(&changed, None).verdict, Verdict::Unanchored);
    assert_eq!(check(&changed, anchor.as_deref()).verdict, Verdict::Refuted);
}

#[tokio::test]
async fn every_bit_of_a_receipt_counts() {
    let bundle = session_of(2).await.bundle().await;
    let anchor = verify_bytes(&bundle, None).anchor;
    let lines = lines(&bundle);
    let place = places(&lines, "receipt")[0];
    let start: usize = lines[..place].iter().map(|line| line.len() + 1).sum();
    let flip = |bits: std::ops::Range<usize>| {
        let mut changed = bundle.clone();
        for bit in bits {
            changed[start + bit / 8] ^= 1 << (bit % 8);
            let report = verify_bytes(&changed, anchor.as_deref());
            assert_eq!(report.verdict, Verdict::Refuted, "bit {bit} of {}", lines[place]);
            changed[start + bit / 8] ^= 1 << (bit % 8);
        }
    };
    let bits = (lines[place].len() + 1) * 8;
    std::thread::scope(|scope| {
        scope.spawn(|| flip(0..bits / 2));
        scope.spawn(|| flip(bits / 2..bits));
    });
}

#[tokio::test]
async fn one_byte_anywhere_else_counts_too() {
    let bundle = session_of(4).await.bundle().await;
    let anchor = verify_bytes(&bundle, None).anchor;
    let mut changed = bundle.clone();
    for place in (0..bundle.len()).step_by(7) {
        changed[place] ^= 1;
        let verdict = verify_bytes(&changed, anchor.as_deref()).verdict;
        let bad = matches!(verdict, Verdict::Refuted | Verdict::Unverifiable);
        assert!(bad, "byte {place}");
        changed[place] = bundle[place];
    }
}

#[tokio::test]
async fn a_line_that_could_be_written_otherwise_is_refused() {
    let bundle = session_of(4).await.bundle().await;
    let good = lines(&bundle);
    let run = places(&good, "run")[0];
    let receipt = places(&good, "receipt")[0];
    let mut cases = vec![
        ("a space", run, good[run].replace(",\"", ", \"")),
        ("a key twice", run, good[run].replacen('{', "{\"parent\":null,", 1)),
        ("another key", run, good[run].replacen('{', "{\"a\":1,", 1)),
        ("an escape", run, good[run].replace("run", "\\u0072un")),
        ("a carriage return", run, format!("{}\r", good[run])),
        ("a float", receipt, good[receipt].replace("\"seq\":1,", "\"seq\":1.0,")),
        ("too deep", run, format!("{}1{}", "[".repeat(80), "]".repeat(80))),
        ("far too deep", run, "[".repeat(100_000)),
        ("nothing", run, String::new()),
    ];
    let mut hexed: Value = serde_json::from_str(&good[receipt]).unwrap();
    let text = hexed["opened"]["inputs"]["text"].as_str().unwrap().to_owned();
    let salt = hexed["opened"]["inputs"]["salt"].clone();
    hexed["opened"]["inputs"] = json!({"salt": salt, "hex": hex(text.as_bytes())});
    cases.push(("a text as hex", receipt, canonical(&hexed).unwrap()));
    for (name, place, line) in cases {
        let mut changed = good.clone();
        changed[place] = line;
        let report = check(&changed, None);
        assert_eq!(report.verdict, Verdict::Refuted, "{name}: {}", report.why);
    }
    for other in ["", "\n", "{}\n", "\u{feff}{}", "PK\u{3}\u{4}"] {
        assert_eq!(verify_bytes(other.as_bytes(), None).verdict, Verdict::Unverifiable);
    }
}

#[tokio::test]
async fn a_content_can_be_redacted_and_the_receipt_still_holds() {
    let bench = session_of(4).await;
    let anchor = bench.store.checkpoint(&session(), 9).await.unwrap();
    bench.tamper("UPDATE receipts SET salt_in = NULL; DELETE FROM contents WHERE bytes < 20");
    assert_eq!(bench.verdict(Some(&anchor)), Verdict::Verified);
    let bundle = bench.bundle().await;
    assert!(String::from_utf8_lossy(&bundle).contains("\"opened\":{\"inputs\":null"));
    assert_eq!(verify_bytes(&bundle, Some(&anchor)).verdict, Verdict::Verified);
}

#[tokio::test]
async fn a_bundle_waits_for_a_checkpoint_that_covers_it() {
    let bench = Bench::new();
    let mut driver = Driver::start(&bench.store, 1).await;
    driver.next_op("one").await;
    let early = bench.store.bundle(&session(), &mut Vec::new());
    assert!(matches!(early, Err(StoreError::Uncovered { .. })));
    let report = bench.store.verify_session(&session(), None).unwrap();
    assert_eq!((report.verdict, report.anchor), (Verdict::Unanchored, None));
}

#[tokio::test]
async fn a_database_changed_behind_the_store_is_found_out() {
    let cases = [
        "UPDATE facts SET body = replace(body, 'landlock', 'nothing') WHERE n = 7",
        "UPDATE facts SET at = at + 1 WHERE n = 1",
        "UPDATE receipts SET payload = replace(payload, 'person:ada', 'person:eve') WHERE id = 3",
        "UPDATE receipts SET hmac = hash WHERE id = 3",
        "DELETE FROM receipts WHERE id = 4",
        "DELETE FROM checkpoints WHERE seq = 1",
        "UPDATE contents SET data = x'00', codec = 0 WHERE bytes = 8",
        "UPDATE runs SET fork_n = fork_n - 1 WHERE parent IS NOT NULL",
        // Cut cleanly: nothing inside the database shows it.
        "DELETE FROM checkpoints; DELETE FROM receipts WHERE run IN
           (SELECT id FROM runs WHERE parent IS NOT NULL);
         DELETE FROM facts WHERE run IN (SELECT id FROM runs WHERE parent IS NOT NULL);
         DELETE FROM runs WHERE parent IS NOT NULL",
        "DELETE FROM checkpoints; DELETE FROM receipts; DELETE FROM facts; DELETE FROM runs;
         DELETE FROM sessions",
    ];
    for sql in cases {
        let bench = session_of(6).await;
        assert_eq!(bench.verdict(None), Verdict::Unanchored);
        bench.tamper(sql);
        let report = bench.store.verify_session(&session(), None).unwrap();
        assert_eq!(report.verdict, Verdict::Refuted, "{sql}");
        assert!(report.bad.is_some() && !report.why.is_empty());
    }
}

#[tokio::test]
async fn an_older_copy_of_the_database_is_found_out() {
    let bench = Bench::new();
    let copy = bench.home().join("copy.db");
    let mut driver = Driver::start(&bench.store, 1).await;
    driver.next_op("one").await;
    bench.tamper(&format!("VACUUM INTO '{}'", copy.display()));
    driver.next_op("two").await;
    assert_eq!(bench.verdict(None), Verdict::Unanchored);
    for name in ["cairn.db-wal", "cairn.db-shm"] {
        std::fs::remove_file(bench.home().join(name)).unwrap();
    }
    std::fs::rename(&copy, bench.home().join("cairn.db")).unwrap();
    let report = bench.open().verify_session(&session(), None).unwrap();
    assert_eq!(report.verdict, Verdict::Refuted);
    assert!(report.why.contains("truncated"), "{}", report.why);
}
