//! Where traces are sent.

use rail_config::{Env, Loaded};
use rail_stdx::Secret;

/// The service's name when nobody gives another.
const SERVICE: &str = "switchrail";

/// Where traces are sent, over OTLP with protobuf in HTTP.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Otlp {
    /// The collector's address, such as `http://127.0.0.1:4318`; `/v1/traces` is appended to it.
    pub endpoint: String,
    /// Headers sent with each request.
    pub headers: Vec<(String, Secret)>,
    /// The name that the spans have as their service.
    pub service: String,
}

impl Otlp {
    /// What the configuration says, else the standard variables: `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS`,
    /// `OTEL_SERVICE_NAME` and `OTEL_SDK_DISABLED`. The variables' headers are for the variables' address only.
    pub fn find(loaded: &Loaded, env: &Env) -> Option<Self> {
        let service = env.get("OTEL_SERVICE_NAME").unwrap_or(SERVICE).to_owned();
        if let Some(endpoint) = &loaded.settings.gateway.otlp {
            return Some(Self { endpoint: endpoint.clone(), headers: Vec::new(), service });
        }
        if env.get("OTEL_SDK_DISABLED").is_some_and(|word| word.eq_ignore_ascii_case("true")) {
            return None;
        }
        let endpoint = env.get("OTEL_EXPORTER_OTLP_ENDPOINT")?.to_owned();
        let headers = env.get("OTEL_EXPORTER_OTLP_HEADERS").map(headers).unwrap_or_default();
        Some(Self { endpoint, headers, service })
    }
}

/// Reads `name=value,name=value`, values written as in an address. What is no header is passed over.
fn headers(text: &str) -> Vec<(String, Secret)> {
    let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
    let pairs =
        pairs.map(|(name, value)| (name.trim().to_ascii_lowercase(), crate::api::decoded(value.trim())));
    let read = pairs.filter_map(|(name, value)| Some((name, Secret::new(value?))));
    read.filter(|(name, _)| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::world::loaded;

    #[test]
    fn the_configuration_counts_before_the_variables() {
        let env = |pairs: &[(&str, &str)]| pairs.iter().copied().collect::<Env>();
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "X-Key=a%20b%2C1, broken,=x,y=%zz,z=1"),
            ("OTEL_SERVICE_NAME", "mine"),
        ];
        let none = loaded("");
        let found = Otlp::find(&none, &env(&variables)).unwrap();
        assert_eq!((found.endpoint.as_str(), found.service.as_str()), ("http://c:4318/", "mine"));
        let headers: Vec<_> =
            found.headers.iter().map(|(name, value)| (name.as_str(), value.reveal())).collect();
        assert_eq!(headers, [("x-key", "a b,1"), ("z", "1")]);

        let said = loaded("[gateway]\notlp = \"http://127.0.0.1:4318\"");
        let found = Otlp::find(&said, &env(&variables)).unwrap();
        assert_eq!((found.endpoint.as_str(), found.headers.len()), ("http://127.0.0.1:4318", 0));
        assert_eq!(Otlp::find(&none, &env(&[])), None);
        let off = [variables[0], ("OTEL_SDK_DISABLED", "true")];
        assert_eq!(Otlp::find(&none, &env(&off)), None);
    }
}
