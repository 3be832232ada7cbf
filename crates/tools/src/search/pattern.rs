//! Glob patterns, taken apart: the folder they begin in, and what is matched under it.

use std::path::Path;

use globset::{Glob, GlobBuilder, GlobSet};

/// Whether large and small letters are told apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Case {
    Sensitive,
    Insensitive,
}

/// A pattern for paths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pattern {
    /// The folder it begins in, as it was written; empty where it begins in the folder that is searched.
    pub(crate) folder: String,
    /// What is matched under that folder.
    pub(crate) rest: String,
    /// Whether it matches at any depth.
    pub(crate) anywhere: bool,
    case: Case,
}

/// Why a pattern can't be used, with what to write instead.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum PatternFault {
    #[error("the pattern is empty; `**` stands for every file")]
    Empty,
    #[error("`..` can stand only before the first wildcard of `{0}`; give the folder as ‹path› instead")]
    Up(String),
    #[error("`{pattern}` is no glob pattern: {why}")]
    Broken { pattern: String, why: String },
}

impl Pattern {
    /// Takes a pattern apart.
    ///
    /// One without a slash matches at any depth. All folders before the first wildcard are where it begins.
    pub(crate) fn parse(written: &str, case: Case) -> Result<Self, PatternFault> {
        let written = written.trim();
        let absolute = written.starts_with('/');
        let mut parts: Vec<&str> =
            written.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        if written.ends_with('/') {
            parts.push("**");
        }
        let Some(last) = parts.len().checked_sub(1) else { return Err(PatternFault::Empty) };
        let fixed = parts.iter().take(last).take_while(|part| is_literal(part)).count();
        // Names that may be written otherwise are no place to begin in, unless the pattern leads out of the folder.
        let outside = absolute || written.starts_with("~/") || parts.contains(&"..");
        let fixed = if case == Case::Insensitive && !outside { 0 } else { fixed };
        let (folder, rest) = parts.split_at_checked(fixed).unwrap_or_default();
        if rest.contains(&"..") {
            return Err(PatternFault::Up(written.to_owned()));
        }
        Ok(Self {
            folder: format!("{}{}", if absolute { "/" } else { "" }, folder.join("/")),
            rest: rest.join("/"),
            anywhere: !written.contains('/'),
            case,
        })
    }

    /// How deep under its folder a match can be, where there is a limit.
    pub(crate) fn depth(&self) -> Option<usize> {
        let unbounded = self.anywhere || self.rest.contains("**");
        (!unbounded).then(|| self.rest.matches('/').count() + 1)
    }

    /// Whether it is a path without any wildcard.
    pub(crate) fn is_path(&self) -> bool {
        !self.anywhere && self.is_literal()
    }

    /// Whether there is no wildcard in it, be it a path or only a name.
    pub(crate) fn is_literal(&self) -> bool {
        self.rest.split('/').all(is_literal)
    }

    /// The pattern ready for use on paths under its folder.
    pub(crate) fn matcher(&self) -> Result<GlobSet, PatternFault> {
        // A set knows short cuts for common patterns, which a glob of its own does not.
        GlobSet::new([self.glob()?]).map_err(|error| self.broken(&error))
    }

    fn glob(&self) -> Result<Glob, PatternFault> {
        let whole = if self.anywhere { format!("**/{}", self.rest) } else { self.rest.clone() };
        let glob = GlobBuilder::new(&whole)
            .literal_separator(true)
            .empty_alternates(true)
            .case_insensitive(self.case == Case::Insensitive)
            .build();
        glob.map_err(|error| self.broken(&error))
    }

    fn broken(&self, error: &globset::Error) -> PatternFault {
        PatternFault::Broken { pattern: self.rest.clone(), why: error.kind().to_string() }
    }
}

fn is_literal(part: &str) -> bool {
    !part.contains(['*', '?', '[', ']', '{', '}', '\\'])
}

/// Which files a search looks at: those that fit one of the globs, if there are any, and none of those with `!` before them.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    keep: Option<GlobSet>,
    drop: Option<GlobSet>,
}

impl Filter {
    /// Reads globs, several with blanks or commas between them, which are meant from `root`, the folder that is searched, or
    /// from the working folder.
    pub(crate) fn parse(written: Option<&str>, root: &Path, cwd: &Path) -> Result<Self, PatternFault> {
        let (mut keep, mut drop) = (Vec::new(), Vec::new());
        for piece in pieces(written.unwrap_or_default()) {
            let (list, piece) = match piece.strip_prefix('!') {
                Some(piece) => (&mut drop, piece),
                None => (&mut keep, piece),
            };
            list.push(under(piece)?.glob()?);
            for folder in [Some(root), root.strip_prefix(cwd).ok()].into_iter().flatten() {
                let rest = folder
                    .to_str()
                    .filter(|folder| !folder.is_empty())
                    .and_then(|folder| piece.strip_prefix(folder));
                if let Some(rest) = rest.filter(|rest| rest.starts_with('/')) {
                    // The slash stays: it can't match at any depth.
                    list.push(under(rest)?.glob()?);
                }
            }
        }
        Ok(Self { keep: set(keep)?, drop: set(drop)? })
    }

