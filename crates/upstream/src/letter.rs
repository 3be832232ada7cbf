//! A request written for one target, ready to be sent as often as need be.

use std::sync::Arc;

use bytes::Bytes;
use rail_model::{Loss, ProtocolId, Request};
use rail_repair::{Catalog, Mapping, Pipeline, Profile};
use rail_route::{Attempt, Provider};
use rail_stdx::Secret;
use rail_wire::{BodyKind, Encoded, HttpCall, Outbound, Protocol, Restore, Shrink};
use serde_json::Value;

use crate::answer::Flow;
use crate::issuer::issuer;
use crate::spec::{ask_as, repair_profile, target_spec};
use crate::{Fix, Outgoing, auth, cassette_protocol, url};

/// A request written for one target.
pub(crate) struct Letter {
    provider: Arc<Provider>,
    protocol: &'static Protocol,
    method: String,
    url: String,
    headers: Vec<(String, Secret)>,
    body: Bytes,
    kind: BodyKind,
    restore: Restore,
    repair: Option<(Profile, Arc<Catalog>)>,
    /// Whose seals the target gives and takes, where they are not the protocol's.
    issuer: Option<String>,
    /// What the target could not be told.
    pub(crate) losses: Vec<Loss>,
}

impl Letter {
    /// Writes the request as the target is to be asked, with what was learned of it. The error says why it can't be.
    pub(crate) fn write(
        attempt: &Attempt,
        request: &Request,
        fixes: &[Fix],
        shrink: Option<Shrink>,
    ) -> Result<Self, String> {
        let Attempt { target, provider, profile, .. } = attempt;
        if let Some(why) = &provider.unusable {
            return Err(why.clone());
        }
        let protocol = codec(provider)?;
        let (mut asked, mut losses) = ask_as(request, target, profile);
        let mut spec = target_spec(target, profile);
        (spec.shrink, spec.issuer) = (shrink, issuer(provider, protocol.id));
        if !fixes.is_empty() {
            fixes.iter().for_each(|fix| fix.prepare(asked.to_mut(), &mut spec));
        }
        let Encoded { mut call, losses: more, restore } = protocol.outbound.encode_request(&asked, &spec);
        losses.extend(more);
        if url::climbs(&call.path) {
            return Err(format!("the model's name `{}` would lead to another address", target.model));
        }
        edit(&mut call, fixes, attempt, &mut losses);
        let repair = repair_profile(profile).map(|known| {
            let catalog = Catalog::new(&request.tools);
            let mapping = profile.mapping.as_deref().and_then(Mapping::builtin);
            (
                known,
                Arc::new(mapping.map_or_else(|| catalog.clone(), |mapping| catalog.clone().with(mapping))),
            )
        });
        let HttpCall { method, path, query, headers, body } = call;
        Ok(Self {
            protocol,
            method,
            url: url::join(protocol.id, &provider.base_url, &path, &query),
            headers: headers_for(headers, provider),
            body: Bytes::from(body),
            kind: if asked.stream { BodyKind::Stream } else { BodyKind::Whole },
            restore,
            repair,
            issuer: spec.issuer,
            losses,
            provider: Arc::clone(provider),
        })
    }

    /// The letter in an envelope, with this key.
    pub(crate) fn outgoing(&self, key: Option<&Secret>) -> Outgoing {
        let mut headers = self.headers.clone();
        for (name, value) in auth::headers(self.protocol.id, key) {
            if !headers.iter().any(|(known, _)| *known == name) {
                headers.push((name, value));
            }
        }
        Outgoing {
            provider: Arc::clone(&self.provider),
            method: self.method.clone(),
            url: self.url.clone(),
            headers,
            body: self.body.clone(),
        }
    }

    /// What reads an answer that comes so.
    pub(crate) fn flow(&self, kind: BodyKind) -> Flow {
        let stages = self.repair.as_ref().map(|(profile, catalog)| rail_repair::stages(profile, catalog));
        Flow::new(
            self.protocol.outbound.decoder(kind),
            self.issuer.clone().map(|issuer| (self.protocol.id, issuer)),
            stages.map(Box::<Pipeline>::new),
            self.restore.clone(),
            Arc::clone(&self.provider),
        )
    }

    /// Whom it is for.
    pub(crate) fn provider(&self) -> &Provider {
        &self.provider
    }

    /// The protocol it is written in.
    pub(crate) fn protocol(&self) -> ProtocolId {
        self.protocol.id
    }

    /// The protocol's reader of answers and errors.
    pub(crate) fn outbound(&self) -> &'static dyn Outbound {
        self.protocol.outbound
    }

    /// How the answer was asked for.
    pub(crate) fn kind(&self) -> BodyKind {
        self.kind
    }

    /// The body.
    pub(crate) fn body(&self) -> &Bytes {
        &self.body
    }

    /// Whether another letter says just the same.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        self.body == other.body && self.url == other.url && self.headers == other.headers
    }
}

/// The codec that a provider is spoken with, or why there is none.
fn codec(provider: &Provider) -> Result<&'static Protocol, String> {
    let id = match &provider.cassette {
        Some(cassette) => cassette_protocol(cassette).map_err(|error| error.to_string())?,
        None => provider.protocol,
    };
    let name = id.name();
    rail_wire::find(name)
        .ok_or_else(|| format!("the provider speaks `{name}`, which is no protocol for requests"))
}

/// Makes those changes that are made to the written request.
fn edit(call: &mut HttpCall, fixes: &[Fix], attempt: &Attempt, losses: &mut Vec<Loss>) {
    fixes.iter().for_each(|fix| fix.head(&mut call.headers));
    if !fixes.iter().any(Fix::edits) {
        return;
    }
    let Ok(mut body) = serde_json::from_slice::<Value>(&call.body) else { return };
    let mut changed = false;
    for fix in fixes {
        if fix.edit(&mut body) {
            changed = true;
            losses.extend(fix.loss(&attempt.target));
        }
    }
    if changed && let Ok(bytes) = serde_json::to_vec(&body) {
        call.body = bytes;
    }
}

/// The protocol's own headers, then the provider's; where both say the same name, the provider's count.
fn headers_for(own: Vec<(String, String)>, provider: &Provider) -> Vec<(String, Secret)> {
    let configured = provider.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
    let configured: Vec<(String, Secret)> = configured.collect();
    let own = own.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), Secret::new(value)));
    let mut headers: Vec<_> =
        own.filter(|(name, _)| !configured.iter().any(|(known, _)| known == name)).collect();
    headers.extend(configured);
    headers
}
