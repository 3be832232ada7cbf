//! The page at `/`: what runs here, and how clients are pointed here. It needs no script and nothing from elsewhere.

use std::fmt::Write;

use bytes::Bytes;
use http::{Request, Response, header};
use rail_ledger::{Ending, Entry};

use super::answer::{self, Wrong};
use super::{health, status};
use crate::Gateway;
use crate::body::Body;
use crate::clock::{unix_ms, written};

/// The page's style. The policy in the head of our pages names it by its hash, and allows no other.
pub(super) const STYLE: &str = include_str!("home.css");

/// How many requests are shown.
const LAST: usize = 20;
/// The most characters of a cell.
const MOST_CHARS: usize = 200;

/// The page. On a gateway that has keys or a guest it shows nothing but how to get in: a browser has no key to show.
pub(crate) async fn home(gateway: &Gateway, request: &Request<Bytes>) -> Result<Response<Body>, Wrong> {
    let has_keys = gateway.ledger().has_keys().await?;
    let mut page = Html(String::new());
    page.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.raw("<meta name=\"viewport\" content=\"width=device-width\">\n<title>Switchrail</title>\n");
    page.raw("<style>");
    page.raw(STYLE);
    page.raw("</style>\n</head>\n<body>\n<h1>Switchrail</h1>\n");
    let here = here(gateway, request);
    if gateway.guest().is_some() {
        page.line("This gateway is there for the one program that it was started with. `rail serve` starts one that shows what happens.");
    } else if has_keys {
        page.line("This gateway has keys: ask whoever runs it for one. What happens here is shown to admins, under /api.");
    } else {
        let seconds = unix_ms().saturating_sub(gateway.observe().started()) / 1000;
        let in_flight = gateway.observe().flights().count();
        page.line(&format!(
            "Version {}, at {here}, for {} h {} min. {in_flight} requests are on their way.",
            env!("CARGO_PKG_VERSION"),
            seconds / 3600,
            seconds / 60 % 60,
        ));
        providers(gateway, &mut page);
        targets(gateway, &mut page);
        requests(&gateway.ledger().recent(LAST, None).await?, &mut page);
    }
    clients(&here, &mut page);
    page.raw("</body>\n</html>\n");
    Ok(answer::of_type("text/html; charset=utf-8", gateway.observe().cover(&page.0)))
}

/// The address that a client uses: the one that this page was asked for at, if it is one.
fn here(gateway: &Gateway, request: &Request<Bytes>) -> String {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
    match !host.is_empty() && host.chars().all(plain) {
        true => format!("http://{host}"),
        false => format!("http://{}", status::address(gateway)),
    }
}

fn providers(gateway: &Gateway, page: &mut Html) {
    page.heading("Providers");
    let loaded = gateway.configuration();
    let listed = loaded.listed_providers(None);
    if listed.is_empty() {
        page.line("None is configured; run `rail init`.");
        return;
    }
    page.table(&["name", "protocol", "address", "state"]);
    for listed in listed {
        let provider = listed.provider;
        let state = provider.unusable.as_deref().unwrap_or(if listed.active { "active" } else { "ready" });
        page.row(&[&provider.name, provider.protocol.name(), &listed.address, state]);
    }
    page.raw("</table>\n");
}

fn targets(gateway: &Gateway, page: &mut Html) {
    let targets = health::targets(gateway);
    if targets.is_empty() {
        return;
    }
    page.heading("Health");
    page.table(&["target", "circuit", "answers", "failures", "first content", "last error"]);
    for target in targets {
        let latency = target.latency_ms.map(|ms| format!("{ms} ms")).unwrap_or_default();
        let error = target.last_error.map(|error| error.text).unwrap_or_default();
        let (good, bad) = (target.succeeded.to_string(), target.failed.to_string());
        page.row(&[&target.target, target.circuit, &good, &bad, &latency, &error]);
    }
    page.raw("</table>\n");
}

