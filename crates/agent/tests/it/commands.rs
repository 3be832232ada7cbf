//! Commands from real folders, and what they become.

use std::path::Path;
use std::sync::Mutex;

use proptest::prelude::*;
use rail_agent::commands::{
    Attached, ByModel, Commands, CustomCommand, Expanded, OwnedFolder, Owner, Sources, Typed, expand,
};
use rail_config::Trusted;
use rail_model::Part;
use rail_permit::Rule;
use rail_tool::BoxFuture;

fn write(root: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn commands(root: &Path) -> Commands {
    let folder = |path: &str, owner| OwnedFolder { path: root.join(path), owner, within: None };
    Commands::load(&[
        folder("project", Owner::Project(Trusted::Yes)),
        folder("missing", Owner::Project(Trusted::Yes)),
        folder("user", Owner::User),
    ])
}

#[test]
fn commands_are_found_by_folder_and_name() {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        &[
            ("project/review.md", "the project's"),
            ("project/git/fix.md", "---\ndescription: Fixes\n---\nx"),
            ("project/git/deep/er/est/not.md", "x"),
            ("project/git/deep/er/est/too/deep.md", "x"),
            ("project/notes.txt", "no command"),
            ("project/.hidden/x.md", "no command"),
            ("user/review.md", "the user's"),
            ("user/own.md", "the user's own"),
            ("user/help.md", "built in"),
            ("user/my command.md", "x"),
            ("user/broken.md", "---\nno colon\n---\n"),
        ],
    );
    std::fs::write(root.path().join("user/bytes.md"), b"\xff\xfe").unwrap();
    let commands = commands(root.path());
    let listed: Vec<String> = commands
        .custom()
        .iter()
        .map(|command| format!("/{} {}", command.name, command.description))
        .collect();
    assert_eq!(
        listed,
        ["/git:deep:er:est:not x", "/git:fix Fixes", "/review the project's", "/own the user's own"]
    );
    let mut problems = commands.problems().to_vec();
    problems.sort();
    let problems = problems.join("\n").replace(root.path().to_str().unwrap(), "{root}");
    insta::assert_snapshot!(problems);

    let typed = |text: &str| match commands.read(text) {
        Typed::Text => "text".to_owned(),
        Typed::Builtin(builtin, args) => format!("{builtin:?} {args:?}"),
        Typed::Custom(command, args) => format!("{} {args:?}", command.name),
        Typed::Unknown { name, nearest } => format!("unknown {name}, perhaps {nearest:?}"),
    };
    for (text, expected) in [
        ("/compact keep it", "Compact \"keep it\""),
        ("/review a b", "review \"a b\""),
        ("/git:fix 12", "git:fix \"12\""),
        ("/git/fix 12", "git:fix \"12\""),
        ("/fix 12", "git:fix \"12\""),
        ("/etc/hosts is wrong", "text"),
        ("/a.out crashes", "text"),
        ("/helpp", "unknown helpp, perhaps Some(\"help\")"),
        ("/reviev x", "unknown reviev, perhaps Some(\"review\")"),
        ("/zzzzzzzz", "unknown zzzzzzzz, perhaps None"),
        ("hello", "text"),
    ] {
        assert_eq!(typed(text), expected, "{text}");
    }
}

/// Sources that say what they were asked for.
#[derive(Default)]
struct Told(Mutex<Vec<String>>);

const OUTPUT: &str = "$ARGUMENTS $1 !`rm -rf x` @secret\n";

impl Sources for Told {
    fn run<'a>(&'a self, command: &'a str, allowed: &'a [Rule]) -> BoxFuture<'a, Result<String, String>> {
        let rules: Vec<&str> = allowed.iter().map(|rule| rule.text.as_str()).collect();
        self.0.lock().unwrap().push(format!("run {command} {rules:?}"));
        let output =
            if command.starts_with("fail") { Err("it is denied".to_owned()) } else { Ok(OUTPUT.to_owned()) };
        Box::pin(std::future::ready(output))
    }

    fn read<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Option<Result<Vec<Part>, String>>> {
        self.0.lock().unwrap().push(format!("read {path}"));
        let found = match path {
            "Override" => None,
            "secret" => Some(Err("it is denied".to_owned())),
            path => Some(Ok(vec![Part::text(format!("{path}: {OUTPUT}"))])),
        };
        Box::pin(std::future::ready(found))
    }
}

