//! All that a page draws, gone through without drawing it: letters with their places, and how much there is of the rest.

use std::collections::HashSet;

use hayro::hayro_interpret::font::{Glyph, GlyphRun};
use hayro::hayro_interpret::hayro_cmap::{BfString, WritingMode};
use hayro::hayro_interpret::pattern::Pattern;
use hayro::hayro_interpret::{
    BlendMode, CacheKey, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, Paint, SoftMask,
};
use hayro::kurbo::{Affine, BezPath, PathEl, Point, Rect, Vec2};

use crate::Budget;
use crate::guard::stop;
use crate::weigh::pixels;

/// Bytes of forms, drawn again and again, that one page may go through.
const FORM_WORK: u64 = 2 << 30;
/// What the smallest form costs, in bytes: its resources are looked up each time.
const FORM_COST: u64 = 16 << 10;

/// How many times the pixels of the largest image a page may have in all.
const IMAGES: u64 = 4;

/// How far a page is gone through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Depth {
    /// Letters only.
    Letters,
    /// All that the renderer would go through: patterns, masks, letters that are drawings, images.
    Everything,
}

/// One letter, or the few that one glyph stands for.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Letter {
    /// What it says.
    pub(crate) text: String,
    /// Where it stands on its line, on the page as people see it.
    pub(crate) at: Point,
    /// Which way the text runs; of length 1.
    pub(crate) along: Vec2,
    /// How far it goes with this letter.
    pub(crate) width: f64,
    /// How large the font is.
    pub(crate) size: f64,
}

/// Goes through a page.
pub(crate) struct Collector {
    /// The letters, as they were drawn.
    pub(crate) letters: Vec<Letter>,
    budget: Budget,
    depth: Depth,
    steps: u64,
    form_bytes: u64,
    form_work: u64,
    image_pixels: u64,
    area: Rect,
    seen: HashSet<u128>,
}

impl Collector {
    pub(crate) fn new(budget: Budget, depth: Depth, form_bytes: u64, area: Rect) -> Self {
        Self {
            letters: Vec::new(),
            budget,
            depth,
            steps: 0,
            form_bytes,
            form_work: 0,
            image_pixels: 0,
            // A letter may hang over the edge.
            area: area.inflate(area.width() * 0.02, area.height() * 0.02),
            seen: HashSet::new(),
        }
    }

    fn step(&mut self) {
        self.steps += 1;
        if self.steps > self.budget.steps {
            stop("more to draw than any page of a document");
        }
    }

    fn mask(&mut self, mask: Option<SoftMask<'_>>) {
        let Some(mask) = mask.filter(|_| self.depth == Depth::Everything) else { return };
        // The renderer keeps masks.
        if self.seen.insert(mask.cache_key()) {
            self.nested(|collector| mask.interpret(collector));
        }
    }

    fn paint(&mut self, paint: &Paint<'_>, is_stroke: bool) {
        if self.depth == Depth::Letters {
            return;
        }
        match paint {
            Paint::Pattern(pattern) => match pattern.as_ref() {
                Pattern::Tiling(tile) if self.seen.insert(tile.cache_key()) => self.nested(|collector| {
                    let _ = tile.interpret(collector, Affine::IDENTITY, is_stroke);
                }),
                Pattern::Tiling(_) | Pattern::Shading(_) => {}
            },
            Paint::Color(_) => {}
        }
    }

    /// Letters in patterns, masks and drawings of letters are decoration.
    fn nested(&mut self, go: impl FnOnce(&mut Self)) {
        let letters = self.letters.len();
        go(self);
        self.letters.truncate(letters);
    }

