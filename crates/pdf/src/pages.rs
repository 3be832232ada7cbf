use std::fmt;
use std::ops::RangeInclusive;

/// The most ranges that are read of one text.
const RANGES: usize = 1_000;

/// Which pages are wanted, as people write it: `3`, `1-5`, `1-3,7,10-`. Pages count from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pages(Vec<(usize, Option<usize>)>);

/// Why a text names no pages.
#[derive(Clone, PartialEq, Eq, thiserror::Error, Debug)]
pub enum PagesError {
    /// This part of the text is no page and no range.
    #[error("`{0}` names no pages; write `3`, `1-5`, `10-` or several of them with commas")]
    Unclear(String),
    /// Pages count from 1.
    #[error("there is no page 0; pages count from 1")]
    Zero,
    /// A range ends before it begins.
    #[error("the range `{0}-{1}` ends before it begins; write `{1}-{0}`")]
    Backwards(usize, usize),
    /// Nobody writes so many.
    #[error("more than {RANGES} ranges of pages; name fewer")]
    TooMany,
}

impl Pages {
    /// All pages.
    pub fn all() -> Self {
        Self(vec![(1, None)])
    }

    /// Reads a text that names pages.
    ///
    /// # Errors
    /// A part of it is no page and no range.
    pub fn parse(text: &str) -> Result<Self, PagesError> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let ranges = parts.take(RANGES + 1).map(range).collect::<Result<Vec<_>, _>>()?;
        match ranges.len() {
            0 => Err(PagesError::Unclear(shortened(text))),
            1..=RANGES => Ok(Self(ranges)),
            _ => Err(PagesError::TooMany),
        }
    }

    /// The pages meant, of a document with so many: each once, in order.
    pub fn of(&self, pages: usize) -> Vec<usize> {
        let within = |(first, last): &(usize, Option<usize>)| *first..=last.unwrap_or(pages).min(pages);
        let mut ranges: Vec<RangeInclusive<usize>> = self.0.iter().map(within).collect();
        ranges.sort_by_key(|range| *range.start());
        let mut found: Vec<usize> = Vec::new();
        for range in ranges {
            let after = found.last().map_or(0, |last| last + 1);
            found.extend(*range.start().max(&after)..=*range.end());
        }
        found
    }

    /// A text that names these pages; they stand in order.
    pub fn named(pages: &[usize]) -> Self {
        let mut ranges: Vec<(usize, Option<usize>)> = Vec::new();
        for page in pages {
            match ranges.last_mut() {
                Some((_, Some(last))) if *last + 1 == *page => *last = *page,
                _ => ranges.push((*page, Some(*page))),
            }
        }
        Self(ranges)
    }
}

impl fmt::Display for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (first, last)) in self.0.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            match last {
                Some(last) if last == first => write!(f, "{comma}{first}")?,
                Some(last) => write!(f, "{comma}{first}-{last}")?,
                None => write!(f, "{comma}{first}-")?,
            }
        }
        Ok(())
    }
}

fn range(part: &str) -> Result<(usize, Option<usize>), PagesError> {
    // People copy ranges with any dash.
    let mut ends = part.splitn(2, ['-', '–', '—']).map(str::trim);
    let unclear = || PagesError::Unclear(shortened(part));
    let number = |text: &str| match text.parse::<usize>() {
        Ok(0) => Err(PagesError::Zero),
        Ok(page) if !text.starts_with('+') => Ok(page),
        Ok(_) | Err(_) => Err(unclear()),
    };
    match (ends.next().unwrap_or_default(), ends.next()) {
        ("", Some("")) => Err(unclear()),
        (only, None) => number(only).map(|page| (page, Some(page))),
        (first, Some("")) => Ok((number(first)?, None)),
        ("", Some(last)) => Ok((1, Some(number(last)?))),
        (first, Some(last)) => match (number(first)?, number(last)?) {
            (first, last) if last < first => Err(PagesError::Backwards(first, last)),
            (first, last) => Ok((first, Some(last))),
        },
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}
