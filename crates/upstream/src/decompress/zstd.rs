use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::{Damage, bounded};

/// RFC 9659: what a sender may ask a reader of HTTP to keep.
const MAX_WINDOW: u64 = 8 << 20;
const MAGIC: u32 = 0xFD2F_B528;
const DAMAGED: Damage = Damage::Corrupt("zstd");

/// Frames of Zstandard. A block is decoded once it is here whole.
///
/// Its decoder keeps the last window of a frame to itself until the frame ends, so text shorter than the window comes out
/// at the end of its frame. That is why we never ask for this encoding.
#[derive(Default)]
pub(super) struct Zstd {
    held: Vec<u8>,
    decoder: FrameDecoder,
    at: At,
}

/// What comes next.
#[derive(Clone, Copy, Default)]
enum At {
    #[default]
    Frame,
    Block {
        checksum: Checksum,
    },
    /// So many bytes of a frame for somebody else.
    Skipped(u64),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Checksum {
    Four,
    None,
}

impl Zstd {
    pub(super) fn push(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Damage> {
        self.held.extend_from_slice(input);
        let mut used = 0;
        let before = out.len();
        let mut rest = self.held.as_slice();
        while let Some(taken) = step(&mut self.at, &mut self.decoder, rest, out)? {
            used += taken;
            rest = rest.get(taken..).unwrap_or_default();
            bounded(out.len() - before)?;
        }
        self.held.drain(..used);
        Ok(())
    }

    pub(super) fn finish(&mut self) -> Result<(), Damage> {
        match self.at {
            At::Frame if self.held.is_empty() => Ok(()),
            At::Frame | At::Block { .. } | At::Skipped(_) => Err(Damage::Truncated("zstd")),
        }
    }
}

/// Decodes the next whole thing and says how many bytes it took; None until there are enough of them.
fn step(
    at: &mut At,
    decoder: &mut FrameDecoder,
    input: &[u8],
    out: &mut Vec<u8>,
) -> Result<Option<usize>, Damage> {
    match *at {
        At::Frame => {
            let Some(head) = head(input)? else { return Ok(None) };
            match head {
                Head::Frame { length, checksum } => {
                    let Some(bytes) = input.get(..length) else { return Ok(None) };
                    decoder.set_max_window_size(MAX_WINDOW);
                    decoder.reset(bytes).map_err(|_| DAMAGED)?;
                    *at = At::Block { checksum };
                    Ok(Some(length))
                }
                Head::Skipped(length) => {
                    *at = At::Skipped(length);
                    Ok(Some(8))
                }
            }
        }
        At::Skipped(left) => {
            let here = left.min(input.len() as u64);
            let left = left - here;
            *at = if left == 0 { At::Frame } else { At::Skipped(left) };
            Ok((here > 0 || left == 0).then_some(here as usize))
        }
        At::Block { checksum } => {
            let Some(length) = block(input, checksum)? else { return Ok(None) };
            let Some(bytes) = input.get(..length) else { return Ok(None) };
            let last =
                decoder.decode_blocks(bytes, BlockDecodingStrategy::UptoBlocks(1)).map_err(|_| DAMAGED)?;
            decoder.collect_to_writer(&mut *out).map_err(|_| DAMAGED)?;
            if last {
                *at = At::Frame;
            }
            Ok(Some(length))
        }
    }
}

enum Head {
    Frame { length: usize, checksum: Checksum },
    Skipped(u64),
}

/// The head of a frame (RFC 8878, 3.1.1), as far as its length needs it.
fn head(input: &[u8]) -> Result<Option<Head>, Damage> {
    let Some((magic, rest)) = input.split_first_chunk::<4>() else { return Ok(None) };
    let magic = u32::from_le_bytes(*magic);
    if magic & 0xFFFF_FFF0 == 0x184D_2A50 {
        let size = rest.first_chunk::<4>().map(|size| Head::Skipped(u64::from(u32::from_le_bytes(*size))));
        return Ok(size);
    }
    if magic != MAGIC {
        return Err(DAMAGED);
    }
    let Some(descriptor) = rest.first() else { return Ok(None) };
    let single_segment = descriptor & 0x20 != 0;
    let window = usize::from(!single_segment);
    let dictionary = [0, 1, 2, 4].get(usize::from(descriptor & 3)).copied().unwrap_or_default();
    let content_size = match descriptor >> 6 {
        0 => usize::from(single_segment),
        1 => 2,
        2 => 4,
        _ => 8,
    };
    let checksum = if descriptor & 4 != 0 { Checksum::Four } else { Checksum::None };
    Ok(Some(Head::Frame { length: 5 + window + dictionary + content_size, checksum }))
}

/// The length of the block that comes next, with its head, and with the frame's checksum after the last one.
fn block(input: &[u8], checksum: Checksum) -> Result<Option<usize>, Damage> {
    let Some([a, b, c]) = input.first_chunk::<3>() else { return Ok(None) };
    let head = u32::from_le_bytes([*a, *b, *c, 0]);
    let size = (head >> 3) as usize;
    let body = match head >> 1 & 3 {
        0 | 2 if size <= 128 << 10 => size,
        // One byte, repeated.
        1 => 1,
        _ => return Err(DAMAGED),
    };
    let tail = if head & 1 == 1 && checksum == Checksum::Four { 4 } else { 0 };
    Ok(Some(3 + body + tail))
}
