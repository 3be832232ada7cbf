//! Where to log in: from the server's refusal to its metadata (RFC 9728), and on to those of an authorisation server
//! (RFC 8414, OpenID Connect Discovery).

use serde::Deserialize;

use super::AuthError;
use super::address::{Address, Reach};
use super::ask::{Answer, Asker};
use super::challenge::Bearer;

/// Authorisation servers of one resource that are tried.
const MOST_ISSUERS: usize = 4;

const RESOURCE: &str = "the metadata of the MCP server";
const ISSUER: &str = "the metadata of the authorisation server";

/// All that a login must know of the two servers.
#[derive(Clone, Debug)]
pub(super) struct Discovered {
    /// What the token is asked for (RFC 8707).
    pub(super) resource: String,
    /// The scopes that the server has.
    pub(super) scopes: Vec<String>,
    pub(super) issuer: Issuer,
}

/// An authorisation server that can be used: its endpoints are checked.
#[derive(Clone, Debug)]
pub(super) struct Issuer {
    /// What it calls itself.
    pub(super) name: String,
    pub(super) authorize: Address,
    pub(super) token: Address,
    pub(super) register: Option<Address>,
    pub(super) revoke: Option<Address>,
    /// How clients may show who they are at the token endpoint.
    pub(super) methods: Vec<String>,
    pub(super) scopes: Vec<String>,
    /// Whether every answer to a login names it (RFC 9207).
    pub(super) names_itself: bool,
    /// Whether a client may be the address of its own description.
    pub(super) takes_documents: bool,
}

#[derive(Deserialize)]
struct ResourceMetadata {
    resource: String,
    #[serde(default)]
    authorization_servers: Vec<String>,
    #[serde(default)]
    scopes_supported: Vec<String>,
}

#[derive(Deserialize)]
struct IssuerMetadata {
    issuer: String,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
    registration_endpoint: Option<String>,
    revocation_endpoint: Option<String>,
    code_challenge_methods_supported: Option<Vec<String>>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    scopes_supported: Vec<String>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
    #[serde(default)]
    client_id_metadata_document_supported: bool,
}

/// Finds out where to log in to a server that said this.
pub(super) async fn discover(
    asker: &Asker,
    server: &Address,
    said: &Bearer,
) -> Result<Discovered, AuthError> {
    let reach = server.reach();
    let Some(metadata) = resource_metadata(asker, server, said).await? else {
        // Servers of the first version of the standard are their own authorisation servers and have no metadata of their own.
        return match issuer(asker, &server.origin(), reach).await {
            Ok(issuer) => Ok(Discovered { resource: server.canonical(), scopes: Vec::new(), issuer }),
            Err(AuthError::Status { .. }) => Err(AuthError::NoMetadata { server: server.canonical() }),
            Err(other) => Err(other),
        };
    };
    let mut first = None;
    for name in metadata.authorization_servers.iter().take(MOST_ISSUERS) {
        match issuer(asker, name, reach).await {
            Ok(issuer) => {
                let (resource, scopes) = (metadata.resource, metadata.scopes_supported);
                return Ok(Discovered { resource, scopes, issuer });
            }
            Err(error) => {
                first.get_or_insert(error);
            }
        }
    }
    Err(first.unwrap_or_else(|| AuthError::NoMetadata { server: server.canonical() }))
}

/// The server's metadata: where its refusal says, or else at the two well-known places. None when there are none.
async fn resource_metadata(
    asker: &Asker,
    server: &Address,
    said: &Bearer,
) -> Result<Option<ResourceMetadata>, AuthError> {
    let named = said.resource_metadata.as_deref();
    let places = match named {
        Some(place) => vec![place.to_owned()],
        None => resource_places(server),
    };
    for place in places {
        let address = usable(RESOURCE, &place, server.reach())?;
        let answer = asker.get(RESOURCE, &address).await?;
        if answer.is_success() {
            let metadata: ResourceMetadata = answer.json()?;
            return checked(server, metadata).map(Some);
        }
        if named.is_some() || !is_absent(&answer) {
            return Err(answer.refusal());
        }
    }
    Ok(None)
}

/// A token that was asked for somebody else could be used by them, and theirs here: the metadata must be this server's.
fn checked(server: &Address, metadata: ResourceMetadata) -> Result<ResourceMetadata, AuthError> {
    let resource = Address::named(&metadata.resource, server.reach());
    if resource.is_ok_and(|resource| server.is_within(&resource)) {
        return Ok(metadata);
    }
    let resource = super::ask::plain(&metadata.resource);
    Err(AuthError::OtherResource { server: server.canonical(), resource })
}

