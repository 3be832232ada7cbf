//! Takes compressed bodies apart, sans-IO: bytes in, bytes out.

mod stage;
mod zstd;

use stage::Stage;

/// Bytes of compressed input that are decoded in one step; what a step may give is bounded by [`MAX_STEP`].
pub const STEP: usize = 16 << 10;
/// Most bytes that one step may give: two thousand times what went in is no text but an attack.
const MAX_STEP: usize = 32 << 20;
/// Most bytes that a whole body may give.
const MAX_BODY: u64 = 512 << 20;

/// Why a compressed body can't be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Damage {
    /// The bytes are not what the header says.
    #[error("the {0} compression of the answer is damaged")]
    Corrupt(&'static str),
    /// The body ended in the middle.
    #[error("the answer ended in the middle of its {0} compression")]
    Truncated(&'static str),
    /// It unpacks to far more than any answer holds.
    #[error("the answer unpacks to more than any answer holds: at least {0} MiB")]
    TooLarge(u64),
    /// An encoding that we have no decoder for.
    #[error("the answer is packed in a way that was not asked for and can't be read")]
    Unknown,
}

/// Decodes a body piece by piece; what is whole comes out at once.
pub struct Decoder {
    /// In the order in which they are taken off: the last named encoding first.
    stages: Vec<Stage>,
    given: u64,
}

impl Decoder {
    /// A decoder for the value of a `content-encoding` header; None when there is nothing to take off.
    pub fn for_header(value: &str) -> Result<Option<Decoder>, Damage> {
        let mut stages = Vec::new();
        for name in value.split(',').rev().map(str::trim) {
            match name.to_ascii_lowercase().as_str() {
                "" | "identity" => {}
                "gzip" | "x-gzip" => stages.push(Stage::gzip()),
                "deflate" => stages.push(Stage::deflate()),
                "br" => stages.push(Stage::brotli()),
                "zstd" => stages.push(Stage::zstd()),
                _ => return Err(Damage::Unknown),
            }
            // Nobody packs an answer more than twice; each stage costs memory.
            if stages.len() > 4 {
                return Err(Damage::Unknown);
            }
        }
        Ok(if stages.is_empty() { None } else { Some(Decoder { stages, given: 0 }) })
    }

    /// Takes the next bytes and appends what they become. Hand over [`STEP`] bytes at most, so that memory stays bounded.
    pub fn push(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Damage> {
        let mut carried = None;
        for stage in &mut self.stages {
            let mut next = Vec::new();
            stage.push(carried.as_deref().unwrap_or(input), &mut next)?;
            carried = Some(next);
        }
        self.give(&carried.unwrap_or_default(), out)
    }

    /// The body is over: appends what is left, or says that it was cut.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Damage> {
        let mut carried = Vec::new();
        for stage in &mut self.stages {
            let mut next = Vec::new();
            stage.push(&carried, &mut next)?;
            stage.finish(&mut next)?;
            carried = next;
        }
        self.give(&carried, out)
    }

    fn give(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Damage> {
        self.given += bytes.len() as u64;
        if self.given > MAX_BODY {
            return Err(Damage::TooLarge(MAX_BODY >> 20));
        }
        out.extend_from_slice(bytes);
        Ok(())
    }
}

/// Refuses what one step must not give.
fn bounded(given: usize) -> Result<(), Damage> {
    if given > MAX_STEP { Err(Damage::TooLarge((MAX_STEP >> 20) as u64)) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
