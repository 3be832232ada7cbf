//! Where a JSON value that comes in pieces ends.

/// Reads JSON just well enough to know where a value ends, each byte once.
#[derive(Debug)]
pub(super) struct Scan {
    depth: usize,
    in_string: bool,
    escaped: bool,
    begun: bool,
    /// Anything but braces and blanks.
    says: bool,
    /// Objects that ended; `{}` in front may only have held a place.
    objects: usize,
    /// Something that is not part of an object, or a bracket without its partner.
    odd: bool,
    length: usize,
    hash: u64,
}

impl Default for Scan {
    fn default() -> Self {
        Self {
            depth: 0,
            in_string: false,
            escaped: false,
            begun: false,
            says: false,
            objects: 0,
            odd: false,
            length: 0,
            hash: FNV_START,
        }
    }
}

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a that goes on from where it was, so that a text in pieces has the hash of the whole.
fn fnv(start: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

impl Scan {
    pub(super) fn push(&mut self, text: &str) {
        for byte in text.bytes() {
            if self.in_string {
                self.in_string = self.escaped || byte != b'"';
                self.escaped = !self.escaped && byte == b'\\';
                continue;
            }
            self.odd |= self.depth == 0 && byte != b'{' && !byte.is_ascii_whitespace();
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.odd |= self.depth == 1 && byte == b']';
                    self.objects += usize::from(self.depth == 1 && self.says);
                    self.depth = self.depth.saturating_sub(1);
                }
                _ => {}
            }
            self.begun |= !byte.is_ascii_whitespace();
            self.says |= !byte.is_ascii_whitespace() && !matches!(byte, b'{' | b'}');
        }
        self.length += text.len();
        self.hash = fnv(self.hash, text.as_bytes());
    }

    /// Anything but blanks came.
    pub(super) fn begun(&self) -> bool {
        self.begun
    }

    pub(super) fn is_finished(&self) -> bool {
        self.begun && self.depth == 0 && !self.in_string
    }

    /// One object that says something and nothing besides: no more can come that would belong to it.
    pub(super) fn is_whole_object(&self) -> bool {
        self.objects == 1 && self.depth == 0 && !self.odd
    }

    pub(super) fn is_placeholder(&self) -> bool {
        !self.says
    }

    /// Whether all that was pushed is this text, without having kept it.
    pub(super) fn equals(&self, text: &str) -> bool {
        self.length == text.len() && self.hash == fnv(FNV_START, text.as_bytes())
    }
}
