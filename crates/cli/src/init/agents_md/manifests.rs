//! What manifests of languages say: Cargo, npm and its kin, Go, CMake, and others by their usual commands.

use serde_json::Value;

use super::commands::{Found, Purpose};
use super::listing::Listing;

/// The files that tell that a folder is built by itself.
pub(super) const KINDS: [&str; 14] = [
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "go.mod",
    "CMakeLists.txt",
    "Makefile",
    "justfile",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "mix.exs",
    "Gemfile",
    "composer.json",
    "Package.swift",
];

pub(super) fn find(found: &mut Found<'_>) {
    cargo(found);
    npm(found);
    go(found);
    cmake(found);
    usual(found);
}

fn cargo(found: &mut Found<'_>) {
    if !found.has("Cargo.toml") {
        return;
    }
    let manifest = toml_of(&found.text("Cargo.toml"));
    let all = if manifest.get("workspace").is_some() { " --workspace" } else { "" };
    found.add(Purpose::Build, format!("cargo build{all}"));
    found.add(Purpose::Test, format!("cargo test{all}"));
    found.add(Purpose::OneTest, format!("cargo test{all} NAME"));
    let ci = workflows(found.listing);
    let lints = ["/lints", "/workspace/lints"].iter().any(|at| manifest.pointer(at).is_some());
    let has_clippy = lints || ["clippy.toml", ".clippy.toml"].iter().any(|name| found.has(name));
    if has_clippy || ci.contains("cargo clippy") {
        found.add(Purpose::Lint, format!("cargo clippy{all} --all-targets"));
    }
    if ["rustfmt.toml", ".rustfmt.toml"].iter().any(|name| found.has(name)) || ci.contains("cargo fmt") {
        found.add(Purpose::Format, "cargo fmt");
    }
    let aliases = toml_of(&found.text(".cargo/config.toml"));
    if aliases.pointer("/alias/xtask").is_some() {
        found.add(Purpose::Run, "cargo xtask");
    }
}

