use proptest::prelude::*;
use proptest::sample::select;
use rail_permit::{Decision, Explained, Mode, Policy, Verdict};

use crate::setup::{Call, Links, policy, rule};

const RULES: &[&str] = &[
    "Bash",
    "Bash(ls:*)",
    "Bash(git push:*)",
    "Bash(cat *)",
    "Bash(cat a)",
    "Bash(PATH=/x ls)",
    "Bash(rm:*)",
    "Edit",
    "Edit(src/**)",
    "Edit(.env)",
    "Edit(//**)",
    "Read",
    "Read(**)",
    "Read(.env)",
    "Read(//etc/**)",
    "Read(src/*)",
    "Grep",
    "WebFetch",
    "WebFetch(domain:docs.rs)",
    "mcp__a",
    "mcp__a__b",
];

const PIECES: &[&str] = &[
    "ls",
    "cat a",
    "cat .env",
    "cat /etc/x",
    "cat $X",
    "cat s*",
    "rm src/x",
    "rm -rf /",
    "git push --force",
    "git push",
    "PATH=/x ls",
    "cd src",
    "cd /etc",
    "echo > a",
    "echo > .git/config",
    "$X",
    "frob .env",
    "curl https://docs.rs",
    "sudo ls",
    "ls | xargs cat",
    "'",
    "cat ../x",
    "cp a src/b",
];

/// Files of the workspace, links resolved.
const PATHS: &[&str] = &[
    "/srv/ws/a",
    "/srv/ws/.env",
    "/srv/ws/src/.env",
    "/srv/ws/src/x",
    "/srv/ws/src/deep/x",
    "/srv/ws/server.pem",
    "/srv/ws/.git/config",
];

const CALLS: &[&str] = &[
    "read /srv/ws/a",
    "read /srv/ws/.env",
    "read /etc/x",
    "read /srv/ws/link",
    "grep-in /srv/ws",
    "write /srv/ws/src/a",
    "write /srv/ws/.git/config",
    "write /srv/other/x",
    "host docs.rs",
    "mcp mcp__a__b",
    "mcp-reads mcp__a__b",
    "skill pdf",
    "none todo_write",
    "execute computer_use",
];

fn calls() -> impl Strategy<Value = String> {
    let joined = select(vec![" && ", "; ", " | ", " || ", "\n"]);
    let command = (prop::collection::vec(select(PIECES), 1..4), joined)
        .prop_map(|(pieces, joined)| pieces.join(joined));
    prop_oneof![2 => command, 1 => select(CALLS).prop_map(str::to_owned)]
}

fn policies() -> impl Strategy<Value = Policy> {
    let rules = || prop::collection::vec(select(RULES), 0..3);
    let mode = select(vec![Mode::Default, Mode::AcceptEdits, Mode::Plan, Mode::Bypass]);
    (rules(), rules(), rules(), mode).prop_map(|(allow, ask, deny, mode)| {
        let rules = |texts: Vec<&str>| texts.into_iter().map(rule).collect();
        let mut policy = policy();
        (policy.rules.allow, policy.rules.ask, policy.rules.deny, policy.mode) =
            (rules(allow), rules(ask), rules(deny), mode);
        policy
    })
}

fn world() -> Links {
    Links::new(&[("/srv/ws/link", "/etc/x"), ("/srv/ws/src/b", "/srv/other/b")])
}

fn explained(policy: &Policy, call: &str) -> Explained {
    Call::new(call).explain(policy, &world())
}

