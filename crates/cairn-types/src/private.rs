//! Private places: what neither commands nor file tools see, wherever the project is. Names and lookups only;
//! the binary finds out where they really are on a machine.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Files and directories beneath a home that hold credentials, keys, or what a person typed.
pub const PRIVATE_IN_HOME: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".vault-token",
    ".password-store",
    ".mozilla",
    ".thunderbird",
    ".s3cfg",
    ".boto",
    ".terraformrc",
    ".terraform.d/credentials.tfrc.json",
    ".ivy2/.credentials",
    ".sbt/.credentials",
    ".codex/auth.json",
    ".claude/.credentials.json",
    ".gemini/oauth_creds.json",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".config/op",
    ".config/doctl",
    ".config/rclone",
    ".config/containers/auth.json",
    ".config/github-copilot",
    ".config/pypoetry/auth.toml",
    ".config/git/credentials",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".local/share/uv/credentials",
    ".local/share/pypoetry/auth.toml",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".nuget/NuGet/NuGet.Config",
    ".hex/hex.config",
    ".gradle/gradle.properties",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".stack/upload/credentials.json",
    ".julia/servers",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".local/share/fish/fish_history",
    ".local/state/bash/history",
];

/// Files and directories of files beneath a home that hold settings, and may hold secret values among them:
/// commands see a copy without those.
pub const SETTINGS_IN_HOME: &[&str] = &[
    ".gitconfig",
    ".config/git/config",
    ".cargo/config",
    ".cargo/config.toml",
    ".cabal/config",
    ".config/cabal/config",
    ".gradle/init.gradle",
    ".gradle/init.gradle.kts",
    ".gradle/init.d",
    ".config/pip/pip.conf",
    ".pip/pip.conf",
    ".config/uv/uv.toml",
    ".condarc",
    ".yarnrc",
    ".yarnrc.yml",
    ".bunfig.toml",
    ".bundle/config",
];

/// Files of the machine that only root reads, and a command or tool that runs as root must not.
pub const PRIVATE_OF_MACHINE: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/krb5.keytab",
    "/etc/security/opasswd",
    "/etc/postgresql",
    "/etc/mysql",
    "/etc/wireguard",
    "/etc/NetworkManager/system-connections",
    "/etc/letsencrypt",
    "/etc/docker",
    "/etc/kubernetes",
    "/etc/machine-id",
];

/// Variables that put a directory or file of a home elsewhere.
const MOVED_BY: &[(&str, &str)] = &[
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
    ("CARGO_HOME", ".cargo"),
    ("GEM_HOME", ".gem"),
    ("GRADLE_USER_HOME", ".gradle"),
    ("STACK_ROOT", ".stack"),
    ("HEX_HOME", ".hex"),
    ("JULIA_DEPOT_PATH", ".julia"),
    ("GNUPGHOME", ".gnupg"),
    ("DOCKER_CONFIG", ".docker"),
    ("AZURE_CONFIG_DIR", ".azure"),
    ("CLOUDSDK_CONFIG", ".config/gcloud"),
    ("GH_CONFIG_DIR", ".config/gh"),
    ("PASSWORD_STORE_DIR", ".password-store"),
    ("KUBECONFIG", ".kube"),
    ("AWS_SHARED_CREDENTIALS_FILE", ".aws"),
    ("NETRC", ".netrc"),
    ("NPM_CONFIG_USERCONFIG", ".npmrc"),
    ("PGPASSFILE", ".pgpass"),
];

/// The private places of one person on one machine. Paths are absolute, and compared without regard to the
/// case of ASCII letters, as a file system may do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrivatePlaces {
    /// By its path in lower case, the path as it is spelled.
    hidden: BTreeSet<Spelled>,
    /// What a person opened, within what is hidden.
    allowed: BTreeSet<Spelled>,
    /// Never opened.
    sealed: BTreeSet<Spelled>,
    /// Shown to commands without the secret values in them.
    settings: BTreeSet<Spelled>,
}

/// A path, ordered and compared by its lower case.
#[derive(Debug, Clone)]
struct Spelled {
    folded: PathBuf,
    path: PathBuf,
}

