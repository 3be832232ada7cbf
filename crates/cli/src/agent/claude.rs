//! Flags of Claude Code that its SDKs pass, beside those that are ours as well.

use std::path::Path;

use anyhow::{Context, anyhow};
use clap::Args;
use rail_config::mcp::{self, Given, Servers, Which};
use rail_config::{Inputs, Loaded};
use serde_json::{Map, Value};

use super::control::Asks;
use crate::{Failure, output};

/// Flags of Claude Code.
#[derive(Args, Clone, Default)]
pub(crate) struct ClaudeFlags {
    /// What takes the place of the base text of the system prompt; an empty one leaves ours.
    #[arg(long, value_name = "TEXT", conflicts_with = "system_prompt_file")]
    system_prompt: Option<String>,
    /// The same from a file.
    #[arg(long, value_name = "FILE")]
    system_prompt_file: Option<String>,
    /// What is said at the end of the system prompt.
    #[arg(long, value_name = "TEXT")]
    pub(crate) append_system_prompt: Option<String>,
    /// Do these without asking, with commas between them.
    #[arg(long = "allowedTools", visible_alias = "allowed-tools", value_name = "RULES")]
    allowed_tools: Vec<String>,
    /// Never do these, with commas between them.
    #[arg(long = "disallowedTools", visible_alias = "disallowed-tools", value_name = "RULES")]
    disallowed_tools: Vec<String>,
    /// Only these of the built-in tools, with commas between them; `default` is all, an empty list is none.
    #[arg(long, value_name = "NAMES")]
    tools: Option<String>,
    /// Who is asked about calls: `stdio` is the program that drives `rail`, `mcp__SERVER__TOOL` a tool of a server of its.
    #[arg(long, value_name = "NAME")]
    permission_prompt_tool: Option<String>,
    /// The id of the new session, a UUID.
    #[arg(long, value_name = "ID")]
    pub(crate) session_id: Option<String>,
    /// Go on in a new session with the conversation of the one that is named.
    #[arg(long)]
    pub(crate) fork_session: bool,
    /// Settings of Claude Code, a file or JSON: its permissions and hooks count.
    #[arg(long, value_name = "FILE|JSON")]
    settings: Option<String>,
    /// MCP servers beside those that are configured, a file or JSON.
    #[arg(long, value_name = "FILE|JSON")]
    mcp_config: Vec<String>,
    /// Only the MCP servers of `--mcp-config`.
    #[arg(long)]
    strict_mcp_config: bool,
    /// Also answers while they are being written.
    #[arg(long)]
    pub(crate) include_partial_messages: bool,
    /// Also what the user says, when it is taken up.
    #[arg(long)]
    pub(crate) replay_user_messages: bool,
    #[command(flatten)]
    unused: Unused,
}

/// Flags that mean nothing here, and are taken so that whoever passes them need not know.
#[derive(Args, Clone, Default)]
struct Unused {
    #[arg(long, hide = true)]
    setting_sources: Option<String>,
    #[arg(long, hide = true)]
    max_thinking_tokens: Option<String>,
    #[arg(long, hide = true)]
    thinking: Option<String>,
    #[arg(long, hide = true)]
    thinking_display: Option<String>,
    #[arg(long, hide = true)]
    effort: Option<String>,
    #[arg(long, hide = true)]
    betas: Option<String>,
    #[arg(long, hide = true)]
    agents: Option<String>,
    #[arg(long, hide = true)]
    agent: Option<String>,
    #[arg(long, hide = true)]
    plugin_dir: Vec<String>,
    #[arg(long, hide = true)]
    plugin_dir_no_mcp: Vec<String>,
    #[arg(long, hide = true)]
    fallback_model: Option<String>,
    #[arg(long, hide = true)]
    task_budget: Option<String>,
    #[arg(long, hide = true)]
    json_schema: Option<String>,
    #[arg(long, hide = true)]
    resume_session_at: Option<String>,
    #[arg(long, hide = true)]
    resume_drops_turn: Option<String>,
    #[arg(long, hide = true)]
    managed_settings: Option<String>,
    #[arg(long, hide = true)]
    project_config_root: Option<String>,
    #[arg(long, hide = true)]
    permission_prompts: Option<String>,
    #[arg(long, hide = true)]
    debug_file: Option<String>,
    #[arg(long, hide = true)]
    debug: bool,
    #[arg(long, hide = true)]
    include_hook_events: bool,
    #[arg(long, hide = true)]
    session_mirror: bool,
    #[arg(long, hide = true)]
    no_session_persistence: bool,
    #[arg(long, hide = true)]
    await_initialize: bool,
    #[arg(long, hide = true)]
    managed_settings_in_initialize: bool,
    #[arg(long, hide = true)]
    allow_dangerously_skip_permissions: bool,
}