    /// Leaves out what fits one of these: a name stands for whatever has it at any depth, and a folder for all that is in it.
    pub(crate) fn without(patterns: &[String]) -> Result<Self, PatternFault> {
        let mut drop = Vec::new();
        for written in patterns {
            let rest = written.strip_prefix("./").unwrap_or(written).trim_end_matches('/');
            let anywhere = !rest.contains('/');
            for rest in [rest.to_owned(), format!("{rest}/**")] {
                drop.push(Pattern { folder: String::new(), rest, anywhere, case: Case::Sensitive }.glob()?);
            }
        }
        Ok(Self { keep: None, drop: set(drop)? })
    }

    /// Whether a file is looked at; the path is from the folder that is searched.
    pub(crate) fn keeps(&self, below: &Path) -> bool {
        self.keep.as_ref().is_none_or(|keep| keep.is_match(below)) && !self.drops(below)
    }

    /// Whether a file, or a folder with all that is in it, is left out.
    pub(crate) fn drops(&self, below: &Path) -> bool {
        self.drop.as_ref().is_some_and(|drop| drop.is_match(below))
    }
}

/// A glob for paths under a folder.
fn under(piece: &str) -> Result<Pattern, PatternFault> {
    let mut parts: Vec<&str> = piece.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return Err(PatternFault::Up(piece.to_owned()));
    }
    if piece.ends_with('/') || parts.is_empty() {
        parts.push("**");
    }
    let anywhere = !piece.contains('/');
    Ok(Pattern { folder: String::new(), rest: parts.join("/"), anywhere, case: Case::Sensitive })
}

fn set(globs: Vec<Glob>) -> Result<Option<GlobSet>, PatternFault> {
    if globs.is_empty() {
        return Ok(None);
    }
    let set = GlobSet::new(globs).map_err(|error| PatternFault::Broken {
        pattern: error.glob().unwrap_or_default().to_owned(),
        why: error.kind().to_string(),
    });
    set.map(Some)
}

