//! `rail route explain`: a request goes to the router and no further.

use std::fs;
use std::io::{IsTerminal, Read, stdin};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::Args;
use rail_config::Loaded;
use rail_model::Request;
use rail_route::{Client, Explanation, PlanInput, calibrated, estimate, explain, facts, plan};
use rail_wire::{HttpCall, Protocol, recognise};
use serde_json::Value;

use crate::clock::Now;
use crate::debug::protocol;
use crate::setup::{Common, warn};
use crate::state::State;
use crate::{Failure, output};

#[derive(Args)]
pub(crate) struct Explain {
    /// The request's body, as a client would send it; `-`, or nothing, is stdin. Without any, a name given by `--model` is
    /// explained.
    #[arg(long, value_name = "FILE")]
    request: Option<PathBuf>,
    /// The protocol of the body: anthropic, openai-chat, openai-responses or gemini. If not given, it is told by the body.
    #[arg(long, value_name = "P", value_parser = protocol)]
    protocol: Option<&'static Protocol>,
    /// A header that the client would send, written `name: value`; repeatable.
    #[arg(long = "header", value_name = "HEADER", value_parser = header)]
    headers: Vec<(String, String)>,
    /// The path that the client would call; a Gemini request says its model there.
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Take this many tokens instead of an estimate.
    #[arg(long, value_name = "N")]
    tokens: Option<u64>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("write it as `name: value`")?;
    match name.trim() {
        "" => Err("a header needs a name before the `:`".to_owned()),
        name => Ok((name.to_ascii_lowercase(), value.trim().to_owned())),
    }
}

impl Explain {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let loaded = common.load()?;
        let request = self.read_request(common.model.as_deref())?;
        let explanation = self.explanation(&loaded, &request);
        warn(&loaded);
        if explanation.attempts.is_empty() {
            let no_chain = loaded.warnings.iter().filter(|warning| warning.key == "router");
            no_chain.for_each(|warning| output::tell(&format!("warning: {warning}")));
        }
        if self.json {
            let value = serde_json::to_value(&explanation).context("the plan can't be written as JSON")?;
            return output::print_json(&value);
        }
        output::print(&explanation.to_string())
    }

    fn explanation(&self, loaded: &Loaded, request: &Request) -> Explanation {
        explanation(loaded, request, &self.headers, self.tokens)
    }

    fn read_request(&self, model: Option<&str>) -> Result<Request, Failure> {
        let mut request = match (self.body()?, model) {
            (Some(body), _) => self.decode(body)?,
            (None, Some(_)) => Request::default(),
            (None, None) => {
                let problem = "there is no request; give one by `--request FILE` or on stdin, or a name by `--model NAME`";
                return Err(Failure::Usage(anyhow!(problem)));
            }
        };
        if let Some(model) = model {
            request.model = model.to_owned();
        }
        Ok(request)
    }

    /// The bytes of the request; None when there are none. Nobody types a request at a terminal by accident.
    fn body(&self) -> Result<Option<Vec<u8>>, Failure> {
        let mut body = Vec::new();
        match self.request.as_deref().filter(|path| *path != Path::new("-")) {
            Some(path) => {
                let read = fs::read(path).with_context(|| format!("{} can't be read", path.display()));
                body = read.map_err(Failure::Usage)?;
            }
            None if self.request.is_none() && stdin().is_terminal() => {}
            None => drop(stdin().lock().read_to_end(&mut body).context("stdin can't be read")?),
        }
        Ok(body.iter().any(|byte| !byte.is_ascii_whitespace()).then_some(body))
    }

    fn decode(&self, body: Vec<u8>) -> Result<Request, Failure> {
        let protocol = match self.protocol {
            Some(protocol) => protocol,
            None => {
                let value: Value = serde_json::from_slice(&body).context("the request is no JSON")?;
                recognise(&value).ok_or_else(|| {
                    anyhow!("the body is a request of no known protocol; say which it is by `--protocol`")
                })?
            }
        };
        let path = self.path.as_deref().unwrap_or_default();
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let call = HttpCall { query: query.to_owned(), ..HttpCall::post(path, body) };
        let call = HttpCall { headers: self.headers.clone(), ..call };
        Ok(protocol.inbound.decode_request(&call).map_err(|error| anyhow!(error.message))?)
    }
}

/// The plan for a request, in words.
pub(crate) fn explained(loaded: &Loaded, request: &Request) -> String {
    explanation(loaded, request, &[], None).to_string()
}

fn explanation(
    loaded: &Loaded,
    request: &Request,
    headers: &[(String, String)],
    tokens: Option<u64>,
) -> Explanation {
    let (state, now) = (State::load(loaded), Now::read());
    let client = Client { headers, name: None };
    let facts = facts(request, &client, tokens.unwrap_or_else(|| estimate(request).total()));
    let health = state.health.in_force(now.unix, now.instant);
    let routing = &*loaded.routing;
    let input = PlanInput { routing, facts: &facts, health: &health, session: None, now: now.instant };
    if tokens.is_some() {
        return explain(&plan(&input), &facts);
    }
    let (plan, facts) = calibrated(&input, |target| state.learned.calibration(target));
    explain(&plan, &facts)
}
