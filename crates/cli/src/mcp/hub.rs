//! What a hub of MCP servers is started with, for the agent and for `rail mcp test`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use rail_config::mcp::{Reach, Servers, Spec};
use rail_config::{Env, Loaded};
use rail_mcp::auth::{AuthError, Outside, OwnClient, Settings, SystemClock, Tokens};
use rail_mcp::{ServerSpec, TimeLimits, ToolFilter, Way};
use rail_upstream::Transport;

use crate::setup;

/// The servers that are used, as a hub takes them, each with its login.
pub(crate) fn specs(servers: &Servers, loaded: &Loaded, env: &Env) -> Vec<ServerSpec> {
    let logins = Logins::new(loaded, env);
    servers.used().map(|(server, used)| spec(&server.name, used, &logins)).collect()
}

/// The environment of servers that are started here. As for commands: none gets the keys of providers by itself.
pub(crate) fn environment(loaded: &Loaded, env: &Env) -> Vec<(OsString, OsString)> {
    let keys = rail_config::key_variables(loaded, env);
    let kept = &loaded.settings.tools.keep_env;
    let given = env.all().filter(|(name, _)| !keys.contains(*name) || kept.iter().any(|kept| kept == name));
    given.map(|(name, value)| (name.into(), value.into())).collect()
}

/// What a server of the configuration is for a hub.
fn spec(name: &str, spec: &Spec, logins: &Logins) -> ServerSpec {
    let way = match spec.reach.clone() {
        Reach::Stdio { command, args, env, cwd } => {
            Way::Stdio { command, args, env: env.into_iter().collect(), cwd: Some(cwd) }
        }
        Reach::Http { url, headers } => Way::Http { url, headers: headers.into_iter().collect() },
        Reach::Sse { url, headers } => Way::Sse { url, headers: headers.into_iter().collect() },
    };
    let usual = TimeLimits::default();
    let times = TimeLimits {
        start: spec.start_timeout.unwrap_or(usual.start),
        idle: spec.timeout.unwrap_or(usual.idle),
        total: usual.total,
    };
    // An address that no login is possible at needs none: the server says if it does.
    let tokens = logins.of(spec).and_then(Result::ok).map(|tokens| Arc::new(tokens) as _);
    let lists = spec.clone();
    let tools = ToolFilter::new(move |tool| lists.uses(tool));
    ServerSpec { name: name.to_owned(), way, times, tokens, tools, off: None }
}

/// Where logins are kept, and what they go through.
pub(crate) struct Logins {
    transport: Arc<dyn Transport>,
    /// None without a home: then nobody can log in.
    file: Option<PathBuf>,
}

impl Logins {
    pub(crate) fn new(loaded: &Loaded, env: &Env) -> Self {
        let file = loaded.places.as_ref().map(rail_config::Places::mcp_tokens);
        Self { transport: setup::transport(env), file }
    }

    /// The tokens of a server; None of one that has no logins: it runs here, or brings a key of its own.
    pub(crate) fn of(&self, spec: &Spec) -> Option<Result<Tokens, AuthError>> {
        let url = match &spec.reach {
            Reach::Http { url, headers } | Reach::Sse { url, headers }
                if !headers.keys().any(|name| name.eq_ignore_ascii_case("authorization")) =>
            {
                url.clone()
            }
            Reach::Stdio { .. } | Reach::Http { .. } | Reach::Sse { .. } => return None,
        };
        let oauth = spec.oauth.clone().unwrap_or_default();
        let secret = oauth.client_secret.map(|secret| secret.0);
        let settings = Settings {
            url,
            client: oauth.client_id.map(|id| OwnClient { id, secret }),
            scopes: oauth.scopes,
            redirect_port: oauth.callback_port,
            ..Settings::default()
        };
        let outside = Outside {
            transport: Arc::clone(&self.transport),
            file: self.file.clone()?,
            clock: Arc::new(SystemClock),
        };
        Some(Tokens::new(settings, outside))
    }
}
