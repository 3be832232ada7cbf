//! Snapshots of a workspace of a thousand files against one look at each of them.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rail_journal::snapshots::{Limits, SnapshotError, Snapshots};
use rail_journal::store::Store;

use crate::timing::shortest;

const FILES: usize = 1_000;

pub(crate) fn run() -> Result<(), String> {
    measure().map_err(|error| format!("the snapshots could not be measured: {error}"))
}

fn measure() -> Result<(), SnapshotError> {
    let bed = tempfile::tempdir()?;
    let workspace = bed.path().join("workspace");
    let paths = tree(&workspace)?;
    let store = || Store::at(bed.path().join("store"));
    let snapshots = Snapshots::open(store(), &workspace, Limits::default());
    snapshots.take()?;
    let mut time = 0;
    let mut failed = Ok(());
    let times = shortest(&mut [
        Box::new(|| paths.iter().for_each(|path| _ = black_box(path.symlink_metadata()))),
        Box::new(|| _ = black_box(snapshots.take())),
        Box::new(|| {
            time += 1;
            failed = one_changed(&snapshots, &paths, time);
        }),
        Box::new(|| _ = black_box(Snapshots::open(store(), &workspace, Limits::default()).take())),
    ]);
    failed?;
    println!("reference: one look at each of {FILES} files\n");
    println!("{:<40} {:>10} {:>7}", "snapshot", "ms", "ratio");
    let names =
        ["reference", "nothing changed", "one file changed: before, after, changes", "another session"];
    for (name, time) in names.iter().zip(&times) {
        println!("{name:<40} {:>10.3} {:>7.2}", millis(*time), millis(*time) / millis(times[0]));
    }
    Ok(())
}

fn one_changed(snapshots: &Snapshots, paths: &[PathBuf], time: usize) -> Result<(), SnapshotError> {
    let before = snapshots.take()?;
    fs::write(&paths[FILES / 2], time.to_string())?;
    black_box(snapshots.changes(before.id, snapshots.take()?.id)?);
    Ok(())
}

/// Source files of a usual size, in folders of a usual depth.
fn tree(workspace: &Path) -> Result<Vec<PathBuf>, SnapshotError> {
    let mut paths = Vec::new();
    for number in 0..FILES {
        let folder = workspace.join(format!("src/{}/{}", number % 10, number % 7));
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{number}.rs"));
        fs::write(&path, format!("line {number} of a source file\n").repeat(number % 200))?;
        paths.push(path);
    }
    Ok(paths)
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
