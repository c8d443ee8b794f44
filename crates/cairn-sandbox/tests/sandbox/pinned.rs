//! What a command that works on the files themselves can neither move away nor reach: a repository's own
//! directory, and sockets that others listen at.

use crate::confined::{Ground, finish};
use cairn_sandbox::{Access, End, Level};
use std::fs;
use std::io::Write;
use std::os::unix::net::UnixListener;

// keeps: git-pinned
#[tokio::test]
async fn a_repositorys_own_directory_is_not_moved_away_from_what_is_read_only_in_it() {
    let ground = Ground::new(Level::Workspace);
    fs::create_dir_all(ground.path("work/.git/hooks")).unwrap();
    fs::write(ground.path("work/.git/config"), "[core]\n").unwrap();
    fs::write(ground.path("work/.git/index"), "one\n").unwrap();
    let command = "mv .git moved || echo refused; echo x > .git/hooks/pre-commit || echo kept; \
        mv .git/config .git/old || echo kept; echo y >> .git/config || echo kept; \
        echo two > .git/index.lock && mv .git/index.lock .git/index && cat .git/index";
    let finished = finish(ground.spec(command, Access::Write)).await.unwrap();
    let said = String::from_utf8_lossy(&finished.head).into_owned();
    assert_eq!(finished.end, End::Exited(0), "{said}");
    assert_eq!(said.matches("refused\n").count(), 1, "{said}");
    assert_eq!(said.matches("kept\n").count(), 3, "{said}");
    assert!(said.ends_with("two\n"), "git itself works there: {said}");
    assert!(ground.path("work/.git/config").exists() && !ground.path("work/moved").exists());
    assert!(!ground.path("work/.git/hooks/pre-commit").exists());
    // The file that names a linked worktree's repository is held as well.
    fs::remove_dir_all(ground.path("work/.git")).unwrap();
    fs::write(ground.path("work/.git"), "gitdir: elsewhere\n").unwrap();
    let command = "mv .git moved || rm .git || echo refused; cat .git";
    let finished = finish(ground.spec(command, Access::Write)).await.unwrap();
    let said = String::from_utf8_lossy(&finished.head).into_owned();
    assert!(said.ends_with("refused\ngitdir: elsewhere\n"), "{said}");
}

/// Connects to a socket by its path, and prints what it says.
const CONNECT: &str = "import socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(5)
try:
    s.connect(sys.argv[1]); print(s.recv(9).decode())
except OSError as e:
    print(e.__class__.__name__)";

// keeps: sockets-hidden
#[tokio::test]
async fn sockets_that_exist_in_the_project_are_not_connected_to() {
    let ground = Ground::new(Level::Workspace);
    fs::create_dir_all(ground.path("work/run/deep")).unwrap();
    let paths = ["work/s", "work/run/deep/s"].map(|path| ground.path(path));
    let listeners = paths.each_ref().map(|path| UnixListener::bind(path).unwrap());
    for listener in listeners {
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let _ = stream.unwrap().write_all(b"outside");
            }
        });
    }
    let control = std::process::Command::new("python3")
        .args(["-c", CONNECT])
        .arg(&paths[0])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&control.stdout), "outside\n", "it is reached from outside");
    fs::write(ground.path("work/connect.py"), CONNECT).unwrap();
    // Under its own name, another one, after its folder was moved, and one that the command makes itself.
    let command = "python3 connect.py s; python3 connect.py run/deep/s; ln s t 2>&- ; mv s u 2>&-; \
        mv run ran; python3 connect.py ran/deep/s; \
        python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind(\"own\"); s.listen(); \
        c = socket.socket(socket.AF_UNIX); c.connect(\"own\"); print(\"own\")'";
    let finished = finish(ground.spec(command, Access::Write)).await.unwrap();
    let said = String::from_utf8_lossy(&finished.head).into_owned();
    let refused = "ConnectionRefusedError\n".repeat(3);
    assert_eq!(said, format!("{refused}own\n"));
    assert!(ground.path("work/ran/deep/s").exists());
}