/// The globs of a text. A comma in braces belongs to its glob.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' | ' ' | '\t' | '\n' if depth == 0 => {
                pieces.push(text.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(text.get(start..).unwrap_or_default());
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn taken(written: &str, case: Case) -> String {
        match Pattern::parse(written, case) {
            Ok(pattern) => {
                let depth = pattern.depth().map_or("any".to_owned(), |depth| depth.to_string());
                format!("{} | {} | {depth}", pattern.folder, pattern.rest)
            }
            Err(fault) => fault.to_string(),
        }
    }

    #[test]
    fn a_pattern_is_a_folder_and_the_rest() {
        let check = |written: &str, expected: &str| assert_eq!(taken(written, Case::Sensitive), expected);
        check("*.rs", " | *.rs | any");
        check("**/*.rs", " | **/*.rs | any");
        check("./*.rs", " | *.rs | 1");
        check("src/*.rs", "src | *.rs | 1");
        check("src/*/mod.rs", "src | */mod.rs | 2");
        check("src/**/*.{ts,tsx}", "src | **/*.{ts,tsx} | any");
        check("src/a/b.rs", "src/a | b.rs | 1");
        check("src/", "src | ** | any");
        check("/etc/*.conf", "/etc | *.conf | 1");
        check("/hosts", "/ | hosts | 1");
        check("../other/*.rs", "../other | *.rs | 1");
        check("~/notes/*.md", "~/notes | *.md | 1");
        check("{a,b/c}/*.rs", " | {a,b/c}/*.rs | 3");
        check("[ab]/x", " | [ab]/x | 2");
        check("main.rs", " | main.rs | any");
        check("", "the pattern is empty; `**` stands for every file");
        check("./", " | ** | any");
        check(
            "*/../x",
            "`..` can stand only before the first wildcard of `*/../x`; give the folder as ‹path› instead",
        );
    }

    #[test]
    fn what_is_left_out() {
        let patterns = ["node_modules", "*.log", "docs/", "./a/*.txt"].map(str::to_owned);
        let filter = Filter::without(&patterns).unwrap();
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
            assert_eq!(filter.drops(Path::new(path)), expected, "{path}");
        }
        let said = Filter::without(&["a[".to_owned()]).unwrap_err().to_string();
        assert_eq!(said, "`a[` is no glob pattern: unclosed character class; missing ']'");
    }

    #[test]
    fn a_folder_s_name_is_matched_too_when_case_does_not_count() {
        assert_eq!(taken("SRC/*.rs", Case::Insensitive), " | SRC/*.rs | 2");
        assert_eq!(taken("/SRC/*.rs", Case::Insensitive), "/SRC | *.rs | 1");
    }

    fn fits(written: &str, case: Case, path: &str) -> bool {
        Pattern::parse(written, case).unwrap().matcher().unwrap().is_match(path)
    }

    #[test]
    fn paths_fit_or_do_not() {
        for (pattern, path, expected) in [
            ("*.rs", "a.rs", true),
            ("*.rs", "deep/er/a.rs", true),
            ("./*.rs", "deep/a.rs", false),
            ("**/*.rs", "a.rs", true),
            ("*/a.rs", "deep/er/a.rs", false),
            ("{a,b}.{rs,toml}", "x/b.toml", true),
            ("[!a-c]*.rs", "d.rs", true),
            ("[!a-c]*.rs", "a.rs", false),
            ("*.{js,}", "x.", true),
            (".*", ".env", true),
            ("A.rs", "a.rs", false),
        ] {
            assert_eq!(fits(pattern, Case::Sensitive, path), expected, "{pattern} {path}");
        }
        assert!(fits("READ*.MD", Case::Insensitive, "docs/readme.md"));
    }

    #[test]
    fn broken_patterns_say_what_is_wrong() {
        let why = |written: &str| {
            let pattern = Pattern::parse(written, Case::Sensitive).unwrap();
            pattern.matcher().unwrap_err().to_string()
        };
        insta::assert_snapshot!(why("src/{a,b"), @r#"`{a,b` is no glob pattern: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)"#);
        insta::assert_snapshot!(why("[a"), @r#"`[a` is no glob pattern: unclosed character class; missing ']'"#);
        insta::assert_snapshot!(why("[z-a]"), @r#"`[z-a]` is no glob pattern: invalid range; 'z' > 'a'"#);
    }

    fn kept(globs: &str, path: &str) -> bool {
        Filter::parse(Some(globs), Path::new("/srv/app"), Path::new("/srv")).unwrap().keeps(Path::new(path))
    }

    #[test]
    fn a_filter_takes_several_globs() {
        for (globs, path, expected) in [
            ("", "a.rs", true),
            ("*.rs", "deep/a.rs", true),
            ("*.{ts,tsx}", "a.tsx", true),
            ("*.ts,*.tsx", "a.tsx", true),
            ("*.ts *.tsx", "a.ts", true),
            ("*.ts, *.tsx", "a.js", false),
            ("!*.md", "a.md", false),
            ("!*.md", "a.rs", true),
            ("*.rs !tests/**", "tests/a.rs", false),
            ("src/**", "src/deep/a.rs", true),
            ("src/", "src/deep/a.rs", true),
            ("/src/*.rs", "src/a.rs", true),
            ("src/*.rs", "x/src/a.rs", false),
            ("/srv/app/src/*.rs", "src/a.rs", true),
            ("app/src/*.rs", "src/a.rs", true),
            ("app/src/*.rs", "deep/src/a.rs", false),
            ("app/*.rs", "app/a.rs", true),
            ("apps/*.rs", "a.rs", false),
        ] {
            assert_eq!(kept(globs, path), expected, "{globs} {path}");
        }
        let filter = Filter::parse(Some("!node_modules"), Path::new("/srv"), Path::new("/")).unwrap();
        assert!(filter.drops(Path::new("a/node_modules")));
        assert!(Filter::parse(Some("../*.rs"), Path::new("/srv"), Path::new("/")).is_err());
    }

    proptest! {
        #[test]
        fn anything_can_be_read(written in "[a*?/.{},!\\[\\]\\\\~ ]{0,14}", path in "[a./]{1,8}") {
            for case in [Case::Sensitive, Case::Insensitive] {
                if let Ok(pattern) = Pattern::parse(&written, case) && let Ok(matcher) = pattern.matcher() {
                    matcher.is_match(&path);
                    if let Some(depth) = pattern.depth() && matcher.is_match(&path) {
                        prop_assert!(Path::new(&path).components().count() <= depth, "{pattern:?} {path}");
                    }
                }
            }
            if let Ok(filter) = Filter::parse(Some(&written), Path::new("/a"), Path::new("/")) {
                filter.keeps(Path::new(&path));
            }
        }

        #[test]
        fn a_path_is_its_own_pattern(parts in prop::collection::vec("[a-z.]{1,4}", 2..4)) {
            prop_assume!(parts.iter().all(|part| part != "." && part != ".."));
            let written = parts.join("/");
            let pattern = Pattern::parse(&written, Case::Sensitive).unwrap();
            prop_assert!(pattern.is_path());
            prop_assert_eq!(format!("{}/{}", pattern.folder, pattern.rest), written);
            prop_assert!(pattern.matcher().unwrap().is_match(&pattern.rest));
        }
    }
}
