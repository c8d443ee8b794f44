//! What a confined command sees and what it can do there: its workspace through an overlay, programs of the
//! machine, loopback, and places of its own.

use cairn_sandbox::network::Reach;
use cairn_sandbox::{
    Access, Confined, End, Errors, Finished, Keep, Level, Place, Sandbox, SandboxError, Spec,
    Surroundings, Way, can, environment, run,
};
use cairn_testkit::Origin;
use cairn_types::PrivatePlaces;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A workspace with a file `a`, and a sandbox for it.
pub(crate) struct Ground {
    holder: tempfile::TempDir,
    sandbox: Arc<Sandbox>,
}

impl Ground {
    pub(crate) fn new(level: Level) -> Ground {
        Ground::within(&std::env::temp_dir(), level)
    }

    /// One in a directory of this one.
    pub(crate) fn within(directory: &Path, level: Level) -> Ground {
        Ground::bounded(directory, level, 8 << 30)
    }

    /// One whose commands have so much memory together.
    pub(crate) fn bounded(directory: &Path, level: Level, memory: u64) -> Ground {
        let holder = tempfile::tempdir_in(directory).unwrap();
        for name in ["work", "home/.ssh", "home/.cargo/bin", "layer/upper", "layer/work"] {
            fs::create_dir_all(holder.path().join(name)).unwrap();
        }
        fs::write(holder.path().join("work/a"), "seen\n").unwrap();
        fs::write(holder.path().join("home/.ssh/id"), "CANARY\n").unwrap();
        let sandbox = Sandbox::new(Surroundings {
            private: PrivatePlaces::of_home(Some(&holder.path().join("home")), &[])
                .and_of_machine(),
            home: Some(holder.path().join("home")),
            env: Ground::env(holder.path()),
            own: holder.path().join("own"),
            level,
            processes: 512,
            memory: Some(memory),
            overlays: true,
        });
        Ground { sandbox: Arc::new(sandbox), holder }
    }

    fn env(holder: &Path) -> Vec<(String, String)> {
        let path = std::env::vars().filter(|(name, _)| name == "PATH");
        let home = ("HOME".to_owned(), holder.join("home").display().to_string());
        environment(path.chain([home]), &[])
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.holder.path().join(name)
    }

    /// A command in its directory `work`.
    pub(crate) fn spec(&self, command: &str, access: Access) -> Spec {
        self.spec_in(command, self.confined(&self.path("work"), access))
    }

    fn confined(&self, work: &Path, access: Access) -> Confined {
        let found = fs::metadata(work).unwrap();
        let place = Place { path: work.to_owned(), is: (found.dev(), found.ino()), access };
        let sandbox = Arc::clone(&self.sandbox);
        Confined {
            sandbox,
            places: vec![place],
            cwd: work.to_owned(),
            unreadable: Vec::new(),
            reach: None,
        }
    }

    fn spec_in(&self, command: &str, confined: Confined) -> Spec {
        let directory = File::open(&confined.cwd).unwrap();
        Spec {
            command: command.to_owned(),
            shell: PathBuf::from("/bin/sh"),
            flags: Spec::shell_flags(),
            cwd: directory.into(),
            env: Ground::env(self.holder.path()),
            timeout: Duration::from_secs(60),
            grace: Duration::from_millis(50),
            keep: Keep { in_memory: 100_000, on_disk: None },
            way: Way::Best,
            context: Arc::new(confined),
            filter: None,
            input: cairn_sandbox::Input::Nothing,
            errors: Errors::Joined,
        }
    }

    async fn run(&self, command: &str, access: Access) -> Finished {
        finish(self.spec(command, access)).await.unwrap()
    }

    pub(crate) fn overlay(&self) -> Access {
        Access::Overlay(self.path("layer"))
    }
}

pub(crate) async fn finish(spec: Spec) -> Result<Finished, SandboxError> {
    run(spec, &CancellationToken::new(), &mut |_| {}).await
}

fn printed(finished: &Finished) -> String {
    String::from_utf8_lossy(&finished.head).into_owned()
}

// keeps: confined
#[tokio::test]
async fn what_a_command_writes_stays_in_its_layer() {
    let ground = Ground::new(Level::Workspace);
    let finished = ground.run("cat a; echo new > b; rm a; ls", ground.overlay()).await;
    assert_eq!((finished.end, &*printed(&finished)), (End::Exited(0), "seen\nb\n"));
    assert_eq!(fs::read_to_string(ground.path("work/a")).unwrap(), "seen\n");
    assert!(!ground.path("work/b").exists());
    assert_eq!(fs::read_to_string(ground.path("layer/upper/b")).unwrap(), "new\n");
}

#[tokio::test]
async fn what_it_writes_without_a_layer_is_written() {
    let ground = Ground::new(Level::Workspace);
    let finished = ground.run("echo new > b", Access::Write).await;
    assert_eq!((finished.end, &*printed(&finished)), (End::Exited(0), ""));
    assert_eq!(fs::read_to_string(ground.path("work/b")).unwrap(), "new\n");
}

