use std::collections::BTreeMap;

use rail_model::Part;
use rail_tool::{
    Card, Confine, Display, Example, Facet, FacetCx, Generation, Inquired, Inquiry, Lane, Level, Shown,
    Telling, Tool, ToolCx, ToolFault, ToolOutput,
};
use rail_web::{Downloaded, Place};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::image_source::{Source, data};
use crate::magic;
use crate::picture::{Picture, is_picture, picture};
use crate::read_file::explain;
use crate::text::Text;
use crate::web::{cancellable, fetcher};
use crate::words::{count, size};

/// Images of one call at most.
const MOST_IMAGES: usize = 20;
/// Bytes of one image when the call does not say.
const IMAGE_BYTES: u64 = 10 << 20;
/// Bytes of one image at most, whatever the call says.
const MOST_IMAGE_BYTES: u64 = 50 << 20;
/// Bytes of all images of a call, before they are shrunk.
const ALL_BYTES: u64 = 100 << 20;
/// Bytes of all images as they are sent: no provider takes much more in one request.
const SENT_BYTES: u64 = 20 << 20;

/// Asks another model about images.
pub(crate) struct Image;

/// The same in a session whose main model sees images itself.
pub(crate) struct ImageBesides;

/// Which images, and what is asked.
#[derive(Clone, Deserialize, JsonSchema, Debug)]
pub(crate) struct Input {
    /// The question; `Describe the image.` by default.
    prompt: Option<String>,
    /// The image: a path or an address.
    image: Option<String>,
    /// Several images, at most 20.
    #[serde(default)]
    images: Vec<String>,
    /// The model to ask, `provider,model`; one that sees is chosen by default.
    model: Option<String>,
    /// How many megabytes an image may have; 10 by default.
    max_bytes_mb: Option<f64>,
    /// How many images are taken; 20 by default.
    #[schemars(range(min = 1))]
    max_images: Option<u64>,
}

impl Tool for Image {
    type Input = Input;

    const CARD: Card<'static> = Card {
        name: "image",
        title: "Image",
        summary: "Asks a model that sees about images: files or addresses",
        prompt: include_str!("prompts/image.md"),
        generation: Generation::Gen4,
        level: Level::Read,
        lane: Lane::Shared,
        shown: Shown::Brief,
    };

    fn facets(input: &Input, cx: &FacetCx<'_>) -> Vec<Facet> {
        let facet = |written: &str| match Source::read(written) {
            Ok(Source::Path(path)) => Some(Facet::Read(cx.path(&path))),
            Ok(Source::File(path)) => Some(Facet::Read(path)),
            // From the sandbox it is refused, and nobody need be asked for leave.
            Ok(Source::Remote(place)) => (cx.confine == Confine::Off).then(|| Facet::Net(place.host())),
            Ok(Source::Data(_)) | Err(_) => None,
        };
        wanted(input).into_iter().filter_map(facet).collect()
    }

    async fn run(input: Input, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        let limits = Limits::of(&input)?;
        let sources: Vec<String> = wanted(&input).into_iter().map(str::to_owned).collect();
        limits.count(sources.len())?;
        let mut fetched = BTreeMap::new();
        for written in &sources {
            if let Source::Remote(place) = Source::read(written).map_err(ToolFault::new)? {
                fetched.insert(written.clone(), remote(&cx, &place, limits.bytes).await?);
            }
        }
        let (work, read) = (cx.clone(), sources.clone());
        let pictures = cx.blocking(move || load(&work, &read, fetched, &limits)).await?;
        let prompt = input.prompt.as_deref().map(str::trim).filter(|prompt| !prompt.is_empty());
        let mut parts = vec![Part::text(prompt.unwrap_or("Describe the image."))];
        parts.extend(pictures.into_iter().map(|picture| picture.part));
        let to = Inquired::Vision { model: input.model.filter(|model| !model.trim().is_empty()) };
        let told = cx
            .ask(Inquiry {
                asker: Self::CARD.name.to_owned(),
                to,
                system: None,
                parts,
                max_output: None,
                stop: Vec::new(),
            })
            .await?;
        let shown: Vec<String> = sources.iter().map(|source| shortened(source)).collect();
        let details = match shown.as_slice() {
            [only] => json!({ "model": told.model, "image": only }),
            several => json!({ "model": told.model, "images": several }),
        };
        let text = format!("{}\n\ndetails: {details}", told.text.trim_end());
        let display = Display::Preview { text: text.clone(), lines: cx.session().limits.read.preview_lines };
        Ok(ToolOutput::told(Telling::shown(text)).shown(display))
    }

    fn examples() -> &'static [Example] {
        EXAMPLES
    }
}

