//! Runs the libFuzzer targets of `fuzz/` on the stable toolchain, without cargo-fuzz.
#![expect(clippy::disallowed_methods, reason = "project tooling starts rustc and the targets itself")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use xtask::{cargo, files, root};

use crate::Failure;

/// What cargo-fuzz passes, minus the sanitizers, which the stable compiler does not have.
const RUSTFLAGS: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    --cfg fuzzing -Cdebug-assertions -Ccodegen-units=1";

/// Recorded bodies every target starts from.
const SEEDS: &str = "crates/wire/tests/corpus/";

/// Files of a configuration, right and wrong.
const CONFIGS: &str = "crates/config/tests/it/";

/// Pages of the web.
const PAGES: &str = "crates/web/tests/it/pages/";

/// Recorded answers with calls in them, one a line; each is a seed of its own.
const ANSWERS: &str = "crates/repair/tests/corpus/cases.jsonl";

/// In targets that cut their input, the first byte says how; each seed is also given with this one before it.
const SPLIT: u8 = 6;

struct Wanted {
    seconds: u32,
    /// Makes the order of trials the same in every run.
    seed: Option<u32>,
    targets: Vec<String>,
}

/// Builds the targets and runs each.
pub(crate) fn run(args: &[&str]) -> Result<(), Failure> {
    let known = targets().map_err(Failure::Broken)?;
    let wanted = parse(args, &known).map_err(Failure::Usage)?;
    let host = host().map_err(Failure::Broken)?;
    let scratch = root().join("fuzz/target");
    build(&host, &scratch, &wanted.targets).map_err(Failure::Broken)?;
    let seeds = scratch.join("seeds");
    copy_seeds(&seeds).map_err(|error| Failure::Broken(format!("{}: {error}", seeds.display())))?;
    for target in &wanted.targets {
        let binary = scratch.join(&host).join("release").join(target);
        fuzz(target, &binary, &seeds, &wanted).map_err(Failure::Broken)?;
    }
    Ok(())
}

fn parse(args: &[&str], known: &[String]) -> Result<Wanted, String> {
    let mut wanted = Wanted { seconds: 20, seed: None, targets: Vec::new() };
    let mut args = args.iter();
    while let Some(&arg) = args.next() {
        if arg == "--seconds" {
            let number = args.next().and_then(|number| number.parse().ok()).filter(|&seconds| seconds > 0);
            wanted.seconds = number.ok_or("`--seconds` takes a number of at least 1")?;
        } else if arg == "--seed" {
            let number = args.next().and_then(|number| number.parse().ok()).filter(|&seed| seed > 0);
            wanted.seed = Some(number.ok_or("`--seed` takes a number of at least 1")?);
        } else if known.iter().any(|name| name == arg) {
            wanted.targets.push(arg.to_owned());
        } else {
            return Err(format!("`{arg}` is no fuzz target (there are: {})", known.join(", ")));
        }
    }
    if wanted.targets.is_empty() {
        wanted.targets = known.to_vec();
    }
    Ok(wanted)
}

/// The names of the `[[bin]]` entries, in the manifest's order.
fn targets() -> Result<Vec<String>, String> {
    let path = root().join("fuzz/Cargo.toml");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let manifest: toml::Table =
        toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let bins = manifest.get("bin").and_then(toml::Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let names = bins.iter().filter_map(|bin| bin.get("name")?.as_str());
    Ok(names.map(str::to_owned).collect())
}

/// The triple of this machine: with `--target` cargo leaves build scripts and macros without instrumentation.
fn host() -> Result<String, String> {
    let output =
        Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc did not start: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "`rustc -vV` does not name its host".to_owned())
}

fn build(host: &str, scratch: &Path, targets: &[String]) -> Result<(), String> {
    let mut build = cargo();
    build.args([
        "build",
        "--release",
        "--manifest-path",
        "fuzz/Cargo.toml",
        "--target",
        host,
        "--target-dir",
    ]);
    build.arg(scratch).args(targets.iter().flat_map(|target| ["--bin", target]));
    build.env("RUSTFLAGS", RUSTFLAGS).env_remove("CARGO_ENCODED_RUSTFLAGS");
    match build.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!(
            "the fuzz targets did not build ({status}); libFuzzer itself needs a C++ compiler, g++"
        )),
        Err(error) => Err(format!("cargo did not start: {error}")),
    }
}

fn copy_seeds(to: &Path) -> std::io::Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    fs::create_dir_all(to)?;
    let write = |name: &str, bytes: &[u8]| {
        fs::write(to.join(format!("split-{name}")), [&[SPLIT], bytes].concat())?;
        fs::write(to.join(name), bytes)
    };
    for file in files().iter().filter(|file| file.starts_with(SEEDS)) {
        write(&file.trim_start_matches(SEEDS).replace('/', "-"), &fs::read(root().join(file))?)?;
    }
    for file in files().iter().filter(|file| file.starts_with(PAGES)) {
        write(&file.trim_start_matches(PAGES).replace('/', "-"), &fs::read(root().join(file))?)?;
    }
    let is_config =
        |file: &&String| file.starts_with(CONFIGS) && (file.ends_with(".toml") || file.ends_with(".json"));
    for file in files().iter().filter(is_config) {
        let name = file.trim_start_matches(CONFIGS).replace('/', "-");
        // The first byte says whether it is JSON.
        let bytes =
            [if name.ends_with(".json") { b"1" } else { b"0" }, &*fs::read(root().join(file))?].concat();
        fs::write(to.join(name), bytes)?;
    }
    for line in fs::read_to_string(root().join(ANSWERS))?.lines() {
        let case: Value = serde_json::from_str(line)?;
        write(
            &format!("answer-{}", case["id"].as_str().unwrap_or_default()),
            said(&case["chunks"]).as_bytes(),
        )?;
    }
    Ok(())
}

/// The text of an answer, or its deltas, one a line.
fn said(chunks: &Value) -> String {
    let chunks = chunks.as_array().map(Vec::as_slice).unwrap_or_default();
    let said = chunks.iter().map(|chunk| chunk.as_str().map_or_else(|| format!("{chunk}\n"), str::to_owned));
    said.collect()
}

fn fuzz(target: &str, binary: &Path, seeds: &Path, wanted: &Wanted) -> Result<(), String> {
    let seconds = wanted.seconds;
    eprintln!("\n== fuzz {target}, {seconds} s");
    let folder = |name: &str| -> Result<PathBuf, String> {
        let path = root().join("fuzz").join(name).join(target);
        fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    };
    let (corpus, artifacts) = (folder("target/corpus")?, folder("artifacts")?);
    let mut run = Command::new(binary);
    run.arg(format!("-max_total_time={seconds}")).args([
        "-timeout=10",
        "-rss_limit_mb=2048",
        "-max_len=65536",
    ]);
    run.args(wanted.seed.map(|seed| format!("-seed={seed}")));
    run.args(["-verbosity=0", "-print_final_stats=1"])
        .arg(format!("-artifact_prefix={}/", artifacts.display()));
    match run.arg(corpus).arg(seeds).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!(
            "fuzz target `{target}` failed ({status}); its input was written where `Test unit written to` says above, \
             and `{} FILE` runs it again",
            binary.display()
        )),
        Err(error) => Err(format!("{} did not start: {error}", binary.display())),
    }
}
