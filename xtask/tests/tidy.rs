//! The repository's rules. Each is one test whose message names the file and says what to do.
#![expect(clippy::expect_used, reason = "a rule that cannot be read is a failed rule")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::Value;
use xtask::{Fmt, cargo, files, is_sample, root, rust_files, rustfmt};

/// Crates outside the layers: only tests may use them.
const UNLAYERED: &[&str] = &["rail-testkit"];
/// Crates that write their own `[lints]`: `forbid(unsafe_code)` cannot be lifted by an attribute.
const OWN_LINTS: &[&str] = &["rail-sandbox"];
/// What the pure layers must not link, at any distance.
const IO: &[&str] = &["tokio", "hyper", "reqwest", "sqlx", "rusqlite", "axum"];
/// What the pure layers must not name: they return notes.
const LOGS: &[&str] = &["log", "tracing"];
/// The highest layer that is pure.
const PURE: i64 = 1;
/// Macros that declare the modules they list.
const LIST_MACROS: &[&str] = &["protocols", "families", "tools"];
/// The longest source file.
const MAX_LINES: usize = 600;

#[test]
fn every_crate_is_introduced() {
    let mut problems = Vec::new();
    for krate in &*CRATES {
        let Crate { name, folder, manifest, .. } = krate;
        let path = format!("{folder}/Cargo.toml");
        let has = |keys: &[&str]| at(manifest, keys) == Some(&toml::Value::Boolean(true));
        for key in ["version", "edition", "rust-version", "license", "publish"] {
            if !has(&["package", key, "workspace"]) {
                problems.push(format!("{path}: write `{key}.workspace = true` under [package]"));
            }
        }
        if !has(&["lints", "workspace"]) && !OWN_LINTS.contains(&name.as_str()) {
            problems.push(format!("{path}: write `[lints]` with `workspace = true`"));
        }
        let described = at(manifest, &["package", "description"]).and_then(toml::Value::as_str);
        if described.is_none_or(|text| text.trim().is_empty()) {
            problems.push(format!("{path}: write a `description` of one sentence under [package]"));
        }
        if !folder.starts_with("crates/") {
            continue;
        }
        if krate.layer().is_none() && !UNLAYERED.contains(&name.as_str()) {
            problems.push(format!(
                "{path}: write `layer = N` under [package.metadata.rail], as ARCHITECTURE.md has it"
            ));
        }
        let readme = fs::read_to_string(root().join(folder).join("README.md")).unwrap_or_default();
        if readme.lines().count() < 3 {
            problems.push(format!(
                "{folder}/README.md: write what the crate does and what it does not know, 3 lines at least"
            ));
        }
    }
    let members: BTreeSet<_> = CRATES.iter().map(|krate| format!("{}/Cargo.toml", krate.folder)).collect();
    for file in files().into_iter().filter(|file| file.starts_with("crates/") && depth(file) == 3) {
        if file.ends_with("/Cargo.toml") && !members.contains(&file) {
            problems.push(format!("{file}: add its folder to `members` in Cargo.toml"));
        }
    }
    none(problems);
}

#[test]
fn crates_use_only_lower_layers() {
    let mut problems = Vec::new();
    let layers: BTreeMap<_, _> = CRATES.iter().map(|krate| (krate.name.as_str(), krate.layer())).collect();
    for krate in &*CRATES {
        let Some(own) = krate.layer() else { continue };
        for (used, kind) in krate.dependencies() {
            let Some(layer) = layers.get(used).filter(|_| kind != "dev") else { continue };
            let (path, name) = (format!("{}/Cargo.toml", krate.folder), &krate.name);
            match layer {
                Some(layer) if *layer < own => {}
                Some(layer) => problems.push(format!(
                    "{path}: `{name}` (layer {own}) uses `{used}` (layer {layer}); only lower layers may be used: \
                     move the code down, or take what is needed through a trait"
                )),
                None => problems.push(format!("{path}: `{used}` is for tests; move it to [dev-dependencies]")),
            }
        }
    }
    none(problems);
}

