/// A host, or all hosts under one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum HostPattern {
    /// Every host.
    Any,
    /// This one.
    Exactly(String),
    /// Those whose name ends so; it begins with a dot.
    Under(String),
}

impl HostPattern {
    /// Reads what stands in the brackets of `WebFetch( )`.
    pub(crate) fn parse(tool: &str, text: &str) -> Result<Self, String> {
        let Some(host) = text.strip_prefix("domain:").map(str::trim) else {
            return Err(format!("says no `domain:`; write `{tool}(domain:docs.rs)`"));
        };
        if host == "*" {
            return Ok(Self::Any);
        }
        let alone = host.strip_prefix("*.").unwrap_or(host);
        let is_host = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
        if alone.is_empty() || !alone.chars().all(is_host) || alone.contains("..") {
            return Err(format!(
                "names no host; write the host alone, `{tool}(domain:docs.rs)`, or `*.` before it for all hosts under it"
            ));
        }
        let name = host_name(alone);
        Ok(if alone.len() < host.len() { Self::Under(format!(".{name}")) } else { Self::Exactly(name) })
    }

    /// Whether a host, written as [`host_name`] does, is meant.
    pub(crate) fn fits(&self, host: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Exactly(name) => name == host,
            Self::Under(end) => host.ends_with(end.as_str()) && host.len() > end.len(),
        }
    }
}

/// One spelling of a host: small letters, no dot at its end, no port.
pub(crate) fn host_name(host: &str) -> String {
    let host = host.trim();
    let alone = match (host.strip_prefix('['), host.rsplit_once(':')) {
        (Some(inner), _) => inner.split(']').next().unwrap_or(inner),
        // More than one colon is an address of IPv6 without brackets.
        (None, Some((name, port)))
            if !name.contains(':') && port.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            name
        }
        (None, Some(_) | None) => host,
    };
    alone.trim_end_matches('.').to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_fit() {
        for (rule, host, expected) in [
            ("domain:docs.rs", "docs.rs", true),
            ("domain:docs.rs", "DOCS.RS.", true),
            ("domain:docs.rs", "docs.rs:443", true),
            ("domain:docs.rs", "a.docs.rs", false),
            ("domain:docs.rs", "docs.rs.evil.com", false),
            ("domain:docs.rs", "evildocs.rs", false),
            ("domain:*.docs.rs", "a.docs.rs", true),
            ("domain:*.docs.rs", "a.b.docs.rs", true),
            ("domain:*.docs.rs", "docs.rs", false),
            ("domain:*.docs.rs", ".docs.rs", false),
            ("domain:*.docs.rs", "evildocs.rs", false),
            ("domain:*", "anything", true),
            ("domain:[::1]", "[::1]:80", true),
            ("domain:[::1]", "::1", true),
        ] {
            let pattern = HostPattern::parse("WebFetch", rule).unwrap();
            assert_eq!(pattern.fits(&host_name(host)), expected, "{rule} {host}");
        }
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for text in [
            "docs.rs",
            "domain:",
            "domain:*.",
            "domain:https://docs.rs",
            "domain:a b",
            "domain:a..b",
            "domain:*docs.rs",
            "domain:a/b",
        ] {
            assert!(HostPattern::parse("WebFetch", text).is_err(), "{text}");
        }
    }
}
