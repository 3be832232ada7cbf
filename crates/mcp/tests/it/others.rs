//! Servers that people use: files, memory, git, web pages.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rail_mcp::{Host, Offers, ServerSpec, Way};
use rail_stdx::Secret;
use rail_testkit::{Conversation, Peer, Step, http_whole, install::program};
use serde_json::{Value, json};

use crate::bed::{Bed, Quiet, stdio};
use crate::servers::{node, python};

struct Roots(Vec<PathBuf>);

impl Host for Roots {
    fn offers(&self) -> Offers {
        Offers { roots: true, ..Offers::default() }
    }

    fn roots(&self) -> Vec<PathBuf> {
        self.0.clone()
    }
}

/// Calls one after the other, and all that they give.
async fn all(bed: &Bed, calls: &[(&str, Value)]) -> String {
    let mut told = Vec::new();
    for (tool, input) in calls {
        told.push(format!("{tool} {}", bed.says(tool, input).await));
    }
    told.join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn files() {
    let Some(command) = node("mcp-server-filesystem") else { return };
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().canonicalize().unwrap();
    // The folder comes from what we say of ours: there is no argument.
    let bed = Bed::with(vec![stdio("fs", &command, &[])], Arc::new(Roots(vec![own.clone()])), |_| {});
    bed.ready("fs").await;
    let allowed = async {
        // It asks for our folders once it is ready, and does not say when it has looked at them.
        while !bed.says("mcp__fs__list_allowed_directories", &json!({})).await.contains(own.to_str().unwrap())
        {
        }
    };
    tokio::time::timeout(Duration::from_secs(20), allowed).await.unwrap();
    let path = |name: &str| own.join(name).to_str().unwrap().to_owned();
    let said = all(
        &bed,
        &[
            ("mcp__fs__write_file", json!({"path": path("a.txt"), "content": "one\ntwo\n"})),
            ("mcp__fs__read_text_file", json!({"path": path("a.txt"), "head": 1})),
            (
                "mcp__fs__edit_file",
                json!({"path": path("a.txt"), "edits": [{"oldText": "two", "newText": "three"}]}),
            ),
            ("mcp__fs__list_directory", json!({"path": path("")})),
            ("mcp__fs__read_text_file", json!({"path": "/etc/passwd"})),
            ("mcp__fs__write_file", json!({"path": path("b.txt")})),
            ("mcp__fs__list_allowed_directories", json!({})),
        ],
    )
    .await;
    insta::assert_snapshot!(said.replace(own.to_str().unwrap(), "{own}"));
    assert_eq!(std::fs::read_to_string(own.join("a.txt")).unwrap(), "one\nthree\n");
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn memory() {
    let Some(command) = node("mcp-server-memory") else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.jsonl").to_str().unwrap().to_owned();
    let env = vec![("MEMORY_FILE_PATH".to_owned(), Secret::new(file))];
    let way = Way::Stdio { command, args: Vec::new(), env, cwd: None };
    let bed = Bed::new(vec![ServerSpec::new("memory", way)]);
    bed.ready("memory").await;
    let ada = json!({"name": "Ada", "entityType": "person", "observations": ["likes engines"]});
    let said = all(
        &bed,
        &[
            ("mcp__memory__create_entities", json!({ "entities": [ada] })),
            ("mcp__memory__search_nodes", json!({"query": "engines"})),
            ("mcp__memory__create_entities", json!({"entities": "nobody"})),
        ],
    )
    .await;
    insta::assert_snapshot!(said);
    bed.end().await;
    assert!(std::fs::read_to_string(folder.path().join("memory.jsonl")).unwrap().contains("Ada"));
}

#[tokio::test(flavor = "multi_thread")]
async fn git() {
    let Some(command) = python("mcp-server-git") else { return };
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().canonicalize().unwrap();
    let git = |args: &[&str]| {
        let done = program("git").args(args).current_dir(&own).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "--quiet", "--initial-branch=main"]);
    git(&["config", "user.name", "Ada"]);
    git(&["config", "user.email", "ada@a.test"]);
    std::fs::write(own.join("a.txt"), "one\n").unwrap();
    let repo = own.to_str().unwrap();
    let bed = Bed::new(vec![stdio("git", &command, &["--repository", repo])]);
    bed.ready("git").await;
    let said = all(
        &bed,
        &[
            ("mcp__git__git_status", json!({"repo_path": repo})),
            ("mcp__git__git_add", json!({"repo_path": repo, "files": ["a.txt"]})),
            ("mcp__git__git_status", json!({"repo_path": "/"})),
            ("mcp__git__git_add", json!({"repo_path": repo})),
        ],
    )
    .await;
    insta::assert_snapshot!(said.replace(repo, "{repo}"));
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn web_pages() {
    let Some(command) = python("mcp-server-fetch") else { return };
    let page =
        "<html><body><h1>Title</h1><p>Some words of a page that is long enough to be read.</p></body></html>";
    let answer = |status: u16, kind: &str, body: &str| {
        Conversation::new([Step::ReadRequest, Step::Send(http_whole(status, kind, body))])
    };
    // First it asks whether it may.
    let peer = Peer::start(vec![answer(404, "text/plain", "none"), answer(200, "text/html", page)]).unwrap();
    let bed = Bed::with(
        vec![stdio("fetch", &command, &["--allow-private-ips"])],
        Arc::new(Quiet::default()),
        |_| {},
    );
    bed.ready("fetch").await;
    let url = peer.url("/page");
    let said = bed.says("mcp__fetch__fetch", &json!({"url": url})).await;
    insta::assert_snapshot!(said.replace(&url, "{url}"));
    insta::assert_snapshot!(
        "fetch_refused",
        bed.says("mcp__fetch__fetch", &json!({"url": "no address"})).await
    );
    for prompt in bed.hub.prompts() {
        assert_eq!((prompt.name.as_str(), prompt.arguments.len()), ("fetch", 1));
    }
    bed.end().await;
}
