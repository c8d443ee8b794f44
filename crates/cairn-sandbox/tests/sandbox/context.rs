//! Contexts: whatever carries a command out, its output is filtered, kept and looked at alike.

use cairn_sandbox::{
    Carrying, Context, End, Errors, Filter, Host, Keep, Over, Running, Spec, Wanted, Way, run,
};
use cairn_types::SandboxLayer;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Somewhere else, where every command prints its own text and waits to be cancelled if it says so.
#[derive(Debug)]
struct Elsewhere;

impl Context for Elsewhere {
    fn carry_out<'a>(
        &'a self,
        spec: &'a Spec,
        cancel: &'a CancellationToken,
        sink: &'a mut (dyn FnMut(&[u8]) + Send),
    ) -> Carrying<'a> {
        Box::pin(async move {
            sink(spec.command.as_bytes());
            let end = match spec.command.starts_with("wait") {
                true => {
                    cancel.cancelled().await;
                    End::Cancelled
                }
                false => End::Exited(0),
            };
            let (layers, wanted) =
                (vec![SandboxLayer::Other("elsewhere".to_owned())], Wanted::default());
            Ok(Over { end, layers, ms: 0, errors: Vec::new(), wanted, starved: 0 })
        })
    }
}

/// Leaves digits out.
#[derive(Debug)]
struct NoDigits;

impl Filter for NoDigits {
    fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        piece.iter().copied().filter(|byte| !byte.is_ascii_digit()).collect()
    }

    fn finish(&mut self) -> Vec<u8> {
        b".".to_vec()
    }
}

fn spec(command: &str, context: Arc<dyn Context>) -> Spec {
    Spec {
        command: command.to_owned(),
        shell: PathBuf::from("/bin/sh"),
        flags: Spec::shell_flags(),
        cwd: File::open("/").unwrap().into(),
        env: Vec::new(),
        timeout: Duration::from_secs(60),
        grace: Duration::from_millis(50),
        keep: Keep { in_memory: 8, on_disk: None },
        way: Way::Best,
        context,
        filter: Some(Box::new(NoDigits)),
        input: cairn_sandbox::Input::Nothing,
        errors: Errors::Joined,
    }
}

// keeps: contexts
#[tokio::test]
async fn what_a_command_prints_is_filtered_and_kept_alike_wherever_it_runs() {
    let contexts: [(&str, Arc<dyn Context>); 2] = [
        ("a1b2c3d4e5f6g7h8i9j", Arc::new(Elsewhere)),
        ("printf a1b2c3d4e5f6g7h8i9j", Host::context()),
    ];
    for (command, context) in contexts {
        let done =
            run(spec(command, context), &CancellationToken::new(), &mut |_| {}).await.unwrap();
        let kept = [&done.head[..], &done.tail[..]].concat();
        assert_eq!((done.end, done.bytes), (End::Exited(0), 11), "{command}");
        assert!(kept.starts_with(b"abcd") && kept.ends_with(b"hij."), "{kept:?}");
    }
}

// keeps: contexts
#[tokio::test]
async fn a_command_in_the_background_of_another_context_is_looked_at_and_ended() {
    let running = Running::start(spec("wait 1", Arc::new(Elsewhere)));
    while running.look(|printed| printed.bytes) == 0 {
        tokio::task::yield_now().await;
    }
    assert!(!running.is_over());
    let done = running.end().await.unwrap();
    assert_eq!(
        (done.end, done.layers),
        (End::Cancelled, vec![SandboxLayer::Other("elsewhere".to_owned())])
    );
    assert_eq!([&done.head[..], &done.tail[..]].concat(), b"wait .");
}
