//! A request written for one target, ready to be sent as often as need be.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use rail_model::{Effort, EmbedRequest, Loss, ProtocolId, Request, Thinking, ThinkingMode};
use rail_repair::{Catalog, Mapping, OwnIds, Pipeline, Profile};
use rail_route::{Attempt, Provider};
use rail_stdx::Secret;
use rail_wire::{BodyKind, Encoded, HttpCall, Outbound, Protocol, Restore, Shrink, TargetSpec};
use serde_json::Value;

use crate::flow::Flow;
use crate::issuer::issuer;
use crate::raw::Raw;
use crate::spec::{ask_as, repair_profile, target_spec};
use crate::{Fix, Original, Outgoing, auth, cassette_protocol, url};

/// A request written for one target.
pub(crate) struct Letter {
    provider: Arc<Provider>,
    protocol: &'static Protocol,
    method: String,
    url: String,
    headers: Vec<(String, Secret)>,
    body: Bytes,
    kind: BodyKind,
    /// The client's own body, of which only the model's name was replaced.
    relayed: bool,
    restore: Restore,
    repair: Option<(Profile, Arc<Catalog>)>,
    /// What keeps the ids of calls apart from those of the history; nothing is done to an answer that is passed on.
    ids: Option<Box<OwnIds>>,
    /// Whose seals the target gives and takes, where they are not the protocol's.
    issuer: Option<String>,
    /// What the target could not be told.
    pub(crate) losses: Vec<Loss>,
}

impl Letter {
    /// Writes the request as the target is to be asked, with what was learned of it. The error says why it can't be.
    ///
    /// What the client wrote itself goes on as it came, if that says the same.
    pub(crate) fn write(
        attempt: &Attempt,
        request: &Request,
        original: Option<&Original<'_>>,
        fixes: &[Fix],
        shrink: Option<Shrink>,
    ) -> Result<Self, String> {
        let Attempt { target, profile, .. } = attempt;
        let protocol = codec(&attempt.provider)?;
        let (mut asked, losses) = ask_as(request, target, profile);
        let mut spec = spec_of(attempt, protocol, shrink);
        let unchanged = matches!(asked, Cow::Borrowed(_)) && fixes.is_empty();
        if let Some(original) = original.filter(|_| unchanged)
            && let Some(call) = forwarded(attempt, protocol, request, &spec, original)
        {
            let letter = Self::new(attempt, protocol, call, spec.issuer)?;
            return Ok(Self { kind: kind_of(request), relayed: true, ..letter });
        }
        if !fixes.is_empty() {
            fixes.iter().for_each(|fix| fix.prepare(asked.to_mut(), &mut spec));
        }
        let encoded = protocol.outbound.encode_request(&asked, &spec);
        let (call, losses, restore) = edited(encoded, losses, fixes, attempt);
        let repair = repair_profile(profile).map(|known| {
            let catalog = Catalog::new(&request.tools);
            let mapping = profile.mapping.as_deref().and_then(Mapping::builtin);
            let catalog = match mapping {
                Some(mapping) => catalog.with(mapping),
                None => catalog,
            };
            // A client that brings its own words has a loop of its own: it decides what several calls mean.
            let known = Profile { one_call: known.one_call && original.is_none(), ..known };
            (known, Arc::new(catalog))
        });
        let letter = Self::new(attempt, protocol, call, spec.issuer)?;
        let ids = Some(Box::new(OwnIds::after(request)));
        Ok(Self { kind: kind_of(&asked), restore, repair, ids, losses, ..letter })
    }

    /// Writes a request to count tokens; None where the protocol has no such call.
    pub(crate) fn count(
        attempt: &Attempt,
        request: &Request,
        fixes: &[Fix],
        shrink: Option<Shrink>,
    ) -> Result<Option<Self>, String> {
        let Attempt { target, profile, .. } = attempt;
        let protocol = codec(&attempt.provider)?;
        let (mut asked, losses) = ask_as(request, target, profile);
        let mut spec = spec_of(attempt, protocol, shrink);
        if !fixes.is_empty() {
            fixes.iter().for_each(|fix| fix.prepare(asked.to_mut(), &mut spec));
        }
        let Some(encoded) = protocol.outbound.encode_count(&asked, &spec) else { return Ok(None) };
        let (call, losses, _) = edited(encoded, losses, fixes, attempt);
        Ok(Some(Self { losses, ..Self::new(attempt, protocol, call, None)? }))
    }

