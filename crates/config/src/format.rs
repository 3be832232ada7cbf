//! Kinds of text that have rules of their own, by the name that the schema gives them.

use std::net::IpAddr;

use rail_permit::Rule;
use rail_repair::Mapping;
use rail_route::Chain;

use crate::settings::{Size, Wait};

/// What is wrong with the text of a format, and what to do; None when nothing is. Never tells a secret.
pub(crate) fn wrong(format: &str, text: &str) -> Option<String> {
    match format {
        "chain" => text.parse::<Chain>().err().map(|error| error.to_string()),
        "size" => text.parse::<Size>().err().map(|error| error.to_string()),
        "duration" => text.parse::<Wait>().err().map(|error| error.to_string()),
        "base-url" => base_url(text),
        "url" => url(text),
        "proxy" => proxy(text),
        "listen" => listen(text),
        "secret" => secret(text),
        "permission-rule" => rule(text),
        "private-place" => private_place(text),
        "path" => text.trim().is_empty().then(|| "it is empty; write the path of a file".to_owned()),
        _ => None,
    }
}

fn url(text: &str) -> Option<String> {
    let wrong = |problem: &str| Some(format!("{problem}; write it as `https://host/path`"));
    if text.contains(char::is_whitespace) {
        return wrong("an address holds no blanks");
    }
    let Some((scheme, rest)) = text.split_once("://") else {
        return wrong("the address has no `http://` or `https://`");
    };
    if !matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https") {
        return wrong("only `http://` and `https://` can be spoken");
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    // An address of IPv6 stands in brackets and holds colons.
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        Some(_) | None => (host, None),
    };
    if host.is_empty() {
        return wrong("the address has no host");
    }
    match port {
        Some(port) if port.parse::<u16>().is_err() => wrong("the port is no number up to 65535"),
        Some(_) | None => None,
    }
}

/// Paths that the protocols append themselves.
const APPENDED: &[&str] = &["/chat/completions", "/responses", "/messages", "/completions"];

fn base_url(text: &str) -> Option<String> {
    if let Some(problem) = url(text) {
        return Some(problem);
    }
    if text.contains(['?', '#']) {
        return Some("a base address has no `?` or `#`; write what stands before it".to_owned());
    }
    let authority = text.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
    if authority.contains('@') {
        return Some(
            "a base address has no user name or password; put what is secret into `key` or `headers`"
                .to_owned(),
        );
    }
    let path = text.trim_end_matches('/');
    let end = APPENDED.iter().find(|end| path.ends_with(*end))?;
    Some(format!("`{end}` is appended by the protocol; leave it out"))
}

fn proxy(text: &str) -> Option<String> {
    if text == "direct" {
        return None;
    }
    url(text).map(|_| "this is no proxy; write `http://host:port`, or `direct` for none".to_owned())
}

fn listen(text: &str) -> Option<String> {
    let port = text.rsplit_once(':').filter(|(host, _)| !host.is_empty() && !host.contains("//"));
    let is_right = port.is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    (!is_right)
        .then(|| "this is no address to listen on; write `host:port`, such as `127.0.0.1:4141`".to_owned())
}

fn private_place(text: &str) -> Option<String> {
    let (place, network) = text.split_once('/').map_or((text, None), |(place, prefix)| (place, Some(prefix)));
    let address = place.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
    let is_right = match (address, network) {
        (Some(address), Some(prefix)) => {
            let most = if address.is_ipv4() { 32 } else { 128 };
            prefix.parse::<u8>().is_ok_and(|prefix| prefix <= most)
        }
        (None, Some(_)) => false,
        (Some(_), None) => true,
        (None, None) => host_and_port(place),
    };
    (!is_right).then(|| {
        "this is no host, address or network; write `127.0.0.1:8080`, `10.0.0.0/8`, `[::1]:3000` or `intranet.example`".to_owned()
    })
}

