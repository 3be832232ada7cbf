//! `GET /api/config`: the configuration in force, and who said each value.

use http::Response;
use rail_config::{FileFound, Which, With, show_json};
use serde_json::{Value, json};

use super::answer::{self, Wrong};
use super::query::Query;
use crate::Gateway;
use crate::body::Body;

/// The configuration in force. A secret is never in it.
pub(crate) fn config(gateway: &Gateway, query: &Query) -> Result<Response<Body>, Wrong> {
    let words = [("true", Which::All), ("false", Which::Changed)];
    let which = query.word("all", &words)?.unwrap_or(Which::Changed);
    let loaded = gateway.configuration();
    let files = loaded.files.iter().map(|file| {
        let found = match file.found {
            FileFound::Read => "read",
            FileFound::Unreadable => "unreadable",
            FileFound::Missing => "missing",
        };
        json!({"layer": file.layer.to_string(), "path": file.path.to_string_lossy(), "found": found})
    });
    let warnings = loaded.warnings.iter().map(|warning| Value::String(warning.to_string()));
    Ok(answer::json(
        gateway,
        &json!({
            "values": show_json(&loaded, which, With::Origins),
            "warnings": warnings.collect::<Vec<_>>(),
            "files": files.collect::<Vec<_>>(),
        }),
    ))
}
