//! What a bundle's header says, which everything else must agree with: the session, and whose key
//! signed which stretch of it.

use super::lines::Header;
use super::{Check, Signer, hold};
use ed25519_dalek::{Signature, VerifyingKey};

/// The header.
pub(super) struct Trust {
    /// The session.
    pub(super) session: String,
    /// The keys in order; the last one signed whatever the others did not.
    keys: Vec<Stretch>,
}

/// What one key signed.
struct Stretch {
    public_key: String,
    key: VerifyingKey,
    /// How many receipts there were when the next key took over.
    receipts: u64,
    /// How many checkpoints.
    checkpoints: u64,
}

impl Stretch {
    fn new(public_key: String, receipts: u64, checkpoints: u64) -> Check<Stretch> {
        let bad = "its public key is no Ed25519 key";
        let bytes = crate::receipts::digest::unhex_array(&public_key).ok_or(bad)?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| bad)?;
        Ok(Stretch { public_key, key, receipts, checkpoints })
    }
}

impl Trust {
    pub(super) fn new(header: Header) -> Check<Trust> {
        hold(header.has_its_form(), "it has other keys than listed")?;
        let mut keys: Vec<Stretch> = Vec::new();
        for origin in header.origins {
            let (receipts, checkpoints) =
                keys.last().map_or((0, 0), |last| (last.receipts, last.checkpoints));
            let goes_on = origin.receipts >= receipts && origin.checkpoints > checkpoints;
            hold(goes_on, "its origins are not in order")?;
            keys.push(Stretch::new(origin.public_key, origin.receipts, origin.checkpoints)?);
        }
        keys.push(Stretch::new(header.public_key, u64::MAX, u64::MAX)?);
        Ok(Trust { session: String::from(header.session_id), keys })
    }

    /// Whether the key of the receipt at this index signed these 32 bytes.
    pub(super) fn signed_receipt(&self, index: u64, hash: &[u8; 32], signature: &str) -> Check {
        self.stretch(|stretch| index < stretch.receipts)?.signed(hash, signature)
    }

    /// Whether the key of the checkpoint at this index signed these 32 bytes.
    pub(super) fn signed_checkpoint(&self, index: u64, hash: &[u8; 32], signature: &str) -> Check {
        self.stretch(|stretch| index < stretch.checkpoints)?.signed(hash, signature)
    }

    /// The key of the checkpoint at this index.
    pub(super) fn of_checkpoint(&self, index: u64) -> &str {
        let found = self.stretch(|stretch| index < stretch.checkpoints);
        found.map_or("", |stretch| &stretch.public_key)
    }

    /// A checkpoint with which a key handed over covers the receipts that key signed.
    pub(super) fn check_handover(&self, index: u64, receipts: u64) -> Check {
        let ends = self.keys.iter().find(|stretch| stretch.checkpoints == index.saturating_add(1));
        let fits = ends.is_none_or(|stretch| stretch.receipts == receipts);
        hold(fits, "another key took over elsewhere")
    }

    /// Whether, of so many checkpoints, one was signed with the last key.
    pub(super) fn is_complete(&self, checkpoints: u64) -> bool {
        self.keys.iter().rev().nth(1).is_none_or(|stretch| stretch.checkpoints < checkpoints)
    }

    /// What each key signed of so many receipts and checkpoints.
    pub(super) fn signers(&self, receipts: u64, checkpoints: u64) -> Vec<Signer> {
        let (mut from_receipt, mut from_checkpoint) = (0, 0);
        let mut signers = Vec::new();
        for stretch in &self.keys {
            let (to, to_checkpoint) =
                (stretch.receipts.min(receipts), stretch.checkpoints.min(checkpoints));
            signers.push(Signer {
                public_key: stretch.public_key.clone(),
                receipts: to.saturating_sub(from_receipt),
                checkpoints: to_checkpoint.saturating_sub(from_checkpoint),
                is_own: None,
            });
            (from_receipt, from_checkpoint) = (to, to_checkpoint);
        }
        signers
    }

    fn stretch(&self, holds: impl Fn(&Stretch) -> bool) -> Check<&Stretch> {
        self.keys.iter().find(|stretch| holds(stretch)).ok_or_else(|| "no key is left".to_owned())
    }
}

impl Stretch {
    fn signed(&self, hash: &[u8; 32], signature: &str) -> Check {
        let bad = "its signature does not fit";
        let signature = crate::receipts::digest::unhex_array(signature).ok_or(bad)?;
        let signature = Signature::from_bytes(&signature);
        self.key.verify_strict(hash, &signature).map_err(|_| bad.to_owned())
    }
}