fn resource_places(server: &Address) -> Vec<String> {
    let name = "oauth-protected-resource";
    let mut places = vec![server.well_known(name)];
    if !server.path().is_empty() {
        places.push(format!("{}/.well-known/{name}", server.origin()));
    }
    places
}

fn issuer_places(issuer: &Address) -> Vec<String> {
    let mut places =
        vec![issuer.well_known("oauth-authorization-server"), issuer.well_known("openid-configuration")];
    if !issuer.path().is_empty() {
        places.push(format!("{}{}/.well-known/openid-configuration", issuer.origin(), issuer.path()));
    }
    places
}

async fn issuer(asker: &Asker, name: &str, reach: Reach) -> Result<Issuer, AuthError> {
    let address = usable("the address of the authorisation server", name, reach)?;
    let mut last = None;
    for place in issuer_places(&address) {
        let answer = asker.get(ISSUER, &usable(ISSUER, &place, reach)?).await?;
        if answer.is_success() {
            return described(name, answer.json()?, reach);
        }
        if !is_absent(&answer) {
            return Err(answer.refusal());
        }
        last = Some(answer.refusal());
    }
    Err(last.unwrap_or_else(|| AuthError::NoMetadata { server: name.to_owned() }))
}

fn described(name: &str, metadata: IssuerMetadata, reach: Reach) -> Result<Issuer, AuthError> {
    // Some write their own name with a `/` at its end in one place and without it in the other; nothing else may differ.
    if metadata.issuer.trim_end_matches('/') != name.trim_end_matches('/') {
        let found = super::ask::plain(&metadata.issuer);
        return Err(AuthError::OtherIssuer { issuer: name.to_owned(), found });
    }
    let methods = metadata.code_challenge_methods_supported.unwrap_or_default();
    if !methods.iter().any(|method| method == "S256") {
        return Err(AuthError::NoPkce { issuer: metadata.issuer });
    }
    let needed = |what: &'static str, endpoint: Option<String>| {
        usable(what, endpoint.as_deref().unwrap_or_default(), reach)
    };
    let optional = |what: &'static str, endpoint: Option<String>| {
        endpoint.map(|endpoint| usable(what, &endpoint, reach)).transpose()
    };
    Ok(Issuer {
        authorize: needed("the address to log in at", metadata.authorization_endpoint)?,
        token: needed("the address to get tokens at", metadata.token_endpoint)?,
        register: optional("the address to register at", metadata.registration_endpoint)?,
        revoke: optional("the address to give tokens back at", metadata.revocation_endpoint)?,
        // RFC 8414: what is meant where nothing is said.
        methods: metadata
            .token_endpoint_auth_methods_supported
            .unwrap_or_else(|| vec!["client_secret_basic".to_owned()]),
        scopes: metadata.scopes_supported,
        names_itself: metadata.authorization_response_iss_parameter_supported,
        takes_documents: metadata.client_id_metadata_document_supported,
        name: metadata.issuer,
    })
}

pub(super) fn usable(what: &'static str, url: &str, reach: Reach) -> Result<Address, AuthError> {
    Address::named(url, reach).map_err(|bad| AuthError::Address {
        what,
        url: super::ask::plain(url.split('?').next().unwrap_or_default()),
        why: bad.to_string(),
    })
}

/// Whether an answer says that there is nothing at this place. Some servers say so with 401 or 405 where they mean 404.
fn is_absent(answer: &Answer) -> bool {
    (400..500).contains(&answer.status) && answer.status != 429
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_are_looked_for_at_the_places_of_the_standard() {
        let server = Address::of_server("https://a.test/public/mcp?x=1").unwrap();
        assert_eq!(
            resource_places(&server),
            [
                "https://a.test/.well-known/oauth-protected-resource/public/mcp",
                "https://a.test/.well-known/oauth-protected-resource"
            ]
        );
        let tenant = Address::of_server("https://auth.test/tenant1").unwrap();
        assert_eq!(
            issuer_places(&tenant),
            [
                "https://auth.test/.well-known/oauth-authorization-server/tenant1",
                "https://auth.test/.well-known/openid-configuration/tenant1",
                "https://auth.test/tenant1/.well-known/openid-configuration"
            ]
        );
        let root = Address::of_server("https://auth.test/").unwrap();
        assert_eq!(resource_places(&root).len(), 1);
        assert_eq!(
            issuer_places(&root),
            [
                "https://auth.test/.well-known/oauth-authorization-server",
                "https://auth.test/.well-known/openid-configuration"
            ]
        );
    }
}
