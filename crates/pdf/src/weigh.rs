//! What a page comes to before anything of it is unpacked: all streams that can be reached from it.

use std::collections::HashMap;

use hayro::hayro_syntax::Filter;
use hayro::hayro_syntax::object::{Array, Dict, MaybeRef, Name, Object, ObjectIdentifier, Stream};
use hayro::hayro_syntax::page::Page;
use hayro::hayro_syntax::xref::XRef;

use crate::chain::{Step, unpacked};
use crate::{Budget, Seen};

/// The most objects that are looked at for one page.
const OBJECTS: usize = 500_000;

/// Ways to other pages.
const AWAY: &[&[u8]] = &[b"Parent", b"P", b"Dest", b"A", b"Popup", b"IRT", b"StructParents", b"B"];

/// What was weighed of a file.
#[derive(Default)]
pub(crate) struct Weighed {
    seen: Seen,
    sizes: HashMap<ObjectIdentifier, u64>,
    largest_form: u64,
}

impl Weighed {
    /// Goes through all that a page can reach, and gives the bytes of the largest drawing in the file so far.
    pub(crate) fn page(&mut self, page: &Page<'_>, budget: &Budget) -> Result<u64, &'static str> {
        let found = self.reached(page, budget);
        if found.is_err() {
            // What was seen was not all weighed: the next look must not pass it by.
            self.seen.clear();
        }
        found
    }

    fn reached(&mut self, page: &Page<'_>, budget: &Budget) -> Result<u64, &'static str> {
        if self.contents(page, budget)? > budget.content_bytes {
            return Err("more drawing instructions than any page of a document");
        }
        let resources = page.resources();
        let roots = [
            page.raw(),
            &resources.ext_g_states,
            &resources.fonts,
            &resources.properties,
            &resources.color_spaces,
            &resources.x_objects,
            &resources.patterns,
            &resources.shadings,
        ];
        let mut open: Vec<Object<'_>> = roots.map(|dict| Object::Dict(dict.clone())).to_vec();
        let mut count = 0;
        while let Some(object) = open.pop() {
            count += 1;
            if count > OBJECTS {
                return Err("more parts than any page of a document");
            }
            match object {
                Object::Dict(dict) => self.entries(&dict, page.xref(), &mut open),
                Object::Array(array) => {
                    open.extend(array.raw_iter().filter_map(|item| self.resolved(item, page.xref())));
                }
                Object::Stream(stream) => {
                    self.stream(&stream, budget)?;
                    self.entries(stream.dict(), page.xref(), &mut open);
                }
                Object::Null(_)
                | Object::Boolean(_)
                | Object::Number(_)
                | Object::String(_)
                | Object::Name(_) => {}
            }
        }
        Ok(self.largest_form)
    }

    /// The bytes of a page's own drawing; the same stream may stand in it many times.
    fn contents(&mut self, page: &Page<'_>, budget: &Budget) -> Result<u64, &'static str> {
        if let Some(stream) = page.raw().get::<Stream<'_>>("Contents") {
            return self.stream(&stream, budget);
        }
        let Some(array) = page.raw().get::<Array<'_>>("Contents") else { return Ok(0) };
        let mut total: u64 = 0;
        for stream in array.iter::<Stream<'_>>() {
            total = total.saturating_add(self.stream(&stream, budget)?);
            if total > budget.content_bytes {
                break;
            }
        }
        Ok(total)
    }

    fn stream(&mut self, stream: &Stream<'_>, budget: &Budget) -> Result<u64, &'static str> {
        let id = stream.obj_id();
        if let Some(size) = self.sizes.get(&id) {
            return Ok(*size);
        }
        let size = size(stream, budget).ok_or("a stream that unpacks to gigabytes")?;
        if id != ObjectIdentifier::new(0, 0) {
            self.sizes.insert(id, size);
        }
        let kind = stream.dict().get::<Name<'_>>("Subtype");
        if kind.is_some_and(|kind| &*kind == b"Form") {
            self.largest_form = self.largest_form.max(size);
        }
        Ok(size)
    }

    fn entries<'a>(&mut self, dict: &Dict<'a>, xref: &'a XRef, open: &mut Vec<Object<'a>>) {
        for (key, value) in dict.entries() {
            if !AWAY.contains(&&*key) {
                open.extend(self.resolved(value, xref));
            }
        }
    }

    /// What stands at the end of a reference, if it was not seen before.
    fn resolved<'a>(&mut self, value: MaybeRef<Object<'a>>, xref: &'a XRef) -> Option<Object<'a>> {
        match value {
            MaybeRef::NotRef(object) => Some(object),
            MaybeRef::Ref(id) => {
                let id = ObjectIdentifier::from(id);
                if self.seen.insert(id) { xref.get::<Object<'a>>(id) } else { None }
            }
        }
    }
}

/// What a stream unpacks to.
fn size(stream: &Stream<'_>, budget: &Budget) -> Option<u64> {
    let steps: Vec<Step> = stream.filters().iter().map(step).collect();
    unpacked(&stream.raw_data(), &steps, budget.stream_bytes).ok()
}

fn step(filter: &Filter) -> Step {
    match filter {
        Filter::FlateDecode => Step::Flate,
        Filter::LzwDecode => Step::Lzw,
        Filter::RunLengthDecode => Step::RunLength,
        Filter::Ascii85Decode => Step::Ascii85,
        Filter::AsciiHexDecode => Step::AsciiHex,
        Filter::Crypt
        | Filter::DctDecode
        | Filter::JpxDecode
        | Filter::Jbig2Decode
        | Filter::CcittFaxDecode => Step::Other,
    }
}

/// The pixels that an image with its masks may decode to, by whatever names them: more than allowed where its stream unpacks to too much.
pub(crate) fn pixels(image: &Stream<'_>, budget: &Budget) -> u64 {
    let dict = image.dict();
    let masks = ["SMask", "Mask"].into_iter().filter_map(|key| dict.get::<Stream<'_>>(key));
    masks.map(|mask| claimed(&mask, budget)).fold(claimed(image, budget), u64::max)
}

fn claimed(image: &Stream<'_>, budget: &Budget) -> u64 {
    if size(image, budget).is_none() {
        return u64::MAX;
    }
    let dict = image.dict();
    let number = |dict: &Dict<'_>, long: &str, short: &str| {
        dict.get::<u32>(long).or_else(|| dict.get::<u32>(short)).map_or(0, u64::from)
    };
    let (width, height) = (number(dict, "Width", "W"), number(dict, "Height", "H"));
    let mut most = width.saturating_mul(height);
    // Fax images have their own width and height.
    let own = ["DecodeParms", "DP"].into_iter().flat_map(|key| {
        let one = dict.get::<Dict<'_>>(key);
        let several = dict.get::<Array<'_>>(key).into_iter().flat_map(|array| array.iter::<Dict<'_>>());
        one.into_iter().chain(several).collect::<Vec<_>>()
    });
    for parameters in own {
        let rows = number(&parameters, "Rows", "Rows").max(height);
        most = most.max(number(&parameters, "Columns", "Columns").saturating_mul(rows));
    }
    let raw = image.raw_data();
    let filters = image.filters();
    for filter in &filters {
        most = most.max(match filter {
            // Nobody packs what is packed as well as this, and its head can't be seen then.
            Filter::JpxDecode | Filter::Jbig2Decode if filters.len() > 1 => u64::MAX,
            Filter::JpxDecode => jpeg2000(&raw),
            Filter::Jbig2Decode => jbig2(&raw),
            Filter::AsciiHexDecode
            | Filter::Ascii85Decode
            | Filter::LzwDecode
            | Filter::FlateDecode
            | Filter::RunLengthDecode
            | Filter::CcittFaxDecode
            | Filter::DctDecode
            | Filter::Crypt => 0,
        });
    }
    most
}

/// The pixels that the head of a JPEG 2000 stream claims.
fn jpeg2000(data: &[u8]) -> u64 {
    let heads = memchr::memmem::find_iter(data, b"\xff\x4f\xff\x51").take(4);
    heads
        .filter_map(|at| Some(number(data, at + 8)?.saturating_mul(number(data, at + 12)?)))
        .max()
        .unwrap_or(0)
}

/// The pixels that the segments of a JBIG2 stream claim: those of the page and of each region.
fn jbig2(data: &[u8]) -> u64 {
    let mut at = 0;
    let mut most = 0_u64;
    while let Some(flags) = data.get(at + 4).copied() {
        let segment = number(data, at).unwrap_or(0);
        let Some(count) = data.get(at + 5).map(|byte| u64::from(byte >> 5)) else { break };
        let (count, mut next) = match count {
            7 => {
                let count = number(data, at + 5).unwrap_or(0) & 0x1fff_ffff;
                (count, at + 9 + usize::try_from(count.div_ceil(8) + 1).unwrap_or(0))
            }
            _ => (count, at + 6),
        };
        let width: u64 = match segment {
            0..=256 => 1,
            257..=65536 => 2,
            _ => 4,
        };
        next += usize::try_from(count * width).unwrap_or(0) + if flags & 0x40 == 0 { 1 } else { 4 };
        let Some(length) = number(data, next) else { break };
        let body = next + 4;
        let kind = flags & 0x3f;
        // Regions and pages begin with their width and height.
        if matches!(kind, 4..=48)
            && let (Some(width), Some(height)) = (number(data, body), number(data, body + 4))
        {
            // A page may leave its height open.
            let height = if height == u64::from(u32::MAX) { 65_535 } else { height };
            most = most.max(width.saturating_mul(height));
        }
        if length == u64::from(u32::MAX) {
            break;
        }
        at = body.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
    }
    most
}

fn number(data: &[u8], at: usize) -> Option<u64> {
    let bytes = data.get(at..at.checked_add(4)?)?;
    Some(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}
