//! Sessions carried from home to home, and deleted: what arrives is what was signed, or nothing.

use crate::kit::{Bench, Driver, end, session};
use cairn_store::{Import, Imported, StoreError, Verdict, verify_bytes};
use cairn_types::{Aside, Body, Change, FileKind, FileState, canonical};
use std::fs::File;
use std::io::Write;

/// A session with a fork, a name, a large content, receipts and checkpoints.
async fn filled() -> Bench {
    let bench = Bench::new();
    let mut driver = Driver::start(&bench.store, 1).await;
    for text in ["one", "two", &"large ".repeat(60_000)] {
        driver.next_op(text).await;
    }
    driver.commit(end()).await;
    let mut child = driver.fork(driver.n).await;
    child.drive().await;
    child.next_op("three").await;
    child.commit(end()).await;
    bench.store.rename(&session(), Some("mine")).unwrap();
    bench
}

async fn export(bench: &Bench) -> Vec<u8> {
    bench.store.checkpoint(&session(), 99).await.unwrap();
    let mut bytes = Vec::new();
    let exported = bench.store.export(&session(), &mut bytes).unwrap();
    assert_eq!(exported.missing, 0);
    bytes
}

fn import(bench: &Bench, bytes: &[u8]) -> Result<Imported, StoreError> {
    let mut file: File = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    bench.store.import(&mut Import { file: &mut file, root: "/elsewhere".to_owned(), at: 5_000 })
}

fn contents(bench: &Bench) -> u64 {
    bench.count("SELECT count(*) FROM contents")
}

// keeps: carried-whole
#[tokio::test]
async fn an_imported_session_is_the_one_that_was_exported_and_says_whose_it_is() {
    let (here, there) = (filled().await, Bench::new());
    let (file, bundle) = (export(&here).await, here.bundle().await);
    let imported = import(&there, &file).unwrap();
    assert_eq!((imported.session, imported.runs, imported.own), (session(), 2, false));
    assert_eq!(there.bundle().await, bundle, "the same bytes come out again");
    let freed = there
        .store
        .gc(&cairn_store::Gc { before: 4_000, dry_run: true, ..Default::default() })
        .unwrap();
    assert_eq!(freed.contents, 0, "what came a moment ago is not old, however old it is");
    let row = &there.store.sessions().unwrap()[0];
    assert_eq!((row.name.as_deref(), row.root.as_str()), (Some("mine"), "/elsewhere"));
    for run in here.store.runs(&session()).unwrap() {
        assert_eq!(there.store.facts(&run.id, 0).unwrap(), here.store.facts(&run.id, 0).unwrap());
    }
    let report = there.store.verify_session(&session(), None).unwrap();
    assert_eq!(report.verdict, Verdict::Unanchored, "{}", report.why);
    assert!(report.why.contains("receipts 1 to 4 were signed by another home"), "{}", report.why);
    let here_says = here.store.verify_session(&session(), None).unwrap();
    assert!(!here_says.why.contains("another home"), "{}", here_says.why);
    assert!(
        matches!(import(&there, &file), Err(StoreError::NotImported { why }) if why.contains("is here already"))
    );
}

