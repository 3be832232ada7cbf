use std::sync::LazyLock;

use serde::Deserialize;

use super::pattern::{Pattern, last_segment, plain};
use crate::{ModelProfile, ProfilePatch, Provider};

/// The table that comes with the program.
pub(super) static TABLE: LazyLock<Table> = LazyLock::new(|| {
    // A test reads the file, so that the table is not empty here by mistake.
    toml::from_str(include_str!("../../data/models.toml")).unwrap_or_default()
});

/// What is known of servers and models, from the general to the exact: later rows win.
#[derive(Deserialize, Default, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    /// When the facts of rows without a date of their own were taken.
    #[cfg_attr(not(test), expect(dead_code, reason = "for the reader of the table and its documentation"))]
    pub(super) as_of: String,
    /// What holds at a server, whatever the model.
    pub(super) servers: Vec<Row>,
    /// What holds of a model.
    pub(super) models: Vec<Row>,
}

/// One row: where it holds, and what it says.
#[derive(Deserialize, Debug)]
#[serde(try_from = "toml::Table")]
pub(super) struct Row {
    /// Patterns of names; any name when there are none.
    pub(super) names: Vec<Pattern>,
    /// Patterns of hosts, or of `host:port`; any host when there are none.
    hosts: Vec<Pattern>,
    /// Protocols by their ids; any when there are none.
    protocols: Vec<String>,
    /// Whether the server runs on the user's own machines, where tokens have no price.
    local: bool,
    /// Where the facts come from, and when they were taken if not with the others.
    #[cfg_attr(not(test), expect(dead_code, reason = "for the reader of the table and its documentation"))]
    pub(super) origin: Origin,
    /// What it says.
    pub(super) patch: ProfilePatch,
}

/// Where the facts of a row come from.
#[derive(Deserialize, Default, Debug)]
#[cfg_attr(not(test), expect(dead_code, reason = "for the reader of the table and its documentation"))]
pub(super) struct Origin {
    pub(super) source: Option<String>,
    pub(super) as_of: Option<String>,
}

impl TryFrom<toml::Table> for Row {
    type Error = toml::de::Error;

    fn try_from(mut row: toml::Table) -> Result<Self, toml::de::Error> {
        let patterns = |list: Vec<String>| list.iter().map(|text| Pattern::new(text)).collect();
        Ok(Self {
            names: patterns(take(&mut row, "match")?),
            hosts: patterns(take(&mut row, "hosts")?),
            protocols: take(&mut row, "protocols")?,
            local: take(&mut row, "local")?,
            origin: Origin { source: take(&mut row, "source")?, as_of: take(&mut row, "as_of")? },
            // All else is said of the model, and an unknown field is an error.
            patch: row.try_into()?,
        })
    }
}

fn take<T: Default + for<'a> Deserialize<'a>>(
    row: &mut toml::Table,
    key: &str,
) -> Result<T, toml::de::Error> {
    row.remove(key).map_or_else(|| Ok(T::default()), toml::Value::try_into)
}

impl Row {
    pub(super) fn holds_at(&self, place: &Place) -> bool {
        let here = |host: &Pattern| host.matches(&place.host) || host.matches(&place.host_and_port);
        (self.hosts.is_empty() || self.hosts.iter().any(here))
            && (self.protocols.is_empty() || self.protocols.iter().any(|protocol| protocol == place.protocol))
    }

    pub(super) fn names(&self, name: &str) -> bool {
        self.names.iter().any(|pattern| pattern.matches(name))
    }
}

/// Where a model is asked.
pub(super) struct Place {
    protocol: &'static str,
    host: String,
    host_and_port: String,
}

impl Place {
    pub(super) fn of(provider: &Provider) -> Self {
        let rest = provider.base_url.split_once("://").map_or(provider.base_url.as_str(), |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let address = authority.rsplit('@').next().unwrap_or_default();
        let host = match address.split_once(']') {
            Some((v6, _)) => v6.trim_start_matches('['),
            None => address.split(':').next().unwrap_or_default(),
        };
        Self { protocol: provider.protocol.name(), host: plain(host), host_and_port: plain(address) }
    }
}

impl Table {
    /// Whether a provider runs on the user's own machines.
    pub(super) fn is_local(&self, provider: &Provider) -> bool {
        let place = Place::of(provider);
        self.servers.iter().any(|row| row.local && row.holds_at(&place))
    }

    /// What the table knows of a model at a provider.
    pub(super) fn profile(&self, provider: &Provider, model: &str) -> ModelProfile {
        let place = Place::of(provider);
        let mut profile = ModelProfile::default();
        for row in self.servers.iter().filter(|row| row.holds_at(&place)) {
            profile.apply(&row.patch);
        }
        let name = plain(model);
        // Folders name the maker or the server, which tells less than the model's own name: they count only where it says nothing.
        let segment = last_segment(&name);
        let known = self.models.iter().any(|row| row.names(segment));
        let name = if known { segment } else { name.as_str() };
        for row in self.models.iter().filter(|row| row.names(name) && row.holds_at(&place)) {
            profile.apply(&row.patch);
        }
        if self.is_local(provider) {
            profile.price = None;
        }
        profile
    }
}

#[cfg(test)]
mod tests {
    use rail_model::ProtocolId;

    use super::*;

    #[test]
    fn hosts_are_found_in_addresses() {
        for (address, host, host_and_port) in [
            ("https://api.openai.com/v1", "api.openai.com", "api.openai.com"),
            ("http://LocalHost:1234/v1", "localhost", "localhost-1234"),
            ("http://user:pass@10.0.0.1:8080", "10.0.0.1", "10.0.0.1-8080"),
            ("http://[::1]:11434/v1", "--1", "[--1]-11434"),
            ("example.com/v1?x=1", "example.com", "example.com"),
            ("", "", ""),
        ] {
            let place = Place::of(&Provider::new("p", ProtocolId::new("openai-chat"), address));
            assert_eq!(
                (place.host.as_str(), place.host_and_port.as_str()),
                (host, host_and_port),
                "{address}"
            );
        }
    }

    #[test]
    fn an_unknown_field_of_a_row_is_an_error() {
        let wrong =
            toml::from_str::<Table>("as_of = \"\"\nservers = []\n[[models]]\nmatch = [\"a\"]\nvisoin = true");
        assert!(wrong.unwrap_err().to_string().contains("unknown field `visoin`"));
    }
}
