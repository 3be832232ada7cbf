//! What a provider says of a failure, made fit to be told and acted on: without keys, of the right kind, with a wait that ends.

use std::time::Duration;

use rail_model::{ApiError, ErrorKind};
use rail_route::Provider;

use crate::secrets::Secrets;

/// No wait that a provider names counts for longer: nobody keeps a request, or a key at rest, until then.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// So much of a message is told, in bytes; a client of the same protocol gets all of what was said.
const LONGEST_MESSAGE: usize = 16 << 10;

/// Wordings, in lower case, that the protocols themselves have no word for, and what is meant.
const MEANT: &[(&[&str], ErrorKind)] = &[
    // vLLM
    (&["longer than the maximum model length"], ErrorKind::ContextLength),
    // GLM, Moonshot, Doubao, xAI
    (&["prompt exceeds max length"], ErrorKind::ContextLength),
    (&["exceeded model token limit"], ErrorKind::ContextLength),
    (&["token length too long"], ErrorKind::ContextLength),
    (&["exceed max message tokens"], ErrorKind::ContextLength),
    (&["maximum prompt length is", "tokens"], ErrorKind::ContextLength),
    // Qwen on DashScope
    (&["token length exceed"], ErrorKind::ContextLength),
    (&["input length", "exceed"], ErrorKind::ContextLength),
    // Claude where the answer has no room left, and on Bedrock
    (&["exceed context limit"], ErrorKind::ContextLength),
    (&["input is too long for requested model"], ErrorKind::ContextLength),
    // Copilot, TGI, llama.cpp, Gemini
    (&["prompt token count", "exceeds the limit"], ErrorKind::ContextLength),
    (&["`inputs` must have less than"], ErrorKind::ContextLength),
    (&["`inputs` tokens + `max_new_tokens` must be <="], ErrorKind::ContextLength),
    (&["context shift is disabled"], ErrorKind::ContextLength),
    (&["text fields that are too large"], ErrorKind::ContextLength),
    // No money left: Anthropic, DashScope
    (&["reached your specified api usage limits"], ErrorKind::Quota),
    (&["account is in good standing"], ErrorKind::Quota),
    // Gemini, from where it is not offered
    (&["user location is not supported"], ErrorKind::Permission),
];

/// Makes an error of a provider fit to be told and acted on.
pub(crate) fn settle(provider: &Provider, error: &mut ApiError) {
    hide(&Secrets::of(provider), error);
    error.message.truncate(error.message.floor_char_boundary(LONGEST_MESSAGE));
    error.retry_after = error.retry_after.map(|wait| wait.min(LONGEST));
    if let ErrorKind::InvalidRequest | ErrorKind::TooLarge | ErrorKind::Server = error.kind {
        let lower = error.message.to_lowercase();
        let meant = MEANT.iter().find(|(words, _)| words.iter().all(|words| lower.contains(words)));
        error.kind = meant.map_or(error.kind, |(_, kind)| *kind);
    }
}

/// Takes keys out of an error: some providers repeat the key that they refuse.
pub(crate) fn hide(secrets: &Secrets, error: &mut ApiError) {
    let fields = [Some(&mut error.message), error.code.as_mut(), error.param.as_mut()];
    for field in fields.into_iter().flatten() {
        if let Some(hidden) = secrets.hidden(field) {
            *field = hidden;
        }
    }
    error.said.take_if(|(_, said)| secrets.hidden(&said.to_string()).is_some());
}

/// The wait that `retry-after` names in a form that the codecs don't read: a date, or more seconds than anybody waits.
pub(crate) fn wait(headers: &[(String, String)], unix_now: u64) -> Option<Duration> {
    let (_, said) = headers.iter().find(|(name, _)| name == "retry-after")?;
    match said.trim().parse::<f64>() {
        Ok(seconds) => (seconds > LONGEST.as_secs_f64()).then_some(LONGEST),
        Err(_) => http_date(said).map(|at| Duration::from_secs(at.saturating_sub(unix_now))),
    }
}

/// The unix seconds of `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = text.split_whitespace();
    let _weekday = words.next().filter(|word| word.ends_with(','))?;
    let (day, month, year) = (words.next()?, words.next()?, words.next()?);
    let mut time = words.next().filter(|_| words.next() == Some("GMT"))?.split(':').map(str::parse::<u64>);
    let (hours, minutes, seconds) = (time.next()?.ok()?, time.next()?.ok()?, time.next()?.ok()?);
    let (day, year): (u64, u64) = (day.parse().ok()?, year.parse().ok()?);
    let month = MONTHS.iter().position(|name| *name == month)?;
    let known = (1970..=9999).contains(&year) && (1..=31).contains(&day) && hours < 24 && minutes < 60;
    if !known || seconds > 60 {
        return None;
    }
    // Days before each month of a year without a leap day.
    let before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    // The leap days up to the last February that is over.
    let past = if month < 2 { year - 1 } else { year };
    let leaps = |year: u64| year / 4 - year / 100 + year / 400;
    let days = (year - 1970) * 365 + leaps(past) - leaps(1969) + before.get(month)? + day - 1;
    Some(days * 86_400 + hours * 3600 + minutes * 60 + seconds)
}

#[cfg(test)]
mod tests {
    use rail_model::ProtocolId;
    use rail_stdx::Secret;
    use serde_json::json;

    use super::*;

    fn settled(error: ApiError) -> ApiError {
        let mut provider = Provider::new("p", ProtocolId::new("openai-chat"), "http://x/v1");
        provider.keys = ["sk-0123456789", "none", ""].map(Secret::new).into();
        let mut error = error;
        settle(&provider, &mut error);
        error
    }