fn requests(entries: &[Entry], page: &mut Html) {
    page.heading("Last requests");
    if entries.is_empty() {
        page.line("There was none yet.");
        return;
    }
    page.table(&["time", "client", "asked for", "answered by", "ending", "took", "cost"]);
    for entry in entries {
        let problem = entry.problem.as_deref().filter(|_| entry.ending != Ending::Answered);
        let ending = format!("{} {}", entry.status, problem.unwrap_or(entry.ending.word()));
        let cost = entry.cost.map(|cost| cost.to_string()).unwrap_or_default();
        let took = format!("{} ms", entry.total_ms);
        let target = entry.target.as_deref().unwrap_or_default();
        page.row(&[&written(entry.at), &entry.client, &entry.asked, target, &ending, &took, &cost]);
    }
    page.raw("</table>\n");
}

fn clients(here: &str, page: &mut Html) {
    page.heading("Point a client here");
    page.line("`rail run claude` (or codex, gemini, qwen, opencode) starts a client that is pointed at a gateway. By hand:");
    let codex = format!(
        "# ~/.codex/config.toml\nmodel = \"default\"\nmodel_provider = \"switchrail\"\n[model_providers.switchrail]\nname = \"Switchrail\"\nbase_url = \"{here}/v1\"\nenv_key = \"SWITCHRAIL_KEY\"\nwire_api = \"responses\""
    );
    let opencode = format!(
        "{{\"provider\": {{\"switchrail\": {{\"npm\": \"@ai-sdk/openai-compatible\", \"options\": {{\"baseURL\": \"{here}/v1\", \"apiKey\": \"KEY\"}}, \"models\": {{\"default\": {{}}}}}}}}}}"
    );
    for (name, how) in [
        ("Claude Code", format!("ANTHROPIC_BASE_URL={here} ANTHROPIC_AUTH_TOKEN=KEY claude")),
        ("Codex CLI", codex),
        ("Gemini CLI", format!("GOOGLE_GEMINI_BASE_URL={here} GEMINI_API_KEY=KEY gemini")),
        ("Qwen Code", format!("OPENAI_BASE_URL={here}/v1 OPENAI_API_KEY=KEY OPENAI_MODEL=default qwen")),
        ("opencode (opencode.json)", opencode),
        ("OpenAI SDKs", format!("OPENAI_BASE_URL={here}/v1 OPENAI_API_KEY=KEY")),
    ] {
        page.line(name);
        page.raw("<pre>");
        page.text(&how);
        page.raw("</pre>\n");
    }
    page.line("KEY is a key of this gateway; where it has none, any word will do.");
}

/// A page that is being written.
struct Html(String);

impl Html {
    /// Markup of our own.
    fn raw(&mut self, markup: &str) {
        self.0.push_str(markup);
    }

    /// Text, whoever said it: nothing of it is markup.
    fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.raw("&amp;"),
                '<' => self.raw("&lt;"),
                '>' => self.raw("&gt;"),
                '"' => self.raw("&quot;"),
                '\'' => self.raw("&#39;"),
                '\n' => self.0.push(c),
                c if c.is_control() => self.0.extend(c.escape_unicode()),
                c => self.0.push(c),
            }
        }
    }

    fn heading(&mut self, text: &str) {
        self.raw("<h2>");
        self.text(text);
        self.raw("</h2>\n");
    }

    fn line(&mut self, text: &str) {
        self.raw("<p>");
        self.text(text);
        self.raw("</p>\n");
    }

    fn table(&mut self, columns: &[&str]) {
        self.raw("<table>\n<tr>");
        for column in columns {
            let _ = write!(self.0, "<th>{column}</th>");
        }
        self.raw("</tr>\n");
    }

    fn row(&mut self, cells: &[&str]) {
        self.raw("<tr>");
        for cell in cells {
            let short: String = cell.chars().take(MOST_CHARS).collect();
            self.raw("<td>");
            self.text(&short);
            self.raw("</td>");
        }
        self.raw("</tr>\n");
    }
}
