//! The home's two secrets: the Ed25519 seed that signs and the HMAC key. They never leave the home.

use crate::StoreError;
use crate::home::{Home, read_text, sync_dir};
use crate::receipts::digest::{hex, hmac_sha256, unhex_array};
use ed25519_dalek::{Signer, SigningKey};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// The home's secrets, ready to use.
pub(crate) struct Keys {
    signing: SigningKey,
    hmac: [u8; 32],
}

impl Keys {
    /// Reads the keys; a missing one is an error.
    pub(crate) fn load(home: &Home) -> Result<Keys, StoreError> {
        let signing = read(&home.keys().join("signing"))?;
        let hmac = read(&home.keys().join("hmac"))?;
        Ok(Keys { signing: SigningKey::from_bytes(&signing), hmac })
    }

    /// Makes the keys that are missing, then reads them. Only for a home that has signed nothing:
    /// a second key would refute what the first one signed.
    pub(crate) fn make(home: &Home) -> Result<Keys, StoreError> {
        for name in ["signing", "hmac"] {
            make(&home.keys(), name)?;
        }
        Keys::load(home)
    }

    /// The public key, in hex.
    pub(crate) fn public(&self) -> String {
        hex(self.signing.verifying_key().as_bytes())
    }

    /// The signature of 32 bytes, in hex.
    pub(crate) fn sign(&self, hash: &[u8; 32]) -> String {
        hex(&self.signing.sign(hash).to_bytes())
    }

    /// The HMAC of a payload.
    pub(crate) fn hmac(&self, payload: &[u8]) -> [u8; 32] {
        hmac_sha256(&self.hmac, payload)
    }
}

fn key_error(path: &Path, why: &str) -> StoreError {
    StoreError::Key { path: path.to_owned(), why: why.to_owned() }
}

fn read(path: &Path) -> Result<[u8; 32], StoreError> {
    let missing = || key_error(path, "is missing; restore it from a copy of the home");
    let text = read_text(path)?.ok_or_else(missing)?;
    let mode = fs::metadata(path).map_err(|e| StoreError::io(path, e))?.permissions().mode();
    if mode & 0o077 != 0 {
        let fix = format!("can be read by others; run `chmod 600 {}`", path.display());
        return Err(key_error(path, &fix));
    }
    let bad = || key_error(path, "is not 64 hex digits; restore it from a copy of the home");
    unhex_array(text.trim_end()).ok_or_else(bad)
}

/// Makes a key unless there is one. The whole file appears at once under its name, so of two
/// processes one makes it and both read the same.
fn make(dir: &Path, name: &str) -> Result<(), StoreError> {
    let path = dir.join(name);
    if path.exists() {
        return Ok(());
    }
    let mut seed = [0; 32];
    getrandom::fill(&mut seed)?;
    let draft = dir.join(format!("{name}.{:016x}", getrandom::u64()?));
    let made = write_new(&draft, &format!("{}\n", hex(&seed)))
        .and_then(|()| match fs::hard_link(&draft, &path) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        })
        .map_err(|e| StoreError::io(&path, e));
    let removed = fs::remove_file(&draft).map_err(|e| StoreError::io(&draft, e));
    made.and(removed).and_then(|()| sync_dir(dir))
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home(dir.path().join("home"));
        home.make().unwrap();
        (dir, home)
    }

    #[test]
    fn processes_that_race_to_make_a_key_end_with_the_same_one() {
        let (_dir, home) = home();
        let public = || Keys::make(&home).unwrap().public();
        let keys: Vec<String> = std::thread::scope(|scope| {
            let makers: Vec<_> = (0..8).map(|_| scope.spawn(public)).collect();
            makers.into_iter().map(|m| m.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|k| *k == keys[0]));
        assert_eq!(fs::read_dir(home.keys()).unwrap().count(), 2);
    }

    #[test]
    fn a_key_that_others_can_read_is_refused_with_the_fix() {
        let (_dir, home) = home();
        Keys::make(&home).unwrap();
        let path = home.keys().join("signing");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = Keys::load(&home).err().unwrap().to_string();
        assert!(error.contains("chmod 600"), "{error}");
    }
}
