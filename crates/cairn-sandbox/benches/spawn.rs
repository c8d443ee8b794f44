//! What confining a command costs: the same `true` by itself, confined, and confined over an overlay, one after
//! the other so that a loaded machine loads all three alike. Prints medians and what each adds.
#![allow(clippy::unwrap_used, reason = "a measurement fails by panicking")]

use cairn_sandbox::{
    Access, Confined, Context, Errors, Host, Keep, Level, Own, Place, Sandbox, Spec, Surroundings,
    Way, environment, run,
};
use cairn_types::PrivatePlaces;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// So often each is run.
const ROUNDS: usize = 300;

#[derive(Clone, Copy)]
enum Way3 {
    Plain,
    Confined,
    Overlaid,
}

struct Ground {
    holder: tempfile::TempDir,
    env: Vec<(String, String)>,
    sandbox: Arc<Sandbox>,
}

impl Ground {
    fn new() -> Ground {
        let holder = tempfile::tempdir().unwrap();
        fs::create_dir(holder.path().join("work")).unwrap();
        #[allow(
            clippy::disallowed_methods,
            reason = "a measurement in the caller's own surroundings"
        )]
        let (env, home) = (environment(std::env::vars(), &[]), std::env::var_os("HOME"));
        let sandbox = Arc::new(Sandbox::new(Surroundings {
            home: home.map(PathBuf::from),
            env: env.clone(),
            private: PrivatePlaces::default(),
            own: holder.path().join("own"),
            level: Level::Workspace,
            processes: 4096,
            memory: Some(8 << 30),
            overlays: true,
        }));
        Ground { holder, env, sandbox }
    }

    async fn once(&self, way: Way3) -> Duration {
        let work = self.holder.path().join("work");
        let begun = Instant::now();
        let mut layer = None;
        let directory = File::open(&work).unwrap();
        let access = match way {
            Way3::Plain => None,
            Way3::Confined => Some(Access::Write),
            Way3::Overlaid => {
                let made = layer.insert(Own::make(&self.holder.path().join("layers")).unwrap());
                for name in ["upper", "work"] {
                    fs::create_dir(made.path().join(name)).unwrap();
                }
                Some(Access::Overlay(made.path().to_owned()))
            }
        };
        let context: Arc<dyn Context> = match access {
            Some(access) => Arc::new(self.confined(&work, &directory, access)),
            None => Host::context(),
        };
        let spec = Spec {
            command: "true".to_owned(),
            shell: PathBuf::from("/bin/sh"),
            flags: Spec::shell_flags(),
            cwd: directory.into(),
            env: self.env.clone(),
            timeout: Duration::from_secs(60),
            grace: Duration::from_millis(50),
            keep: Keep::default(),
            way: Way::Best,
            context,
            filter: None,
            input: cairn_sandbox::Input::Nothing,
            errors: Errors::Joined,
        };
        run(spec, &CancellationToken::new(), &mut |_| {}).await.unwrap();
        begun.elapsed()
    }

    fn confined(&self, work: &Path, directory: &File, access: Access) -> Confined {
        let found = directory.metadata().unwrap();
        let place = Place { path: work.to_owned(), is: (found.dev(), found.ino()), access };
        Confined {
            unreadable: Vec::new(),
            sandbox: Arc::clone(&self.sandbox),
            places: vec![place],
            cwd: work.to_owned(),
            reach: None,
        }
    }
}

#[allow(clippy::print_stdout, reason = "a measurement prints")]
fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ground = Ground::new();
    let mut took = [Vec::new(), Vec::new(), Vec::new()];
    runtime.block_on(async {
        for _ in 0..ROUNDS {
            let ways = [Way3::Plain, Way3::Confined, Way3::Overlaid];
            for (way, took) in ways.into_iter().zip(&mut took) {
                took.push(ground.once(way).await);
            }
        }
    });
    let medians = took.map(|mut took| {
        took.sort();
        took[took.len() / 2].as_secs_f64() * 1000.0
    });
    let [plain, confined, overlaid] = medians;
    println!(
        "plain {plain:.2} ms, confined +{:.2} ms, over an overlay +{:.2} ms ({ROUNDS} rounds, medians)",
        confined - plain,
        overlaid - plain
    );
}