    fn letter(&mut self, glyph: &Glyph<'_>, transform: Affine, mode: WritingMode) {
        let width = match glyph {
            Glyph::Outline(glyph) => glyph.advance_width(),
            Glyph::Type3(glyph) => glyph.advance_width(),
        };
        // A letter is drawn on a square of 1000 units.
        let [a, b, c, d, _, _] = transform.as_coeffs();
        let (right, up) = (Vec2::new(a, b), Vec2::new(c, d));
        let size = if up.hypot() > 0.0 { up.hypot() } else { right.hypot() } * 1000.0;
        let (at, along, width) = match mode {
            WritingMode::Horizontal => {
                (Point::ORIGIN, right, right.hypot() * f64::from(width.unwrap_or(500.0)))
            }
            // Such a letter hangs below the middle of its upper edge.
            WritingMode::Vertical => (Point::new(500.0, 880.0), -up, size),
        };
        let (at, along) = (transform * at, along / along.hypot());
        let sound = [at.x, at.y, along.x, along.y, width, size].into_iter().all(f64::is_finite) && size > 0.0;
        if !sound || !self.area.contains(at) {
            return;
        }
        if self.letters.len() >= self.budget.letters {
            stop("more letters than any page of a document");
        }
        let text = match glyph.as_unicode() {
            Some(BfString::Char(letter)) => plain(letter),
            Some(BfString::String(letters)) => letters.chars().take(16).map(plain).collect(),
            None => char::REPLACEMENT_CHARACTER.to_string(),
        };
        if !text.is_empty() {
            self.letters.push(Letter { text, at, along, width, size });
        }
    }
}

/// A letter as it is written: ligatures taken apart, special blanks as blanks, nothing that steers a terminal.
fn plain(letter: char) -> String {
    let ligature = match letter {
        '\u{fb00}' => "ff",
        '\u{fb01}' => "fi",
        '\u{fb02}' => "fl",
        '\u{fb03}' => "ffi",
        '\u{fb04}' => "ffl",
        '\u{fb05}' | '\u{fb06}' => "st",
        '\u{ad}' => "-",
        _ if letter.is_whitespace() => " ",
        _ if letter.is_control() => "",
        _ => return letter.to_string(),
    };
    ligature.to_owned()
}

impl<'a> Device<'a> for Collector {
    fn draw_path(&mut self, _: &BezPath, props: DrawProps<'a>, mode: &DrawMode) {
        self.step();
        self.mask(props.soft_mask);
        self.paint(&props.paint, matches!(mode, DrawMode::Stroke(_)));
    }

    fn push_clip_path(&mut self, clip: &ClipPath) {
        self.step();
        // Each form begins with its frame. What is in it may draw nothing at all, and be drawn a million times.
        let corners = clip.path.elements().iter().filter(|part| matches!(part, PathEl::LineTo(_))).count();
        if corners <= 4 {
            self.form_work += self.form_bytes.max(FORM_COST);
            if self.form_work > FORM_WORK {
                stop("a drawing that is repeated without end");
            }
        }
    }

    fn push_clip_rect(&mut self, _: &Rect) {
        self.step();
    }

    fn push_transparency_group(&mut self, _: f32, mask: Option<SoftMask<'a>>, _: BlendMode) {
        self.step();
        self.mask(mask);
    }

    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, mode: &DrawMode) {
        self.step();
        for glyph in run.glyphs() {
            self.step();
            self.letter(glyph, props.transform * glyph.transform(), run.writing_mode());
            if let (Glyph::Type3(drawing), Depth::Everything) = (&**glyph, self.depth) {
                self.nested(|collector| {
                    drawing.interpret(collector, props.transform, glyph.transform(), &props.paint);
                });
            }
        }
        self.mask(props.soft_mask);
        self.paint(&props.paint, matches!(mode, DrawMode::Stroke(_)));
    }

    fn draw_image(&mut self, image: Image<'a, '_>, props: ImageDrawProps<'a>) {
        self.step();
        self.mask(props.soft_mask);
        if self.depth == Depth::Letters {
            return;
        }
        let pixels = match &image {
            Image::Stencil(image) => pixels(image.stream(), &self.budget),
            Image::Raster(image) => pixels(image.stream(), &self.budget),
        };
        self.image_pixels = self.image_pixels.saturating_add(pixels);
        if pixels > self.budget.image_pixels || self.image_pixels / IMAGES > self.budget.image_pixels {
            stop("an image of too many pixels");
        }
    }

    fn pop_clip(&mut self) {}

    fn pop_transparency_group(&mut self) {}
}
