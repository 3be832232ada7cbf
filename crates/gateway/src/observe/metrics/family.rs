//! Counters and histograms by their labels, and their text.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Distinct label values that are kept; further ones count as `other`.
const MOST_WORDS: usize = 10_000;

/// A label's value, as a number: looking up a series then copies no text.
pub(super) type Word = u16;

/// All values of labels.
#[derive(Default)]
pub(super) struct Words {
    by_text: BTreeMap<Box<str>, Word>,
    texts: Vec<Box<str>>,
}

impl Words {
    /// The number of a value.
    pub(super) fn of(&mut self, text: &str) -> Word {
        if let Some(word) = self.by_text.get(text) {
            return *word;
        }
        let text = if self.texts.len() < MOST_WORDS { text } else { super::OTHER };
        let next = Word::try_from(self.texts.len()).unwrap_or(Word::MAX);
        let word = *self.by_text.entry(text.into()).or_insert(next);
        if word == next {
            self.texts.push(text.into());
        }
        word
    }

    fn text(&self, word: Word) -> &str {
        self.texts.get(usize::from(word)).map_or(super::OTHER, |text| text)
    }
}

/// What every family has.
pub(super) struct Head<const N: usize> {
    pub(super) name: &'static str,
    pub(super) help: &'static str,
    pub(super) labels: [&'static str; N],
}

/// Numbers that only grow, by their labels.
pub(super) struct Counters<const N: usize> {
    head: Head<N>,
    series: BTreeMap<[Word; N], f64>,
}

impl<const N: usize> Counters<N> {
    pub(super) fn new(name: &'static str, labels: [&'static str; N], help: &'static str) -> Self {
        Self { head: Head { name, help, labels }, series: BTreeMap::new() }
    }

    /// Adds to the number of these labels.
    pub(super) fn add(&mut self, labels: [Word; N], more: f64) {
        *self.series.entry(labels).or_default() += more;
    }

    pub(super) fn write(&self, words: &Words, out: &mut String) {
        head(out, self.head.name, "counter", self.head.help);
        for (labels, value) in &self.series {
            sample(out, self.head.name, &named(&self.head, labels, words), &number(*value));
        }
    }
}

/// Where things fall between bounds, by their labels.
pub(super) struct Histograms<const N: usize> {
    head: Head<N>,
    bounds: &'static [f64],
    series: BTreeMap<[Word; N], Histogram>,
}

#[derive(Default)]
struct Histogram {
    /// How many are at most each bound and more than the one before; those beyond the last bound are in the count alone.
    buckets: Vec<u64>,
    count: u64,
    sum: f64,
}

impl<const N: usize> Histograms<N> {
    pub(super) fn new(
        name: &'static str,
        labels: [&'static str; N],
        bounds: &'static [f64],
        help: &'static str,
    ) -> Self {
        Self { head: Head { name, help, labels }, bounds, series: BTreeMap::new() }
    }

    /// One more value of these labels.
    pub(super) fn saw(&mut self, labels: [Word; N], value: f64) {
        let series = self.series.entry(labels).or_default();
        series.buckets.resize(self.bounds.len(), 0);
        let at = self.bounds.partition_point(|bound| *bound < value);
        if let Some(bucket) = series.buckets.get_mut(at) {
            *bucket += 1;
        }
        series.count += 1;
        series.sum += value;
    }

    pub(super) fn write(&self, words: &Words, out: &mut String) {
        let name = self.head.name;
        head(out, name, "histogram", self.head.help);
        for (labels, series) in &self.series {
            let labels = named(&self.head, labels, words);
            let mut so_far = 0;
            for (bound, bucket) in self.bounds.iter().zip(&series.buckets) {
                so_far += bucket;
                let bound = number(*bound);
                let all: Vec<_> = labels.iter().copied().chain([("le", bound.as_str())]).collect();
                sample(out, &format!("{name}_bucket"), &all, &so_far.to_string());
            }
            let all: Vec<_> = labels.iter().copied().chain([("le", "+Inf")]).collect();
            sample(out, &format!("{name}_bucket"), &all, &series.count.to_string());
            sample(out, &format!("{name}_sum"), &labels, &number(series.sum));
            sample(out, &format!("{name}_count"), &labels, &series.count.to_string());
        }
    }
}

fn named<'a, const N: usize>(
    head: &Head<N>,
    labels: &[Word; N],
    words: &'a Words,
) -> Vec<(&'static str, &'a str)> {
    head.labels.iter().copied().zip(labels.iter().map(|word| words.text(*word))).collect()
}

/// The lines before a family's samples.
pub(super) fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

/// One sample. A label without a value is left out.
pub(super) fn sample(out: &mut String, name: &str, labels: &[(&str, &str)], value: &str) {
    out.push_str(name);
    let mut open = '{';
    for (label, value) in labels.iter().filter(|(_, value)| !value.is_empty()) {
        out.push(open);
        open = ',';
        let _ = write!(out, "{label}=\"");
        for c in value.chars() {
            match c {
                '\\' => out.push_str("\\\\"),
                '"' => out.push_str("\\\""),
                '\n' => out.push_str("\\n"),
                c => out.push(c),
            }
        }
        out.push('"');
    }
    if open == ',' {
        out.push('}');
    }
    let _ = writeln!(out, " {value}");
}

/// Whole numbers without a point; all others in as few digits as tell them apart.
pub(super) fn number(value: f64) -> String {
    format!("{value}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_histogram() {
        let mut words = Words::default();
        let mut all = Histograms::new("x_seconds", ["a"], &[0.5, 1.0, 2.5], "What it is.");
        let label = words.of("q\"\\\n");
        for value in [0.5, 0.6, 1.0, 3.0] {
            all.saw([label], value);
        }
        let mut out = String::new();
        all.write(&words, &mut out);
        insta::assert_snapshot!(out, @r#"
        # HELP x_seconds What it is.
        # TYPE x_seconds histogram
        x_seconds_bucket{a="q\"\\\n",le="0.5"} 1
        x_seconds_bucket{a="q\"\\\n",le="1"} 3
        x_seconds_bucket{a="q\"\\\n",le="2.5"} 3
        x_seconds_bucket{a="q\"\\\n",le="+Inf"} 4
        x_seconds_sum{a="q\"\\\n"} 5.1
        x_seconds_count{a="q\"\\\n"} 4
        "#);
    }

    #[test]
    fn words_have_an_end() {
        let mut words = Words::default();
        for at in 0..MOST_WORDS * 2 {
            words.of(&at.to_string());
        }
        assert!(words.texts.len() <= MOST_WORDS + 1);
        let word = words.of("one more");
        assert_eq!(words.text(word), "other");
        let word = words.of("17");
        assert_eq!(words.text(word), "17");
    }
}
