//! The formats in which models write calls, one file each. A new one is a file here and a line in the list.

use super::args::Call;
use super::cx::Cx;
use super::{Reading, answer};

mod envelopes;

/// A format in which models write calls.
pub(super) struct Family {
    /// Its name in reports.
    pub(super) name: &'static str,
    /// What it begins with; nothing where only the shape tells.
    pub(super) openers: &'static [&'static str],
    /// What its openers prove.
    pub(super) evidence: Evidence,
    /// Reads on from just after the opener, or from the first character of a line. None when it is not this format after all; the cursor may then be anywhere.
    pub(super) read: for<'a> fn(&'a mut Cx) -> Reading<'a, Option<Found>>,
}

/// What an opener proves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Evidence {
    /// It exists only for calls: with a body that can be read it is a call, even of a tool that nobody declared.
    Strong,
    /// It may stand in any text: it needs a declared name and a block that is closed.
    Tag,
    /// It begins a message of a protocol of its own, of which calls are only a part; read even where no tools are declared.
    Channel,
    /// There is no opener: only the shape, at the start of a line, with nothing behind it.
    Weak(First),
}

/// What a shape without an opener may begin with: most lines are none of any, and need no closer look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum First {
    /// One of these.
    Bytes(&'static [u8]),
    /// A word, or one of these.
    Word(&'static [u8]),
}

impl First {
    /// Whether it may be this byte.
    pub(super) fn may_be(self, byte: u8) -> bool {
        match self {
            Self::Bytes(bytes) => bytes.contains(&byte),
            Self::Word(bytes) => {
                byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80 || bytes.contains(&byte)
            }
        }
    }
}

/// What a reader found; the cursor is behind it.
#[derive(Default, Debug)]
pub(super) struct Found {
    /// The calls, but for those that were given out while they were read.
    pub(super) calls: Vec<Call>,
    /// Some calls were given out while they were read, or the block says that there are none: either way it is no text.
    pub(super) given: bool,
    /// The block was closed by its own closer.
    pub(super) closed: bool,
}

impl Found {
    /// Whether there are calls.
    pub(super) fn any(&self) -> bool {
        self.given || !self.calls.is_empty()
    }

    /// Takes calls that were read. Where calls may be given out at once they are, so that a long one after them can't be
    /// given out before them.
    pub(super) fn add(&mut self, cx: &mut Cx, calls: impl IntoIterator<Item = Call>, format: &'static str) {
        self.calls.extend(calls);
        if cx.may_stream && !self.calls.is_empty() {
            self.given = true;
            let from = cx.markup;
            answer::give(cx, from, std::mem::take(&mut self.calls), format);
        }
    }
}

/// Declares the formats; the order decides between formats that begin alike.
macro_rules! families {
    ($($name:ident),* $(,)?) => {
        $(pub(super) mod $name;)*
        const LISTED: &[Family] = &[$($name::FAMILY),*];
    };
}

/// All formats. Those of the table know their own by the first byte of the body, so they may come first.
pub(super) fn all() -> impl Iterator<Item = &'static Family> {
    envelopes::FAMILIES.iter().chain(LISTED)
}

families! {
    hermes,
    deepseek,
    kimi,
    mistral,
    apertus,
    solar,
    qwen_agent,
    functionary,
    harmony,
    wrappers,
    pythonic,
    python_code,
    tool_code,
    gemma,
    function_gemma,
    qwen_xml,
    qwen_xml_bare,
    invoke,
    invoke_legacy,
    invoke_bare,
    tool_calls,
    glm,
    dsml,
    dsml_bare,
    step3,
    minimax_m3,
    kimi_xtml,
    minicpm,
    loose,
    loose_bare,
    muse,
    fenced,
    bare_json,
    bare_python,
    react,
    named_json,
}
