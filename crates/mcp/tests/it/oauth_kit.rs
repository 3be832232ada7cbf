//! What the tests of logins need: the servers, a person with a browser, a clock.
#![expect(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rail_mcp::auth::{AuthError, Browser, Clock, Outside, Refusal, Settings, SystemClock, Tokens, Verdict};
use rail_testkit::install::{Packages, Wanted, installed, program};
use rail_upstream::{Live, LiveSettings};
use serde_json::{Value, json};

/// More than any login of a test takes.
pub(crate) const LIMIT: Duration = Duration::from_secs(15);

/// A real authorisation server and a real MCP server that takes its tokens.
pub(crate) struct World {
    child: Child,
    pub(crate) issuer: String,
    pub(crate) server: String,
    pub(crate) document: String,
    origin: String,
    pub(crate) clock: Arc<Hand>,
    pub(crate) folder: tempfile::TempDir,
}

impl World {
    /// Starts both; None where they can't be had.
    pub(crate) fn start() -> Option<Self> {
        let packages = Packages::Node(include_str!("../oauth/package.json"));
        let title = "authorisation server";
        let wanted = Wanted { title, place: ("judges", "oauth"), packages, crate_name: "rail-mcp" };
        let packages = installed(&wanted, Path::new(env!("CARGO_TARGET_TMPDIR")))?;
        // Beside its packages, where node looks for them.
        let script = packages.join("server.mjs");
        let text = include_bytes!("../oauth/server.mjs");
        rail_stdx::replace(&script, text, rail_stdx::Access::Usual).unwrap();
        let mut child = program("node");
        child.arg(&script).env("NO_PROXY", "*").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = child.stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let told = lines.map(Result::unwrap).find(|line| line.starts_with('{')).unwrap();
        let told: Value = serde_json::from_str(&told).unwrap();
        let text = |key: &str| told[key].as_str().unwrap().to_owned();
        let (issuer, server, origin, document) =
            (text("issuer"), text("server"), text("origin"), text("document"));
        let folder = tempfile::tempdir().unwrap();
        Some(Self { child, issuer, server, document, origin, clock: Arc::default(), folder })
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("state/mcp-tokens.json")
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings { url: self.server.clone(), ..Settings::default() }
    }

    /// Tokens as a program that starts now has them.
    pub(crate) fn tokens(&self) -> Tokens {
        self.tokens_with(self.settings())
    }

    pub(crate) fn tokens_with(&self, settings: Settings) -> Tokens {
        Tokens::new(settings, outside(&self.file(), Arc::clone(&self.clock))).unwrap()
    }

    /// Has the authorisation server forget all of a kind: `AccessToken`, `RefreshToken`, `Grant`, `Client`.
    pub(crate) fn forget(&self, kind: &str) {
        let url = format!("{}/test/forget/{kind}", self.origin);
        assert_eq!(http("POST", &url, &[], "").status, 200);
    }

    /// What was asked at the token endpoint: the types, with the error where there was one.
    pub(crate) fn asked(&self) -> Vec<String> {
        let asked = http("GET", &format!("{}/test/asked", self.origin), &[], "").json();
        let one = |one: &Value| match one["error"].as_str() {
            Some(error) => format!("{}: {error}", one["type"].as_str().unwrap()),
            None => one["type"].as_str().unwrap().to_owned(),
        };
        asked.as_array().unwrap().iter().map(one).collect()
    }

    /// The clients that registered.
    pub(crate) fn clients(&self) -> Vec<Value> {
        let clients = http("GET", &format!("{}/test/clients", self.origin), &[], "").json();
        clients.as_array().unwrap().clone()
    }

    /// Calls a tool as a client does: with the token, and once more where that is the verdict.
    pub(crate) async fn call(&self, tokens: &Tokens, tool: &str) -> Result<Called, AuthError> {
        let mut verdict = None;
        for _ in 0..2 {
            let token = tokens.token().await?;
            let reply = self.post(tool, token.as_ref().map(rail_stdx::Secret::reveal));
            if reply.status == 200 {
                let text = reply.json()["result"]["content"][0]["text"].as_str().unwrap().to_owned();
                return Ok(Called::Said(text));
            }
            let www_authenticate = reply.header("www-authenticate");
            let refusal = Refusal { status: reply.status, www_authenticate, token: token.as_ref() };
            match tokens.refused(refusal).await? {
                Verdict::Retry => verdict = Some(Verdict::Retry),
                other => return Ok(Called::Refused(other)),
            }
        }
        Ok(Called::Refused(verdict.unwrap()))
    }