    #[test]
    fn a_key_is_hidden_wherever_it_is_repeated() {
        let said = |text: &str| Some((ProtocolId::new("openai-chat"), json!({"error": text})));
        let told =
            ApiError { said: said("none of it"), ..ApiError::new(ErrorKind::Authentication, "none of it") };
        assert_eq!(settled(told.clone()), told);
        let error = ApiError {
            said: said("sk-0123456789"),
            code: Some("sk-0123456789".to_owned()),
            param: Some("key.sk-0123456789".to_owned()),
            ..ApiError::new(ErrorKind::Authentication, "wrong key sk-0123456789, sk-0123456789!")
        };
        let error = settled(error);
        assert_eq!(error.message, "wrong key ***, ***!");
        assert_eq!((error.code.as_deref(), error.param.as_deref()), (Some("***"), Some("key.***")));
        assert_eq!(error.said, None);
        // The words do not repeat it, and what was said does.
        let error = ApiError { said: said("sk-0123456789"), ..ApiError::new(ErrorKind::Server, "no") };
        assert_eq!(settled(error).said, None);
    }

    #[test]
    fn waits() {
        let at = |said: &str| wait(&[("retry-after".to_owned(), said.to_owned())], 784_111_777);
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        for (said, expected) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", seconds(0)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", seconds(60)),
            (" Sun, 06 Nov 1994 08:49:36 GMT ", seconds(0)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", seconds(0)),
            ("99999999999999999999", Some(LONGEST)),
            ("inf", Some(LONGEST)),
            ("30", None),
            ("-30", None),
            ("nan", None),
            ("soon", None),
            ("", None),
            ("Sun, 06 Nov 1994 08:49:37 CET", None),
            ("Sun, 06 Nov 99999 08:49:37 GMT", None),
            ("Sun, 99 Nov 1994 08:49:37 GMT", None),
        ] {
            assert_eq!(at(said), expected, "{said}");
        }
        assert_eq!(wait(&[], 0), None);
        let endless =
            ApiError { retry_after: Some(Duration::MAX), ..ApiError::new(ErrorKind::RateLimited, "") };
        assert_eq!(settled(endless).retry_after, Some(LONGEST));
    }

    #[test]
    fn a_message_has_an_end() {
        let long = ApiError::new(ErrorKind::Server, "é".repeat(LONGEST_MESSAGE));
        assert_eq!(settled(long).message, "é".repeat(LONGEST_MESSAGE / 2));
    }

    #[test]
    fn dates() {
        for (unix, written) in [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"),
            (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"),
            (1_767_225_599, "Wed, 31 Dec 2025 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] {
            assert_eq!(http_date(written), Some(unix), "{written}");
            let (day, rest) = written.split_once(", ").unwrap();
            assert_eq!(http_date(rest), None, "{day}");
        }
    }

    #[test]
    fn kinds() {
        use ErrorKind::{ContextLength, InvalidRequest, Permission, Quota, RateLimited, Server};
        for (kind, message, expected) in [
            (
                InvalidRequest,
                "The decoder prompt (length 40000) is longer than the maximum model length of 32768.",
                ContextLength,
            ),
            (InvalidRequest, "Prompt exceeds max length", ContextLength),
            (
                InvalidRequest,
                "Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)",
                ContextLength,
            ),
            (InvalidRequest, "Input token length too long", ContextLength),
            (
                InvalidRequest,
                "Total tokens of image and text exceed max message tokens. Request id: 1",
                ContextLength,
            ),
            (
                InvalidRequest,
                "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
                ContextLength,
            ),
            (
                InvalidRequest,
                "InternalError.Algo.InvalidParameter: Total message token length exceed model limit(131072 tokens)",
                ContextLength,
            ),
            (InvalidRequest, "Input length 200000 exceeds the maximum length 131072", ContextLength),
            (
                InvalidRequest,
                "input length and `max_tokens` exceed context limit: 199990 + 20000 > 200000, decrease input length",
                ContextLength,
            ),
            (InvalidRequest, "Input is too long for requested model.", ContextLength),
            (InvalidRequest, "prompt token count of 140000 exceeds the limit of 128000", ContextLength),
            (
                InvalidRequest,
                "Input validation error: `inputs` must have less than 4095 tokens. Given: 5000",
                ContextLength,
            ),
            (
                InvalidRequest,
                "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens",
                ContextLength,
            ),
            (Server, "context shift is disabled", ContextLength),
            (InvalidRequest, "Request contains text fields that are too large.", ContextLength),
            (
                InvalidRequest,
                "You have reached your specified API usage limits. You will regain access on 2026-01-01.",
                Quota,
            ),
            (InvalidRequest, "Access denied, please make sure your account is in good standing.", Quota),
            (InvalidRequest, "User location is not supported for the API use.", Permission),
            // Not about the whole conversation, or known already
            (InvalidRequest, "tools[0].function.name exceeds max length 64", InvalidRequest),
            (InvalidRequest, "max_tokens exceeds the limit of 8192", InvalidRequest),
            (RateLimited, "input length exceeded for this minute", RateLimited),
        ] {
            assert_eq!(settled(ApiError::new(kind, message)).kind, expected, "{message}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_header_is_read_without_harm(said in ".{0,40}", date in "[A-Z][a-z]{2}, [0-9]{1,20} (Jan|Feb|Dec) [0-9]{1,20} [0-9:]{1,12} GMT") {
            for said in [said, date] {
                wait(&[("retry-after".to_owned(), said)], 5);
            }
        }
    }
}