    /// Writes a request for embeddings; None where the protocol has no such call.
    pub(crate) fn embed(
        attempt: &Attempt,
        request: &EmbedRequest,
        fixes: &[Fix],
    ) -> Result<Option<Self>, String> {
        let protocol = codec(&attempt.provider)?;
        let spec = spec_of(attempt, protocol, None);
        let Some(encoded) = protocol.outbound.encode_embed(request, &spec) else { return Ok(None) };
        let (call, losses, _) = edited(encoded, Vec::new(), fixes, attempt);
        Ok(Some(Self { losses, ..Self::new(attempt, protocol, call, None)? }))
    }

    /// A letter whose answer is one document that needs no more than reading.
    fn new(
        attempt: &Attempt,
        protocol: &'static Protocol,
        call: HttpCall,
        issuer: Option<String>,
    ) -> Result<Self, String> {
        let Attempt { target, provider, .. } = attempt;
        let HttpCall { method, path, query, headers, body } = call;
        if url::climbs(&path) {
            return Err(format!("the model's name `{}` would lead to another address", target.model));
        }
        Ok(Self {
            protocol,
            method,
            url: url::join(protocol.id, &provider.base_url, &path, &query),
            headers: headers_for(headers, provider),
            body: Bytes::from(body),
            kind: BodyKind::Whole,
            relayed: false,
            restore: Restore::default(),
            repair: None,
            ids: None,
            issuer,
            losses: Vec::new(),
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
            self.ids.clone(),
            self.restore.clone(),
            Arc::clone(&self.provider),
        )
    }

    /// What keeps the bytes of an answer that comes so; None where they can't be passed on as they come.
    pub(crate) fn raw(&self, kind: BodyKind) -> Option<Raw> {
        let passes = self.relayed && kind == self.kind;
        passes.then(|| Raw::new(kind, self.protocol.outbound.model_paths()))
    }

    /// Whom it is for.
    pub(crate) fn provider(&self) -> &Arc<Provider> {
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

    /// Whether another letter says just the same, perhaps in another spelling than the client's.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        let read = |letter: &Self| serde_json::from_slice::<Value>(&letter.body).ok();
        let body = self.body == other.body || (self.relayed && read(self) == read(other));
        body && self.url == other.url && self.headers == other.headers
    }
}

/// The client's own body for the target, if all that it says is what the target is to be told, and if nothing has to be
/// done to the answer.
///
/// Where seals are not the protocol's own they get their issuer's name on their way to the client, which bytes that are
/// passed on would lack. So such a target must not be asked to think; one that thinks unasked is noticed when it begins.
fn forwarded(
    attempt: &Attempt,
    protocol: &'static Protocol,
    request: &Request,
    spec: &TargetSpec,
    original: &Original<'_>,
) -> Option<HttpCall> {
    let same = original.protocol == protocol.id && repair_profile(&attempt.profile).is_none();
    let seals = spec.issuer.is_some() && request.thinking.as_ref().is_some_and(thinks);
    if !same || seals {
        return None;
    }
    protocol.outbound.forward(request, spec, original.body)
}

/// Whether more is asked for than not to think.
fn thinks(asked: &Thinking) -> bool {
    match asked.mode {
        Some(ThinkingMode::Off) => false,
        Some(ThinkingMode::On | ThinkingMode::Adaptive) => true,
        None => asked.effort != Some(Effort::None),
    }
}

fn kind_of(request: &Request) -> BodyKind {
    if request.stream { BodyKind::Stream } else { BodyKind::Whole }
}

/// What the encoder must know of a target and of who asks it.
fn spec_of(attempt: &Attempt, protocol: &Protocol, shrink: Option<Shrink>) -> TargetSpec {
    let Attempt { target, provider, profile, .. } = attempt;
    TargetSpec { shrink, issuer: issuer(provider, protocol.id), ..target_spec(target, profile) }
}

/// The codec that a provider is spoken with, or why it can't be spoken with.
fn codec(provider: &Provider) -> Result<&'static Protocol, String> {
    if let Some(why) = &provider.unusable {
        return Err(why.clone());
    }
    let id = match &provider.cassette {
        Some(cassette) => cassette_protocol(cassette).map_err(|error| error.to_string())?,
        None => provider.protocol,
    };
    let name = id.name();
    rail_wire::find(name)
        .ok_or_else(|| format!("the provider speaks `{name}`, which is no protocol for requests"))
}

/// A written request with those changes that are made to it after it was written.
fn edited(
    encoded: Encoded,
    mut losses: Vec<Loss>,
    fixes: &[Fix],
    attempt: &Attempt,
) -> (HttpCall, Vec<Loss>, Restore) {
    let Encoded { mut call, losses: more, restore } = encoded;
    losses.extend(more);
    edit(&mut call, fixes, attempt, &mut losses);
    (call, losses, restore)
}

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