    pub(crate) fn post(&self, tool: &str, token: Option<&str>) -> Reply {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": {}}});
        let bearer = token.map(|token| format!("Bearer {token}")).unwrap_or_default();
        let mut headers = vec![
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2025-06-18"),
        ];
        if token.is_some() {
            headers.push(("authorization", &bearer));
        }
        http("POST", &self.server, &headers, &call.to_string())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // It ends by itself with its input; what does not is ended.
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How a call ended.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Called {
    Said(String),
    Refused(Verdict),
}

pub(crate) fn said(text: &str) -> Result<Called, AuthError> {
    Ok(Called::Said(text.to_owned()))
}

pub(crate) fn needs_login(scope: Option<&str>) -> Result<Called, AuthError> {
    Ok(Called::Refused(Verdict::NeedsLogin { scope: scope.map(str::to_owned) }))
}

pub(crate) fn outside(file: &Path, clock: Arc<Hand>) -> Outside {
    Outside { transport: Arc::new(Live::new(LiveSettings::default())), file: file.to_owned(), clock }
}

/// A clock that goes with the system's, and can be set forward.
#[derive(Default)]
pub(crate) struct Hand(AtomicU64);

impl Hand {
    pub(crate) fn forward(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::Relaxed);
    }
}

impl Clock for Hand {
    fn unix(&self) -> u64 {
        SystemClock.unix() + self.0.load(Ordering::Relaxed)
    }
}

/// What a person does in the browser.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    Consent,
    Abort,
    /// Nothing at all.
    Ignore,
    /// Consent, but the browser is on another machine: the address is pasted.
    Paste,
}

/// A person with a browser: follows pages, fills in forms, keeps cookies.
pub(crate) struct Person {
    wish: Wish,
    /// Changes the address that the login leads back to: each is visited in turn.
    detours: fn(&str) -> Vec<String>,
    walk: Mutex<Option<JoinHandle<String>>>,
    pasting: AtomicBool,
    pub(crate) opened: Mutex<Vec<String>>,
    pub(crate) pages: Arc<Mutex<Vec<Reply>>>,
    pub(crate) unfit: Mutex<Vec<String>>,
}

impl Person {
    pub(crate) fn who(wish: Wish) -> Self {
        Self::with_detours(wish, |url| vec![url.to_owned()])
    }

    pub(crate) fn with_detours(wish: Wish, detours: fn(&str) -> Vec<String>) -> Self {
        let (walk, opened, pages, unfit) = Default::default();
        Self { wish, detours, walk, pasting: AtomicBool::new(false), opened, pages, unfit }
    }

    /// The pages that were seen where the login led back to.
    pub(crate) fn seen(&self) -> Vec<(u16, String)> {
        if let Some(walk) = self.walk.lock().unwrap().take() {
            walk.join().unwrap();
        }
        self.pages.lock().unwrap().iter().map(|page| (page.status, page.body.clone())).collect()
    }
}

impl Browser for Person {
    fn open(&self, url: &str) {
        self.opened.lock().unwrap().push(url.to_owned());
        if self.wish == Wish::Ignore {
            return;
        }
        let (url, wish, detours, pages) = (url.to_owned(), self.wish, self.detours, Arc::clone(&self.pages));
        let walk = thread::spawn(move || {
            let back = walk(&url, wish);
            if wish != Wish::Paste {
                for url in detours(&back) {
                    pages.lock().unwrap().push(http("GET", &url, &[], ""));
                }
            }
            back
        });
        *self.walk.lock().unwrap() = Some(walk);
    }

    fn pasted(&self) -> Pin<Box<dyn Future<Output = Option<String>> + Send + '_>> {
        Box::pin(async move {
            if self.wish != Wish::Paste {
                return None;
            }
            // Something else is on the clipboard at first.
            if !self.pasting.swap(true, Ordering::Relaxed) {
                return Some("http://127.0.0.1:1/callback?code=x&state=y".to_owned());
            }
            let walk = self.walk.lock().unwrap().take()?;
            tokio::task::spawn_blocking(move || walk.join().unwrap()).await.ok()
        })
    }

    fn unfit(&self, problem: &AuthError) {
        self.unfit.lock().unwrap().push(problem.to_string());
    }
}