impl Unused {
    /// Those that were given. What would have changed the outcome comes with `true`.
    fn given(&self) -> Vec<(&'static str, Matters)> {
        use Matters::{Little, Much};
        let all = [
            ("--setting-sources", self.setting_sources.is_some(), Little),
            ("--max-thinking-tokens", self.max_thinking_tokens.is_some(), Little),
            ("--thinking", self.thinking.is_some(), Little),
            ("--thinking-display", self.thinking_display.is_some(), Little),
            ("--effort", self.effort.is_some(), Little),
            ("--betas", self.betas.is_some(), Little),
            ("--agents", self.agents.is_some(), Much),
            ("--agent", self.agent.is_some(), Much),
            ("--plugin-dir", !self.plugin_dir.is_empty(), Much),
            ("--plugin-dir-no-mcp", !self.plugin_dir_no_mcp.is_empty(), Much),
            ("--fallback-model", self.fallback_model.is_some(), Little),
            ("--task-budget", self.task_budget.is_some(), Little),
            ("--json-schema", self.json_schema.is_some(), Much),
            ("--resume-session-at", self.resume_session_at.is_some(), Much),
            ("--resume-drops-turn", self.resume_drops_turn.is_some(), Much),
            ("--managed-settings", self.managed_settings.is_some(), Much),
            ("--project-config-root", self.project_config_root.is_some(), Little),
            ("--permission-prompts", self.permission_prompts.is_some(), Little),
            ("--debug-file", self.debug_file.is_some(), Little),
            ("--debug", self.debug, Little),
            ("--include-hook-events", self.include_hook_events, Little),
            ("--session-mirror", self.session_mirror, Much),
            ("--no-session-persistence", self.no_session_persistence, Much),
            ("--await-initialize", self.await_initialize, Little),
            ("--managed-settings-in-initialize", self.managed_settings_in_initialize, Much),
            ("--allow-dangerously-skip-permissions", self.allow_dangerously_skip_permissions, Little),
        ];
        all.into_iter().filter(|(_, given, _)| *given).map(|(flag, _, matters)| (flag, matters)).collect()
    }
}

/// Whether somebody who gave a flag would want to know that it does nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Matters {
    /// It is told to those who want to know everything.
    Little,
    /// It is told.
    Much,
}

/// What is known after the flags were read.
#[derive(Default)]
pub(crate) struct Claude {
    pub(crate) role: Option<String>,
    pub(crate) also: Option<String>,
    pub(crate) allowed: Vec<String>,
    pub(crate) disallowed: Vec<String>,
    /// The built-in tools that there are to be; None is all.
    pub(crate) tools: Option<Vec<String>>,
    pub(crate) hooks: Option<Value>,
}

impl ClaudeFlags {
    /// The same with more MCP servers, as JSON.
    pub(crate) fn with_servers(mut self, servers: Option<String>) -> Self {
        self.mcp_config.extend(servers);
        self
    }

    /// Who is asked about calls.
    ///
    /// # Errors
    /// It is nobody that could be asked.
    pub(crate) fn asks(&self) -> Result<Asks, Failure> {
        match self.permission_prompt_tool.as_deref() {
            None => Ok(Asks::Nobody),
            Some("stdio") => Ok(Asks::Client),
            Some(tool) if tool.starts_with("mcp__") => Ok(Asks::Tool(tool.to_owned())),
            Some(tool) => Err(Failure::Usage(anyhow!(
                "--permission-prompt-tool: `{tool}` can't be asked; say `stdio`, or a tool of an MCP server as `mcp__SERVER__TOOL`"
            ))),
        }
    }

