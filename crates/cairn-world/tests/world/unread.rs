//! What rules keep from being read stays unread by whatever name and in whatever folder, and what a
//! person said yes to is read.

use cairn_text::glob::PathGlob;
use cairn_types::{Action, Carry, Find, Read};
use cairn_world::{Door, Kept, Settings, Unread, Workspace, World};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

/// A repository with a project in it, and a folder besides.
struct Place {
    _holder: tempfile::TempDir,
    project: PathBuf,
    other: PathBuf,
}

impl Place {
    fn new() -> Place {
        let holder = tempfile::tempdir().unwrap();
        let top = holder.path().canonicalize().unwrap();
        let (project, other) = (top.join("repo/project"), top.join("other"));
        fs::create_dir_all(&project).unwrap();
        fs::create_dir_all(&other).unwrap();
        put(&top.join("repo"), ".git/HEAD", "ref: refs/heads/main\n");
        Place { _holder: holder, project, other }
    }

    fn world(&self, never: &[&str], asked: &[&str]) -> World {
        self.world_by(never, asked, &Door::ALL)
    }

    /// The same, with paths that are kept only at some doors.
    fn world_by(&self, never: &[&str], asked: &[&str], doors: &[Door]) -> World {
        let kept = |text: &&str, asked| {
            let (glob, doors) = (PathGlob::parse(text).unwrap(), doors.to_vec());
            Kept { glob, asked, doors }
        };
        let never = never.iter().map(|text| kept(text, false));
        let all: Vec<Kept> = never.chain(asked.iter().map(|text| kept(text, true))).collect();
        let mut settings = Settings::new("/bin/sh".into(), Vec::new());
        settings.unread = Unread(all.into());
        let workspace = Workspace::open(&self.project).unwrap();
        World::with_folders(workspace, std::slice::from_ref(&self.other), settings).unwrap()
    }
}

fn put(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn told(world: &World, action: &Action) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let done = runtime.block_on(world.look(action, "", &CancellationToken::new()));
    format!("{} {}", done.status, done.text)
}

#[test]
fn what_is_asked_about_is_read_by_any_spelling_of_its_own_name_and_by_no_other_name() {
    let place = Place::new();
    put(&place.project, ".env", "k=v\n");
    put(&place.other, ".env", "k=w\n");
    symlink(".env", place.project.join("link")).unwrap();
    let world = place.world(&[], &[".env"]);
    let check = |path: &str, expected: &str| {
        let read = Read { path: path.to_owned(), first: 1, limit: 0, ..Read::default() };
        let got = told(&world, &Action::Read(read));
        assert!(got.starts_with(expected), "{path}: {got}");
    };
    let (project, other) = (place.project.display(), place.other.display());
    check(".env", "200 ");
    check("./a/../.env", "404 ");
    check(".//.env", "200 ");
    check(&format!("{project}/.env"), "200 ");
    check(&format!("{other}/.env"), "200 ");
    check("link", "403 link leads to .env, which is kept");
    check(&format!("{project}/link"), "403 ");
}

#[test]
fn a_search_in_a_folder_besides_the_project_passes_over_what_is_kept() {
    let place = Place::new();
    for name in ["keys/k", "deep/keys/k", ".env", "open"] {
        put(&place.other, name, "needle\n");
    }
    let other = place.other.display().to_string();
    let check = |never: &[&str], asked: &[&str], expected: &[&str]| {
        let find =
            Find { text: Some("needle".into()), under: Some(other.clone()), ..Find::default() };
        let got = told(&place.world(never, asked), &Action::Find(find));
        let found: Vec<&str> = got
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with("1:") && !line.ends_with(':'))
            .collect();
        assert_eq!(found, expected, "{got}");
    };
    check(&[], &[], &[".env", "deep/keys/k", "keys/k", "open"]);
    check(&[&format!("{other}/keys/**")], &[".env"], &["deep/keys/k", "open"]);
    check(&["keys"], &[], &[".env", "open"]);
    check(&[], &[&format!("{other}/deep")], &[".env", "keys/k", "open"]);
}

#[test]
fn instructions_and_their_imports_are_not_told_where_they_are_kept_from_being_read() {
    let place = Place::new();
    let repo = place.project.parent().unwrap().to_owned();
    put(&repo, "AGENTS.md", "above\n");
    put(&place.project, "AGENTS.md", "rule\n@docs/more.md\n");
    put(&place.project, "docs/more.md", "imported\n");
    put(&place.project, "in/real.md", "linked\n");
    symlink("real.md", place.project.join("in/CLAUDE.md")).unwrap();
    let check = |rule: &str, expected: [&str; 3]| {
        for world in [place.world(&[rule], &[]), place.world(&[], &[rule])] {
            let here = world.workspace();
            let above = here.above(None);
            let text = |of: &Workspace, directory: &str| {
                of.instructions(directory, 1 << 10).map_or(String::new(), |told| told.text)
            };
            let got = [text(&above.directories[0], "."), text(here, "."), text(here, "in")];
            assert_eq!(got, expected, "{rule}");
        }
    };
    check("nothing", ["above\n", "rule\nimported\n", "linked\n"]);
    check("docs/**", ["above\n", "rule\n@docs/more.md\n", "linked\n"]);
    check("./AGENTS.md", ["above\n", "", "linked\n"]);
    check("AGENTS.md", ["", "", "linked\n"]);
    check(&format!("{}/AGENTS.md", repo.display()), ["", "rule\nimported\n", "linked\n"]);
    check("CLAUDE.md", ["above\n", "rule\nimported\n", ""]);
    check("in/real.md", ["above\n", "rule\nimported\n", ""]);
}

#[test]
fn what_is_kept_from_one_way_of_reading_is_read_by_the_others() {
    let place = Place::new();
    put(&place.project, "keys/k", "needle\n");
    put(&place.project, "keys/AGENTS.md", "rule\n");
    symlink("keys/k", place.project.join("link")).unwrap();
    let read = Action::Read(Read { path: "link".into(), first: 1, limit: 0, ..Read::default() });
    let find = Action::Find(Find { text: Some("needle".into()), ..Find::default() });
    let copy = Action::Copy(Carry::of("keys", "copied"));
    for door in Door::ALL {
        let world = place.world_by(&["keys/**"], &[], &[door]);
        let copied = world.prepare(&copy).settled;
        let seen = [
            told(&world, &read).starts_with("403"),
            !told(&world, &find).contains("keys/k"),
            copied.is_some_and(|done| done.status == cairn_types::Status::REFUSED),
            world.workspace().instructions("keys", 1 << 10).is_none(),
        ];
        let meant = [Door::Read, Door::Search, Door::Carry, Door::Tell].map(|one| one == door);
        assert_eq!(seen, meant, "{door:?}");
    }
}