#[test]
fn pure_layers_link_no_io_and_do_not_log() {
    let nodes = METADATA["resolve"]["nodes"].as_array().expect("the resolve graph of `cargo metadata`");
    let nodes: BTreeMap<_, _> = nodes.iter().map(|node| (text(&node["id"]), node)).collect();
    let packages = METADATA["packages"].as_array().expect("packages of `cargo metadata`");
    let names: BTreeMap<_, _> =
        packages.iter().map(|package| (text(&package["id"]), text(&package["name"]))).collect();
    let mut problems = Vec::new();
    for krate in CRATES.iter().filter(|krate| krate.layer().is_some_and(|layer| layer <= PURE)) {
        let path = format!("{}/Cargo.toml", krate.folder);
        for (used, _) in krate.dependencies().filter(|(used, kind)| *kind == "normal" && LOGS.contains(used))
        {
            problems.push(format!(
                "{path}: `{used}`: layers 0 and 1 do not log; return notes and let the driver log them"
            ));
        }
        // Each package with the one it was reached from, so that the message can show the way.
        let mut from = BTreeMap::from([(krate.id.as_str(), None)]);
        let mut open = vec![krate.id.as_str()];
        while let Some(id) = open.pop() {
            for used in nodes[id]["deps"].as_array().expect("deps of a node") {
                let kinds = used["dep_kinds"].as_array().expect("kinds of a dependency");
                let used = text(&used["pkg"]);
                if kinds.iter().any(|kind| kind["kind"].is_null()) && !from.contains_key(used) {
                    from.insert(used, Some(id));
                    open.push(used);
                }
            }
        }
        for id in from.keys().filter(|id| IO.contains(&names[*id])) {
            let way: Vec<_> = std::iter::successors(Some(*id), |id| from[id]).map(|id| names[id]).collect();
            let way = way.into_iter().rev().collect::<Vec<_>>().join(" -> ");
            problems.push(format!(
                "{path}: layers 0 and 1 do no IO, but {way}; move what needs it to a driver of layer 2"
            ));
        }
    }
    none(problems);
}

#[test]
fn no_cargo_features() {
    let mut problems = Vec::new();
    for Crate { folder, manifest, .. } in &*CRATES {
        if manifest.contains_key("features") {
            problems.push(format!("{folder}/Cargo.toml: remove [features]; use a run-time switch"));
        }
        for table in ["dependencies", "build-dependencies"] {
            let table = at(manifest, &[table]).and_then(toml::Value::as_table);
            for (name, _) in table.into_iter().flatten().filter(|(_, how)| how.get("optional").is_some()) {
                problems.push(format!(
                    "{folder}/Cargo.toml: `{name}` is optional, which makes a feature; remove `optional`"
                ));
            }
        }
    }
    none(problems);
}

#[test]
fn formatted() {
    if let Err(files) = rustfmt(Fmt::Check) {
        panic!("not formatted; run `cargo xtask fmt`:\n{files}");
    }
}

#[test]
fn protocols_are_listed() {
    const LIST: &str = "crates/wire/src/lib.rs";
    let listed = listed_in(&read(LIST), "protocols");
    assert!(!listed.is_empty(), "{LIST}: no `protocols! {{ … }}` found; the protocols are listed there");
    let mut problems = Vec::new();
    for file in rust_files() {
        let Some(module) = file.strip_prefix("crates/wire/src/").and_then(|file| file.strip_suffix(".rs"))
        else {
            continue;
        };
        let module = module.strip_suffix("/mod").unwrap_or(module);
        if read(&file).contains("pub static PROTOCOL") && !listed.iter().any(|name| name == module) {
            problems.push(format!("{file}: add `{module}` to `protocols! {{ … }}` in {LIST}"));
        }
    }
    for name in &listed {
        let places = [format!("crates/wire/src/{name}/mod.rs"), format!("crates/wire/src/{name}.rs")];
        if !places.iter().any(|place| root().join(place).is_file()) {
            problems.push(format!(
                "{LIST}: `protocols!` lists `{name}`, but there is no {}",
                places.join(" or ")
            ));
        }
    }
    none(problems);
}