#[tokio::test]
async fn every_layer_is_named() {
    let ground = Ground::new(Level::Workspace);
    let finished = ground.run("true", ground.overlay()).await;
    for layer in ["user-namespace", "network-namespace", "minimal-root", "landlock", "seccomp"] {
        assert!(
            finished.layers.iter().any(|named| named.as_str() == layer),
            "{layer}: {finished:?}"
        );
    }
}

#[tokio::test]
async fn temporary_files_are_private_and_last_from_command_to_command() {
    let ground = Ground::new(Level::Workspace);
    let name = format!("cairn-{}", std::process::id());
    let write = format!("echo kept > /tmp/{name}; echo kept > ~/{name}");
    assert_eq!(printed(&ground.run(&write, Access::Write).await), "");
    let read = format!("cat /tmp/{name} /var/tmp/{name} ~/{name}");
    assert_eq!(printed(&ground.run(&read, Access::Write).await), "kept\n".repeat(3));
    assert!(!Path::new("/tmp").join(name).exists());
}

#[tokio::test]
async fn a_server_on_loopback_is_reached_from_within() {
    let ground = Ground::new(Level::Workspace);
    let serve = "import socket, threading; s = socket.create_server(('127.0.0.1', 0)); \
        threading.Thread(target=lambda: s.accept()[0].sendall(b'served')).start(); \
        c = socket.create_connection(s.getsockname()); print(c.recv(9).decode())";
    let finished = ground.run(&format!("python3 -c \"{serve}\""), ground.overlay()).await;
    assert_eq!(printed(&finished), "served\n");
}

/// The directories for temporary files are the command's own, but a workspace in one of them is shown.
#[tokio::test]
async fn a_workspace_among_temporary_files_is_worked_in() {
    for directory in ["/tmp", "/var/tmp"] {
        let ground = Ground::within(Path::new(directory), Level::Workspace);
        let command = format!("cat a {}; echo new > b", ground.path("work/a").display());
        let finished = ground.run(&command, Access::Write).await;
        assert_eq!((finished.end, &*printed(&finished)), (End::Exited(0), "seen\nseen\n"));
        assert_eq!(fs::read_to_string(ground.path("work/b")).unwrap(), "new\n");
    }
}

/// Its memory is not bounded, so it is ended before others are.
#[tokio::test]
async fn a_command_goes_first_when_memory_runs_out() {
    for level in [Level::Workspace, Level::Strict] {
        let ground = Ground::new(level);
        let command = "cat /proc/self/oom_score_adj; (echo 0 > /proc/self/oom_score_adj) 2> /dev/null; \
            cat /proc/self/oom_score_adj";
        let finished = ground.run(command, ground.overlay()).await;
        assert_eq!(printed(&finished), "500\n500\n");
    }
}

#[tokio::test]
async fn a_flood_is_counted_and_not_held() {
    let ground = Ground::new(Level::Workspace);
    let mut spec = ground.spec("head -c 50000000 /dev/zero; printf end", ground.overlay());
    spec.keep = Keep { in_memory: 1000, on_disk: None };
    let finished = finish(spec).await.unwrap();
    assert_eq!(
        (finished.bytes, finished.head.len(), finished.tail.len()),
        (50_000_003, 1000, 1000)
    );
}

#[tokio::test]
async fn a_folder_that_was_exchanged_is_not_worked_in() {
    let ground = Ground::new(Level::Workspace);
    let spec = ground.spec("true", ground.overlay());
    fs::rename(ground.path("work"), ground.path("elsewhere")).unwrap();
    fs::create_dir(ground.path("work")).unwrap();
    let refused = finish(spec).await.unwrap_err();
    assert!(matches!(refused, SandboxError::Layer { .. }), "{refused}");
}

#[tokio::test]
async fn what_this_machine_can_do_is_found_out_by_doing_it() {
    let holder = tempfile::tempdir().unwrap();
    let found = can(holder.path()).await;
    assert!(found.confine.is_none() && found.overlay.is_none(), "{found:?}");
    assert!(found.landlock > 0 && !found.layers.is_empty(), "{found:?}");
}

#[tokio::test]
async fn processes_of_a_command_share_memory() {
    let ground = Ground::new(Level::Strict);
    let share = "import multiprocessing; print(multiprocessing.Value('i', 1).value)";
    let finished = ground.run(&format!("python3 -c \"{share}\""), ground.overlay()).await;
    assert_eq!(printed(&finished), "1\n");
}

