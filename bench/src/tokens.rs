//! The token estimate against a real tokenizer (`o200k`), and the lookup of a model's profile.

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rail_model::ProtocolId;
use rail_route::{Profiles, Provider, tokens};

use crate::timing::shortest;

const MEGABYTE: usize = 1 << 20;
/// Files of the repository that are counted at most, by their ending: enough to tell.
const FILES: usize = 60;

pub(crate) fn run() {
    let samples = samples();
    speed(&samples);
    lookup();
    println!("\n{:<14} {:>8} {:>8} {:>9} {:>7}", "accuracy", "KiB", "tokens", "estimate", "ratio");
    let tokenizer = bpe_openai::o200k_base();
    for (name, text) in samples.iter().chain(&repository()) {
        let (counted, estimated) = (tokenizer.count(text.as_str()), tokens(text));
        let ratio = estimated as f64 / counted.max(1) as f64;
        println!("{name:<14} {:>8.1} {counted:>8} {estimated:>9} {ratio:>7.2}", text.len() as f64 / 1024.0);
    }
}

fn speed(samples: &BTreeMap<String, String>) {
    println!("reference: o200k counts the same text\n");
    println!("{:<14} {:>10} {:>10} {:>9} {:>7}", "1 MB of", "ref ms", "ms", "MB/s", "ratio");
    let tokenizer = bpe_openai::o200k_base();
    for name in ["english", "rust", "json", "chinese"] {
        let Some(sample) = samples.get(name) else { continue };
        let text = sample.repeat(MEGABYTE / sample.len() + 1);
        let times = shortest(&mut [
            Box::new(|| _ = black_box(tokenizer.count(text.as_str()))),
            Box::new(|| _ = black_box(tokens(black_box(&text)))),
        ]);
        if let [reference, ours] = times.as_slice() {
            let per_megabyte =
                |time: &Duration| time.as_secs_f64() * 1e3 * MEGABYTE as f64 / text.len() as f64;
            let (reference, ours) = (per_megabyte(reference), per_megabyte(ours));
            let (speed, ratio) = (1e3 / ours, reference / ours);
            println!("{name:<14} {reference:>10.1} {ours:>10.3} {speed:>9.0} {ratio:>7.0}");
        }
    }
}

fn lookup() {
    const TIMES: u32 = 10_000;
    let profiles = Profiles::builtin();
    let provider = Provider::new("p", ProtocolId::new("openai-chat"), "https://gateway.example/v1");
    let name = "unsloth/qwen3-235b-a22b-gguf/qwen3-235b-a22b-ud-q4_k_xl-00001-of-00003.gguf";
    let names: Vec<String> = (0..200).map(|at| format!("{name}-{at}")).collect();
    let times = shortest(&mut [
        Box::new(|| (0..TIMES).for_each(|_| _ = black_box(profiles.of(&provider, name)))),
        Box::new(|| {
            let profiles = Profiles::builtin();
            names.iter().for_each(|name| _ = black_box(profiles.of(&provider, name)));
        }),
    ]);
    if let [again, first] = times.as_slice() {
        let (again, first) = (*again / TIMES, *first / names.len() as u32);
        println!("\nprofile of a model: {first:?} when first asked for, then {again:?}");
    }
}

/// The samples of the tests, by name.
fn samples() -> BTreeMap<String, String> {
    let files = fs::read_dir(folder()).into_iter().flatten().flatten().map(|entry| entry.path());
    let texts = files.filter(|path| path.extension().is_some_and(|ending| ending == "txt"));
    texts
        .filter_map(|path| Some((path.file_stem()?.to_str()?.to_owned(), fs::read_to_string(&path).ok()?)))
        .collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/route/tests/samples")
}

/// Writes what the tests hold the estimate to.
pub(crate) fn write_counts() {
    let samples = samples();
    let tokenizer = bpe_openai::o200k_base();
    let mut out = String::from(
        "# Tokens of each sample by `o200k`, written by `cargo run --release -p rail-bench -- tokens write`.\n\n",
    );
    for (name, text) in &samples {
        out.push_str(&format!("{name} = {}\n", tokenizer.count(text.as_str())));
    }
    match fs::write(folder().join("counts.toml"), out) {
        Ok(()) => println!("{} samples counted", samples.len()),
        Err(why) => println!("{}: {why}", folder().display()),
    }
}

/// Files of this repository, joined by their ending.
fn repository() -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("..")];
    while let Some(folder) = folders.pop() {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() {
                if !name.starts_with('.') && name != "target" {
                    folders.push(path);
                }
                continue;
            }
            let Some(ending) = path.extension().and_then(|ending| ending.to_str()) else { continue };
            let (count, text) = found.entry(format!("*.{ending}")).or_default();
            if *count < FILES
                && let Ok(more) = fs::read_to_string(&path)
            {
                *count += 1;
                text.push_str(&more);
            }
        }
    }
    found
        .into_iter()
        .filter(|(_, (_, text))| text.len() > 10_000)
        .map(|(name, (_, text))| (name, text))
        .collect()
}