#[test]
fn every_source_file_is_declared() {
    let all = rust_files();
    let mut problems = Vec::new();
    for Crate { folder, .. } in &*CRATES {
        for base in [format!("{folder}/src"), format!("{folder}/tests/it")] {
            for file in all.iter().filter(|file| file.starts_with(&format!("{base}/"))) {
                problems.extend(undeclared(&base, file));
            }
        }
    }
    let manifest = toml_file("fuzz/Cargo.toml");
    let bins = manifest.get("bin").and_then(toml::Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let targets: Vec<_> = bins.iter().filter_map(|bin| bin.get("path")?.as_str()).collect();
    for target in all
        .iter()
        .filter_map(|file| file.strip_prefix("fuzz/"))
        .filter(|file| file.starts_with("fuzz_targets/"))
    {
        if !targets.contains(&target) {
            problems
                .push(format!("fuzz/{target}: add a [[bin]] with `path = \"{target}\"` to fuzz/Cargo.toml"));
        }
    }
    none(problems);
}

#[test]
fn one_test_binary_per_crate() {
    let mut problems = Vec::new();
    for Crate { folder, manifest, .. } in CRATES.iter().filter(|krate| krate.folder.starts_with("crates/")) {
        for file in files() {
            let Some(inner) = file.strip_prefix(&format!("{folder}/tests/")) else { continue };
            // Cargo makes a binary of each file in `tests`, and of each folder there with a `main.rs`.
            let binary = inner.ends_with(".rs")
                && (depth(inner) == 1 || (depth(inner) == 2 && inner.ends_with("/main.rs")));
            if binary && inner != "it/main.rs" {
                problems.push(format!("{file}: make it a module of {folder}/tests/it/main.rs"));
            }
        }
        let tests =
            at(manifest, &["test"]).and_then(toml::Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for name in tests.iter().filter_map(|test| test.get("name")?.as_str()).filter(|name| *name != "it") {
            problems.push(format!("{folder}/Cargo.toml: [[test]] `{name}`: the one test binary is `it`"));
        }
    }
    none(problems);
}

#[test]
fn source_files_are_short() {
    let mut problems = Vec::new();
    for file in rust_files() {
        let parts: Vec<_> = file.split('/').collect();
        if !parts.contains(&"src") || parts.contains(&"tests") {
            continue;
        }
        let lines = read(&file).lines().count();
        if lines > MAX_LINES {
            problems.push(format!(
                "{file}: {lines} lines, {MAX_LINES} at most; cut it by topic, or move tests to tests/it"
            ));
        }
    }
    none(problems);
}

#[test]
fn architecture_names_every_crate() {
    let text = read("ARCHITECTURE.md");
    let words: BTreeSet<_> = text.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_').collect();
    let missing = CRATES.iter().filter(|krate| !words.contains(krate.name.as_str()));
    none(
        missing
            .map(|krate| format!("ARCHITECTURE.md: say what `{}` is for and does not know", krate.name))
            .collect(),
    );
}

#[test]
fn changelog_has_an_unreleased_section() {
    let found = read("CHANGELOG.md").lines().any(|line| line.trim_end() == "## Unreleased");
    assert!(
        found,
        "CHANGELOG.md: add the heading `## Unreleased`; a change is written there in its own commit"
    );
}

#[test]
fn markdown_links_resolve() {
    let mut problems = Vec::new();
    for file in files().into_iter().filter(|file| file.ends_with(".md") && !is_sample(file)) {
        let folder = Path::new(&file).parent().unwrap_or(Path::new("")).to_path_buf();
        for (line, link) in links(&read(&file)) {
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let to = if path.is_empty() { root().join(&file) } else { root().join(&folder).join(path) };
            if !to.exists() {
                problems.push(format!("{file}:{line}: there is no `{path}`; correct the link or remove it"));
            } else if !anchor.is_empty() && to.extension().is_some_and(|ext| ext == "md") {
                let text = fs::read_to_string(&to).unwrap_or_default();
                if !prose(&text).any(|(_, line)| line.starts_with('#') && slug(line) == anchor) {
                    problems.push(format!(
                        "{file}:{line}: `{link}`: no heading has this anchor; correct the link"
                    ));
                }
            }
        }
    }
    none(problems);
}

#[test]
fn no_places_of_one_machine() {
    // Spelled in halves, so that this file does not hold them itself.
    let places = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '~' | '}' | '$');
    let mut problems = Vec::new();
    each_line(|file, number, line| {
        for place in places {
            // `src` + place is a folder of the same name inside something else.
            if line.match_indices(place).any(|(at, _)| !line[..at].ends_with(is_name)) {
                problems.push(format!(
                    "{file}:{number}: `{place}` is a place of one machine; use a relative path, or /srv/"
                ));
            }
        }
        for host in line.split("://").skip(1).map(host).filter(|host| is_registry(host)) {
            problems.push(format!(
                "{file}:{number}: `{host}` serves packages; leave it to each machine's own settings"
            ));
        }
    });
    none(problems);
}

#[test]
fn nothing_is_left_open() {
    let marks = [
        (concat!("todo", "!("), "write it, or return an error that says what is missing"),
        (concat!("unimplemented", "!("), "write it, or return an error that says what is missing"),
        (concat!("#[ig", "nore"), "repair the test, or remove it with what it tests"),
    ];
    let mut problems = Vec::new();
    each_line(|file, number, line| {
        for (mark, way) in marks.iter().filter(|(mark, _)| line.contains(mark)) {
            if file.ends_with(".rs") && !is_sample(file) {
                problems.push(format!("{file}:{number}: `{mark}`: {way}"));
            }
        }
    });
    none(problems);
}

// Packages

struct Crate {
    name: String,
    id: String,
    folder: String,
    manifest: toml::Table,
    package: Value,
}

impl Crate {
    fn layer(&self) -> Option<i64> {
        at(&self.manifest, &["package", "metadata", "rail", "layer"])?.as_integer()
    }

    /// The names of what it depends on, each with `normal`, `build` or `dev`.
    fn dependencies(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.package["dependencies"].as_array().expect("dependencies of `cargo metadata`");
        all.iter().map(|used| (text(&used["name"]), used["kind"].as_str().unwrap_or("normal")))
    }
}

static METADATA: LazyLock<Value> = LazyLock::new(|| {
    // Packages of other systems need not be downloaded to judge ours.
    let args = ["metadata", "--format-version", "1", "--locked", "--filter-platform", "host-tuple"];
    let output = cargo().args(args).output().expect("cargo starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "`cargo {}` failed:\n{said}", args.join(" "));
    serde_json::from_slice(&output.stdout).expect("JSON from `cargo metadata`")
});

/// The members of the workspace.
static CRATES: LazyLock<Vec<Crate>> = LazyLock::new(|| {
    let list = |key: &str| METADATA[key].as_array().expect("a list of `cargo metadata`");
    let ours = list("packages").iter().filter(|package| list("workspace_members").contains(&package["id"]));
    let to_crate = |package: &Value| {
        let inner =
            Path::new(text(&package["manifest_path"])).strip_prefix(text(&METADATA["workspace_root"]));
        let path = inner.expect("members are inside the workspace").to_str().expect("UTF-8");
        Crate {
            name: text(&package["name"]).to_owned(),
            id: text(&package["id"]).to_owned(),
            folder: path.trim_end_matches("/Cargo.toml").to_owned(),
            manifest: toml_file(path),
            package: package.clone(),
        }
    };
    ours.map(to_crate).collect()
});

fn text(value: &Value) -> &str {
    value.as_str().expect("a string in `cargo metadata`")
}

fn at<'a>(table: &'a toml::Table, keys: &[&str]) -> Option<&'a toml::Value> {
    let (first, rest) = keys.split_first()?;
    rest.iter().try_fold(table.get(*first)?, |value, key| value.get(key))
}

