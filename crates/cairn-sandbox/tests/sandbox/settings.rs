//! Files of settings in a home: commands see them without the secret values, and files that hold only credentials
//! not at all.

use crate::confined::{Ground, finish};
use cairn_sandbox::{Access, Level};
use std::fs;

/// Stands wherever a secret value does.
const CANARY: &str = "canary-77aa01";

// keeps: settings-without-secrets
#[tokio::test]
async fn settings_are_seen_without_their_secret_values_and_credentials_not_at_all() {
    let ground = Ground::new(Level::Workspace);
    let put = |path: &str, text: String| {
        let path = ground.path("home").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put(".cargo/config.toml", format!("[registries.a]\ntoken = \"{CANARY}\"\n[build]\njobs = 3\n"));
    put(".cabal/config", format!("jobs: 5\npassword: {CANARY}\n"));
    put(".stack/upload/credentials.json", CANARY.to_owned());
    put(".stack/config.yaml", "plain: yes\n".to_owned());
    put(".local/share/uv/credentials/x", CANARY.to_owned());
    put(".julia/servers/a/auth.toml", CANARY.to_owned());
    put("dotfiles/git", format!("[user]\n\tname = Me\n[x]\n\ttoken = {CANARY}\n"));
    std::os::unix::fs::symlink("dotfiles/git", ground.path("home/.gitconfig")).unwrap();
    for access in [ground.overlay(), Access::Write] {
        let command = "cat ~/.cargo/config.toml ~/.cabal/config ~/.gitconfig; \
            cat ~/.stack/config.yaml; git config --global user.name; \
            cat ~/.stack/upload/credentials.json ~/.local/share/uv/credentials/x; \
            cat ~/.julia/servers/a/auth.toml; echo x >> ~/.cargo/config.toml";
        let finished = finish(ground.spec(command, access)).await.unwrap();
        let said = String::from_utf8_lossy(&finished.head).into_owned();
        assert!(!said.contains(CANARY), "{said}");
        for kept in ["jobs = 3", "token = \"\"", "jobs: 5", "name = Me", "plain: yes", "\nMe\n"] {
            assert!(said.contains(kept), "{kept}: {said}");
        }
        let real = fs::read_to_string(ground.path("home/.cargo/config.toml")).unwrap();
        assert!(real.contains(CANARY) && !real.contains('x'), "the file itself is as it was");
    }
}
