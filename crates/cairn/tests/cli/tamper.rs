//! Bundles that were changed: every change is refused, and both verifiers say the same.

use crate::bench_world::{Bench, Dice, size};
use cairn_store::{Verdict, verify_bytes};
use ed25519_dalek::{Signer, SigningKey};
use serde_json::{Value, json};
use std::path::Path;

/// A bundle of a real session, and its anchor.
struct Bundle {
    bytes: Vec<u8>,
    anchor: String,
}

impl Bundle {
    /// Of a run with this many receipts, four to a turn.
    fn with_receipts(receipts: usize) -> Bundle {
        let read = json!({"tool": "read", "args": {"path": "a.txt"}});
        let turn = |n| {
            let echo = json!({"command": format!("echo \"x\ty\" {n}")});
            json!({"say": "again é €", "calls": [read, read, {"tool": "bash", "args": echo}, {"tool": "none", "args": {}}]})
        };
        let mut replies: Vec<Value> = (0..receipts / 4).map(turn).collect();
        replies.push(json!({"say": "done"}));
        let bench = Bench::new(Value::Array(replies));
        bench.temp.write("a.txt", "hello\nworld\n");
        assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
        let file = bench.temp.path().join("audit.cairn");
        let written = bench.cairn(&["bundle", "-o", file.to_str().unwrap()]);
        let anchor = written.out.lines().find_map(|line| line.strip_prefix("anchor ")).unwrap();
        Bundle { bytes: std::fs::read(file).unwrap(), anchor: anchor.to_owned() }
    }

    /// Of a session that began in one home and went on in another.
    fn carried() -> Bundle {
        let read = json!({"calls": [{"tool": "read", "args": {"path": "a.txt"}}]});
        let replies = json!([read, {"say": "here"}, read, {"say": "there"}]);
        let (here, there) = (Bench::new(replies.clone()), Bench::new(replies));
        assert_eq!(here.cairn(&["run", "work"]).code, 0);
        let path = |name: &str| there.temp.path().join(name).to_str().unwrap().to_owned();
        let (session, audit) = (path("session.cairn"), path("audit.cairn"));
        assert_eq!(here.cairn(&["sessions", "export", "-o", &session]).code, 0);
        let imported = there.cairn(&["sessions", "import", &session, "--root", ".", "--json"]);
        let imported: Value = serde_json::from_str(&imported.out).unwrap();
        let session = imported["session"].as_str().unwrap();
        assert_eq!(there.cairn(&["run", "--resume", session, "go on"]).code, 0);
        let written = there.cairn(&["bundle", "-o", &audit]);
        let anchor = written.out.lines().find_map(|line| line.strip_prefix("anchor ")).unwrap();
        Bundle { bytes: std::fs::read(audit).unwrap(), anchor: anchor.to_owned() }
    }

    fn lines(&self) -> Vec<Vec<u8>> {
        self.bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect()
    }

    fn receipts(&self) -> Vec<usize> {
        let is_receipt = |line: &Vec<u8>| line.windows(16).any(|w| w == b"\"type\":\"receipt\"");
        (0..).zip(self.lines()).filter(|(_, line)| is_receipt(line)).map(|(i, _)| i).collect()
    }

    fn judge(&self, bytes: &[u8]) -> Verdict {
        verify_bytes(bytes, Some(&self.anchor)).verdict
    }
}

fn canonical(value: &Value) -> Vec<u8> {
    let mut line = cairn_types::canonical(value).unwrap().into_bytes();
    line.push(b'\n');
    line
}

/// The same receipt, signed by somebody else.
fn re_signed(line: &[u8], key: &SigningKey) -> Vec<u8> {
    let mut receipt: Value = serde_json::from_slice(line).unwrap();
    let hash: cairn_types::Hash = receipt["hash"].as_str().unwrap().parse().unwrap();
    let signature: String =
        key.sign(&hash.0).to_bytes().iter().map(|b| format!("{b:02x}")).collect();
    receipt["signature"] = Value::String(signature);
    canonical(&receipt)
}

// keeps: tamper-evident
#[test]
fn every_structural_change_of_a_hundred_receipts_is_refused() {
    let bundle = Bundle::with_receipts(100);
    assert_eq!(bundle.judge(&bundle.bytes), Verdict::Verified);
    let (lines, receipts) = (bundle.lines(), bundle.receipts());
    assert_eq!(receipts.len(), 100);
    let other = SigningKey::from_bytes(&[7; 32]);
    for (i, at) in receipts.iter().copied().enumerate() {
        let mut deleted = lines.clone();
        deleted.remove(at);
        let mut duplicated = lines.clone();
        duplicated.insert(at, lines[at].clone());
        let truncated = lines[..=at].to_vec();
        let mut signed = lines.clone();
        signed[at] = re_signed(&lines[at], &other);
        let mut changes = vec![
            ("deleted", deleted),
            ("duplicated", duplicated),
            ("truncated", truncated),
            ("re-signed", signed),
        ];
        if let Some(next) = receipts.get(i + 1) {
            let mut swapped = lines.clone();
            swapped.swap(at, *next);
            changes.push(("swapped", swapped));
        }
        for (change, lines) in changes {
            assert_eq!(bundle.judge(&lines.concat()), Verdict::Refuted, "receipt {i} {change}");
        }
    }
}