// keeps: network-filtered
#[tokio::test]
async fn a_command_reaches_the_hosts_it_may_and_is_told_which_it_may_not() {
    let ground = Ground::new(Level::Workspace);
    let origin = Origin::start().at();
    let ask = |to: &str| {
        format!(
            "python3 -c \"import urllib.request as r, urllib.error as e\ntry: print(r.urlopen('http://{to}/').read().decode())\nexcept e.HTTPError as x: print(x.code)\nexcept e.URLError as x: print('no way')\""
        )
    };
    let run = async |allow: &[String], reach: bool, to: &str| {
        let confined = ground.confined(&ground.path("work"), Access::Write);
        let allow = allow.iter().map(|host| host.parse().unwrap()).collect();
        let reach = reach.then_some(Reach { allow, ..Reach::default() });
        let spec = ground.spec_in(&ask(to), Confined { reach, ..confined });
        let finished = finish(spec).await.unwrap();
        let refused: Vec<String> =
            finished.wanted.refused.iter().map(ToString::to_string).collect();
        (printed(&finished), refused.join(" "))
    };
    let at = origin.to_string();
    assert_eq!(
        run(std::slice::from_ref(&at), true, &at).await,
        ("origin\n".to_owned(), String::new())
    );
    assert_eq!(run(&[], true, &at).await, ("403\n".to_owned(), at.clone()));
    assert_eq!(
        run(std::slice::from_ref(&at), true, "example.org").await,
        ("403\n".to_owned(), "example.org:80".to_owned())
    );
    assert_eq!(
        run(std::slice::from_ref(&at), false, &at).await,
        ("no way\n".to_owned(), String::new())
    );
}

// keeps: confined
#[tokio::test]
async fn a_link_that_a_command_left_in_its_home_leads_the_next_one_nowhere() {
    let ground = Ground::new(Level::Workspace);
    for name in ["home/code/proj", "victim"] {
        fs::create_dir_all(ground.path(name)).unwrap();
    }
    let work = ground.path("home/code/proj");
    let run = async |command: &str| {
        let spec = ground.spec_in(command, ground.confined(&work, Access::Write));
        printed(&finish(spec).await.unwrap())
    };
    let victim = ground.path("victim").display().to_string();
    let planted =
        run(&format!("cd ~ && mv code elsewhere && ln -s {victim} code && echo planted")).await;
    assert_eq!(planted, "planted\n");
    assert_eq!(run("pwd; echo here > f").await, format!("{}\n", work.display()));
    assert_eq!(fs::read_to_string(work.join("f")).unwrap(), "here\n");
    assert_eq!(fs::read_dir(ground.path("victim")).unwrap().count(), 0);
}

// keeps: confined
#[tokio::test]
async fn a_directory_on_the_path_shows_itself_and_not_the_home_around_it() {
    let holder = tempfile::tempdir().unwrap();
    let path = |name: &str| holder.path().join(name);
    for name in
        ["work", "home/.ssh", "home/.local/bin", "home/.local/share", "home/bin", "home/lib"]
    {
        fs::create_dir_all(path(name)).unwrap();
    }
    fs::write(path("home/.ssh/id"), "CANARY\n").unwrap();
    fs::write(path("home/.local/share/secret"), "CANARY\n").unwrap();
    std::os::unix::fs::symlink(path("home"), path("tools")).unwrap();
    let home = path("home").display().to_string();
    let on_path = format!(
        "{home}/.local/bin:{home}/scripts/../bin:{}/bin:/usr/bin:/bin",
        path("tools").display()
    );
    let env = vec![("PATH".to_owned(), on_path), ("HOME".to_owned(), home.clone())];
    let sandbox = Arc::new(Sandbox::new(Surroundings {
        home: Some(path("home")),
        env: env.clone(),
        private: PrivatePlaces::of_home(Some(&path("home")), &[]),
        own: path("own"),
        level: Level::Workspace,
        processes: 512,
        memory: Some(8 << 30),
        overlays: true,
    }));
    let ground = Ground { holder, sandbox };
    let mut spec = ground.spec("ls ~/.local; cat ~/.ssh/id ~/.local/share/secret", Access::Write);
    spec.command.push_str(&format!("; cat {}/.ssh/id", ground.path("tools").display()));
    spec.env = env;
    let said = printed(&finish(spec).await.unwrap());
    assert!(said.starts_with("bin\n") && !said.contains("CANARY"), "{said}");
}

// keeps: confined
#[tokio::test]
async fn however_many_handles_are_open_a_command_has_its_own() {
    let ground = Ground::new(Level::Workspace);
    let mut held = Vec::new();
    for n in 0..120 {
        held.push(File::open("/dev/null").unwrap());
        if n % 3 == 0 || n > 60 {
            for name in ["layer/upper", "layer/work"] {
                let _ = fs::remove_dir_all(ground.path(name));
                fs::create_dir_all(ground.path(name)).unwrap();
            }
            let finished = ground.run("echo hi; cat a", ground.overlay()).await;
            assert_eq!((finished.end, &*printed(&finished)), (End::Exited(0), "hi\nseen\n"), "{n}");
        }
    }
}