impl Spelled {
    fn new(path: &Path) -> Spelled {
        // Without `.` and doubled slashes.
        let path: PathBuf = path.components().collect();
        Spelled { folded: folded(&path), path }
    }
}

impl PartialEq for Spelled {
    fn eq(&self, other: &Spelled) -> bool {
        self.folded == other.folded
    }
}

impl Eq for Spelled {}

impl PartialOrd for Spelled {
    fn partial_cmp(&self, other: &Spelled) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Spelled {
    fn cmp(&self, other: &Spelled) -> std::cmp::Ordering {
        self.folded.cmp(&other.folded)
    }
}

impl std::borrow::Borrow<Path> for Spelled {
    fn borrow(&self) -> &Path {
        &self.folded
    }
}

impl PrivatePlaces {
    /// Those of this home, also where these variables put them.
    #[must_use]
    pub fn of_home(home: Option<&Path>, env: &[(String, String)]) -> PrivatePlaces {
        let mut places = PrivatePlaces::default();
        for path in in_home(PRIVATE_IN_HOME, home, env) {
            places.hide(&path);
        }
        let settings = in_home(SETTINGS_IN_HOME, home, env);
        places.settings = settings
            .iter()
            .filter(|path| path.is_absolute())
            .map(|path| Spelled::new(path))
            .collect();
        places
    }

    /// Adds what only root reads.
    #[must_use]
    pub fn and_of_machine(mut self) -> PrivatePlaces {
        PRIVATE_OF_MACHINE.iter().for_each(|path| self.hide(Path::new(path)));
        self
    }

    /// Adds a private place. A path that is not absolute, or is `/`, is none.
    pub fn hide(&mut self, path: &Path) {
        if path.is_absolute() && path != Path::new("/") {
            self.hidden.insert(Spelled::new(path));
        }
    }

    /// Adds a private place that nobody can open.
    pub fn seal(&mut self, path: &Path) {
        if path.is_absolute() && path != Path::new("/") {
            self.hide(path);
            self.sealed.insert(Spelled::new(path));
        }
    }

    /// Opens a place that is private or lies in one. Of anything else, such as the whole home, it opens
    /// nothing.
    pub fn allow(&mut self, path: &Path) {
        if path.is_absolute() {
            self.allowed.insert(Spelled::new(path));
        }
    }

    /// The same with every path also by the name that it really has.
    #[must_use]
    pub fn resolved(mut self, real: impl Fn(&Path) -> Option<PathBuf>) -> PrivatePlaces {
        let PrivatePlaces { hidden, allowed, sealed, settings } = &mut self;
        for paths in [hidden, allowed, sealed, settings] {
            let found: Vec<Spelled> = paths
                .iter()
                .filter_map(|one| real(&one.path).map(|path| Spelled::new(&path)))
                .collect();
            paths.extend(found);
        }
        self
    }

    /// The private places by their paths.
    pub fn hidden(&self) -> impl Iterator<Item = &Path> {
        self.hidden.iter().map(|one| one.path.as_path())
    }

    /// The files of settings, and directories of them, that were not opened.
    pub fn settings(&self) -> impl Iterator<Item = &Path> {
        let is_opened =
            |one: &Spelled| one.folded.ancestors().any(|above| self.allowed.contains(above));
        self.settings.iter().filter(move |one| !is_opened(one)).map(|one| one.path.as_path())
    }

    /// The private place that a path is or lies in, unless a person opened it.
    #[must_use]
    pub fn covering(&self, path: &Path) -> Option<&Path> {
        let folded = folded(path);
        let find = |places: &'_ BTreeSet<Spelled>| {
            folded.ancestors().find(|above| places.contains(*above)).map(Path::to_owned)
        };
        let place = match find(&self.sealed) {
            Some(sealed) => sealed,
            None => {
                // The outermost decides: what is opened in it is open with all that lies there.
                let above: Vec<&Path> =
                    folded.ancestors().filter(|above| self.hidden.contains(*above)).collect();
                let outer = above.last()?;
                let opened = find(&self.allowed);
                if opened.is_some_and(|opened| opened.starts_with(outer)) {
                    return None;
                }
                (*outer).to_owned()
            }
        };
        self.hidden.get(place.as_path()).map(|one| one.path.as_path())
    }

