use rail_route::AliasTo;

use super::Imported;
use super::draft::Draft;
use crate::dotenv;
use crate::found;
use crate::hijack::{EnvLayer, EnvSource, Hijack};

/// Reads a `~/.gemini/.env` file: its prefixes become providers and aliases, a Gemini key becomes a provider.
///
/// Its keys come back apart, under their own names.
pub fn gemini_env(text: &str) -> Imported {
    let file = dotenv::read(text);
    let mut draft = Draft::new("From ~/.gemini/.env, by `rail config import gemini-env`.");
    for note in &file.notes {
        draft.note(format!("line {}: {}", note.line, note.problem));
    }
    let mut hijack = Hijack::read(&[EnvLayer::file(EnvSource::Gemini, "~/.gemini/.env", &file)]);
    let enabled = std::mem::replace(&mut hijack.enabled, true);
    for back in &hijack.backs {
        draft.table(&["providers", &back.provider]);
        draft.remark(&format!("{}_*", back.prefix));
        draft.pair("protocol", back.protocol.name());
        draft.base_url(&back.prefix, &back.endpoint, back.protocol);
        let key = draft.secret(&format!("{}_API_KEY", back.prefix), back.key.reveal());
        draft.pair("key", key);
        draft.list("models", std::slice::from_ref(&back.actual_model));
    }
    let own = gemini_key(&mut draft, &file, &hijack);
    aliases(&mut draft, &hijack, enabled);
    for note in hijack.notes.iter().filter(|note| !note.starts_with("HIJACK_ENABLED")) {
        draft.note(note);
    }
    if hijack.backs.is_empty() && own.is_none() {
        draft.nothing("the file");
    }
    let read = |name: &str| {
        let endings = ["_API_ENDPOINT", "_ACTUAL_MODEL", "_API_KEY", "_TARGET_MODEL", "_PROVIDER"];
        let prefix = endings.iter().find_map(|ending| name.strip_suffix(ending));
        // Of a prefix that lacks something the notes above have told.
        prefix.is_some_and(|prefix| hijack.prefixes.iter().any(|known| known == prefix))
            || matches!(name, "HIJACK_ENABLED" | "HIJACK_ACTIVE_PROVIDER")
            || own.as_deref() == Some(name)
    };
    for value in file.values.iter().filter(|value| !read(&value.name)) {
        draft.note(format!("line {}: nothing here stands for `{}`", value.line, value.name));
    }
    draft.finish()
}

fn aliases(draft: &mut Draft, hijack: &Hijack, enabled: bool) {
    let aliases = hijack.aliases();
    if aliases.is_empty() {
        return;
    }
    if !enabled {
        draft.note("HIJACK_ENABLED is not `true`, so the aliases are written as remarks; remove their `#` to use them");
    }
    if enabled {
        draft.table(&["aliases"]);
        draft.remark("The active provider stands first; `rail provider use NAME` moves another there.");
    } else {
        draft.blank();
        draft.remark("[aliases]");
    }
    for alias in aliases {
        let AliasTo::Chain(chain) = &alias.to else { continue };
        match enabled {
            true => draft.pair(&alias.name, chain.to_string()),
            false => draft.remark(&format!("{:?} = {:?}", alias.name, chain.to_string())),
        }
    }
}

/// A provider for the Gemini key of the file; gives the variable it is in.
fn gemini_key(draft: &mut Draft, file: &dotenv::EnvFile, hijack: &Hijack) -> Option<String> {
    let known = found::known("gemini")?;
    let set = |name: &&String| file.get(name).is_some_and(|value| !value.value.reveal().trim().is_empty());
    let name = known.keys.iter().find(set)?;
    if hijack.backs.iter().any(|back| back.provider.eq_ignore_ascii_case(&known.name)) {
        return None;
    }
    let value = file.get(name)?;
    draft.table(&["providers", &known.name]);
    draft.pair("protocol", known.protocol.name());
    draft.pair("base_url", &known.base_url);
    let key = draft.secret(name, value.value.reveal());
    draft.pair("key", key);
    draft.list("models", &known.models);
    Some(name.clone())
}