fn toml_file(path: &str) -> toml::Table {
    toml::from_str(&read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

// Files

fn none(problems: Vec<String>) {
    assert!(problems.is_empty(), "{} to put right:\n  {}\n", problems.len(), problems.join("\n  "));
}

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}; write it"))
}

fn depth(path: &str) -> usize {
    path.split('/').count()
}

/// Calls `with` for each line of each text file: its path, the line's number, the line.
fn each_line(mut with: impl FnMut(&str, usize, &str)) {
    for file in files() {
        let Ok(text) = fs::read_to_string(root().join(&file)) else { continue };
        text.lines().enumerate().for_each(|(number, line)| with(&file, number + 1, line));
    }
}

fn host(after_scheme: &str) -> &str {
    let is_authority = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '@' | ':' | '%');
    let end = after_scheme.find(|c| !is_authority(c)).unwrap_or(after_scheme.len());
    let with_port = after_scheme[..end].rsplit('@').next().unwrap_or_default();
    with_port.split(':').next().unwrap_or_default()
}

/// Hosts that serve packages to cargo, npm or pip: the world's own and a company's.
fn is_registry(host: &str) -> bool {
    // A list of MCP servers, which is part of the product's world.
    if host == "registry.modelcontextprotocol.io" {
        return false;
    }
    const WORDS: &[&str] =
        &["registry", "artifactory", "jfrog", "nexus", "mirror", "devpi", "verdaccio", "pythonhosted"];
    let packages = |label: &str| WORDS.iter().any(|word| label.contains(word));
    host.split('.').any(packages) || host.ends_with(".crates.io") || host == "pypi.org"
}

