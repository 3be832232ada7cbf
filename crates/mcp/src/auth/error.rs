use std::path::PathBuf;
use std::time::Duration;

/// Why a login, a renewal or a question about tokens did not succeed. No message holds a token, a code or a client's secret.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AuthError {
    /// The server's own address can't be used.
    #[error("the address of the MCP server, `{url}`, can't be logged in to: {why}; correct it")]
    Server {
        /// The address.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// Somebody named an address that is not spoken to.
    #[error("{what}, `{url}`, is not used: {why}; tell whoever runs it")]
    Address {
        /// What it is the address of.
        what: &'static str,
        /// The address.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// No answer came.
    #[error("{what}: {host}: {why}")]
    Unreachable {
        /// What was wanted.
        what: &'static str,
        /// Of whom.
        host: String,
        /// What happened, and what to do.
        why: String,
    },
    /// An answer was more than what is read.
    #[error(
        "{what}: the answer of {host} is longer than {limit} bytes, so it is not what was asked for; check the address"
    )]
    TooLarge {
        /// What was wanted.
        what: &'static str,
        /// Of whom.
        host: String,
        /// The most that is read.
        limit: usize,
    },
    /// An answer leads to another place.
    #[error(
        "{what}: {host} leads on to `{to}`, and such an answer is not followed to another server; tell whoever runs it"
    )]
    Redirected {
        /// What was wanted.
        what: &'static str,
        /// Of whom.
        host: String,
        /// Where it leads.
        to: String,
    },
    /// An answer is a refusal.
    #[error("{what}: {host} answered with status {status}{said}")]
    Status {
        /// What was wanted.
        what: &'static str,
        /// Of whom.
        host: String,
        /// The status.
        status: u16,
        /// What was said with it, with a colon before it.
        said: String,
    },
    /// An answer can't be read.
    #[error("{what}: what {host} answered can't be read: {why}; tell whoever runs it")]
    Unreadable {
        /// What was wanted.
        what: &'static str,
        /// Of whom.
        host: String,
        /// Why it can't.
        why: String,
    },
    /// Nobody says where to log in.
    #[error(
        "the server {server} does not say where to log in: no metadata were found; if it wants a fixed key, set it as a header `Authorization`"
    )]
    NoMetadata {
        /// The server.
        server: String,
    },
    /// The server answers without a login.
    #[error("the server {server} answers without a login; there is nothing to do")]
    NotWanted {
        /// The server.
        server: String,
    },
    /// The metadata speak of another server.
    #[error(
        "the metadata of {server} are for another server, `{resource}`; nobody is asked for a token that could be used there"
    )]
    OtherResource {
        /// The server.
        server: String,
        /// Whom the metadata are for.
        resource: String,
    },
    /// The metadata, or the answer to the login, are those of another authorisation server.
    #[error(
        "`{issuer}` was asked and `{found}` answered; the login is given up, since somebody may have mixed up the two on purpose"
    )]
    OtherIssuer {
        /// Who was asked.
        issuer: String,
        /// Who says that it answered.
        found: String,
    },
    /// The authorisation server does not protect the code.
    #[error(
        "`{issuer}` does not say that it supports PKCE with S256, without which a login could be stolen; tell whoever runs it"
    )]
    NoPkce {
        /// The authorisation server.
        issuer: String,
    },
    /// The authorisation server registers nobody, and no client is configured.
    #[error(
        "`{issuer}` does not register programs by itself; register one there, with `http://127.0.0.1/callback` to lead back to, and set its `client_id`"
    )]
    NoClient {
        /// The authorisation server.
        issuer: String,
    },
    /// The login was refused.
    #[error("`{issuer}` refused the login: {error}{said}")]
    Denied {
        /// The authorisation server.
        issuer: String,
        /// The reason as one word, such as `access_denied`.
        error: String,
        /// What was said with it, with a colon before it.
        said: String,
    },
    /// Nobody finished the login in time.
    #[error("nobody finished the login within {} seconds; start it again{hint}", limit.as_secs())]
    TooLate {
        /// The time there was.
        limit: Duration,
        /// What came in the meantime and was not taken.
        hint: &'static str,
    },
    /// What was pasted is not the end of this login.
    #[error(
        "that is not the address that this login ended with: {why}; copy the whole address from the browser"
    )]
    Pasted {
        /// What is wrong with it.
        why: &'static str,
    },
    /// The port for the way back can't be had.
    #[error(
        "port {port} on 127.0.0.1, where the browser leads back to, can't be used: {why}; free it, or set another"
    )]
    Listen {
        /// The port; 0 is any.
        port: u16,
        /// Why not.
        why: String,
    },
    /// The file with the tokens can't be used.
    #[error("the file with the tokens of MCP servers, {}, {why}", path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// What is the matter with it, and what to do.
        why: String,
    },
    /// The system gives no random numbers.
    #[error("the system gives no random numbers: {why}; a login would not be safe")]
    NoRandom {
        /// Why not.
        why: String,
    },
    /// A person must log in.
    #[error("the server {server} wants a login{}; log in with `rail mcp login`", for_scope(scope))]
    LoginNeeded {
        /// The server.
        server: String,
        /// The scopes that it missed, if that is why.
        scope: Option<String>,
    },
    /// The server refuses what no login changes.
    #[error(
        "the server {server} refuses with status {status}, and a login would not help; ask whoever runs it"
    )]
    Forbidden {
        /// The server.
        server: String,
        /// The status.
        status: u16,
    },
    /// A renewal was ended from outside.
    #[error("the token was not renewed: the program is ending")]
    Ended,
}

fn for_scope(scope: &Option<String>) -> String {
    scope.as_ref().map(|scope| format!(" for `{}`", super::ask::plain(scope))).unwrap_or_default()
}
