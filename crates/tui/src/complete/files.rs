use std::sync::Arc;

use super::fuzzy::{Query, best, bonus, ending, hit, lower};

/// How many more candidates than asked for are matched with care.
const CAREFUL: usize = 256;

/// The files and folders that can be named, ready to be searched. Made once, then shared.
#[derive(Debug, Default)]
pub struct Files {
    /// All paths, one behind the other, as they are and in small letters.
    text: String,
    lower: String,
    /// In the order of their paths.
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    /// Which characters it has, and which its last part has, so that most are passed over at a glance.
    letters: u64,
    name_letters: u64,
    start: u32,
    end: u32,
    /// Where its last part begins.
    name: u32,
    depth: u32,
}

/// A path that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hit {
    /// The path; that of a folder ends with `/`.
    pub path: String,
    /// Where the characters of the query are in it, in bytes.
    pub positions: Vec<usize>,
}

impl Files {
    /// Takes relative paths; those of folders end with `/`. Doubles are left out.
    pub fn new(paths: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut paths: Vec<String> =
            paths.into_iter().map(Into::into).filter(|path| !path.is_empty()).collect();
        paths.sort_unstable();
        paths.dedup();
        let mut files = Self::default();
        for path in paths {
            let start = files.text.len();
            let name = path.strip_suffix('/').unwrap_or(&path).rfind('/').map_or(0, |slash| slash + 1);
            let depth = path.strip_suffix('/').unwrap_or(&path).matches('/').count();
            let (Ok(from), Ok(end)) = (u32::try_from(start), u32::try_from(start + path.len())) else {
                break;
            };
            files.text.push_str(&path);
            files.lower.extend(path.chars().map(lower));
            let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            let has = |from: usize| letters(files.lower.get(from..).unwrap_or_default().chars());
            let (letters, name_letters) = (has(start), has(start + name));
            files.entries.push(Entry {
                letters,
                name_letters,
                start: from,
                end,
                name: place(start + name),
                depth: place(depth),
            });
        }
        files
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The best hits for a query, the best first. No query lists the shallow entries first, one that is a folder what is in it.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        let query = trimmed(query);
        self.folder(query, limit).unwrap_or_else(|| self.ranked(&Query::new(query), &self.all(query), limit))
    }

    /// All that can match a query.
    fn all(&self, query: &str) -> Vec<(u64, u32)> {
        self.matching(&Needles::new(query), 0..u32::try_from(self.entries.len()).unwrap_or(u32::MAX))
    }

    fn path(&self, entry: &Entry) -> &str {
        self.text.get(entry.start as usize..entry.end as usize).unwrap_or_default()
    }

    /// What is in a folder, if the query is one; without a query, all.
    fn folder(&self, query: &str, limit: usize) -> Option<Vec<Hit>> {
        if !query.is_empty() && !query.ends_with('/') {
            return None;
        }
        let first = self.entries.partition_point(|entry| self.path(entry) < query);
        let behind = self.entries.get(first..).unwrap_or_default();
        let len = behind.partition_point(|entry| self.path(entry).starts_with(query));
        let mut inside: Vec<_> = behind.iter().take(len).filter(|entry| self.path(entry) != query).collect();
        if inside.is_empty() && !query.is_empty() {
            return None;
        }
        inside.sort_by_key(|entry| entry.depth);
        let hit = |entry: &&Entry| Hit {
            path: self.path(entry).to_owned(),
            positions: query.char_indices().map(|(at, _)| at).collect(),
        };
        Some(inside.iter().take(limit).map(hit).collect())
    }

    /// Those of the entries that match, with a rough rank: more is better.
    fn matching(&self, needles: &Needles, among: impl IntoIterator<Item = u32>) -> Vec<(u64, u32)> {
        let mut found = Vec::new();
        let texts = if needles.is_exact { &self.text } else { &self.lower };
        for at in among {
            let Some(entry) = self.entries.get(at as usize) else { continue };
            if entry.letters & needles.letters != needles.letters {
                continue;
            }
            let (start, end) = (entry.start as usize, entry.end as usize);
            let (Some(text), Some(path)) =
                (texts.as_bytes().get(start..end), self.text.as_bytes().get(start..end))
            else {
                continue;
            };
            if let Some(score) = needles.rough(entry, text, path) {
                found.push((rank(score, end - start, at), at));
            }
        }
        found
    }

    /// The best of rough matches, by a careful look at the most promising.
    fn ranked(&self, query: &Query, found: &[(u64, u32)], limit: usize) -> Vec<Hit> {
        let careful = limit.saturating_mul(2).max(CAREFUL);
        let mut found = found.to_vec();
        if found.len() > careful {
            found.select_nth_unstable_by_key(careful, |(rank, _)| std::cmp::Reverse(*rank));
            found.truncate(careful);
        }
        let exact = |(_, at): (u64, u32)| {
            let entry = self.entries.get(at as usize)?;
            let path = self.path(entry);
            let found = best(path, query, (entry.name - entry.start) as usize)?;
            Some((
                rank(found.score, path.len(), at),
                Hit { path: path.to_owned(), positions: found.positions },
            ))
        };
        let mut hits: Vec<_> = found.into_iter().filter_map(exact).collect();
        hits.sort_unstable_by_key(|(rank, _)| std::cmp::Reverse(*rank));
        hits.into_iter().take(limit).map(|(_, hit)| hit).collect()
    }
}