// keeps: carried-whole
#[tokio::test]
async fn an_imported_run_is_never_driven_and_goes_on_in_a_fork_under_this_homes_key() {
    let (here, there, third) = (filled().await, Bench::new(), Bench::new());
    let anchor = here.store.checkpoint(&session(), 99).await.unwrap();
    import(&there, &export(&here).await).unwrap();
    let runs = there.store.runs(&session()).unwrap();
    for run in &runs {
        let taken = there.store.lease(&run.id, "me").unwrap_err();
        assert!(matches!(taken, StoreError::Imported { .. }), "{taken}");
    }
    let parent = runs.iter().find(|run| run.parent.is_none()).unwrap();
    let point = cairn_types::ForkPoint { run: parent.id.clone(), n: parent.last_n };
    let run = cairn_types::RunId::new(9, 9);
    crate::kit::fork(&there.store, &run, point).await.unwrap();
    let mut fork = Driver::take(&there.store, &run, parent.last_n).await;
    fork.drive().await;
    fork.next_op("four").await;
    fork.commit(end()).await;

    let bundle = there.bundle().await;
    assert!(bundle.starts_with(br#"{"format":"cairn-bundle","origins":[{"checkpoints":"#));
    let report = verify_bytes(&bundle, Some(&anchor));
    assert_eq!(report.verdict, Verdict::Verified, "{}", report.why);
    assert!(report.why.contains("not for what"), "an old anchor vouches for no new key");
    let counts: Vec<u64> = report.signers.iter().map(|signer| signer.receipts).collect();
    assert_eq!(counts, [4, 1]);
    assert_eq!(there.verdict(None), Verdict::Unanchored);

    // On to a third home, and back to the second.
    let file = export(&there).await;
    import(&third, &file).unwrap();
    let why = third.store.verify_session(&session(), None).unwrap().why;
    assert!(why.contains("receipts 1 to 4 were") && why.contains("receipt 5 was"), "{why}");
    fork.release();
    there.store.delete(&session(), 7).unwrap();
    assert!(import(&there, &file).unwrap().own);
    assert_eq!(there.bundle().await, bundle);
    assert_eq!(there.verdict(None), Verdict::Unanchored);
    there.tamper("UPDATE receipts SET hmac = CASE substr(hmac, 1, 1) WHEN '0' THEN '1' ELSE '0' END || substr(hmac, 2) WHERE id = (SELECT max(id) FROM receipts)");
    assert_eq!(there.verdict(None), Verdict::Refuted, "what this home signed is still its own");
}

// keeps: hostile-import
#[tokio::test]
async fn a_changed_file_is_refused_and_leaves_nothing_or_gives_the_very_same_session() {
    let here = filled().await;
    let (file, bundle) = (export(&here).await, here.bundle().await);
    let (mut refused, mut kept) = (0, 0);
    let step = file.len() / 300;
    let places = (0..2_000).step_by(17).chain((2_000..file.len()).step_by(step));
    let there = Bench::new();
    for place in places {
        let mut changed = file.clone();
        changed[place] ^= 1 << (place % 7);
        match import(&there, &changed) {
            Err(error) => {
                refused += 1;
                assert!(matches!(error, StoreError::NotImported { .. }), "{place}: {error:?}");
                assert!(there.store.sessions().unwrap().is_empty());
            }
            Ok(_) => {
                kept += 1;
                assert_eq!(there.bundle().await, bundle, "{place}");
                there.store.delete(&session(), 7).unwrap();
            }
        }
        assert_eq!(contents(&there), 0, "{place}");
    }
    // Names, times and the root are not signed; a bit of those may differ.
    assert!(refused > 300 && kept < 30, "{refused} refused, {kept} kept");
    for cut in [0, 1, 100, file.len() / 2, file.len() - 1] {
        assert!(import(&there, &file[..cut]).is_err());
    }
    assert!(import(&there, &[file.as_slice(), b"\n"].concat()).is_err(), "something follows");
}

/// The file with its header changed.
fn with_header(file: &[u8], change: impl FnOnce(&mut serde_json::Value)) -> Vec<u8> {
    let end = file.iter().position(|byte| *byte == b'\n').unwrap();
    let mut header = serde_json::from_slice(&file[..end]).unwrap();
    change(&mut header);
    [canonical(&header).unwrap().as_bytes(), &file[end..]].concat()
}

// keeps: hostile-import
#[tokio::test]
async fn sizes_and_names_that_cannot_be_are_refused_before_anything_is_set_aside() {
    let file = export(&filled().await).await;
    let there = Bench::new();
    let refused = |change: fn(&mut serde_json::Value), expect: &str| {
        let why = import(&there, &with_header(&file, change)).unwrap_err().to_string();
        assert!(why.contains(expect), "{why}");
    };
    refused(|h| h["bundle"] = (1u64 << 40).into(), "are taken at most");
    refused(|h| h["bundle"] = (1u64 << 29).into(), "cut off");
    refused(|h| h["contents"] = u64::MAX.into(), "cut off");
    refused(|h| h["contents"] = 1.into(), "something follows its end");
    refused(|h| h["name"] = "\u{1b}[31m".into(), "a name in it");
    refused(|h| h["runs"][0]["name"] = "x".repeat(300).into(), "a name in it");
    refused(|h| h["session_id"] = "s00000000000000".into(), "another session's");
    refused(|h| h["v"] = 2.into(), "later version");
    let dated = with_header(&file, |h| {
        (h["created_at"], h["runs"][0]["created_at"]) = (u64::MAX.into(), (1u64 << 60).into());
    });
    import(&there, &dated).unwrap();
    assert_eq!(
        there.store.sessions().unwrap()[0].created_at,
        5_000,
        "nothing is newer than its import"
    );
    there.store.delete(&session(), 7).unwrap();
    refused(|h| h["more"] = 1.into(), "no export of Cairn");
    refused(|h| drop(h["runs"].as_array_mut().unwrap().pop()), "not those of its bundle");
    assert_eq!(contents(&there), 0);
}

// keeps: deleted-whole
#[tokio::test]
async fn a_deleted_session_is_gone_with_its_contents_and_a_driven_one_is_kept() {
    let bench = filled().await;
    let large = || {
        std::fs::read_dir(bench.home().join("contents"))
            .unwrap()
            .flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap())
            .count()
    };
    assert_eq!(large(), 2);
    let run = bench.store.runs(&session()).unwrap().remove(0);
    let lease = bench.open().lease(&run.id, "pid 7 on there").unwrap();
    let held = bench.store.delete(&session(), 7).unwrap_err();
    assert!(matches!(&held, StoreError::Held { holder, .. } if holder == "pid 7 on there"));
    assert_eq!(bench.store.sessions().unwrap().len(), 1);
    drop(lease);
    let deleted = bench.store.delete(&session(), 7).unwrap();
    assert_eq!((deleted.runs, deleted.receipts), (2, 4));
    // The kit stores an empty content that no fact names.
    assert_eq!((contents(&bench), large()), (1, 0));
    for table in ["sessions", "runs", "facts", "receipts", "checkpoints"] {
        assert_eq!(bench.count(&format!("SELECT count(*) FROM {table}")), 0, "{table}");
    }
    let folder = |name: &str| std::fs::read_dir(bench.home().join(name)).unwrap().count();
    assert_eq!((folder("heads"), folder("leases")), (0, 0));
    let again = bench.store.delete(&session(), 7).unwrap_err();
    assert!(matches!(again, StoreError::NoSuch { .. }));
}

// keeps: deleted-whole
#[tokio::test]
async fn what_a_deletion_left_when_it_was_cut_off_is_removed_later_and_nothing_else_is() {
    let bench = filled().await;
    let heads = || {
        let found = std::fs::read_dir(bench.home().join("heads")).unwrap();
        let mut found: Vec<_> = found.map(|entry| entry.unwrap().path()).collect();
        found.sort();
        found
    };
    let texts: Vec<_> = heads().iter().map(|head| std::fs::read(head).unwrap()).collect();
    let files = heads();
    assert_eq!(files.len(), 2);
    bench.store.delete(&session(), 7).unwrap();
    for (head, text) in files.iter().zip(&texts) {
        std::fs::write(head, text).unwrap();
    }
    // Of a session that was never deleted here: a trace of what the database lost.
    let lost = bench.home().join("heads").join(cairn_types::RunId::new(8, 8).as_str());
    let other = cairn_types::SessionId::new(8, 8);
    let text = String::from_utf8(texts[0].clone()).unwrap();
    std::fs::write(&lost, text.replace(session().as_str(), other.as_str())).unwrap();
    bench.store.gc(&cairn_store::Gc::default()).unwrap();
    assert_eq!(heads(), [lost]);
    assert_eq!(bench.store.verify_session(&other, None).unwrap().verdict, Verdict::Refuted);
}

// keeps: contents-checked
#[tokio::test]
async fn what_another_session_of_the_home_names_is_lost_here_and_not_freed_elsewhere() {
    let (here, there) = (Bench::new(), Bench::new());
    let mut driver = Driver::start(&here.store, 1).await;
    driver.next_op("shared").await;
    driver.next_op("alone").await;
    driver.commit(end()).await;
    let mut other = Driver::take(&there.store, &cairn_types::RunId::new(5, 5), 0).await;
    other.create_in(cairn_types::SessionId::new(5, 5)).await;
    other.next_op("shared").await;
    other.commit(end()).await;
    let hash = |text: &str| {
        let input = format!("{{\"command\":\"{text}\"}}");
        cairn_types::Hash::of(input.as_bytes())
    };
    for bench in [&here, &there] {
        for text in ["alone 0002", "shared 0001"] {
            let hex: String = hash(text).0.iter().map(|byte| format!("{byte:02x}")).collect();
            bench.tamper(&format!("DELETE FROM contents WHERE hash = x'{hex}'"));
        }
    }
    here.store.checkpoint(&session(), 99).await.unwrap();
    let mut file = Vec::new();
    assert_eq!(here.store.export(&session(), &mut file).unwrap().missing, 2);
    import(&there, &file).unwrap();
    let freed = there.store.content(&hash("alone 0002"));
    assert!(matches!(freed, Err(StoreError::ContentFreed { .. })), "{freed:?}");
    let lost = there.store.content(&hash("shared 0001"));
    assert!(matches!(lost, Err(StoreError::ContentMissing { .. })), "{lost:?}");
}

/// What an import says of a session, signed as it should be, with one row that claims this change.
async fn why_refused(change: &Change, is_looked_at: bool) -> String {
    let (here, there) = (Bench::new(), Bench::new());
    let mut driver = Driver::start(&here.store, 1).await;
    let mut op = crate::kit::op(1, "evil");
    if let Some((Body::Outcome(outcome), contents)) = op.pop() {
        let evil = cairn_types::Outcome { changes: vec![change.clone()], ..outcome.clone() };
        match is_looked_at {
            true => op.push((Body::Performed(evil), contents)),
            false => op.push((Body::Outcome(evil), contents)),
        }
        op.extend(is_looked_at.then(|| (Body::Outcome(outcome), Default::default())));
    }
    driver.commit(op).await;
    driver.commit(end()).await;
    assert_eq!(here.verdict(None), Verdict::Unanchored, "it is signed as it should be");
    let imported = import(&there, &export(&here).await);
    let why = imported.err().map(|why| why.to_string()).unwrap_or_default();
    assert_eq!(why.is_empty(), contents(&there) > 0, "{why}");
    why
}

// keeps: hostile-import
#[tokio::test]
async fn a_home_that_signs_whatever_it_likes_cannot_send_paths_that_leave_the_root() {
    let paths = ["../out", "/etc/passwd", "a/../../b", ""];
    for (path, is_looked_at) in paths.into_iter().flat_map(|path| [(path, false), (path, true)]) {
        let change = Change::between(path.to_owned(), None, None);
        let why = why_refused(&change, is_looked_at).await;
        assert!(why.contains("leaves its root"), "{why}");
    }
}

// keeps: hostile-import
#[tokio::test]
async fn a_home_that_signs_whatever_it_likes_cannot_name_asides_outside_the_trash() {
    let change = |path: &str, is_after: bool| {
        let state = FileState {
            kind: FileKind::Directory,
            hash: None,
            bytes: None,
            mode: 0o755,
            mtime_ns: None,
            link: None,
            uid: None,
            gid: None,
            aside: Some(Aside { path: path.to_owned(), inode: 1 }),
            entry: None,
            attributes: None,
        };
        let (before, after) = if is_after { (None, Some(state)) } else { (Some(state), None) };
        Change::between("target".to_owned(), before, after)
    };
    for path in ["src", "/etc", ".cairn/trash/../../x", ".cairn/hooks.toml", ".cairn/trash", ""] {
        for (is_after, is_looked_at) in [(false, false), (true, false), (true, true)] {
            let why = why_refused(&change(path, is_after), is_looked_at).await;
            assert!(why.contains("is not in the trash"), "{path} {why}");
        }
    }
    assert_eq!(why_refused(&change(".cairn/trash/op/before/0", true), false).await, "");
}

// keeps: hostile-import
#[tokio::test]
async fn forks_of_forks_are_taken_only_so_deep() {
    let (here, there) = (Bench::new(), Bench::new());
    let first = Driver::start(&here.store, 1).await;
    let mut parent = first.run.clone();
    for number in 0..300 {
        let run = cairn_types::RunId::new(3, number);
        let point = cairn_types::ForkPoint { run: parent, n: 2 };
        crate::kit::fork(&here.store, &run, point).await.unwrap();
        parent = run;
    }
    let why = import(&there, &export(&here).await).unwrap_err().to_string();
    assert!(why.contains("forks of forks"), "{why}");
    assert_eq!(contents(&there), 0);
}