// keeps: tamper-evident
#[test]
fn every_bit_of_a_bundle_counts() {
    let bundle = Bundle::with_receipts(4);
    let whole = size("CAIRN_MUTATIONS", 0) > 0;
    // Every bit of one receipt and of the checkpoint; every bit of the file in the long proof.
    let lines = bundle.lines();
    let offset = |line: usize| lines[..line].iter().map(Vec::len).sum::<usize>();
    let (first, last) = (bundle.receipts()[1], lines.len() - 1);
    let parts = [offset(first)..offset(first + 1), offset(last)..bundle.bytes.len()];
    let bytes: Vec<usize> = if whole {
        (0..bundle.bytes.len()).collect()
    } else {
        parts.into_iter().flatten().collect()
    };
    for byte in &bytes {
        for bit in 0..8 {
            let mut changed = bundle.bytes.clone();
            changed[*byte] ^= 1 << bit;
            let verdict = bundle.judge(&changed);
            assert!(
                matches!(verdict, Verdict::Refuted | Verdict::Unverifiable),
                "byte {byte} bit {bit}: {verdict:?}"
            );
        }
    }
    println!("{} bits flipped", bytes.len() * 8);
}

/// One random change.
fn mutate(bundle: &Bundle, dice: &mut Dice) -> Vec<u8> {
    let mut bytes = bundle.bytes.clone();
    let place =
        |dice: &mut Dice, bytes: &[u8]| usize::try_from(dice.below(bytes.len() as u64)).unwrap();
    let at = place(dice, &bytes);
    match dice.below(9) {
        0 => bytes[at] ^= 1 << dice.below(8),
        1 => {
            bytes.remove(at);
        }
        2 => bytes.insert(at, b" \n\"\\{}[],:0-9eE.+\xff\xc3"[place(dice, &[0; 19])]),
        3 => bytes.truncate(at),
        4 => {
            // A digit becomes another: numbers and hex stay well-formed.
            let digits: Vec<usize> =
                (0..bytes.len()).filter(|i| bytes[*i].is_ascii_digit()).collect();
            bytes[digits[place(dice, &vec![0; digits.len()])]] =
                b'0' + u8::try_from(dice.below(10)).unwrap();
        }
        _ => {
            let mut lines = bundle.lines();
            let (a, b) = (place(dice, &vec![0; lines.len()]), place(dice, &vec![0; lines.len()]));
            match dice.below(5) {
                0 => lines.swap(a, b),
                1 => {
                    lines.remove(a);
                }
                2 => lines.insert(a, lines[b].clone()),
                3 => lines[a] = changed_value(&lines[a], dice),
                _ => lines[a] = [b"{\"type\":\"receipt\",".as_slice(), &lines[a][1..]].concat(),
            }
            bytes = lines.concat();
        }
    }
    bytes
}

/// The line with one of its values exchanged or dropped, canonical again.
fn changed_value(line: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut value: Value = serde_json::from_slice(line).unwrap();
    exchange(&mut value, dice);
    canonical(&value)
}

fn exchange(value: &mut Value, dice: &mut Dice) {
    if let Value::Object(map) = value
        && !map.is_empty()
    {
        let keys: Vec<String> = map.keys().cloned().collect();
        let key = &keys[usize::try_from(dice.below(keys.len() as u64)).unwrap()];
        if dice.below(12) == 0 {
            map.remove(key);
        } else {
            exchange(&mut map[key], dice);
        }
        return;
    }
    let choices = [
        json!(null),
        json!(0),
        json!(-1),
        json!(true),
        json!("x"),
        json!([]),
        json!({}),
        json!(u64::MAX),
        json!("0".repeat(64)),
        json!("\u{1f600}"),
    ];
    *value = choices[usize::try_from(dice.below(choices.len() as u64)).unwrap()].clone();
}

#[allow(clippy::disallowed_methods, reason = "the second verifier is a program of its own")]
fn second_opinion(list: &Path, anchor: &str) -> Vec<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/verify.py");
    let output = std::process::Command::new("python3")
        .arg(script)
        .args(["--anchor", anchor, "--many"])
        .arg(list)
        .output()
        .unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| line.split('\t').next().unwrap().to_owned())
        .collect()
}

// keeps: second-verifier, tamper-evident
#[test]
fn both_verifiers_judge_changed_bundles_the_same() {
    judge_the_same(&Bundle::with_receipts(8));
}

// keeps: second-verifier, tamper-evident
#[test]
fn both_verifiers_judge_changed_bundles_of_two_signers_the_same() {
    let bundle = Bundle::carried();
    assert!(bundle.bytes.starts_with(b"{\"format\":\"cairn-bundle\",\"origins\":"));
    judge_the_same(&bundle);
}

fn judge_the_same(bundle: &Bundle) {
    let wanted = size("CAIRN_MUTATIONS", 200);
    let mut dice = Dice::new(size("CAIRN_SEED", 11));
    let folder = cairn_testkit::TempHome::new();
    let (mut list, mut ours) = (String::new(), Vec::new());
    for k in 0..=wanted {
        let bytes = if k == 0 { bundle.bytes.clone() } else { mutate(bundle, &mut dice) };
        folder.write(&format!("{k}"), &bytes);
        list.push_str(&format!("{}\n", folder.workspace().join(k.to_string()).display()));
        let verdict = bundle.judge(&bytes);
        assert_eq!(
            verdict == Verdict::Verified,
            bytes == bundle.bytes,
            "mutation {k} is {verdict:?}"
        );
        ours.push(format!("{verdict:?}").to_uppercase());
    }
    folder.write("list", &list);
    let theirs = second_opinion(&folder.workspace().join("list"), &bundle.anchor);
    assert_eq!(theirs.len(), ours.len());
    for (k, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        if ours != theirs {
            let kept = std::env::temp_dir().join("cairn-disagreement");
            std::fs::copy(folder.workspace().join(k.to_string()), &kept).unwrap();
            panic!(
                "mutation {k}: cairn says {ours}, verify.py says {theirs}; see {}",
                kept.display()
            );
        }
    }
    println!("{wanted} mutations judged the same");
}