/// The program that runs the scripts of a package.json.
fn package_manager(found: &Found<'_>, manifest: &Value) -> &'static str {
    let named = manifest.get("packageManager").and_then(Value::as_str).unwrap_or_default();
    let locks = [
        ("pnpm", "pnpm-lock.yaml"),
        ("yarn", "yarn.lock"),
        ("bun", "bun.lock"),
        ("bun", "bun.lockb"),
        ("npm", "package-lock.json"),
    ];
    let by_name = locks.iter().find(|(name, _)| named.starts_with(&format!("{name}@")));
    by_name.or_else(|| locks.iter().find(|(_, lock)| found.has(lock))).map_or("npm", |(name, _)| name)
}

fn npm(found: &mut Found<'_>) {
    if found.has("package.json") {
        let manifest: Value = serde_json::from_str(&found.text("package.json")).unwrap_or_default();
        let manager = package_manager(found, &manifest);
        found.add(Purpose::Setup, format!("{manager} install"));
        for name in names(&manifest, "scripts") {
            let line = match (manager, name.as_str()) {
                ("npm", "test" | "start") => format!("npm {name}"),
                _ => format!("{manager} run {name}"),
            };
            if let Some(purpose) = Purpose::of_name(&name).filter(|_| is_plain(&name)) {
                found.add(purpose, line);
            }
        }
    }
    for (file, key, run) in
        [("deno.json", "tasks", "deno task"), ("composer.json", "scripts", "composer run")]
    {
        let manifest: Value = serde_json::from_str(&found.text(file)).unwrap_or_default();
        for name in names(&manifest, key) {
            if let Some(purpose) = Purpose::of_name(&name).filter(|_| is_plain(&name)) {
                found.add(purpose, format!("{run} {name}"));
            }
        }
    }
}

fn names(manifest: &Value, key: &str) -> Vec<String> {
    let table = manifest.get(key).and_then(Value::as_object);
    table.into_iter().flat_map(|table| table.keys().cloned()).collect()
}

/// Whether a name can stand in a command line as it is: names come from a file that anybody may have written.
pub(super) fn is_plain(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-:./".contains(c);
    !name.is_empty() && name.len() <= 60 && !name.starts_with('-') && name.chars().all(is_plain)
}

fn go(found: &mut Found<'_>) {
    if !found.has("go.mod") {
        return;
    }
    found.add(Purpose::Build, "go build ./...");
    found.add(Purpose::Test, "go test ./...");
    found.add(Purpose::OneTest, "go test ./... -run NAME");
    let golangci = [".golangci.yml", ".golangci.yaml", ".golangci.toml"].iter().any(|name| found.has(name));
    found.add(Purpose::Lint, if golangci { "golangci-lint run" } else { "go vet ./..." });
    found.add(Purpose::Format, "gofmt -w .");
}

fn cmake(found: &mut Found<'_>) {
    if !found.has("CMakeLists.txt") {
        return;
    }
    found.add(Purpose::Build, "cmake -B build && cmake --build build");
    let text = found.text("CMakeLists.txt").to_lowercase();
    if ["enable_testing", "add_test", "include(ctest)", "gtest"].iter().any(|word| text.contains(word)) {
        found.add(Purpose::Test, "ctest --test-dir build --output-on-failure");
        found.add(Purpose::OneTest, "ctest --test-dir build -R NAME");
    }
    if found.has(".clang-format") {
        found.add(Purpose::Format, "clang-format -i FILES");
    }
}

/// A manifest whose commands are always the same: one to build, one to test.
const USUAL: [(&str, &str, &str); 6] = [
    ("pom.xml", "mvn package", "mvn test"),
    ("build.gradle", "gradle build", "gradle test"),
    ("build.gradle.kts", "gradle build", "gradle test"),
    ("mix.exs", "mix compile", "mix test"),
    ("Package.swift", "swift build", "swift test"),
    ("stack.yaml", "stack build", "stack test"),
];

fn usual(found: &mut Found<'_>) {
    for (file, build, test) in USUAL {
        if !found.has(file) {
            continue;
        }
        // A wrapper in the repository knows the right version.
        let wrapped = |line: &str| match line.split_once(' ') {
            Some(("mvn", rest)) if found.has("mvnw") => format!("./mvnw {rest}"),
            Some(("gradle", rest)) if found.has("gradlew") => format!("./gradlew {rest}"),
            Some(_) | None => line.to_owned(),
        };
        let (build, test) = (wrapped(build), wrapped(test));
        found.add(Purpose::Build, build);
        found.add(Purpose::Test, test);
    }
    if found.has("Gemfile") {
        found.add(Purpose::Setup, "bundle install");
        if found.has("Rakefile") {
            found.add(Purpose::Test, "bundle exec rake test");
        }
        if found.has(".rspec") {
            found.add(Purpose::Test, "bundle exec rspec");
        }
        if found.has(".rubocop.yml") {
            found.add(Purpose::Lint, "bundle exec rubocop");
        }
    }
    let is_dotnet = |path: &str| path.ends_with(".sln") || path.ends_with(".csproj");
    if found.folder.is_empty() && found.listing.below("").any(is_dotnet) {
        found.add(Purpose::Build, "dotnet build");
        found.add(Purpose::Test, "dotnet test");
    }
}

/// A TOML text as a value; empty where it can't be read.
pub(super) fn toml_of(text: &str) -> Value {
    toml::from_str(text).unwrap_or_default()
}

/// All that the repository's checks say.
pub(super) fn workflows(listing: &Listing) -> String {
    let files = listing.texts.iter().filter(|(path, _)| super::ci::is_ci(path));
    files.map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n")
}

/// Where manifests say a name and a description.
const SAID_IN: [(&str, &str); 6] = [
    ("Cargo.toml", "/package"),
    ("Cargo.toml", "/workspace/package"),
    ("package.json", ""),
    ("pyproject.toml", "/project"),
    ("pyproject.toml", "/tool/poetry"),
    ("composer.json", ""),
];

fn said(listing: &Listing, key: &str) -> Option<String> {
    let said = |(file, at): &(&str, &str)| {
        let text = listing.texts.get(*file)?;
        let value = if file.ends_with(".toml") { toml_of(text) } else { serde_json::from_str(text).ok()? };
        one_line(value.pointer(at)?.get(key)?.as_str()?)
    };
    SAID_IN.iter().find_map(said)
}

/// The name that it gives itself.
pub(super) fn name(listing: &Listing) -> Option<String> {
    let of_go = || {
        let line = listing.text("go.mod").lines().find_map(|line| line.strip_prefix("module "))?;
        one_line(line.rsplit('/').next()?)
    };
    said(listing, "name").or_else(of_go)
}

/// What it says that it is: in its manifest, else in the first words of its README.
pub(super) fn about(listing: &Listing) -> Option<String> {
    said(listing, "description").or_else(|| {
        let is_prose = |line: &&str| line.chars().next().is_some_and(char::is_alphanumeric);
        let lines = listing.text("README.md").lines().map(str::trim).skip_while(|line| !is_prose(line));
        one_line(&lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" "))
    })
}

/// The longest sentence that is taken over.
const LONGEST: usize = 240;

/// A text as one line without control characters.
pub(super) fn one_line(text: &str) -> Option<String> {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let words: String = words.chars().filter(|c| !c.is_control()).collect();
    let mut line: String = words.chars().take(LONGEST).collect();
    if line.len() < words.len() {
        line.push('…');
    }
    Some(line).filter(|line| !line.is_empty())
}