impl Tool for ImageBesides {
    type Input = Input;

    const CARD: Card<'static> = Card {
        // Said in the declaration: after the first call it would be too late.
        summary: "Asks another model that sees about images: files or addresses. You see images yourself: use this only for images that were not already provided in the user's message",
        prompt: concat!(include_str!("prompts/image.md"), include_str!("prompts/image_besides.md")),
        ..Image::CARD
    };

    fn facets(input: &Input, cx: &FacetCx<'_>) -> Vec<Facet> {
        Image::facets(input, cx)
    }

    async fn run(input: Input, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        Image::run(input, cx).await
    }

    fn examples() -> &'static [Example] {
        EXAMPLES
    }
}

/// All images of a call, in order; one that is named twice counts once.
fn wanted(input: &Input) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for written in input.image.iter().chain(&input.images).map(|written| written.trim()) {
        if !written.is_empty() && !all.contains(&written) {
            all.push(written);
        }
    }
    all
}

/// How much a call takes.
struct Limits {
    images: usize,
    bytes: u64,
}

impl Limits {
    fn of(input: &Input) -> Result<Self, ToolFault> {
        let bytes = match input.max_bytes_mb {
            None => IMAGE_BYTES,
            // What is no number of megabytes must not lift the limit.
            Some(mb) if mb.is_finite() && mb > 0.0 => {
                ((mb * f64::from(1 << 20)) as u64).min(MOST_IMAGE_BYTES)
            }
            Some(_) => return Err(ToolFault::new("‹max_bytes_mb› must be more than 0; leave it out for 10")),
        };
        let most = input.max_images.map_or(MOST_IMAGES, |most| usize::try_from(most).unwrap_or(usize::MAX));
        Ok(Self { images: most.min(MOST_IMAGES), bytes })
    }

    fn count(&self, images: usize) -> Result<(), ToolFault> {
        match images {
            0 => Err(ToolFault::new("no image is named; give one as ‹image› or several as ‹images›")),
            images if images > self.images => Err(ToolFault::new(format!(
                "{} are more than the {} that one call takes; ask about the others in another call",
                count(images as u64, "image"),
                self.images
            ))),
            _ => Ok(()),
        }
    }
}

/// The images, each as a model is shown it.
fn load(
    cx: &ToolCx,
    sources: &[String],
    mut fetched: BTreeMap<String, Vec<u8>>,
    limits: &Limits,
) -> Result<Vec<Picture>, ToolFault> {
    // All are at hand before the first is decoded: too much of them is told at once.
    let (mut all, mut read) = (0, Vec::new());
    for written in sources {
        let bytes = match fetched.remove(written) {
            Some(bytes) => bytes,
            None => bytes(cx, written, limits)?,
        };
        all += bytes.len() as u64;
        if all > ALL_BYTES {
            return Err(too_much(sources.len(), ALL_BYTES));
        }
        read.push((written, bytes));
    }
    let (mut sent, mut pictures) = (0, Vec::new());
    for (written, bytes) in read {
        if cx.cancel().is_cancelled() {
            return Err(ToolFault::new("the call was cancelled"));
        }
        let picture = seen(cx, written, &bytes)?;
        sent += picture.sent;
        if sent > SENT_BYTES {
            return Err(too_much(sources.len(), SENT_BYTES));
        }
        pictures.push(picture);
    }
    Ok(pictures)
}

fn too_much(images: usize, at_most: u64) -> ToolFault {
    ToolFault::new(format!(
        "these {} are together more than the {} that one call takes; ask about fewer at once",
        count(images as u64, "image"),
        size(at_most)
    ))
}

