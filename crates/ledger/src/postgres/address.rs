//! The address of a database, as `psql` takes it.

use std::path::PathBuf;
use std::time::Duration;

use rail_stdx::Secret;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// So long a server may take to let a connection in.
const CONNECT: Duration = Duration::from_secs(5);
/// After so long without a word the system asks whether the server is still there.
const IDLE: Duration = Duration::from_secs(30);

/// Where a database is, and how it is spoken with.
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) trust: Trust,
}

/// How far the server must prove who it is, if TLS is spoken at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Trust {
    /// Not at all, as `sslmode=prefer` and `require` have it: nobody who only listens can read along.
    Anybody,
    /// By a certificate for its name, from one of the system's authorities or of those in a file.
    Proven(Option<PathBuf>),
}

/// The address in words that hold no secret.
pub(crate) fn shown(address: &Secret) -> String {
    let Ok(Address { config, .. }) = read(address) else { return "at `gateway.ledger`".to_owned() };
    let host = config.get_hosts().first().map_or_else(String::new, |host| match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    });
    let port = config.get_ports().first().map_or_else(String::new, |port| format!(":{port}"));
    format!("postgres://{host}{port}/{}", config.get_dbname().unwrap_or_default())
}

/// Reads an address; the error says what to write.
pub(super) fn read(address: &Secret) -> Result<Address, String> {
    let text = address.reveal();
    let (front, query) = text.split_once('?').unwrap_or((text, ""));
    let (mut rest, mut mode, mut roots) = (Vec::new(), None, None);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("sslmode", value)) => mode = Some(value),
            Some(("sslrootcert", value)) => roots = Some(PathBuf::from(decoded(value))),
            Some(_) | None => rest.push(pair),
        }
    }
    let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
    // What the parser says may hold a piece of the password.
    let mut config: Config = format!("{front}{query}").parse().map_err(|_| {
        "its address can't be read; write `postgres://user:password@host/name`, with `%40` for an `@` in the password and the like"
            .to_owned()
    })?;
    let (mode, trust) = match mode {
        Some("disable") => (SslMode::Disable, Trust::Anybody),
        None | Some("allow" | "prefer") => (SslMode::Prefer, Trust::Anybody),
        Some("require") if roots.is_none() => (SslMode::Require, Trust::Anybody),
        // To prove an authority but no name is of little use; both are wanted here.
        Some("require" | "verify-ca" | "verify-full") => (SslMode::Require, Trust::Proven(roots)),
        Some(_) => {
            return Err("its `sslmode` is not known; write `disable`, `prefer`, `require` or `verify-full`"
                .to_owned());
        }
    };
    config.ssl_mode(mode);
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT);
    }
    if config.get_application_name().is_none() {
        config.application_name("rail");
    }
    config.keepalives_idle(IDLE);
    Ok(Address { config, trust })
}

/// Text in which `%41` stands for `A`.
fn decoded(text: &str) -> String {
    let (mut out, mut bytes) = (Vec::new(), text.bytes());
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let hex = (byte == b'%').then(|| [ahead.next(), ahead.next()]);
        let digits = hex.and_then(|[one, other]| String::from_utf8(vec![one?, other?]).ok());
        match digits.and_then(|digits| u8::from_str_radix(&digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                bytes = ahead;
            }
            None => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn how_tls_is_spoken() {
        let file = || Some(PathBuf::from("/etc/a b.pem"));
        for (query, mode, trust) in [
            ("", SslMode::Prefer, Trust::Anybody),
            ("?sslmode=disable", SslMode::Disable, Trust::Anybody),
            ("?sslmode=prefer", SslMode::Prefer, Trust::Anybody),
            ("?sslmode=require", SslMode::Require, Trust::Anybody),
            ("?application_name=x&sslmode=verify-full", SslMode::Require, Trust::Proven(None)),
            ("?sslmode=verify-full&sslrootcert=/etc/a%20b.pem", SslMode::Require, Trust::Proven(file())),
            ("?sslmode=require&sslrootcert=/etc/a%20b.pem", SslMode::Require, Trust::Proven(file())),
        ] {
            let address = read(&Secret::new(format!("postgres://u:p@db.test:6432/rail{query}"))).unwrap();
            assert_eq!((address.config.get_ssl_mode(), address.trust), (mode, trust), "{query}");
        }
    }

    #[test]
    fn no_secret_is_shown() {
        for (address, expected) in [
            ("postgres://u:secret@db.test:6432/rail?sslmode=require", "postgres://db.test:6432/rail"),
            ("postgresql://u:secret@db.test", "postgres://db.test:5432/"),
            ("postgres://u:secret@%2Frun%2Fpg/rail", "postgres:///run/pg:5432/rail"),
            ("postgres://u:se cret@[::1/rail", "at `gateway.ledger`"),
            ("postgres://u:secret@db.test/rail?sslmode=secret", "at `gateway.ledger`"),
        ] {
            assert_eq!(shown(&Secret::new(address)), expected);
        }
    }

    #[test]
    fn what_is_wrong_is_told_without_it() {
        let wrong = |address: &str| read(&Secret::new(address)).err().unwrap_or_default();
        insta::assert_snapshot!(wrong("postgres://u:secret@h/d?sslmode=maybe"), @"its `sslmode` is not known; write `disable`, `prefer`, `require` or `verify-full`");
        insta::assert_snapshot!(wrong("postgres://u:secret@h:port/d"), @"its address can't be read; write `postgres://user:password@host/name`, with `%40` for an `@` in the password and the like");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(postgres://)?.*", query in ".*") {
            let _ = read(&Secret::new(format!("{text}?{query}")));
            let _ = shown(&Secret::new(text));
            prop_assert_eq!(decoded(&query.replace('%', "%25")), query);
        }
    }
}