/// Searches while a query is typed: what goes on from the last query looks only at what that one found.
#[derive(Debug)]
pub struct Finder {
    files: Arc<Files>,
    query: String,
    found: Option<Vec<u32>>,
}

impl Finder {
    /// A search in these files.
    pub fn new(files: Arc<Files>) -> Self {
        Self { files, query: String::new(), found: None }
    }

    /// The best hits for a query, as [`Files::search`] gives them.
    pub fn search(&mut self, query: &str, limit: usize) -> Vec<Hit> {
        let query = trimmed(query);
        if let Some(hits) = self.files.folder(query, limit) {
            return hits;
        }
        let found = match self.found.take() {
            Some(last) if query.starts_with(&self.query) => self.files.matching(&Needles::new(query), last),
            Some(_) | None => self.files.all(query),
        };
        let hits = self.files.ranked(&Query::new(query), &found, limit);
        query.clone_into(&mut self.query);
        self.found = Some(found.into_iter().map(|(_, at)| at).collect());
        hits
    }
}

/// A query for a quick look.
struct Needles {
    /// Its characters, in UTF-8.
    chars: Vec<Needle>,
    letters: u64,
    is_exact: bool,
}

struct Needle {
    bytes: [u8; 4],
    len: usize,
}

impl Needles {
    fn new(query: &str) -> Self {
        let needle = |c: char| {
            let mut bytes = [0; 4];
            let len = c.encode_utf8(&mut bytes).len();
            Needle { bytes, len }
        };
        Self {
            chars: query.chars().map(needle).collect(),
            letters: letters(query.chars().map(lower)),
            is_exact: Query::new(query).is_exact,
        }
    }

    /// A score for the match in the name, or else for the one nearest to the end of the path.
    fn rough(&self, entry: &Entry, text: &[u8], path: &[u8]) -> Option<i32> {
        let name = (entry.name - entry.start) as usize;
        let may_be_name = entry.name_letters & self.letters == self.letters;
        let in_name = if may_be_name { self.end(text, name) } else { None };
        let end = in_name.unwrap_or(text.len());
        let mut score = 0;
        let mut behind: Option<(usize, i32)> = None;
        let mut at = end;
        for needle in self.chars.iter().rev() {
            at = needle.rfind(text.get(..at)?)?;
            // What a hit adds depends on the gap before it, which is known when the hit before it is.
            if let Some((place, bonus)) = behind {
                score += hit(bonus, place >= name, Some(place - at - needle.len));
            } else {
                score += ending(path.get(at + needle.len).map(|byte| char::from(*byte)));
            }
            behind = Some((at, bonus_at(path, at)));
        }
        Some(score + behind.map_or(0, |(place, bonus)| hit(bonus, place >= name, None)))
    }

    /// The end of the first match from a place on.
    fn end(&self, text: &[u8], from: usize) -> Option<usize> {
        let mut at = from;
        for needle in &self.chars {
            at += needle.find(text.get(at..)?)? + needle.len;
        }
        Some(at)
    }
}

impl Needle {
    fn find(&self, text: &[u8]) -> Option<usize> {
        let [first, ..] = self.bytes;
        if self.len == 1 {
            return text.iter().position(|byte| *byte == first);
        }
        text.windows(self.len).position(|window| Some(window) == self.bytes.get(..self.len))
    }

    fn rfind(&self, text: &[u8]) -> Option<usize> {
        let [first, ..] = self.bytes;
        if self.len == 1 {
            return text.iter().rposition(|byte| *byte == first);
        }
        text.windows(self.len).rposition(|window| Some(window) == self.bytes.get(..self.len))
    }
}

/// The bonus of a byte; of a letter that is not ASCII it is roughly right.
fn bonus_at(path: &[u8], at: usize) -> i32 {
    let byte = |at: usize| path.get(at).map(|byte| char::from(*byte));
    bonus(at.checked_sub(1).and_then(byte), byte(at).unwrap_or_default())
}

/// Score first, then the shorter path, then the order of paths.
fn rank(score: i32, len: usize, at: u32) -> u64 {
    let score = u64::try_from(score.clamp(-0x7fff, 0x7fff) + 0x8000).unwrap_or(0);
    let short = 0xffff - u64::try_from(len).unwrap_or(u64::MAX).min(0xffff);
    score << 48 | short << 32 | u64::from(u32::MAX - at)
}

/// A bit for each letter and digit that stands in a text; other characters share some.
fn letters(chars: impl Iterator<Item = char>) -> u64 {
    let bit = |c: char| match c {
        'a'..='z' => u32::from(c) - u32::from('a'),
        '0'..='9' => 26 + u32::from(c) - u32::from('0'),
        c => 36 + u32::from(c) % 28,
    };
    chars.fold(0, |bits, c| bits | 1 << bit(c))
}

/// A query without what says "from here".
fn trimmed(query: &str) -> &str {
    query.trim_start_matches("./")
}
