//! What goes to the model: the text, the files that it names, and images.

use std::path::Path;

use anyhow::{Context, anyhow};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rail_agent::Errands;
use rail_agent::commands::{Attached, expand};
use rail_image::{Bounds, shrink};
use rail_model::{Media, MediaKind, MediaSource, Part, PartBody};
use rail_permit::Rule;
use rail_proto::{Command, Mode, Prompt, mentions};

use super::{Step, Until};
use crate::Failure;

/// What a session is told, and what ends it.
#[derive(Default)]
pub(crate) struct Ready {
    pub(crate) commands: Vec<Command>,
    pub(crate) until: Until,
    /// What the task may do besides.
    pub(crate) allowed: Vec<Rule>,
    /// The model that is to answer it.
    pub(crate) model: Option<String>,
    /// What of it could not be had, for the user.
    pub(crate) problems: Vec<String>,
}

impl Ready {
    /// Takes what could not be had, as warnings.
    pub(crate) fn warnings(&mut self) -> impl Iterator<Item = String> {
        std::mem::take(&mut self.problems).into_iter().map(|problem| format!("warning: {problem}"))
    }
}

/// Makes of a step what the session is told, with more parts behind its text. Of a step that says something itself that is nothing.
///
/// # Errors
/// It is a prompt that no MCP server has.
pub(crate) async fn ready(step: Step, more: Vec<Part>, errands: &Errands) -> Result<Ready, Failure> {
    Ok(match step {
        Step::Say(_) => Ready::default(),
        Step::Tell(command, until) => Ready { commands: vec![command], until, ..Ready::default() },
        Step::Ask(text) => with_named(text, more, errands).await,
        Step::Plan(text) => {
            let mut ready = with_named(text, more, errands).await;
            ready.commands.insert(0, Command::SetMode(Mode::Plan));
            ready
        }
        Step::Custom(command, args) => {
            let expanded = expand(&command, &args, errands).await;
            let attached = expanded.attached.into_iter().flat_map(Attached::shown);
            let parts = [Part::text(expanded.text)].into_iter().chain(attached).chain(more).collect();
            Ready {
                allowed: expanded.allowed,
                model: command.model,
                problems: expanded.problems,
                ..submit(parts)
            }
        }
        Step::Remote(text) => {
            let said = errands.prompt(&text).await.map_err(|why| Failure::Usage(anyhow!(why)))?;
            submit(said.into_iter().chain(more).collect())
        }
    })
}

/// The session is told just this.
pub(crate) fn submit(parts: Vec<Part>) -> Ready {
    Ready { commands: vec![Command::Submit(Prompt { id: None, parts })], ..Ready::default() }
}

/// A text, the files that it and other words of the user name, and more. What has the form of a name and is no file is only text.
async fn with_named(text: String, more: Vec<Part>, errands: &Errands) -> Ready {
    let mut seen: Vec<String> = Vec::new();
    let (mut attached, mut problems) = (Vec::new(), Vec::new());
    let words = more.iter().filter(|part| !part.is_beside()).filter_map(Part::as_text);
    for mention in [text.as_str()].into_iter().chain(words).flat_map(mentions) {
        if seen.contains(&mention.path) {
            continue;
        }
        seen.push(mention.path.clone());
        match errands.attach(&mention.path).await {
            None => {}
            Some(Ok(parts)) => attached.extend(Attached { path: mention.path, parts }.shown()),
            Some(Err(why)) => problems.push(format!("`@{}` is not attached: {why}", mention.path)),
        }
    }
    // What it says of files stands behind all that the user said.
    let parts = [Part::text(text)].into_iter().chain(more).chain(attached).collect();
    Ready { problems, ..submit(parts) }
}

/// What an image may be at most; a target that takes less gets less.
const BOUNDS: Bounds = Bounds { max_bytes: 3_932_160, max_edge: 2_000, max_pixels: u64::MAX };
/// The largest file that is looked at.
const LARGEST: u64 = 64 << 20;

/// The images of `--image`.
pub(crate) fn images(files: &[std::path::PathBuf]) -> Result<Vec<Part>, Failure> {
    files.iter().map(|file| image(file).map_err(|error| Failure::Usage(error.context(wrong(file))))).collect()
}

fn wrong(file: &Path) -> String {
    format!("--image {}", file.display())
}

/// The image in a file.
pub(crate) fn image(file: &Path) -> anyhow::Result<Part> {
    let meta = std::fs::metadata(file).context("it can't be read")?;
    if !meta.is_file() {
        return Err(anyhow!("it is no file"));
    }
    if meta.len() > LARGEST {
        return Err(anyhow!("it is larger than {} MB; scale it down first", LARGEST >> 20));
    }
    let bytes = std::fs::read(file).context("it can't be read")?;
    image_of(&bytes, file.file_name().map(|name| name.to_string_lossy().into_owned()))
}

/// The image that bytes are, small enough to be sent.
pub(crate) fn image_of(bytes: &[u8], name: Option<String>) -> anyhow::Result<Part> {
    let shrunk = shrink(bytes, &BOUNDS)?;
    Ok(Part::new(PartBody::Media(Media {
        kind: MediaKind::Image,
        mime: Some(shrunk.mime.to_owned()),
        source: MediaSource::Base64(STANDARD.encode(&shrunk.bytes)),
        name,
    })))
}
