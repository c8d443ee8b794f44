//! What may become the name of a run or a session: one visible line that means nothing else in this
//! home. What an existing name means is `named`.

use crate::run::Usage;
use anyhow::Result;
use cairn_store::{Found, Store, StoreError};
use cairn_text::shown::clean;
use cairn_types::SessionId;

/// The longest name, in bytes.
const MOST: usize = 200;

/// The name for a new run, if it shall have one.
pub fn of_run(store: &Store, given: Option<&str>) -> Result<Option<String>> {
    let Some(given) = given else { return Ok(None) };
    let name = checked(given)?;
    if name.is_empty() {
        let why = "a name has at least one letter; leave --name out for a run without one";
        return Err(Usage(why.to_owned()).into());
    }
    is_free(store, name, None)?;
    Ok(Some(name.to_owned()))
}

/// The name that a session shall have from now on; none for an empty one.
pub fn of_session(store: &Store, session: &SessionId, given: &str) -> Result<Option<String>> {
    let name = checked(given)?;
    if name.is_empty() {
        return Ok(None);
    }
    is_free(store, name, Some(session))?;
    Ok(Some(name.to_owned()))
}

/// The name without blanks around it.
fn checked(given: &str) -> Result<&str, Usage> {
    let name = given.trim();
    let why = if name.len() > MOST {
        format!("a name has at most {MOST} bytes, and this one has {}", name.len())
    } else if name.chars().any(char::is_control) || clean(name) != name {
        format!("{given:?} is no name: it must be one line, without characters that cannot be seen")
    } else if name.starts_with('@') {
        format!("{name:?} is no name for you to give: those that begin with @ are Cairn's own")
    } else {
        return Ok(name);
    };
    Err(Usage(why))
}

/// Says whose name it is already, unless it is this session's own.
fn is_free(store: &Store, name: &str, own: Option<&SessionId>) -> Result<()> {
    let found = match store.find(name) {
        Ok(found) => found,
        Err(StoreError::NoSuch { .. } | StoreError::Ambiguous { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let why = match found {
        Found::Run(run) if run.name.as_deref() == Some(name) || run.id.as_str() == name => {
            let run = run.id;
            format!("run {run}; choose another, or go on with that run: cairn run --resume {run}")
        }
        Found::Session(of)
            if own != Some(&of.id)
                && (of.name.as_deref() == Some(name) || of.id.as_str() == name) =>
        {
            format!("session {}; choose another", of.id)
        }
        // Only the first letters of an id, before which a name goes.
        Found::Run(_) | Found::Session(_) => return Ok(()),
    };
    Err(Usage(format!("the name {name:?} is taken by {why}")).into())
}
