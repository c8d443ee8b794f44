//! A scheme of one's own, `note:`, whose entries are kept in a map: a declaration and four primitives. Edits,
//! scopes, copies, finding, receipts and undo are the world's. `cargo run --example scheme` tries it.

use cairn_runtime::Client;
use cairn_store::{Access, Options, Store};
use cairn_types::{By, Manifest, Policy, Uri, Writer};
use cairn_world::{Entry, Listed, Refusal, Scheme, Settings, Workspace, World};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The notes, by the path of their address.
#[derive(Debug)]
pub struct Notes {
    manifest: Manifest,
    notes: Mutex<BTreeMap<String, Entry>>,
}

impl Notes {
    /// No notes yet.
    pub fn empty() -> Notes {
        let writers = vec![Writer::Model, Writer::Client];
        let manifest = Manifest { writers, ..Manifest::told("note", &["body"]) };
        Notes { manifest, notes: Mutex::default() }
    }

    fn notes(&self) -> MutexGuard<'_, BTreeMap<String, Entry>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Scheme for Notes {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn get(&self, uri: &Uri) -> Result<Option<Entry>, Refusal> {
        Ok(self.notes().get(&uri.path).cloned())
    }

    fn list(&self, under: &Uri) -> Result<Vec<Listed>, Refusal> {
        let listed = |(path, note): (&String, &Entry)| Listed {
            uri: Uri { path: path.clone(), ..under.entry() },
            bytes: Some(note.content.len() as u64),
            tags: note.tags.clone(),
        };
        let notes = self.notes();
        Ok(notes.iter().filter(|(path, _)| path.starts_with(&under.path)).map(listed).collect())
    }

    fn put(&self, uri: &Uri, entry: &Entry) -> Result<(), Refusal> {
        self.notes().insert(uri.path.clone(), entry.clone());
        Ok(())
    }

    fn delete(&self, uri: &Uri) -> Result<(), Refusal> {
        self.notes().remove(&uri.path);
        Ok(())
    }
}

/// Does these ops over a folder in a world that has this scheme; the row of each, in one line.
pub async fn rows(
    (home, root): (&Path, &Path),
    scheme: Arc<dyn Scheme>,
    ops: &[(&str, &str)],
) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let settings = Settings::new("/bin/sh".into(), Vec::new());
    let mut world = World::new(Workspace::open(root)?, settings);
    world.register(scheme);
    let store = Store::open(&Options::new(home, Access::ReadWrite))?;
    let mut client = Client::here(store, Arc::new(world), root, Policy::default()).await?;
    let mut rows = Vec::new();
    for (tool, args) in ops {
        let row = client.op(tool, args, By::Person("you".to_owned())).await?;
        rows.push(format!("{} {tool}: {}", row.status, row.text.replace('\n', " | ")));
    }
    Ok(rows)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("cairn-example-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("root"))?;
    let ops = [
        ("write", r#"{"path":"note:///tea","content":"green\nblack\n","tags":["drinks"]}"#),
        ("find", r#"{"under":"note:///","text":"black"}"#),
        ("move", r#"{"from":"note:///tea","to":"tea.txt"}"#),
    ];
    let (home, root) = (folder.join("home"), folder.join("root"));
    let rows = rows((&home, &root), Arc::new(Notes::empty()), &ops).await;
    std::fs::remove_dir_all(&folder)?;
    Ok(std::io::stdout().write_all((rows?.join("\n") + "\n").as_bytes())?)
}
