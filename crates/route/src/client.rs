use rail_model::Purpose;

/// What of the caller matters for routing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Client<'a> {
    /// The headers it sent, names in lower case.
    pub headers: &'a [(String, String)],
    /// Its name, where the caller knows it better than the headers tell.
    pub name: Option<&'a str>,
}

/// How `user-agent` begins, and whose it is. The first that fits wins.
const AGENTS: [(&str, &str); 13] = [
    ("claude-cli/", "claude-code"),
    ("claude-code/", "claude-code"),
    ("codex", "codex"),
    ("geminicli", "gemini-cli"),
    ("qwencode", "qwen-code"),
    ("qwen-code", "qwen-code"),
    ("opencode", "opencode"),
    ("anthropic/", "anthropic-sdk"),
    ("asyncanthropic/", "anthropic-sdk"),
    ("openai/", "openai-sdk"),
    ("asyncopenai/", "openai-sdk"),
    ("google-genai-sdk/", "google-sdk"),
    ("ai-sdk/", "ai-sdk"),
];

/// Headers that name one conversation, or its part that a sub-agent has.
const SESSION_IDS: [&str; 5] =
    ["x-claude-code-session-id", "x-claude-code-agent-id", "session-id", "session_id", "thread-id"];

/// The longest name of a client that nobody knows, which is recorded with each of its requests.
const MOST_NAME: usize = 40;

impl<'a> Client<'a> {
    /// What a header says.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The client's name: the one given, else as its headers tell, else the first word of its `user-agent`, else nothing.
    pub(crate) fn known_as(&self) -> &'a str {
        if let Some(name) = self.name {
            return name;
        }
        if self.header("x-claude-code-session-id").is_some() {
            return "claude-code";
        }
        if self.header("originator").is_some_and(|word| begins(word, "codex")) {
            return "codex";
        }
        let agent = self.header("user-agent").unwrap_or_default();
        let known = AGENTS.iter().find(|(start, _)| begins(agent, start)).map(|(_, name)| *name);
        let word = || agent.split(['/', ' ']).next().unwrap_or_default();
        known.unwrap_or_else(|| word().get(..word().floor_char_boundary(MOST_NAME)).unwrap_or_default())
    }

    /// The ids that the client gives its conversation.
    pub(crate) fn session_ids(&self) -> impl Iterator<Item = &'a str> {
        let headers = *self;
        SESSION_IDS.iter().filter_map(move |name| headers.header(name)).filter(|id| !id.is_empty())
    }

    /// Why a request is made, where only a header tells.
    pub(crate) fn purpose(&self, said: Purpose) -> Purpose {
        match said {
            Purpose::Main => {}
            Purpose::SubAgent | Purpose::Background => return said,
        }
        match self.header("x-openai-subagent") {
            // Codex calls what it does on the side a sub-agent too.
            Some("compact" | "memory_consolidation") => return Purpose::Background,
            Some(_) => return Purpose::SubAgent,
            None => {}
        }
        if self.header("x-claude-code-agent-id").is_some() { Purpose::SubAgent } else { Purpose::Main }
    }
}

fn begins(text: &str, start: &str) -> bool {
    text.as_bytes().get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn clients_are_known_by_their_headers() {
        for (sent, expected) in [
            (("user-agent", "claude-cli/2.1.5 (external, cli)"), "claude-code"),
            (("x-claude-code-session-id", "5f"), "claude-code"),
            (("user-agent", "codex_cli_rs/0.60.1 (Linux)"), "codex"),
            (("originator", "codex_exec"), "codex"),
            (("user-agent", "GeminiCLI/0.20.0/gemini-2.5-pro (linux; x64)"), "gemini-cli"),
            (("user-agent", "QwenCode/0.4.0 (linux; x64)"), "qwen-code"),
            (("user-agent", "opencode/1.0.1"), "opencode"),
            (("user-agent", "Anthropic/Python 0.40.0"), "anthropic-sdk"),
            (("user-agent", "AsyncOpenAI/Python 1.50.0"), "openai-sdk"),
            (("user-agent", "OpenAI/JS 6.1.0"), "openai-sdk"),
            (("user-agent", "google-genai-sdk/1.30.0 gl-node/22"), "google-sdk"),
            (("user-agent", "ai-sdk/openai-compatible/1.0"), "ai-sdk"),
            (("user-agent", "curl/8.5.0"), "curl"),
            (("user-agent", &"é".repeat(50_000)), &"é".repeat(20)),
            (("accept", "*/*"), ""),
        ] {
            let headers = headers(&[sent]);
            assert_eq!(Client { headers: &headers, name: None }.known_as(), expected, "{sent:?}");
        }
        let sent = headers(&[("user-agent", "curl/8")]);
        assert_eq!(
            Client { headers: &sent, name: Some("rail") }.known_as(),
            "rail",
            "who is known needs no header"
        );
    }

    #[test]
    fn headers_tell_the_purpose_where_the_request_does_not() {
        for (sent, said, expected) in [
            (("accept", "*/*"), Purpose::Main, Purpose::Main),
            (("x-claude-code-agent-id", "a1"), Purpose::Main, Purpose::SubAgent),
            (("x-openai-subagent", "review"), Purpose::Main, Purpose::SubAgent),
            (("x-openai-subagent", "compact"), Purpose::Main, Purpose::Background),
            (("x-openai-subagent", "memory_consolidation"), Purpose::Main, Purpose::Background),
            (("x-openai-subagent", "review"), Purpose::Background, Purpose::Background),
        ] {
            let headers = headers(&[sent]);
            assert_eq!(Client { headers: &headers, name: None }.purpose(said), expected, "{sent:?}");
        }
    }
}
