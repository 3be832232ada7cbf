use std::time::Duration;

/// How much a page may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// How long all of it may take, redirects included.
    pub total: Duration,
    /// How long a connection may take: the name, the socket, the proxy and TLS together.
    pub connect: Duration,
    /// How long the head of the answer may take after that.
    pub header: Duration,
    /// How long the next piece of the body may take.
    pub idle: Duration,
    /// Bytes of a body as it is sent; of a longer one that is its beginning.
    pub body_bytes: usize,
    /// Bytes of a body without its compression.
    pub unpacked_bytes: usize,
    /// How many times the bytes that were sent may come of them.
    pub unpacked_ratio: usize,
    /// Characters of a page's text.
    pub chars: usize,
    /// Redirects that are followed.
    pub redirects: usize,
    /// How long a page is kept.
    pub kept: Duration,
    /// Bytes of all pages that are kept.
    pub kept_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            total: Duration::from_secs(60),
            connect: Duration::from_secs(10),
            header: Duration::from_secs(30),
            idle: Duration::from_secs(15),
            body_bytes: 10_000_000,
            unpacked_bytes: 50_000_000,
            unpacked_ratio: 200,
            chars: 500_000,
            redirects: 5,
            kept: Duration::from_secs(900),
            kept_bytes: 20_000_000,
        }
    }
}
