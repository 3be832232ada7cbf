use std::time::Duration;

/// What servers can cost at most.
#[derive(Clone, PartialEq, Debug)]
pub struct Limits {
    /// Estimated tokens of all declarations: beyond it tools are found by `mcp_search` instead of being declared.
    pub declare_tokens: u64,
    /// Tools, prompts, resources and templates of one server, each.
    pub listed: usize,
    /// Pages of one list.
    pub pages: usize,
    /// Characters of a tool's description; the rest is cut.
    pub description: usize,
    /// Bytes of a tool's schema; a longer one is left out, and the tool takes any arguments.
    pub schema: usize,
    /// Bytes of one message; a longer one is not read.
    pub message: usize,
    /// Bytes of images and sounds in one result, as base64; others are named instead.
    pub media: usize,
    /// Requests of one server that are open at once; more are refused.
    pub asks: usize,
    /// Lines that a server may write to the log in a second; more are dropped.
    pub log_lines: u32,
    /// Bytes kept of the end of what a server says of errors.
    pub stderr: usize,
    /// The pause before a server is tried again; it doubles each time.
    pub retry: Duration,
    /// The longest pause.
    pub retry_most: Duration,
    /// A server that ran as long as this is well: the next pause is the first again.
    pub healthy: Duration,
    /// How often a server that dies at once is started before it is given up.
    pub deaths: u32,
    /// How often a server is asked whether it still lives while nothing else is asked of it.
    pub ping: Duration,
    /// How long a server has to end when it is stopped.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            declare_tokens: 6_000,
            listed: 1_000,
            pages: 100,
            description: 4_000,
            schema: 64 << 10,
            message: 16 << 20,
            media: 8 << 20,
            asks: 8,
            log_lines: 20,
            stderr: 8 << 10,
            retry: Duration::from_secs(1),
            retry_most: Duration::from_secs(60),
            healthy: Duration::from_secs(60),
            deaths: 5,
            ping: Duration::from_secs(60),
            grace: Duration::from_millis(500),
        }
    }
}
