//! What runs code, by name: shells, interpreters, a database. Which of them are here is found out once.

use crate::settled::Refusal;
use cairn_types::Status;
use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Something that runs code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    /// Its name.
    pub name: String,
    /// The programs that it may be, by name or path; the first that is found runs.
    pub programs: Vec<String>,
    /// What stands before the code.
    pub arguments: Vec<String>,
    /// Whether it reads the code, instead of being given it.
    pub reads: bool,
    /// Whether nothing of what it changes is kept, whoever calls it.
    pub discards: bool,
}

/// Those that are known.
#[derive(Debug, Default)]
pub struct Runtimes {
    known: Vec<Runtime>,
    found: Mutex<HashMap<String, Result<PathBuf, String>>>,
}

/// One that is here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) program: PathBuf,
    pub(crate) runtime: Runtime,
}

impl Runtimes {
    /// Those that come with Cairn, and these; a name that comes again takes the place of the first.
    #[must_use]
    pub fn with(declared: Vec<Runtime>) -> Runtimes {
        let mut known = declared;
        for own in built_in() {
            if !known.iter().any(|runtime| runtime.name == own.name) {
                known.push(own);
            }
        }
        Runtimes { known, found: Mutex::default() }
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.known.iter().map(|runtime| runtime.name.as_str())
    }

    /// Whether nothing is kept of what code for this one changes.
    #[must_use]
    pub fn discards(&self, name: &str) -> bool {
        self.known.iter().any(|runtime| runtime.name == name && runtime.discards)
    }

    /// The one of this name, looked for on this `PATH`.
    pub(crate) fn choose(&self, name: &str, path: &str) -> Result<Chosen, Refusal> {
        let refuse = |text: String| Refusal::new(Status::NOT_IMPLEMENTED, text);
        let Some(runtime) = self.known.iter().find(|runtime| runtime.name == name) else {
            let names: Vec<&str> = self.names().collect();
            let text = format!("there is no runtime {name:?}; there are {}", names.join(", "));
            return Err(refuse(text));
        };
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let found = found.entry(name.to_owned()).or_insert_with(|| look(runtime, path));
        match found {
            Ok(program) => Ok(Chosen { program: program.clone(), runtime: runtime.clone() }),
            Err(why) => Err(refuse(why.clone())),
        }
    }
}

fn built_in() -> [Runtime; 5] {
    let runtime = |name: &str, programs: &[&str], arguments: &[&str]| Runtime {
        name: name.to_owned(),
        programs: programs.iter().map(|&program| program.to_owned()).collect(),
        arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
        reads: false,
        discards: false,
    };
    [
        runtime("sh", &["/bin/sh"], &["-c", "--"]),
        runtime("bash", &["/bin/bash", "bash"], &["-c", "--"]),
        runtime("python", &["python3", "python"], &["-c"]),
        runtime("node", &["node", "nodejs"], &["-e"]),
        Runtime {
            reads: true,
            discards: true,
            ..runtime("sqlite", &["sqlite3"], &["-batch", ":memory:"])
        },
    ]
}

fn look(runtime: &Runtime, path: &str) -> Result<PathBuf, String> {
    let is_program = |path: &Path| {
        path.metadata()
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    for program in &runtime.programs {
        let places: Vec<PathBuf> = match program.contains('/') {
            true => vec![PathBuf::from(program)],
            false => path.split(':').map(|folder| Path::new(folder).join(program)).collect(),
        };
        if let Some(found) = places.into_iter().find(|place| is_program(place)) {
            return Ok(found);
        }
    }
    let (name, programs) = (&runtime.name, runtime.programs.join(" or "));
    Err(format!("the runtime {name} is not here: there is no program {programs} on PATH"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_is_not_here_says_what_was_looked_for() {
        let declared = Runtime {
            name: "ghost".into(),
            programs: vec!["ghost-1".into(), "/nowhere/ghost".into()],
            arguments: Vec::new(),
            reads: false,
            discards: false,
        };
        let runtimes = Runtimes::with(vec![declared]);
        let refused = |name: &str| runtimes.choose(name, "/usr/bin:/bin").unwrap_err();
        assert_eq!(refused("ghost").status, Status::NOT_IMPLEMENTED);
        assert_eq!(
            refused("ghost").text,
            "the runtime ghost is not here: there is no program ghost-1 or /nowhere/ghost on PATH"
        );
        assert_eq!(
            refused("cobol").text,
            "there is no runtime \"cobol\"; there are ghost, sh, bash, python, node, sqlite"
        );
        assert_eq!(runtimes.choose("sh", "").unwrap().program, Path::new("/bin/sh"));
    }
}
