/// Quotes and lists within each other that are shown; deeper ones stand at the same place.
const MAX_PREFIXES: usize = 8;

/// What is kept between two blocks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) enum Gap {
    #[default]
    None,
    Line,
    Blank,
}

/// What stands before each line of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Prefix {
    Quote {
        written: bool,
    },
    Item {
        marker: String,
        written: bool,
    },
    /// Deeper than is shown.
    Nothing,
}

/// Blocks as they are written, one below the other.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    out: String,
    gap: Gap,
    prefixes: Vec<Prefix>,
}

impl Blocks {
    pub(super) fn length(&self) -> usize {
        self.out.len()
    }

    pub(super) fn into_text(self) -> String {
        self.out
    }

    /// At least so much is kept before the next block.
    pub(super) fn want(&mut self, gap: Gap) {
        // The first block of an item stands beside its marker.
        if !self.at_marker() {
            self.gap = self.gap.max(gap);
        }
    }

    /// Whether the next block is the first of an item.
    pub(super) fn at_marker(&self) -> bool {
        matches!(self.prefixes.last(), Some(Prefix::Item { written: false, .. }))
    }

    pub(super) fn is_in_item(&self) -> bool {
        self.prefixes.iter().any(|prefix| matches!(prefix, Prefix::Item { .. }))
    }

    pub(super) fn open_quote(&mut self) {
        self.open(Prefix::Quote { written: false });
    }

    pub(super) fn open_item(&mut self, marker: String) {
        self.gap = self.gap.max(Gap::Line);
        self.open(Prefix::Item { marker, written: false });
    }

    fn open(&mut self, prefix: Prefix) {
        let shown = self.prefixes.len() < MAX_PREFIXES;
        self.prefixes.push(if shown { prefix } else { Prefix::Nothing });
    }

    pub(super) fn close(&mut self) {
        self.prefixes.pop();
    }

    /// Writes a block of one line or more.
    pub(super) fn write(&mut self, text: &str) {
        if !self.out.is_empty() {
            self.out.push('\n');
            if self.gap == Gap::Blank {
                let blank = self.quotes();
                self.out.push_str(blank.trim_end());
                self.out.push('\n');
            }
        }
        self.gap = Gap::None;
        for (at, line) in text.split('\n').enumerate() {
            if at > 0 {
                self.out.push('\n');
            }
            self.prefix();
            self.out.push_str(line);
            let end = self.out.trim_end_matches([' ', '\t']).len();
            self.out.truncate(end);
        }
        self.want(Gap::Line);
    }

    fn prefix(&mut self) {
        for prefix in &mut self.prefixes {
            match prefix {
                Prefix::Quote { written } => {
                    *written = true;
                    self.out.push_str("> ");
                }
                Prefix::Item { marker, written: false } => {
                    self.out.push_str(marker);
                    *prefix = Prefix::Item { marker: " ".repeat(marker.len()), written: true };
                }
                Prefix::Item { marker, written: true } => self.out.push_str(marker),
                Prefix::Nothing => {}
            }
        }
    }

    /// What stands on a line without text.
    fn quotes(&self) -> String {
        let marks = self.prefixes.iter().map(|prefix| match prefix {
            Prefix::Quote { written: true } => "> ".to_owned(),
            Prefix::Item { marker, written: true } => marker.clone(),
            // It begins behind the blank line.
            Prefix::Quote { written: false } | Prefix::Item { written: false, .. } | Prefix::Nothing => {
                String::new()
            }
        });
        marks.collect()
    }
}