// Modules

/// What is wrong if no module above it declares this file.
fn undeclared(base: &str, file: &str) -> Option<String> {
    let path = file.strip_prefix(base)?.strip_prefix('/')?.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").unwrap_or(path);
    if matches!(path, "lib" | "main") || path.starts_with("bin/") {
        return None;
    }
    let parents = match path.rsplit_once('/') {
        Some((above, _)) => vec![format!("{base}/{above}.rs"), format!("{base}/{above}/mod.rs")],
        None => vec![format!("{base}/lib.rs"), format!("{base}/main.rs")],
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    let declared =
        |parent: &String| fs::read_to_string(root().join(parent)).is_ok_and(|text| declares(&text, name));
    if parents.iter().any(declared) {
        return None;
    }
    let (there, missing): (Vec<_>, Vec<_>) =
        parents.into_iter().partition(|parent| root().join(parent).is_file());
    let parents = if there.is_empty() { missing } else { there }.join(" or ");
    Some(format!("{file}: nothing compiles it; write `mod {name};` in {parents}, or remove the file"))
}

fn declares(text: &str, module: &str) -> bool {
    let (code, line) = (without_comments(text), format!("mod {module};"));
    // `submod x;` is something else.
    let is_word = |before: &str| before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    code.match_indices(&line).any(|(at, _)| !is_word(&code[..at]))
        || LIST_MACROS.iter().any(|list| listed_in(text, list).iter().any(|name| name == module))
}

/// The modules a list macro is called with: `a` of `a` and of `a::Thing`.
fn listed_in(text: &str, list: &str) -> Vec<String> {
    let (text, call) = (without_comments(text), format!("{list}!"));
    let calls = text.split(&call).skip(1).filter_map(|rest| rest.trim_start().strip_prefix(['{', '(', '[']));
    let names = calls.flat_map(|inner| inner.split(['}', ')', ']']).next().unwrap_or_default().split(','));
    let names = names.filter_map(|entry| entry.split("::").next()).map(|name| name.trim().to_owned());
    names.filter(|name| !name.is_empty()).collect()
}

fn without_comments(text: &str) -> String {
    let lines = text.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    lines.collect::<Vec<_>>().join("\n")
}

// Markdown

/// The lines outside fenced code, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(number, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((number + 1, line))
    })
}

/// The relative links of a document, each with its line.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        // Every second piece between backticks is code.
        let line: String = line.split('`').step_by(2).collect();
        let inline = line.split("](").skip(1).map(|rest| rest.split(')').next().unwrap_or_default());
        let definition =
            line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target);
        for target in inline.chain(definition) {
            let target = target.split_whitespace().next().unwrap_or_default().trim_matches(['<', '>']);
            if !target.contains("://") && !target.starts_with("mailto:") {
                links.push((number, target.to_owned()));
            }
        }
    }
    links
}

/// The anchor that a heading gets.
fn slug(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}