fn decision(policy: &Policy, call: &str) -> Decision {
    explained(policy, call).decision
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn an_allow_rule_never_opens_what_is_closed(policy in policies(), call in calls(), more in select(RULES)) {
        let before = decision(&policy, &call);
        let mut wider = policy;
        wider.rules.allow.push(rule(more));
        let after = decision(&wider, &call);
        prop_assert!(after <= before, "an allow rule made it stricter");
        prop_assert!(before < Decision::AlwaysAsk || after == before, "`{}` opened `{}`", more, call);
    }

    #[test]
    fn a_rule_that_forbids_never_loosens(policy in policies(), call in calls(), more in select(RULES)) {
        let before = decision(&policy, &call);
        let mut denying = policy.clone();
        denying.rules.deny.push(rule(more));
        prop_assert!(decision(&denying, &call) >= before, "deny `{}` loosened `{}`", more, call);
        let mut asking = policy;
        asking.rules.ask.push(rule(more));
        prop_assert!(decision(&asking, &call) >= before, "ask `{}` loosened `{}`", more, call);
    }

    #[test]
    fn an_exact_offer_allows_the_same_command_and_none_with_more_words(
        program in select(vec!["npm test", "touch", "git commit -m", "cargo build", "echo > x; mkdir"]),
        words in prop::collection::vec("[a-z*?'\"$ (){};:~#!\\\\/-]{0,6}", 0..3),
        more in "[a-z]{1,3}",
    ) {
        let quoted = |word: &String| format!("'{}'", word.replace('\'', r"'\''"));
        let call = [program.to_owned()].into_iter().chain(words.iter().map(quoted)).collect::<Vec<_>>().join(" ");
        let first = explained(&policy(), &call).offers.into_iter().next();
        prop_assume!(first.as_ref().is_some_and(|offer| !offer.rules.iter().any(|rule| rule.contains(":*)"))));
        let mut policy = policy();
        policy.rules.allow = first.iter().flat_map(|offer| &offer.rules).map(|text| rule(text)).collect();
        prop_assert_eq!(decision(&policy, &call), Decision::Allow, "{}", call);
        prop_assert!(decision(&policy, &format!("{call} {more}")) > Decision::Allow, "{}", call);
    }

    #[test]
    fn deny_beats_allow(policy in policies(), call in calls(), rule_text in select(RULES)) {
        let mut denying = policy;
        denying.rules.deny.push(rule(rule_text));
        let denied = decision(&denying, &call);
        denying.rules.allow.push(rule(rule_text));
        prop_assert_eq!(decision(&denying, &call), denied);
    }

    #[test]
    fn modes_only_widen(policy in policies(), call in calls()) {
        let at = |mode| decision(&Policy { mode, ..policy.clone() }, &call);
        let (default, edits, plan, bypass) = (at(Mode::Default), at(Mode::AcceptEdits), at(Mode::Plan), at(Mode::Bypass));
        prop_assert!(edits <= default && bypass <= edits && plan >= default, "{:?}", (plan, default, edits, bypass));
        prop_assert_eq!(bypass == Decision::Deny, default == Decision::Deny);
    }

    #[test]
    fn a_folder_shows_only_what_would_be_shown_alone(policy in policies(), path in select(PATHS)) {
        let grant = match Call::new("grep-in /srv/ws").judge(&policy, &world()) {
            Verdict::Allow(grant) => grant,
            Verdict::Ask(_) | Verdict::Deny(_) => return Ok(()),
        };
        let alone = decision(&policy, &format!("grep-in {path}"));
        prop_assert_eq!(grant.reads(path.as_ref()), alone == Decision::Allow, "{}", path);
        let hides = grant.hidden().hides(path.as_ref());
        prop_assert!(!hides || alone > Decision::Allow, "{} is hidden but allowed", path);
        prop_assert!(hides || alone < Decision::Deny, "{} is denied but not hidden", path);
    }

    #[test]
    fn the_strictest_part_decides(policy in policies(), call in calls()) {
        let explained = explained(&policy, &call);
        let strictest = explained.parts.iter().map(|part| part.decision).max();
        prop_assert_eq!(strictest.unwrap_or(Decision::Allow), explained.decision);
        let verdict = Call::new(&call).judge(&policy, &world());
        let same = match verdict {
            Verdict::Allow(_) => Decision::Allow,
            Verdict::Ask(question) if question.always_asks => Decision::AlwaysAsk,
            Verdict::Ask(_) => Decision::Ask,
            Verdict::Deny(_) => Decision::Deny,
        };
        prop_assert_eq!(same, explained.decision);
    }

    #[test]
    fn a_command_is_as_strict_as_its_parts(policy in policies(), one in select(PIECES), other in select(PIECES)) {
        // `cd` and an open quote change what the other one means.
        prop_assume!(![one, other].iter().any(|piece| piece.starts_with("cd") || piece.contains('\'')));
        let both = decision(&policy, &format!("{one}; {other}"));
        prop_assert_eq!(both, decision(&policy, one).max(decision(&policy, other)));
    }

    #[test]
    fn any_text_is_judged(policy in policies(), command in ".{0,60}", path in ".{0,40}") {
        decision(&policy, &command);
        decision(&policy, &format!("write /{path}"));
        decision(&policy, &format!("host {path}"));
        decision(&policy, &format!("mcp {path}"));
    }
}
