//! JSON-RPC: what a line of the client is, and what is answered.

use agent_client_protocol_schema::v1::{Error, RequestId};
use serde::Serialize;
use serde_json::{Value, json};

use crate::port::Refused;

/// What a client says.
#[derive(PartialEq, Debug)]
pub(crate) enum Incoming {
    /// It wants something.
    Request { id: RequestId, method: String, params: Value },
    /// It tells something.
    Notification { method: String, params: Value },
    /// It answers a request of ours.
    Response { id: RequestId, answer: Result<Value, Error> },
    /// It can't be understood: what to say, and to which request.
    Wrong { id: RequestId, error: Error },
}

/// Reads a line; nothing of an empty one.
pub(crate) fn read(line: &[u8]) -> Option<Incoming> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    let wrong = |error| Some(Incoming::Wrong { id: RequestId::Null, error });
    let mut message = match serde_json::from_slice(line) {
        Ok(Value::Object(message)) => message,
        Ok(Value::Array(_)) => return wrong(invalid("batches are not taken; send one message a line")),
        Ok(_) => return wrong(invalid("a message is an object")),
        Err(error) => return wrong(Error::parse_error().data(Value::from(error.to_string()))),
    };
    let id = match message.remove("id") {
        None => None,
        Some(value) => match serde_json::from_value::<RequestId>(value) {
            Ok(id) => Some(id),
            Err(_) => return wrong(invalid("an id is a text, a whole number or null")),
        },
    };
    let or_null = |id: Option<RequestId>| id.unwrap_or(RequestId::Null);
    if message.get("jsonrpc") != Some(&json!("2.0")) {
        return Some(Incoming::Wrong { id: or_null(id), error: invalid("`jsonrpc` must be \"2.0\"") });
    }
    let method = match message.remove("method") {
        None => None,
        Some(Value::String(method)) => Some(method),
        Some(_) => return Some(Incoming::Wrong { id: or_null(id), error: invalid("`method` is a text") }),
    };
    let params = message.remove("params").unwrap_or(Value::Null);
    match (id, method) {
        (Some(id), Some(method)) => Some(Incoming::Request { id, method, params }),
        (None, Some(method)) => Some(Incoming::Notification { method, params }),
        (Some(id), None) => match (message.remove("result"), message.remove("error")) {
            (_, Some(error)) => {
                let unreadable = |_| Error::internal_error().data(json!("the client's error can't be read"));
                Some(Incoming::Response {
                    id,
                    answer: Err(serde_json::from_value(error).unwrap_or_else(unreadable)),
                })
            }
            (Some(result), None) => Some(Incoming::Response { id, answer: Ok(result) }),
            (None, None) => {
                Some(Incoming::Wrong { id, error: invalid("there is neither a method nor a result") })
            }
        },
        (None, None) => wrong(invalid("there is neither a method nor an id")),
    }
}

/// The answer to a request.
pub(crate) fn answer(id: &RequestId, answer: Result<Value, Error>) -> Value {
    match answer {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
    }
}

/// A request of ours.
pub(crate) fn request(id: i64, method: &str, params: &impl Serialize) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// Something that the client is told.
pub(crate) fn notification(method: &str, params: &impl Serialize) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

/// A request that makes no sense at this point.
pub(crate) fn invalid(why: &str) -> Error {
    said(Error::invalid_request(), why)
}

/// Parameters that make no sense.
pub(crate) fn wrong(why: &str) -> Error {
    said(Error::invalid_params(), why)
}

/// Something that went wrong here.
pub(crate) fn failed(why: &str) -> Error {
    said(Error::internal_error(), why)
}

/// Many clients show the message alone, so the reason stands there.
fn said(mut error: Error, why: &str) -> Error {
    error.message = format!("{}: {why}", error.message);
    error
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        match &refused {
            Refused::NoProvider(why) => said(Self::auth_required(), why),
            Refused::Unknown(id) => {
                let error = Self::session_not_found(id.clone());
                said(error, &refused.to_string())
            }
            Refused::Wrong(why) => wrong(why),
            Refused::Failed(why) => failed(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let id = RequestId::Number;
        for (line, expected) in [
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"b":2}}"#,
                Incoming::Request { id: id(1), method: "a".into(), params: json!({"b": 2}) },
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#,
                Incoming::Request { id: RequestId::Null, method: "a".into(), params: Value::Null },
            ),
            (
                r#"{"jsonrpc":"2.0","method":"a"}"#,
                Incoming::Notification { method: "a".into(), params: Value::Null },
            ),
            (
                r#"{"jsonrpc":"2.0","id":3,"result":null}"#,
                Incoming::Response { id: id(3), answer: Ok(Value::Null) },
            ),
            (
                r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no"}}"#,
                Incoming::Response { id: id(3), answer: Err(Error::new(-32601, "no")) },
            ),
        ] {
            assert_eq!(read(line.as_bytes()), Some(expected), "{line}");
        }
        assert_eq!(read(b" \r"), None);
    }

    #[test]
    fn what_is_no_message_is_answered() {
        for (line, code, to) in [
            ("{", -32700, RequestId::Null),
            ("\u{1}", -32700, RequestId::Null),
            ("[]", -32600, RequestId::Null),
            ("1", -32600, RequestId::Null),
            (r#"{"jsonrpc":"2.0"}"#, -32600, RequestId::Null),
            (r#"{"jsonrpc":"1.0","id":4,"method":"a"}"#, -32600, RequestId::Number(4)),
            (r#"{"id":"x","method":"a"}"#, -32600, RequestId::Str("x".into())),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"a"}"#, -32600, RequestId::Null),
            (r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#, -32600, RequestId::Null),
            (r#"{"jsonrpc":"2.0","id":5,"method":7}"#, -32600, RequestId::Number(5)),
            (r#"{"jsonrpc":"2.0","id":6}"#, -32600, RequestId::Number(6)),
        ] {
            match read(line.as_bytes()) {
                Some(Incoming::Wrong { id, error }) => {
                    assert_eq!((i32::from(error.code), id), (code, to), "{line}")
                }
                other => panic!("{line}: {other:?}"),
            }
        }
    }

    proptest! {
        #[test]
        fn any_line_is_read(line in proptest::collection::vec(any::<u8>(), 0..60)) {
            read(&line);
        }
    }
}