fn command(body: &str, allowed: &[&str], owner: Owner) -> CustomCommand {
    CustomCommand {
        name: "do".to_owned(),
        path: "/c/do.md".into(),
        owner,
        description: String::new(),
        argument_hint: None,
        allowed_tools: allowed.iter().map(|rule| (*rule).to_owned()).collect(),
        model: Some("fast".to_owned()),
        by_model: ByModel::Allowed,
        body: body.to_owned(),
    }
}

fn expanded(command: &CustomCommand, args: &str) -> (Expanded, Vec<String>) {
    let told = Told::default();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let expanded = runtime.block_on(expand(command, args, &told));
    (expanded, told.0.into_inner().unwrap())
}

#[test]
fn everything_is_put_in_its_place() {
    let body = "Fix $1 ($2) as $ARGUMENTS.\nState: !`git log $1`\n!`fail` @a.rs @Override @secret @$1 @a.rs";
    let rules = ["Bash(git log:*)", "Read", "mcp__git__log", "Nonsense", "Bash("];
    let (out, asked) = expanded(&command(body, &rules, Owner::User), "'b c' high");
    let allowed: Vec<&str> = out.allowed.iter().map(|rule| rule.text.as_str()).collect();
    let attached: Vec<(&str, Option<&str>)> = out
        .attached
        .iter()
        .map(|one| (one.path.as_str(), one.parts.first().and_then(Part::as_text)))
        .collect();
    insta::assert_snapshot!(format!(
        "{}\n--\n{attached:#?}\n{:?}\n{allowed:?}\n{:#?}\n{asked:#?}",
        out.text, out.model, out.problems
    ));
}

#[test]
fn arguments_that_have_no_place_stand_at_the_end() {
    assert_eq!(expanded(&command("Do it.", &[], Owner::User), "now").0.text, "Do it.\n\nARGUMENTS: now");
    assert_eq!(expanded(&command("Do it.", &[], Owner::User), "").0.text, "Do it.");
    assert_eq!(expanded(&command("Do $1 it.", &[], Owner::User), "").0.text, "Do  it.");
}

#[test]
fn a_project_that_is_not_trusted_allows_nothing() {
    let body = "!`git log`";
    let (out, asked) = expanded(&command(body, &["Bash(git log:*)"], Owner::Project(Trusted::No)), "");
    assert_eq!((out.allowed.len(), asked), (0, vec!["run git log []".to_owned()]));
    assert_eq!(
        out.problems,
        [
            "/do: its `allowed-tools` do not count, since this folder is not trusted; trust it with `rail config trust`"
        ]
    );
    let (trusted, _) = expanded(&command(body, &["Bash(git log:*)"], Owner::Project(Trusted::Yes)), "");
    assert_eq!((trusted.allowed.len(), trusted.problems), (1, Vec::new()));
}

proptest! {
    /// Whatever stands in an argument, an output or a file is only text.
    #[test]
    fn nothing_that_is_put_in_is_read_again(
        pieces in proptest::collection::vec(
            prop::sample::select(vec!["$ARGUMENTS", "$1", " !`rm x` ", "!`", "`", " @secret ", "@", " ", "a", "\n", "'", "\\"]),
            0..8,
        ),
    ) {
        let args = pieces.concat();
        let args = args.trim();
        let body = "<$ARGUMENTS>\n!`show`\n@file.txt";
        let (out, asked) = expanded(&command(body, &[], Owner::User), args);
        prop_assert_eq!(out.text, format!("<{args}>\n{}\n@file.txt", OUTPUT.trim_end()));
        prop_assert_eq!(asked, ["run show []", "read file.txt"]);
        prop_assert_eq!(out.attached, [Attached { path: "file.txt".into(), parts: vec![Part::text(format!("file.txt: {OUTPUT}"))] }]);
    }
}