/// The bytes of an image that is not on the network.
fn bytes(cx: &ToolCx, written: &str, limits: &Limits) -> Result<Vec<u8>, ToolFault> {
    let path = match Source::read(written).map_err(ToolFault::new)? {
        Source::Path(path) => cx.path(&path),
        Source::File(path) => path,
        Source::Data(url) => return data(url, limits.bytes).map_err(ToolFault::new),
        Source::Remote(_) => return Err(ToolFault::new(format!("`{written}` was not fetched"))),
    };
    match cx.files().read(&path, limits.bytes) {
        Ok((opened, bytes)) => {
            cx.session().stamps.saw(&opened.real, &opened.meta, &bytes);
            Ok(bytes)
        }
        Err(rail_tool::FileFault::TooLarge { .. }) => Err(ToolFault::new(format!(
            "the image `{}` has more than the {} that are read; raise ‹max_bytes_mb›, at most {}, or make a smaller copy",
            rail_tool::shown(&path),
            size(limits.bytes),
            MOST_IMAGE_BYTES >> 20
        ))),
        Err(fault) => Err(explain(cx, fault)),
    }
}

/// The bytes of an image on the network, which is reached behind all guards and never from the sandbox.
async fn remote(cx: &ToolCx, place: &Place, at_most: u64) -> Result<Vec<u8>, ToolFault> {
    let written = place.as_str();
    match cx.session().confine {
        Confine::Off => {}
        Confine::Workspace | Confine::ReadOnly => {
            return Err(ToolFault::new(format!(
                "`{written}` is on the network, which is not reached from the sandbox; save the image in the workspace and name the file, or ask the user to run with `--sandbox off`"
            )));
        }
    }
    let fault = |why: String| ToolFault::new(format!("the image `{written}` can't be fetched: {why}"));
    let fetcher = fetcher(cx.session())?;
    cx.progress().say(&format!("asking {}", place.host()));
    let bytes = usize::try_from(at_most).unwrap_or(usize::MAX);
    let downloaded = cancellable(cx, fetcher.download(place, "image/*", bytes)).await?;
    match downloaded.map_err(|why| fault(why.to_string()))? {
        Downloaded::Bytes { bytes, cut: false } => Ok(bytes),
        Downloaded::Bytes { .. } => {
            Err(fault(format!("it has more than the {} that are read; raise ‹max_bytes_mb›", size(at_most))))
        }
        Downloaded::Elsewhere { to, .. } => Err(fault(format!(
            "it sends on to another host, which has to be asked about; name `{to}` if that is where it should come from"
        ))),
    }
}

/// The image of these bytes, if they are one.
fn seen(cx: &ToolCx, written: &str, bytes: &[u8]) -> Result<Picture, ToolFault> {
    let name = shortened(written);
    if !is_picture(bytes) {
        let kind = match magic::kind(bytes) {
            Some(kind) => format!("a {kind}"),
            None if bytes.is_empty() => "empty".to_owned(),
            None if Text::read(bytes).is_some() => "text".to_owned(),
            None => "of an unknown kind".to_owned(),
        };
        return Err(ToolFault::new(format!(
            "`{name}` is no image that can be shown: it is {kind}; PNG, JPEG, GIF, WebP and BMP are"
        )));
    }
    let file = name.rsplit('/').next().filter(|_| !name.starts_with("data:"));
    picture(bytes, file, &cx.session().limits.read)
        .map_err(|error| ToolFault::new(format!("the image `{name}` can't be shown: {error}")))
}

/// A source as it is told: of a long address only the beginning.
fn shortened(written: &str) -> String {
    match written.split_once(',') {
        Some((head, data)) if head.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:")) => {
            let head: String = head.chars().take(60).collect();
            format!("{head},… ({})", size(data.len() as u64))
        }
        Some(_) | None => written.to_owned(),
    }
}

const EXAMPLES: &[Example] = &[
    Example {
        about: "what is no image",
        files: &[("notes.txt", "plain words\n")],
        read: &[],
        input: r#"{ "image": "{workspace}/notes.txt", "prompt": "What does it say?" }"#,
        output: "`{workspace}/notes.txt` is no image that can be shown: it is text; PNG, JPEG, GIF, WebP and BMP are",
        after: &[],
    },
    Example {
        about: "no image at all",
        files: &[],
        read: &[],
        input: r#"{ "prompt": "What is in the picture?" }"#,
        output: "no image is named; give one as `image` or several as `images`",
        after: &[],
    },
];