    /// Whether something beneath a private place was opened.
    #[must_use]
    pub fn leads_to_opened(&self, path: &Path) -> bool {
        let folded = folded(path);
        let beneath = |one: &&Spelled| one.folded != folded && one.folded.starts_with(&folded);
        self.allowed.iter().filter(beneath).any(|one| self.covering(&one.path).is_none())
    }

    /// Those that have something to do with a directory: what lies in it, and what it lies in.
    #[must_use]
    pub fn within(&self, directory: &Path) -> PrivatePlaces {
        let directory = folded(directory);
        let concerns = |one: &&Spelled| {
            one.folded.starts_with(&directory) || directory.starts_with(&one.folded)
        };
        let of = |places: &BTreeSet<Spelled>| places.iter().filter(concerns).cloned().collect();
        PrivatePlaces {
            hidden: of(&self.hidden),
            allowed: of(&self.allowed),
            sealed: of(&self.sealed),
            settings: of(&self.settings),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hidden.is_empty()
    }
}

/// These names beneath a home, also where variables put them.
pub fn in_home(names: &[&str], home: Option<&Path>, env: &[(String, String)]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        home.iter().flat_map(|home| names.iter().map(|name| home.join(name))).collect();
    for (variable, usual) in MOVED_BY {
        let values = env.iter().filter(|(name, value)| name == variable && !value.is_empty());
        for value in values.flat_map(|(_, value)| value.split(':')).map(Path::new) {
            let inner = names.iter().filter_map(|name| Path::new(name).strip_prefix(usual).ok());
            found.extend(inner.map(|inner| value.join(inner)).filter(|path| path.is_absolute()));
        }
    }
    found
}

/// A path with its ASCII letters in lower case.
fn folded(path: &Path) -> PathBuf {
    let bytes: &OsStr = path.as_os_str();
    PathBuf::from(OsString::from_vec(bytes.as_bytes().to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(env: &[(&str, &str)]) -> PrivatePlaces {
        let env: Vec<_> = env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        PrivatePlaces::of_home(Some(Path::new("/home/me")), &env)
    }

    #[test]
    fn a_private_place_covers_what_lies_in_it_in_letters_of_either_case() {
        let places = places(&[("CARGO_HOME", "/opt/cargo"), ("XDG_CONFIG_HOME", "/cfg")]);
        let check = |path: &str, expected: Option<&str>| {
            assert_eq!(places.covering(Path::new(path)), expected.map(Path::new), "{path}");
        };
        check("/home/me/.ssh", Some("/home/me/.ssh"));
        check("/home/me/.SSH/id_rsa", Some("/home/me/.ssh"));
        check("/home/me/.sshx", None);
        check("/home/me", None);
        check("/opt/cargo/credentials.toml", Some("/opt/cargo/credentials.toml"));
        check("/opt/cargo/bin/cargo", None);
        check("/cfg/gh/hosts.yml", Some("/cfg/gh"));
        check("/home/you/.ssh/id", None);
    }

    #[test]
    fn what_a_person_opens_is_open_and_nothing_beside_it() {
        let mut places = places(&[]);
        places.seal(Path::new("/home/me/.local/share/cairn"));
        for path in ["/home/me/.npmrc", "/home/me/.ssh/config", "/home/me/.local/share/cairn/keys"]
        {
            places.allow(Path::new(path));
        }
        let is_private = |path: &str| places.covering(Path::new(path)).is_some();
        assert!(!is_private("/home/me/.npmrc"));
        assert!(!is_private("/home/me/.ssh/config"));
        assert!(is_private("/home/me/.ssh") && is_private("/home/me/.ssh/id"));
        assert!(places.leads_to_opened(Path::new("/home/me/.ssh")));
        assert!(!places.leads_to_opened(Path::new("/home/me/.aws")));
        assert!(is_private("/home/me/.local/share/cairn/keys"));
        assert!(!places.leads_to_opened(Path::new("/home/me/.local/share/cairn")));
        // A whole home is not one private place.
        places.allow(Path::new("/home/me"));
        assert!(places.covering(Path::new("/home/me/.aws/credentials")).is_some());
    }
}
