use std::path::{Path, PathBuf};

use rail_model::{Part, PartBody};

use crate::{JournalError, SessionId, Shown, Summary, UnixMillis, What, list, messages};

/// A line of a conversation that holds what was looked for.
#[derive(Clone, PartialEq, Debug)]
pub struct Hit {
    /// The session.
    pub id: SessionId,
    /// Its folder.
    pub folder: PathBuf,
    /// Its title.
    pub title: Option<String>,
    /// The number of the record; 0 for the title itself.
    pub n: u64,
    /// When that was written.
    pub at: UnixMillis,
    /// The text around it, on one line.
    pub excerpt: String,
}

/// What a search found.
#[derive(Debug, Default)]
pub struct Found {
    /// The hits, of the latest session first, in each from its beginning.
    pub hits: Vec<Hit>,
    /// The sessions that could not be read, or not to their end.
    pub unreadable: Vec<(PathBuf, JournalError)>,
}

/// Looks for a text in titles and conversations, whatever its case, until there are `most` hits.
///
/// # Errors
/// The folder of sessions can't be read.
pub fn search(sessions: &Path, cwd: Option<&Path>, text: &str, most: usize) -> Result<Found, JournalError> {
    let listing = list(sessions, cwd)?;
    let mut found = Found { hits: Vec::new(), unreadable: listing.unreadable };
    let wanted = text.to_lowercase();
    if wanted.is_empty() {
        return Ok(found);
    }
    for session in &listing.sessions {
        if let Err(error) = in_session(session, &wanted, most, &mut found.hits) {
            found.unreadable.push((session.folder.clone(), error));
        }
        if found.hits.len() >= most {
            break;
        }
    }
    Ok(found)
}

fn in_session(session: &Summary, wanted: &str, most: usize, hits: &mut Vec<Hit>) -> Result<(), JournalError> {
    let hit = |n, at, excerpt| Hit {
        id: session.id.clone(),
        folder: session.folder.clone(),
        title: session.title.clone(),
        n,
        at,
        excerpt,
    };
    if let Some(excerpt) = session.title.as_deref().and_then(|title| excerpt(title, wanted)) {
        hits.push(hit(0, session.started, excerpt));
    }
    for shown in messages(&session.folder)? {
        if hits.len() >= most {
            break;
        }
        let Shown { n, at, what } = shown?;
        match what {
            What::Message(message) | What::Told(message) => {
                hits.extend(in_parts(&message.parts, wanted).map(|text| hit(n, at, text)))
            }
            What::Compacted { .. } => {}
        }
    }
    hits.truncate(most);
    Ok(())
}

/// The first place in the parts of a message.
fn in_parts(parts: &[Part], wanted: &str) -> Option<String> {
    parts.iter().find_map(|part| match &part.body {
        PartBody::Text(text) | PartBody::Refusal(text) | PartBody::Thinking(text) => excerpt(text, wanted),
        PartBody::ToolCall(call) => excerpt(&call.name, wanted).or_else(|| excerpt(&call.arguments, wanted)),
        PartBody::ToolResult(result) => in_parts(&result.content, wanted),
        PartBody::Redacted(_) | PartBody::Media(_) | PartBody::Opaque(_) => None,
    })
}

/// How many characters are shown before what was found, and how many in all.
const BEFORE: usize = 40;
const SHOWN: usize = 160;

/// The text around the first place, on one line; `wanted` is in small letters.
fn excerpt(text: &str, wanted: &str) -> Option<String> {
    let small = text.to_lowercase();
    let at = small.find(wanted)?;
    // Small letters are nearly always as many as capital ones, and an excerpt may begin a little off.
    let at = small.get(..at).map_or(0, |before| before.chars().count());
    let from = at.saturating_sub(BEFORE);
    let mut rest = text.chars().skip(from).map(|c| if c.is_whitespace() || c.is_control() { ' ' } else { c });
    let shown: String = rest.by_ref().take(SHOWN).collect();
    let (first, last) = (if from > 0 { "…" } else { "" }, if rest.next().is_some() { "…" } else { "" });
    Some(format!("{first}{}{last}", shown.trim()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn excerpts() {
        for (text, wanted, expected) in [
            ("Fix the Build", "build", Some("Fix the Build")),
            ("one\ntwo\tthree", "two", Some("one two three")),
            ("nothing", "x", None),
            (
                &format!("{}needle{}", "a".repeat(50), "b".repeat(200)),
                "needle",
                Some(&*format!("…{}needle{}…", "a".repeat(40), "b".repeat(114))),
            ),
        ] {
            assert_eq!(excerpt(text, wanted).as_deref(), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_looked_for(text: String, wanted: String) {
            let _ = excerpt(&text, &wanted.to_lowercase());
        }
    }
}
