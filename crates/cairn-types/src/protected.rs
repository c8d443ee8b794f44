//! Paths that are asked about whatever else is allowed: files that say what may run, or what models are
//! told, when they are next opened; and those that nobody can build again. By their names alone.

/// Names of files and directories, at any depth.
const NAMES: [&str; 63] = [
    "cairn.toml",
    ".cairn",
    "agents.md",
    "agents.override.md",
    "claude.md",
    "claude.local.md",
    ".claude",
    ".codex",
    ".cursor",
    ".cursorrules",
    "gemini.md",
    ".gemini",
    "copilot-instructions.md",
    ".windsurfrules",
    ".clinerules",
    ".mcp.json",
    ".git",
    ".gitattributes",
    ".gitconfig",
    ".gitmodules",
    ".husky",
    ".githooks",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".lefthook.yml",
    "lefthook.yaml",
    "lefthook.toml",
    ".gitlab-ci.yml",
    ".circleci",
    ".travis.yml",
    ".buildkite",
    ".woodpecker",
    ".forgejo",
    ".gitea",
    "jenkinsfile",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    ".envrc",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".vscode",
    ".idea",
    ".devcontainer",
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".bash_login",
    ".bash_logout",
    ".zlogin",
    "config.fish",
    ".devcontainer.json",
    ".zed",
    ".pnpmfile.cjs",
    ".mise.toml",
    ".rprofile",
    ".gdbinit",
    ".exrc",
    "qwen.md",
    "opencode.json",
];

/// Paths that are protected where a part of them alone would be ordinary.
const PLACES: [&str; 5] =
    [".github/workflows", ".github/actions", ".cargo/config", ".cargo/config.toml", ".ci/run"];

/// Names of files that git often ignores and nobody can build again, or that hold what is secret.
const PRECIOUS: [&str; 20] = [
    ".env",
    ".envrc",
    ".local",
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    ".gpg",
    ".sqlite",
    ".sqlite3",
    ".db",
    ".tfstate",
    ".tfvars",
    ".netrc",
    ".pgpass",
    ".pypirc",
    ".htpasswd",
];
/// Beginnings of such names.
const PRECIOUS_BEGINNINGS: [&str; 5] =
    ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "credentials"];
/// Folders that hold what is secret, by their names, where no package manager fills them.
const SECRET_FOLDERS: [&str; 4] = ["secret", "secrets", ".secrets", "credentials"];

/// Folders that package managers fill, where git ignores them. What is protected elsewhere is not in them:
/// packages bring their authors' settings, which nothing reads there.
const DEPENDENCY_FOLDERS: [&str; 5] =
    ["node_modules", ".venv", "site-packages", "vendor", "target"];

/// Whether a path is asked about although git ignores it.
#[must_use]
pub fn is_precious(path: &str) -> bool {
    (is_protected(path) && !is_in_dependency_folder(path)) || is_irreplaceable(path)
}

/// Whether a path lies in a folder that package managers fill, by its name.
#[must_use]
pub fn is_in_dependency_folder(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    folders.split('/').any(|folder| DEPENDENCY_FOLDERS.contains(&folder))
}

/// The own directory of the git repository whose object this is, or a directory of whose objects; `None` if a path is
/// neither. A bare repository's are not told apart from other files.
#[must_use]
pub fn repository_of_object(path: &str) -> Option<&str> {
    let is_repository = |own: &str| {
        let (above, inside) = own.rsplit_once(".git").unwrap_or((own, "/none"));
        let is_git = above.is_empty() || above.ends_with('/');
        is_git && (inside.is_empty() || inside.starts_with("/modules/"))
    };
    let is_whole = |end: usize| matches!(path.as_bytes().get(end), None | Some(b'/'));
    let mut found = path.match_indices("/objects");
    let end = found.find(|(at, name)| is_whole(at + name.len()) && is_repository(&path[..*at]))?;
    Some(&path[..end.0])
}

/// Whether nobody can build something again, or it may be secret, by its name. Asked about wherever it is.
#[must_use]
pub fn is_irreplaceable(path: &str) -> bool {
    let path = path.to_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_named = |end: &&str| {
        name.ends_with(*end) || name.strip_prefix(*end).is_some_and(|rest| rest.starts_with('.'))
    };
    let begins = |start: &&str| name.starts_with(*start);
    let is_repository = || path.split('/').any(|part| part == ".git");
    let is_secret = || {
        let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
        let is_in_secret_folder = folders.split('/').any(|folder| SECRET_FOLDERS.contains(&folder));
        (name.contains("secret") || is_in_secret_folder) && !is_in_dependency_folder(&path)
    };
    PRECIOUS.iter().any(is_named)
        || PRECIOUS_BEGINNINGS.iter().any(begins)
        || is_repository()
        || is_secret()
}