    /// Reads what the flags name, and tells of those that do nothing.
    pub(crate) fn read(&self, verbose: u8) -> Result<Claude, Failure> {
        for (flag, matters) in self.unused.given() {
            if matters == Matters::Much || verbose > 1 {
                output::tell(&format!("warning: {flag} does nothing here"));
            }
        }
        let role = match &self.system_prompt_file {
            Some(file) => Some(text_of(file, "--system-prompt-file")?),
            None => self.system_prompt.clone(),
        };
        let mut claude = Claude {
            role: role.filter(|text| !text.is_empty()),
            also: self.append_system_prompt.clone(),
            allowed: self.allowed_tools.iter().flat_map(|list| rules(list)).collect(),
            disallowed: self.disallowed_tools.iter().flat_map(|list| rules(list)).collect(),
            tools: self.tools.as_deref().filter(|tools| *tools != "default").map(rules),
            ..Claude::default()
        };
        if let Some(settings) = &self.settings {
            claude.settings(object_of(settings, "--settings")?);
        }
        Ok(claude)
    }

    /// All MCP servers, those of `--mcp-config` before others.
    ///
    /// # Errors
    /// What the flag names can't be read, or is no list of servers.
    pub(crate) fn mcp(&self, inputs: &Inputs, loaded: &Loaded) -> Result<Servers, Failure> {
        let wrong = |why: String| Failure::Usage(anyhow!("--mcp-config: {why}"));
        let read = self.mcp_config.iter().map(|given| Given::read(given, &inputs.working_folder));
        let given = read.collect::<Result<Vec<_>, _>>().map_err(wrong)?;
        if let Some(problem) = given.iter().find_map(Given::problem) {
            return Err(wrong(problem.text));
        }
        let which = if self.strict_mcp_config { Which::Given } else { Which::All };
        Ok(mcp::servers(inputs, loaded, &given, which))
    }
}

impl Claude {
    fn settings(&mut self, mut settings: Map<String, Value>) {
        if let Some(permissions) = settings.remove("permissions") {
            self.allowed.extend(texts(permissions.get("allow")));
            self.disallowed.extend(texts(permissions.get("deny")));
            let keys = permissions.as_object().into_iter().flat_map(Map::keys);
            for key in keys.filter(|key| !["allow", "deny"].contains(&key.as_str())) {
                output::tell(&format!(
                    "warning: --settings: `permissions.{key}` does nothing here; `allow` and `deny` do"
                ));
            }
        }
        self.hooks = settings.remove("hooks");
        for key in settings.keys() {
            output::tell(&format!(
                "warning: --settings: `{key}` does nothing here; permissions and hooks do"
            ));
        }
    }
}

/// The rules of a list. Commas and blanks in brackets belong to a rule.
fn rules(list: &str) -> Vec<String> {
    let (mut rules, mut depth) = (vec![String::new()], 0_usize);
    for c in list.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match rules.last_mut() {
            Some(rule) if depth > 0 || !(c == ',' || c.is_whitespace()) => rule.push(c),
            Some(_) | None => rules.push(String::new()),
        }
    }
    rules.retain(|rule| !rule.is_empty());
    rules
}

fn texts(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// An object that is written out, or in a file.
fn object_of(given: &str, flag: &str) -> Result<Map<String, Value>, Failure> {
    let text = if given.trim_start().starts_with('{') { given.to_owned() } else { text_of(given, flag)? };
    let read = serde_json::from_str(text.trim_start_matches('\u{feff}'));
    read.map_err(|error| Failure::Usage(anyhow!("{flag}: this is no JSON object: {error}")))
}

fn text_of(file: &str, flag: &str) -> Result<String, Failure> {
    let read = std::fs::read_to_string(Path::new(file));
    read.with_context(|| format!("{flag}: {file} can't be read")).map_err(Failure::Usage)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_are_split_outside_of_brackets() {
        for (list, expected) in [
            ("", &[][..]),
            ("Bash,Read", &["Bash", "Read"]),
            ("Bash(git log:*, x) Edit, mcp__a__b", &["Bash(git log:*, x)", "Edit", "mcp__a__b"]),
            ("a)b,c", &["a)b", "c"]),
        ] {
            assert_eq!(rules(list), expected, "{list}");
        }
    }

    proptest! {
        #[test]
        fn no_list_breaks_it(list in ".{0,80}") {
            let all: String = rules(&list).concat();
            let kept = |c: &char| *c != ',' && !c.is_whitespace();
            prop_assert_eq!(all.chars().filter(kept).collect::<String>(), list.chars().filter(kept).collect::<String>());
        }
    }
}
