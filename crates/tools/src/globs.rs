//! Patterns for paths that are left out or wanted.

use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use rail_tool::ToolFault;

/// Characters that make a path a pattern.
const WILD: [char; 4] = ['*', '?', '[', '{'];

/// Patterns of which one must fit.
#[derive(Clone, Debug)]
pub(crate) struct Globs(GlobSet);

/// A path or a pattern for paths, taken apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Named {
    /// A path.
    Path(String),
    /// The folder before the first wildcard, and the pattern below it.
    Pattern {
        /// The folder, as it was written.
        folder: String,
        /// What is matched in it.
        below: String,
    },
}

/// How deep a pattern without a slash looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Depth {
    /// In the folder itself.
    One,
    /// In all folders below it as well.
    All,
}

impl Globs {
    /// Patterns for what is left out: a name stands for whatever has it at any depth, and a folder for all that is in it.
    ///
    /// # Errors
    /// One of them is no pattern.
    pub(crate) fn left_out(patterns: &[String]) -> Result<Self, ToolFault> {
        let mut set = GlobSetBuilder::new();
        for written in patterns {
            let pattern = written.strip_prefix("./").unwrap_or(written).trim_end_matches('/');
            let anywhere = if pattern.contains('/') { "" } else { "**/" };
            for whole in [format!("{anywhere}{pattern}"), format!("{anywhere}{pattern}/**")] {
                set.add(glob(&whole, written)?);
            }
        }
        built(set, &patterns.join(", "))
    }

    /// One pattern for what is wanted.
    ///
    /// # Errors
    /// It is no pattern.
    pub(crate) fn wanted(pattern: &str, depth: Depth) -> Result<Self, ToolFault> {
        let anywhere = if depth == Depth::All && !pattern.contains('/') { "**/" } else { "" };
        let mut set = GlobSetBuilder::new();
        set.add(glob(&format!("{anywhere}{pattern}"), pattern)?);
        built(set, pattern)
    }

    /// Whether one of them fits.
    pub(crate) fn fits(&self, path: &Path) -> bool {
        self.0.is_match(path)
    }
}

impl Named {
    /// Takes apart what was written.
    pub(crate) fn of(written: &str) -> Self {
        let Some(wild) = written.find(WILD) else { return Self::Path(written.to_owned()) };
        let slash = written.get(..wild).and_then(|before| before.rfind('/'));
        match slash.and_then(|slash| written.split_at_checked(slash + 1)) {
            Some((folder, below)) => Self::Pattern { folder: folder.to_owned(), below: below.to_owned() },
            None => Self::Pattern { folder: String::new(), below: written.to_owned() },
        }
    }
}

fn glob(whole: &str, written: &str) -> Result<globset::Glob, ToolFault> {
    let built = GlobBuilder::new(whole).literal_separator(true).empty_alternates(true).build();
    built.map_err(|error| broken(written, &error))
}

fn built(set: GlobSetBuilder, written: &str) -> Result<Globs, ToolFault> {
    set.build().map(Globs).map_err(|error| broken(written, &error))
}

fn broken(written: &str, error: &globset::Error) -> ToolFault {
    ToolFault::new(format!(
        "`{written}` is no pattern for paths: {}; write one like `src/**/*.rs`",
        error.kind()
    ))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn patterns_are_taken_apart() {
        let pattern =
            |folder: &str, below: &str| Named::Pattern { folder: folder.to_owned(), below: below.to_owned() };
        let cases = [
            ("src/main.rs", Named::Path("src/main.rs".to_owned())),
            ("*.rs", pattern("", "*.rs")),
            ("src/*.rs", pattern("src/", "*.rs")),
            ("/a/b?/**/c", pattern("/a/", "b?/**/c")),
            ("src/{a,b}.rs", pattern("src/", "{a,b}.rs")),
            ("app/[id]/page.tsx", pattern("app/", "[id]/page.tsx")),
        ];
        for (written, expected) in cases {
            assert_eq!(Named::of(written), expected);
        }
    }

    #[test]
    fn what_is_left_out() {
        let patterns = ["node_modules", "*.log", "docs/", "./a/*.txt"].map(str::to_owned);
        let globs = Globs::left_out(&patterns).unwrap();
        let cases = [
            ("node_modules/x/y.js", true),
            ("a/node_modules/y.js", true),
            ("x.log", true),
            ("a/b/x.log", true),
            ("docs/x.md", true),
            ("a/docs/x.md", true),
            ("a/x.txt", true),
            ("a/b/x.txt", false),
            ("src/main.rs", false),
        ];
        for (path, expected) in cases {
            assert_eq!(globs.fits(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn a_broken_pattern_is_named() {
        let said = Globs::wanted("a[", Depth::All).unwrap_err().say;
        insta::assert_snapshot!(said, @"`a[` is no pattern for paths: unclosed character class; missing ']'; write one like `src/**/*.rs`");
    }

    proptest! {
        #[test]
        fn no_pattern_breaks_it(written in "[a*?\\[\\]{}/.!,\\\\-]{0,12}") {
            let _ = Globs::left_out(std::slice::from_ref(&written));
            let _ = Globs::wanted(&written, Depth::All);
            if let Named::Pattern { folder, below } = Named::of(&written) {
                prop_assert_eq!(format!("{folder}{below}"), written);
            }
        }
    }
}
