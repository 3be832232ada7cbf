use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use proptest::prelude::*;

use crate::scene::Scene;

/// Something that somebody does in the workspace; what is not possible is not done.
#[derive(Clone, Debug)]
enum Act {
    Write(String, u8),
    Remove(String),
    Folder(String),
    Link(String, String),
    Mode(String, u32),
    Move(String, String),
}

fn path() -> impl Strategy<Value = String> {
    "[abc](/[abc](/[abc])?)?"
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (path(), any::<u8>()).prop_map(|(path, byte)| Act::Write(path, byte)),
        2 => path().prop_map(Act::Remove),
        1 => path().prop_map(Act::Folder),
        1 => (path(), path()).prop_map(|(path, to)| Act::Link(path, to)),
        1 => (path(), prop::sample::select(vec![0o644, 0o755, 0o600])).prop_map(|(path, mode)| Act::Mode(path, mode)),
        1 => (path(), path()).prop_map(|(from, to)| Act::Move(from, to)),
    ]
}

fn run(root: &Path, act: &Act) {
    let _ = match act {
        Act::Write(path, byte) => {
            let path = root.join(path);
            // A link would be written through; that is tried elsewhere.
            if path.is_symlink() { Ok(()) } else { fs::write(path, vec![*byte; usize::from(byte % 4)]) }
        }
        Act::Remove(path) => {
            let path = root.join(path);
            fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path))
        }
        Act::Folder(path) => fs::create_dir_all(root.join(path)),
        Act::Link(path, to) => symlink(to, root.join(path)),
        Act::Mode(path, mode) => {
            let path = root.join(path);
            // A folder must be open to us, and what a link leads to is not meant.
            if path.is_file() && !path.is_symlink() {
                fs::set_permissions(path, fs::Permissions::from_mode(*mode))
            } else {
                Ok(())
            }
        }
        Act::Move(from, to) => fs::rename(root.join(from), root.join(to)),
    };
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever is done between snapshots, each of them comes back exactly, from any other, and in any session.
    #[test]
    fn any_snapshot_comes_back_from_any_other(
        rounds in prop::collection::vec(prop::collection::vec(act(), 0..8), 1..5),
        ways in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let mut scene = Scene::new();
        let mut states = vec![(scene.take(), scene.tree())];
        for acts in &rounds {
            for act in acts {
                run(&scene.workspace, act);
            }
            states.push((scene.take(), scene.tree()));
        }
        for (one, (id, tree)) in states.iter().enumerate() {
            for (other, other_tree) in &states[..one] {
                prop_assert_eq!(id == other, tree == other_tree);
            }
        }
        let mut now = states.len() - 1;
        for way in ways {
            let next = way.index(states.len());
            let told = scene.restore(states[now].0, states[next].0);
            prop_assert!(told.conflicts.is_empty() && told.left.is_empty(), "{:?}", told);
            prop_assert_eq!(&scene.tree(), &states[next].1);
            scene.again(Default::default());
            prop_assert_eq!(scene.take(), states[next].0);
            now = next;
        }
    }

    /// Somebody else works in the same place: what they did is never lost, and all else comes back.
    #[test]
    fn what_others_did_is_never_lost(
        step in prop::collection::vec(act(), 0..8),
        theirs in prop::collection::vec(act(), 0..4),
    ) {
        let scene = Scene::new();
        for path in ["a", "b/a", "c/a/b", "c/b"] {
            scene.write(path, path);
        }
        let (before, before_tree) = (scene.take(), scene.tree());
        step.iter().for_each(|act| run(&scene.workspace, act));
        let (after, after_tree) = (scene.take(), scene.tree());
        theirs.iter().for_each(|act| run(&scene.workspace, act));
        let their_tree = scene.tree();
        let told = scene.restore(after, before);
        let tree = scene.tree();
        for (path, thing) in &their_tree {
            let known = after_tree.get(path) == Some(thing) || before_tree.get(path) == Some(thing);
            let folder = matches!(thing, crate::scene::Thing::Folder(_));
            prop_assert!(known || folder || tree.get(path) == Some(thing), "{path:?} is lost: {told:?}");
        }
        if their_tree == after_tree {
            prop_assert_eq!(tree, before_tree);
        }
    }
}