/// Whether a path says what git or this program runs next: only a person lets a command change it.
#[must_use]
pub fn is_guarded(path: &str) -> bool {
    let framed = format!("/{}/", path.to_lowercase());
    // `commondir`, and a `.git` that is a file, name a directory whose hooks and configuration git takes.
    let of_git = ["/hooks/", "/config/", "/config.worktree/", "/info/attributes/", "/commondir/"];
    let in_git = framed.find("/.git/").map(|at| &framed[at..]);
    in_git.is_some_and(|inner| inner == "/.git/" || of_git.iter().any(|name| inner.contains(name)))
        || ["/cairn.toml/", "/.cairn/", "/.githooks/", "/.husky/"]
            .iter()
            .any(|name| framed.contains(name))
}

/// Whether a path says what may run or what models are told, or lies in one that does. Letters count the
/// same: some file systems think so.
#[must_use]
pub fn is_protected(path: &str) -> bool {
    is_among(&path.to_lowercase())
}

fn is_among(path: &str) -> bool {
    let is_place = |place: &&str| {
        path.match_indices(*place).any(|(at, _)| {
            let (before, after) = (&path[..at], &path[at + place.len()..]);
            (before.is_empty() || before.ends_with('/'))
                && (after.is_empty() || after.starts_with('/'))
        })
    };
    path.split('/').any(|part| NAMES.contains(&part)) || PLACES.iter().any(is_place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_known_with_its_repository() {
        for (path, own) in [
            (".git/objects/ab/cd", Some(".git")),
            ("sub/.git/objects", Some("sub/.git")),
            ("/p/.git/modules/lib/objects/pack/x", Some("/p/.git/modules/lib")),
            (".git/modules/objects/objects/x", Some(".git/modules/objects")),
            (".git/refs/heads/objects", None),
            (".git/logs/refs/heads/objects", None),
            ("x.git/objects/y", None),
            (".git/objectsx/y", None),
            ("src/objects/y", None),
            ("objects/y", None),
        ] {
            assert_eq!(repository_of_object(path), own, "{path}");
        }
    }

    #[test]
    fn what_says_what_may_run_is_protected_at_any_depth() {
        for path in [
            "cairn.toml",
            "sub/Cairn.TOML",
            ".cairn/hooks/x",
            "AGENTS.md",
            ".github/workflows/ci.yml",
            "sub/.cargo/config.toml",
            ".husky/pre-commit",
            "lefthook.yml",
            ".gitlab-ci.yml",
            ".github/actions/a/action.yml",
            ".github/copilot-instructions.md",
            "GEMINI.md",
            ".bash_profile",
            "home/.bash_login",
            ".bash_logout",
            ".zlogin",
            "fish/config.fish",
            ".devcontainer.json",
            ".zed/tasks.json",
            ".pnpmfile.cjs",
            ".mise.toml",
            ".Rprofile",
            ".gdbinit",
            ".exrc",
            "QWEN.md",
            "sub/opencode.json",
        ] {
            assert!(is_protected(path), "{path}");
        }
        for path in ["src/main.rs", "cairn.toml.md", "docs/agents.md.txt", ".github/CODEOWNERS"] {
            assert!(!is_protected(path), "{path}");
        }
    }

    #[test]
    fn what_says_what_git_runs_is_guarded_and_what_git_only_keeps_is_not() {
        for path in [
            ".git",
            "sub/.git",
            ".git/config",
            ".git/hooks/pre-commit",
            ".git/commondir",
            "/r/.git/worktrees/w/commondir",
            "/r/.git/worktrees/w/config.worktree",
            ".git/info/attributes",
            "cairn.toml",
        ] {
            assert!(is_guarded(path), "{path}");
        }
        for path in [".git/index", ".git/refs/heads/main", ".gitignore", "x.git", "a/config"] {
            assert!(!is_guarded(path), "{path}");
        }
    }

    #[test]
    fn what_nobody_can_build_again_is_precious_by_its_name() {
        for path in [
            ".env",
            "out/.env.local",
            "a/prod.ENV",
            "key.pem",
            "db.sqlite3",
            "x/.local",
            "my-secrets.txt",
            "out/.git",
            "out/.git/objects/1",
            "terraform.tfstate",
            "id_rsa",
            "keys/id_ed25519.pub",
            "gcp/credentials.json",
            "secrets/token.txt",
            "home/.netrc",
        ] {
            assert!(is_precious(path), "{path}");
        }
        for path in [".idea", "a/.github/workflows/ci.yml", "a/.travis.yml", "p/.husky/_"] {
            assert!(is_precious(path) && !is_irreplaceable(path), "{path}");
        }
        for path in [
            "node_modules/p/.github/workflows/ci.yml",
            "a/target/doc/AGENTS.md",
            ".venv/x/.vscode/settings.json",
        ] {
            assert!(is_protected(path) && !is_precious(path), "{path}");
        }
        for path in ["target/debug/deps/libsecret_service.rlib", "node_modules/secrets/index.js"] {
            assert!(!is_precious(path), "{path}");
        }
        assert!(is_precious("node_modules/p/.env") && is_precious("target/.git/hooks/x"));
        assert!(is_precious("build/AGENTS.md") && is_precious("build/.githooks/x"));
        for path in ["out/main.o", "environment", "keys/readme", "db/schema", "local"] {
            assert!(!is_precious(path), "{path}");
        }
    }
}
