//! Headers of a provider's answer that are worth more to a client than to us.

/// Names, and beginnings of names that end with `-`.
const WORTH: &[&str] =
    &["request-id", "x-request-id", "retry-after", "anthropic-ratelimit-", "x-ratelimit-", "openai-"];

/// Names of whoever pays the provider, which are nobody else's business.
const NOT: &[&str] = &["openai-organization", "openai-project"];

/// Those of the headers that may be passed on to a client.
pub(crate) fn worth_passing(headers: Vec<(String, String)>) -> Vec<(String, String)> {
    let is = |name: &str, known: &&str| {
        if known.ends_with('-') { name.starts_with(*known) } else { name == *known }
    };
    let worth = |name: &str| WORTH.iter().any(|known| is(name, known)) && !NOT.contains(&name);
    headers.into_iter().filter(|(name, _)| worth(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_are_worth_passing() {
        let names = [
            "request-id",
            "request-id-2",
            "x-request-id",
            "retry-after",
            "set-cookie",
            "anthropic-ratelimit-tokens-remaining",
            "anthropic-organization-id",
            "anthropic-other",
            "x-ratelimit-limit-requests",
            "openai-processing-ms",
            "openai-organization",
            "openai-project",
            "content-length",
            "server",
        ];
        let headers = names.map(|name| (name.to_owned(), "v".to_owned())).to_vec();
        let kept: Vec<String> = worth_passing(headers).into_iter().map(|(name, _)| name).collect();
        assert_eq!(
            kept,
            [
                "request-id",
                "x-request-id",
                "retry-after",
                "anthropic-ratelimit-tokens-remaining",
                "x-ratelimit-limit-requests",
                "openai-processing-ms",
            ]
        );
    }
}