/// Whether this is a host, with or without a port.
fn host_and_port(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !text.ends_with(']') => (host, Some(port)),
        Some(_) | None => (text, None),
    };
    let name = host.strip_prefix("*.").unwrap_or(host);
    let inner = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    let is_name = |name: &str| {
        let good = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
        !name.is_empty() && name.chars().all(good) && !name.starts_with('.') && !name.contains("..")
    };
    port.is_none_or(|port| port.parse::<u16>().is_ok())
        && inner.map_or_else(|| is_name(name), |inner| inner.parse::<IpAddr>().is_ok())
}

fn secret(text: &str) -> Option<String> {
    if text.is_empty() {
        return Some("it is empty; leave the key out, or write `env:NAME`".to_owned());
    }
    if text.starts_with("env:") {
        return Some("no variable can have the name after `env:`; write letters, digits and `_`".to_owned());
    }
    // A header would be cut there, or a server would refuse it without a reason.
    text.contains(|c: char| c.is_control())
        .then(|| "it holds a line break or another control character; write it as one line".to_owned())
}

fn rule(text: &str) -> Option<String> {
    // Which tools there are is known only when a session starts: here a name of no dialect is its own.
    let native = |name: &str| {
        let known = Mapping::names().filter_map(Mapping::builtin).find_map(|mapping| mapping.native(name));
        known.or_else(|| (!name.contains('*')).then_some(name)).map(str::to_owned)
    };
    Rule::parse(text, "", &native).err().map(|error| format!("the rule {}", error.why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_right_and_wrong() {
        for (format, text, is_right) in [
            ("private-place", "127.0.0.1:8080", true),
            ("private-place", "10.0.0.0/8", true),
            ("private-place", "fd00::/8", true),
            ("private-place", "::1", true),
            ("private-place", "[::1]:3000", true),
            ("private-place", "intranet.example", true),
            ("private-place", "*.intranet.example:443", true),
            ("private-place", "", false),
            ("private-place", "http://10.0.0.1", false),
            ("private-place", "10.0.0.0/33", false),
            ("private-place", "intranet/8", false),
            ("private-place", "a b", false),
            ("private-place", "host:port", false),
            ("private-place", "*", false),
            ("base-url", "https://host/v1", true),
            ("base-url", "http://localhost:1234/v1/", true),
            ("base-url", "http://[::1]:1234/v1", true),
            ("base-url", "http://[::1]/v1", true),
            ("base-url", "https://user:word@host", false),
            ("base-url", "HTTPS://host", true),
            ("base-url", "host/v1", false),
            ("base-url", "ftp://host", false),
            ("base-url", "https://", false),
            ("base-url", "https:///v1", false),
            ("base-url", "https://host:99999", false),
            ("base-url", "https://host/v1?x=1", false),
            ("base-url", "https://host/v1/chat/completions", false),
            ("base-url", "https://host/ v1", false),
            ("proxy", "direct", true),
            ("proxy", "http://proxy:8080", true),
            ("proxy", "proxy:8080", false),
            ("listen", "127.0.0.1:4141", true),
            ("listen", "[::1]:0", true),
            ("listen", "localhost:80", true),
            ("listen", "4141", false),
            ("listen", ":4141", false),
            ("listen", "http://127.0.0.1:4141", false),
            ("permission-rule", "Bash(git commit:*)", true),
            ("permission-rule", "mcp__github__*", true),
            ("permission-rule", "run_shell_command(ls:*)", true),
            ("permission-rule", "Edit(src/**)", true),
            ("permission-rule", "my_own_tool", true),
            ("permission-rule", "WebFetch(domain:docs.rs)", true),
            ("permission-rule", "WebFetch(https://docs.rs)", false),
            ("permission-rule", "Bash(a && b)", false),
            ("permission-rule", "Bash(:*)", false),
            ("permission-rule", "Edit(../x)", false),
            ("permission-rule", "*", false),
            ("permission-rule", "Bash(git", false),
            ("permission-rule", "(git)", false),
            ("permission-rule", "", false),
            ("secret", "sk-1", true),
            ("secret", "", false),
            ("secret", "a\nb", false),
            ("secret", "env:A B", false),
            ("unknown", "", true),
        ] {
            assert_eq!(wrong(format, text).is_none(), is_right, "{format} {text}");
        }
    }
}
