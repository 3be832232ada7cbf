//! Where traces are sent.

use rail_config::{Env, Loaded};
use rail_stdx::Secret;

/// The service's name when nobody gives another.
const SERVICE: &str = "switchrail";

/// Where traces are sent, over OTLP with protobuf in HTTP.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Otlp {
    /// The address that spans are sent to, such as `http://127.0.0.1:4318/v1/traces`.
    pub url: String,
    /// Headers sent with each request.
    pub headers: Vec<(String, Secret)>,
    /// The name that the spans have as their service.
    pub service: String,
}

impl Otlp {
    /// What the configuration says, else the standard variables: `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS` (and both
    /// with `TRACES` in their name), `OTEL_SERVICE_NAME`, `OTEL_TRACES_EXPORTER` and `OTEL_SDK_DISABLED`. The variables' headers are for
    /// the variables' address only.
    pub fn find(loaded: &Loaded, env: &Env) -> Option<Self> {
        let service = env.get("OTEL_SERVICE_NAME").unwrap_or(SERVICE).to_owned();
        if let Some(endpoint) = &loaded.settings.gateway.otlp {
            return Some(Self { url: below(endpoint), headers: Vec::new(), service });
        }
        let is = |name: &str, word: &str| env.get(name).is_some_and(|said| said.eq_ignore_ascii_case(word));
        if is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
            return None;
        }
        // What is said for traces alone counts more, and is the whole address.
        let url = match env.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") {
            Some(url) => url.to_owned(),
            None => below(env.get("OTEL_EXPORTER_OTLP_ENDPOINT")?),
        };
        let said =
            env.get("OTEL_EXPORTER_OTLP_TRACES_HEADERS").or_else(|| env.get("OTEL_EXPORTER_OTLP_HEADERS"));
        Some(Self { url, headers: said.map(headers).unwrap_or_default(), service })
    }

    /// What the standard variables ask for that can't be done, for whoever starts a gateway.
    pub fn warning(env: &Env) -> Option<String> {
        let names = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];
        let (name, said) = names.iter().find_map(|name| Some((name, env.get(name)?)))?;
        (said != "http/protobuf").then(|| {
            format!(
                "traces are sent as `http/protobuf` only, and not as `{said}`, as {name} says; give the collector's address for HTTP, \
                 which has usually the port 4318"
            )
        })
    }
}

/// Where spans are taken below a collector's address.
fn below(endpoint: &str) -> String {
    format!("{}/v1/traces", endpoint.trim_end_matches('/'))
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
        assert_eq!((found.url.as_str(), found.service.as_str()), ("http://c:4318/v1/traces", "mine"));
        let headers: Vec<_> =
            found.headers.iter().map(|(name, value)| (name.as_str(), value.reveal())).collect();
        assert_eq!(headers, [("x-key", "a b,1"), ("z", "1")]);

        let said = loaded("[gateway]\notlp = \"http://127.0.0.1:4318\"");
        let found = Otlp::find(&said, &env(&variables)).unwrap();
        assert_eq!((found.url.as_str(), found.headers.len()), ("http://127.0.0.1:4318/v1/traces", 0));
        assert_eq!(Otlp::find(&none, &env(&[])), None);
        let off = [variables[0], ("OTEL_SDK_DISABLED", "true")];
        assert_eq!(Otlp::find(&none, &env(&off)), None);
        let off = [variables[0], ("OTEL_TRACES_EXPORTER", "none")];
        assert_eq!(Otlp::find(&none, &env(&off)), None);
        let own = [variables[0], variables[1], ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t/here")];
        let found = Otlp::find(&none, &env(&own)).unwrap();
        assert_eq!((found.url.as_str(), found.headers.len()), ("http://t/here", 2));
    }

    #[test]
    fn a_way_that_is_not_spoken_is_told() {
        let warning = |pairs: &[(&str, &str)]| Otlp::warning(&pairs.iter().copied().collect());
        assert_eq!(warning(&[]), None);
        assert_eq!(warning(&[("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")]), None);
        let said = warning(&[("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]).unwrap();
        assert!(said.contains("not as `grpc`, as OTEL_EXPORTER_OTLP_PROTOCOL says"), "{said}");
    }
}
