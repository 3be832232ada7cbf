use regex::Regex;

/// What a group's matcher picks.
#[derive(Clone, Debug)]
pub(super) enum Matcher {
    /// Everything.
    All,
    /// These names.
    Names(Vec<String>),
    /// Names in which this is found.
    Pattern(Regex),
}

impl Matcher {
    /// Reads a matcher. One that can't be read picks everything, so that no check is left out; the problem says so.
    pub(super) fn read(written: Option<&str>) -> (Self, Option<String>) {
        let written = written.unwrap_or_default().trim();
        if written.is_empty() || written == "*" {
            return (Self::All, None);
        }
        if written.chars().all(|c| c.is_ascii_alphanumeric() || "_-|, ".contains(c)) {
            let names = written.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty());
            return (Self::Names(names.map(str::to_owned).collect()), None);
        }
        match Regex::new(written) {
            Ok(pattern) => (Self::Pattern(pattern), None),
            Err(error) => {
                let why = error.to_string();
                let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
                let problem = format!(
                    "the matcher `{written}` can't be read, so its hooks run for everything: {why}; write names with `|` between them, or a pattern without look-around"
                );
                (Self::All, Some(problem))
            }
        }
    }

    /// Whether it picks one of these names; where there is none to pick from, everything is picked.
    pub(super) fn picks(&self, names: &[String]) -> bool {
        names.is_empty()
            || match self {
                Self::All => true,
                Self::Names(picked) => names.iter().any(|name| picked.contains(name)),
                Self::Pattern(pattern) => names.iter().any(|name| pattern.is_match(name)),
            }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn matchers_pick_by_name_list_and_pattern() {
        let names = |list: &str| list.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (written, names, expected) in [
            (None, names("Bash bash"), true),
            (Some(""), names("Bash bash"), true),
            (Some("*"), names("Bash bash"), true),
            (Some("Bash"), names("Bash bash"), true),
            (Some("bash"), names("Bash bash"), true),
            (Some("BASH"), names("Bash bash"), false),
            (Some("Edit|Write"), names("Write write_file"), true),
            (Some("Edit | Write"), names("Write write_file"), true),
            (Some("Edit|MultiEdit"), names("Write write_file"), false),
            (Some("Bash"), names("BashOutput bash_output"), false),
            (Some("Bash.*"), names("BashOutput bash_output"), true),
            (Some("mcp__.*__delete.*"), names("mcp__git__delete_tag"), true),
            (Some("mcp__memory__.*"), names("mcp__git__log"), false),
            (Some("^Bash$"), names("BashOutput bash_output"), false),
            (Some("Notebook.*"), names("NotebookEdit notebook_edit"), true),
            (Some("startup|resume"), names("resume"), true),
            (Some("startup"), Vec::new(), true),
        ] {
            let (matcher, problem) = Matcher::read(written);
            assert_eq!((matcher.picks(&names), problem), (expected, None), "{written:?} {names:?}");
        }
    }

    #[test]
    fn a_matcher_that_can_t_be_read_picks_everything_and_says_so() {
        let (matcher, problem) = Matcher::read(Some("^(?!Read).*"));
        assert!(matcher.picks(&["Read".to_owned()]));
        insta::assert_snapshot!(problem.unwrap(), @"the matcher `^(?!Read).*` can't be read, so its hooks run for everything: look-around, including look-ahead and look-behind, is not supported; write names with `|` between them, or a pattern without look-around");
    }

    proptest! {
        #[test]
        fn any_matcher_is_read(written in ".{0,20}", name in ".{0,10}") {
            let (matcher, _) = Matcher::read(Some(&written));
            matcher.picks(&[name]);
        }

        #[test]
        fn a_name_picks_itself(name in "[A-Za-z0-9_]{1,12}") {
            let (matcher, _) = Matcher::read(Some(&name));
            prop_assert!(matcher.picks(std::slice::from_ref(&name)));
            let longer = name + "x";
            prop_assert!(!matcher.picks(&[longer]));
        }
    }
}