/// Follows the pages of a login up to the address that it leads back to.
fn walk(url: &str, wish: Wish) -> String {
    let mut cookies = BTreeMap::new();
    let mut next = ("GET", url.to_owned(), String::new());
    for _ in 0..20 {
        let (method, url, body) = next;
        let cookie =
            cookies.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ");
        let headers = [("cookie", cookie.as_str()), ("content-type", "application/x-www-form-urlencoded")];
        let reply = http(method, &url, &headers, &body);
        for cookie in reply.headers.iter().filter(|(name, _)| name == "set-cookie") {
            let (name, value) = cookie.1.split(';').next().unwrap().split_once('=').unwrap();
            match value {
                "" => cookies.remove(name),
                value => cookies.insert(name.to_owned(), value.to_owned()),
            };
        }
        if (300..400).contains(&reply.status) {
            let to = reply.header("location");
            if to.contains("/callback?") {
                return to.to_owned();
            }
            let origin = url.split('/').take(3).collect::<Vec<_>>().join("/");
            let to = if to.starts_with('/') { format!("{origin}{to}") } else { to.to_owned() };
            next = ("GET", to, String::new());
            continue;
        }
        assert_eq!(reply.status, 200, "{url}: {}", reply.body);
        let action = between(&reply.body, "action=\"", "\"");
        let prompt = between(&reply.body, "name=\"prompt\" value=\"", "\"");
        next = match (wish, prompt) {
            (Wish::Abort, "consent") => ("GET", format!("{action}/abort"), String::new()),
            (_, prompt) => ("POST", action.to_owned(), format!("prompt={prompt}&login=ada&password=x")),
        };
    }
    panic!("the login does not end");
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before} in {text}"));
    rest.split_once(after).unwrap().0
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, wanted: &str) -> &str {
        self.headers.iter().find(|(name, _)| name == wanted).map_or("", |(_, value)| value)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

/// Asks a server on this machine; HTTP/1.0, so that the answer ends with the connection.
pub(crate) fn http(method: &str, url: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let mut head = format!("{method} /{path} HTTP/1.0\r\nhost: {host}\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap_or_else(|error| panic!("{method} {url}: {error}"));
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let pair = |line: &str| {
        let (name, value) = line.split_once(':').unwrap();
        (name.to_ascii_lowercase(), value.trim().to_owned())
    };
    Reply { status, headers: lines.map(pair).collect(), body: body.to_owned() }
}

/// A server that answers by path, for what no honest server says.
pub(crate) struct Site {
    pub(crate) origin: String,
    paths: Arc<Mutex<Vec<String>>>,
    ending: Arc<AtomicBool>,
    serving: Option<JoinHandle<()>>,
}

/// An answer by path; `ORIGIN` in it is the site's own. None is 404.
pub(crate) type Answering = fn(&str) -> Option<(u16, &'static str, String)>;

impl Site {
    pub(crate) fn start(answering: Answering) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let paths = Arc::new(Mutex::new(Vec::new()));
        let ending = Arc::new(AtomicBool::new(false));
        let (own, seen, end) = (origin.clone(), Arc::clone(&paths), Arc::clone(&ending));
        let serving = thread::spawn(move || {
            for stream in listener.incoming() {
                if end.load(Ordering::Relaxed) {
                    break;
                }
                answer(stream.unwrap(), &own, answering, &seen);
            }
        });
        Self { origin, paths, ending, serving: Some(serving) }
    }

    /// What was asked for.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.paths.lock().unwrap().clone()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Relaxed);
        // Wakes it up.
        let _ = TcpStream::connect(self.origin.trim_start_matches("http://"));
        let _ = self.serving.take().unwrap().join();
    }
}

fn answer(stream: TcpStream, origin: &str, answering: Answering, seen: &Mutex<Vec<String>>) {
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let mut reader = BufReader::new(&stream);
    let mut lines = reader.by_ref().lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return };
    let mut length = 0;
    for line in lines.take_while(|line| !line.is_empty()) {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let path = first.split(' ').nth(1).unwrap().to_owned();
    seen.lock().unwrap().push(path.clone());
    let (status, header, body) = answering(&path).unwrap_or((404, "x-none: 1", String::new()));
    let [header, body] = [header, &body].map(|text| text.replace("ORIGIN", origin));
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n{header}\r\n\r\n",
        body.len()
    );
    // A client that has seen enough may leave.
    let _ = (&stream).write_all(head.as_bytes()).and_then(|()| (&stream).write_all(body.as_bytes()));
}

/// The permissions of a file.
pub(crate) fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}
