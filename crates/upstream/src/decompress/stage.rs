use std::io::{self, Write};

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::write::MultiGzDecoder;
use flate2::{Decompress, FlushDecompress, Status};

use super::zstd::Zstd;
use super::{Damage, bounded};

type Brotli = BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>;

/// One encoding to take off.
pub(super) enum Stage {
    Gzip(Box<Gzip>),
    Deflate(Deflate),
    Brotli { state: Box<Brotli>, ended: bool, begun: bool },
    Zstd(Box<Zstd>),
}

impl Stage {
    pub(super) fn gzip() -> Self {
        Stage::Gzip(Box::new(Gzip { inner: MultiGzDecoder::new(Capped::default()), begun: false }))
    }

    pub(super) fn deflate() -> Self {
        Stage::Deflate(Deflate::Unknown(Vec::new()))
    }

    pub(super) fn brotli() -> Self {
        // Strict is the window of RFC 7932, at most 16 MiB; the large one would let a header ask for a gigabyte.
        let new = BrotliState::new_strict;
        let alloc = StandardAlloc::default;
        Stage::Brotli { state: Box::new(new(alloc(), alloc(), alloc())), ended: false, begun: false }
    }

    pub(super) fn zstd() -> Self {
        Stage::Zstd(Box::default())
    }

    pub(super) fn push(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Damage> {
        if input.is_empty() {
            return Ok(());
        }
        match self {
            Stage::Gzip(gzip) => gzip.push(input, out),
            Stage::Deflate(deflate) => deflate.push(input, out),
            Stage::Brotli { ended: true, .. } => Err(Damage::Corrupt("br")),
            Stage::Brotli { state, ended, begun } => {
                *begun = true;
                *ended = brotli(state, input, out)?;
                Ok(())
            }
            Stage::Zstd(zstd) => zstd.push(input, out),
        }
    }

    /// An empty body is no damage, whatever it claims to be packed with.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Damage> {
        match self {
            Stage::Gzip(gzip) => gzip.finish(out),
            Stage::Deflate(deflate) => deflate.finish(out),
            Stage::Brotli { ended, begun, .. } => {
                if *ended || !*begun {
                    Ok(())
                } else {
                    Err(Damage::Truncated("br"))
                }
            }
            Stage::Zstd(zstd) => zstd.finish(),
        }
    }
}

pub(super) struct Gzip {
    inner: MultiGzDecoder<Capped>,
    begun: bool,
}

impl Gzip {
    fn push(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Damage> {
        self.begun = true;
        let written = self.inner.write_all(input).and_then(|()| self.inner.flush());
        self.take(out, written, Damage::Corrupt("gzip"))
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Damage> {
        if !self.begun {
            return Ok(());
        }
        let finished = self.inner.try_finish();
        self.take(out, finished, Damage::Truncated("gzip"))
    }

    fn take(&mut self, out: &mut Vec<u8>, done: io::Result<()>, damage: Damage) -> Result<(), Damage> {
        let sink = self.inner.get_mut();
        bounded(sink.0.len())?;
        done.map_err(|_| damage)?;
        out.append(&mut sink.0);
        Ok(())
    }
}

/// Takes bytes until there are too many.
#[derive(Default)]
struct Capped(Vec<u8>);

impl Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        bounded(self.0.len()).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// `deflate` should mean zlib, and is raw deflate with some servers; the first two bytes tell.
pub(super) enum Deflate {
    Unknown(Vec<u8>),
    Running(Box<Decompress>),
    Ended,
}

impl Deflate {
    fn push(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Damage> {
        match self {
            Deflate::Ended => Err(Damage::Corrupt("deflate")),
            Deflate::Running(inflate) => {
                if inflated(inflate, input, out)? {
                    *self = Deflate::Ended;
                }
                Ok(())
            }
            Deflate::Unknown(held) => {
                held.extend_from_slice(input);
                let [first, second, ..] = held[..] else { return Ok(()) };
                let held = std::mem::take(held);
                let zlib = first & 0x0f == 8 && (u16::from(first) << 8 | u16::from(second)) % 31 == 0;
                *self = Deflate::Running(Box::new(Decompress::new(zlib)));
                self.push(&held, out)
            }
        }
    }

    fn finish(&mut self, _out: &mut [u8]) -> Result<(), Damage> {
        match self {
            Deflate::Ended => Ok(()),
            Deflate::Unknown(held) if held.is_empty() => Ok(()),
            Deflate::Unknown(_) | Deflate::Running(_) => Err(Damage::Truncated("deflate")),
        }
    }
}

/// True at the end of the stream; bytes after it are damage.
fn inflated(inflate: &mut Decompress, mut input: &[u8], out: &mut Vec<u8>) -> Result<bool, Damage> {
    let damaged = Damage::Corrupt("deflate");
    let mut buffer = vec![0; 32 << 10];
    let before = out.len();
    loop {
        let (taken, given) = (inflate.total_in(), inflate.total_out());
        let status = inflate.decompress(input, &mut buffer, FlushDecompress::None).map_err(|_| damaged)?;
        let taken = (inflate.total_in() - taken) as usize;
        let given = (inflate.total_out() - given) as usize;
        input = input.get(taken..).unwrap_or_default();
        out.extend(buffer.iter().take(given));
        bounded(out.len() - before)?;
        match status {
            Status::StreamEnd if input.is_empty() => return Ok(true),
            Status::StreamEnd => return Err(damaged),
            // A full buffer may hide more output, although all input was taken.
            Status::Ok | Status::BufError if given == buffer.len() => {}
            Status::Ok | Status::BufError if input.is_empty() => return Ok(false),
            Status::Ok | Status::BufError if taken == 0 && given == 0 => return Err(damaged),
            Status::Ok | Status::BufError => {}
        }
    }
}

/// True at the end of the stream; bytes after it are damage.
fn brotli(state: &mut Brotli, input: &[u8], out: &mut Vec<u8>) -> Result<bool, Damage> {
    let (mut left, mut at, mut total) = (input.len(), 0, 0);
    let mut buffer = vec![0; 32 << 10];
    let before = out.len();
    loop {
        let (mut room, mut given) = (buffer.len(), 0);
        let result = BrotliDecompressStream(
            &mut left,
            &mut at,
            input,
            &mut room,
            &mut given,
            &mut buffer,
            &mut total,
            state,
        );
        out.extend(buffer.iter().take(given));
        bounded(out.len() - before)?;
        match result {
            BrotliResult::ResultSuccess if left == 0 => return Ok(true),
            BrotliResult::ResultSuccess | BrotliResult::ResultFailure => return Err(Damage::Corrupt("br")),
            BrotliResult::NeedsMoreInput => return Ok(false),
            BrotliResult::NeedsMoreOutput => {}
        }
    }
}
