//! What a server says with a refusal: the header `WWW-Authenticate` (RFC 9110, section 11).

/// More challenges or parameters than this are no refusal but an attack; the rest is not read.
const MOST: usize = 64;

/// One challenge of the header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Challenge {
    /// Its scheme, in small letters.
    pub(super) scheme: String,
    /// Its parameters in order, names in small letters.
    pub(super) parameters: Vec<(String, String)>,
}

/// What a `Bearer` challenge says.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Bearer {
    /// Where the server's metadata are (RFC 9728).
    pub(crate) resource_metadata: Option<String>,
    /// The scopes that the request needed.
    pub(crate) scope: Option<String>,
    /// Why the token was refused, such as `insufficient_scope`.
    pub(crate) error: Option<String>,
}

/// What the header's `Bearer` challenge says. Where there are several, the first that names metadata counts.
pub(crate) fn bearer(header: &str) -> Bearer {
    let mut found: Vec<Bearer> =
        challenges(header).iter().filter(|one| one.scheme == "bearer").map(Bearer::of).collect();
    let at = found.iter().position(|one| one.resource_metadata.is_some()).unwrap_or(0);
    if found.is_empty() { Bearer::default() } else { found.swap_remove(at) }
}

impl Bearer {
    fn of(challenge: &Challenge) -> Self {
        let get = |wanted: &str| {
            let mut all = challenge.parameters.iter();
            all.find(|(name, value)| name == wanted && !value.is_empty()).map(|(_, value)| value.clone())
        };
        Self { resource_metadata: get("resource_metadata"), scope: get("scope"), error: get("error") }
    }
}

/// The challenges of a header, or of several joined by commas or line breaks. What fits no grammar is passed over.
pub(super) fn challenges(header: &str) -> Vec<Challenge> {
    let mut rest = Cursor(header);
    let mut all: Vec<Challenge> = Vec::new();
    let mut parameters = 0;
    while all.len() + parameters < MOST {
        rest.skip(|c| c == ',' || is_blank(c));
        let word = rest.take(is_token);
        if word.is_empty() {
            // Something that begins neither a challenge nor a parameter, or the end.
            if rest.next().is_none() {
                break;
            }
            continue;
        }
        match (rest.value(), all.last_mut()) {
            (Some(value), Some(challenge)) => {
                parameters += 1;
                challenge.parameters.push((word.to_ascii_lowercase(), value));
            }
            // A parameter of nobody.
            (Some(_), None) => {}
            (None, _) => {
                all.push(Challenge { scheme: word.to_ascii_lowercase(), parameters: Vec::new() });
                rest.skip_token68();
            }
        }
    }
    all
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

/// The text that was not read yet.
struct Cursor<'a>(&'a str);

impl<'a> Cursor<'a> {
    fn take(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let end = self.0.find(|c| !fits(c)).unwrap_or(self.0.len());
        let (taken, rest) = self.0.split_at(end);
        self.0 = rest;
        taken
    }

    fn skip(&mut self, fits: impl Fn(char) -> bool) {
        self.take(fits);
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.0.chars();
        let next = chars.next();
        self.0 = chars.as_str();
        next
    }

    /// The value behind a parameter's name; None, with nothing read, where there is no `=` and so no parameter.
    fn value(&mut self) -> Option<String> {
        let rest = self.0.trim_start_matches(is_blank).strip_prefix('=')?;
        let mut value = Cursor(rest.trim_start_matches(is_blank));
        let read = if value.0.starts_with('"') { value.quoted() } else { value.take(is_token).to_owned() };
        self.0 = value.0;
        Some(read)
    }

    /// A quoted string. One that is not closed ends with the text.
    fn quoted(&mut self) -> String {
        let mut out = String::new();
        self.next();
        while let Some(c) = self.next() {
            match c {
                '"' => break,
                '\\' => out.extend(self.next()),
                c => out.push(c),
            }
        }
        out
    }

    /// Credentials in one word, as some schemes have them in place of parameters: nothing here is for us.
    fn skip_token68(&mut self) {
        let mut ahead = Cursor(self.0.trim_start_matches([' ', '\t']));
        let word = ahead.take(|c| c.is_ascii_alphanumeric() || "-._~+/".contains(c));
        ahead.skip(|c| c == '=');
        ahead.skip(|c| c == ' ' || c == '\t');
        if !word.is_empty() && (ahead.0.is_empty() || ahead.0.starts_with(',')) {
            self.0 = ahead.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(header: &str) -> String {
        let one = |challenge: &Challenge| {
            let parameters = challenge.parameters.iter().map(|(name, value)| format!(" {name}=<{value}>"));
            format!("{}{}", challenge.scheme, parameters.collect::<String>())
        };
        challenges(header).iter().map(one).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn challenges_are_read_as_servers_write_them() {
        for (header, expected) in [
            ("", ""),
            ("Bearer", "bearer"),
            (
                r#"Bearer resource_metadata="https://a.test/x", scope="a b""#,
                "bearer resource_metadata=<https://a.test/x> scope=<a b>",
            ),
            (r#"bearer Scope = plain , error="x""#, "bearer scope=<plain> error=<x>"),
            (
                r#"Basic realm="a, Bearer b=\"c\"", Bearer d=e"#,
                r#"basic realm=<a, Bearer b="c">; bearer d=<e>"#,
            ),
            ("Negotiate YWJj==, Bearer a=b", "negotiate; bearer a=<b>"),
            ("Negotiate, Bearer", "negotiate; bearer"),
            ("Bearer a=b\nDPoP algs=\"ES256\"", "bearer a=<b>; dpop algs=<ES256>"),
            (r#"Bearer a="never closed"#, "bearer a=<never closed>"),
            (r#"Bearer error="invalid_token" scope="x""#, "bearer error=<invalid_token> scope=<x>"),
            ("a=b, Bearer", "bearer"),
            ("=, \"\" ,; Bearer é a=b", "bearer a=<b>"),
        ] {
            assert_eq!(shown(header), expected, "{header}");
        }
    }

    #[test]
    fn the_challenge_that_names_metadata_counts() {
        let said = bearer(r#"Bearer realm="x", Bearer resource_metadata="https://a.test", scope=s"#);
        assert_eq!(said.resource_metadata.as_deref(), Some("https://a.test"));
        assert_eq!(said.scope.as_deref(), Some("s"));
        assert_eq!(bearer("Basic scope=s"), Bearer::default());
        assert_eq!(bearer(r#"Bearer scope="", error=e"#).scope, None);
    }

    #[test]
    fn an_endless_header_is_not_read_to_its_end() {
        assert_eq!(challenges(&"Bearer a=b, ".repeat(1000)).len(), MOST / 2);
    }

    proptest! {
        #[test]
        fn any_header_is_read(header in "(\\PC|[\"\\\\=, \t\n]|Bearer |scope=|Basic YQ==){0,60}") {
            for challenge in challenges(&header) {
                prop_assert!(!challenge.scheme.is_empty() && challenge.scheme.chars().all(is_token));
            }
        }

        #[test]
        fn what_is_written_is_read(
            parameters in prop::collection::vec(("[a-z_]{1,12}", "[ -~]{0,30}"), 1..8),
            before in "(Basic realm=\"x, y\", |Negotiate YWI=, |)",
        ) {
            let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
            let written: Vec<String> =
                parameters.iter().map(|(name, value)| format!("{name}=\"{}\"", quoted(value))).collect();
            let read = challenges(&format!("{before}Bearer {}", written.join(", ")));
            prop_assert_eq!(&read.last().unwrap().parameters, &parameters);
        }
    }
}
