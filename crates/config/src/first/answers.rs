//! What the user answers, understood.

use rail_model::ProtocolId;
use rail_route::Target;
use rail_stdx::{Secret, nearest};

use crate::found::{self, KnownProvider};
use crate::reference::Reference;
use crate::{endpoint, format};

/// An answer that is none, with what to answer instead.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct WrongAnswer(pub String);

/// What was picked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Picked {
    /// One that was listed, by its place from 0.
    Listed(usize),
    /// One of the catalog.
    Known(Box<KnownProvider>),
    /// One that nobody knows yet.
    Other,
}

/// The word for a provider that is not listed.
const OTHER: &str = "other";

/// The providers that an answer means: numbers of the list, names, or `other`, with `,` or blanks between them.
pub fn pick(answer: &str, listed: &[String]) -> Result<Vec<Picked>, WrongAnswer> {
    let mut picked = Vec::new();
    for word in answer.split([',', ';', ' ', '\t']).filter(|word| !word.is_empty()) {
        let one = one(word, listed)?;
        if !picked.contains(&one) {
            picked.push(one);
        }
    }
    Ok(picked)
}

fn one(word: &str, listed: &[String]) -> Result<Picked, WrongAnswer> {
    if let Ok(number) = word.parse::<usize>() {
        let place = number.checked_sub(1).filter(|place| *place < listed.len());
        let wrong = || {
            WrongAnswer(format!("there is no {number} in the list; write 1 to {}, or a name", listed.len()))
        };
        return place.map(Picked::Listed).ok_or_else(wrong);
    }
    if let Some(place) = listed.iter().position(|name| name.eq_ignore_ascii_case(word)) {
        return Ok(Picked::Listed(place));
    }
    if word.eq_ignore_ascii_case(OTHER) {
        return Ok(Picked::Other);
    }
    if let Some(known) = found::known(word) {
        // An alias may mean one that was listed under its usual name.
        let place = listed.iter().position(|name| *name == known.name);
        return Ok(place.map_or_else(|| Picked::Known(Box::new(known)), Picked::Listed));
    }
    let catalog: Vec<String> = found::catalog().into_iter().map(|known| known.name).collect();
    let names = listed.iter().chain(&catalog).map(String::as_str);
    let meant =
        nearest(word, names).map(|meant| format!("did you mean `{meant}`? Else ")).unwrap_or_default();
    Err(WrongAnswer(format!(
        "no provider is known as `{}`; {meant}write `{OTHER}` to name its address",
        endpoint::plain(word)
    )))
}

/// The target that an answer means: a number of the list, `provider,model`, or the name of a model.
pub fn pick_target(answer: &str, listed: &[Target], providers: &[&str]) -> Result<Target, WrongAnswer> {
    let answer = answer.trim();
    if let Ok(number) = answer.parse::<usize>() {
        let target = number.checked_sub(1).and_then(|place| listed.get(place));
        let wrong = || {
            WrongAnswer(format!("there is no {number} in the list; write 1 to {}, or a name", listed.len()))
        };
        return target.cloned().ok_or_else(wrong);
    }
    if let Some(target) = listed.iter().find(|target| target.model == answer) {
        return Ok(target.clone());
    }
    if answer.contains(',') {
        let target: Target = answer.parse().map_err(|error| WrongAnswer(format!("{error}")))?;
        if !providers.contains(&target.provider.as_str()) {
            let known = providers.join("`, `");
            return Err(WrongAnswer(format!(
                "no provider `{}` is set up; there is `{known}`",
                target.provider
            )));
        }
        return Ok(target);
    }
    if !is_model(answer) {
        let text =
            "this can be no model: its name is empty, or holds `;` or a control character; write another";
        return Err(WrongAnswer(text.to_owned()));
    }
    match providers {
        // A list is not always whole, and some servers give none.
        [only] => Ok(Target::new(*only, answer)),
        _ => Err(WrongAnswer(format!(
            "`{}` is no model of the list; write a number, or `provider,model`",
            endpoint::plain(answer)
        ))),
    }
}

/// Whether this can stand in a chain.
pub(crate) fn is_model(name: &str) -> bool {
    !name.trim().is_empty() && !name.contains([',', ';']) && !name.contains(char::is_control)
}

/// A provider's name as it can be written; `taken` are those that there are.
pub fn name(answer: &str, taken: &[&str]) -> Result<String, WrongAnswer> {
    let name = answer.trim();
    let is_bad = |c: char| matches!(c, ',' | ';') || c.is_whitespace() || c.is_control();
    if name.is_empty() || name.contains(is_bad) {
        let text = "a provider's name holds no blanks, `,` or `;`; write one word, such as `work`";
        return Err(WrongAnswer(text.to_owned()));
    }
    match taken.contains(&name) {
        true => Err(WrongAnswer(format!("`{name}` is set up already; write another name"))),
        false => Ok(name.to_owned()),
    }
}

/// The variable of a reference `env:NAME`.
pub fn variable_name(reference: &str) -> Result<&str, WrongAnswer> {
    match Reference::parse(reference) {
        Some(Reference::Variable(name)) => Ok(name),
        Some(Reference::File(_) | Reference::Keyring(_)) | None => Err(WrongAnswer(
            "no variable can have this name; write `env:` and letters, digits and `_`".to_owned(),
        )),
    }
}

/// What is wrong with a key as it was typed, if anything.
pub fn wrong_secret(secret: &Secret) -> Option<String> {
    match secret.reveal() {
        "" => Some("nothing came; paste the key and press Enter".to_owned()),
        text if Reference::parse(text).is_some() => {
            Some("this says where a key stands; paste the key itself".to_owned())
        }
        text => format::wrong("secret", text),
    }
}

/// A provider's base address, for a protocol: what stands before the path of a call.
pub fn address(answer: &str, protocol: ProtocolId) -> Result<String, WrongAnswer> {
    let address = endpoint::base_url(answer.trim(), protocol);
    match format::wrong("base-url", &address) {
        Some(problem) => Err(WrongAnswer(problem)),
        None => Ok(address),
    }
}

/// The protocol with this name; without one, what the address tells.
pub fn protocol_of(answer: &str, address: &str) -> Result<ProtocolId, WrongAnswer> {
    let name = answer.trim();
    if name.is_empty() {
        return Ok(endpoint::protocol(address));
    }
    let known = rail_wire::ALL.iter().map(|protocol| protocol.id.name());
    let wrong = || {
        let meant = nearest(name, known.clone());
        let meant =
            meant.map_or_else(|| "there".to_owned(), |meant| format!("did you mean `{meant}`? There"));
        let all = known.clone().collect::<Vec<_>>().join("`, `");
        WrongAnswer(format!("`{}` is not spoken; {meant} are: `{all}`", endpoint::plain(name)))
    };
    rail_wire::find(name).map(|protocol| protocol.id).ok_or_else(wrong)
}
