use rail_permit::{Answer, Answered, Offer, Policy, Question, Scope, Verdict};

use crate::setup::{Call, Links, rule, with};

fn question(policy: &[&str], call: &str) -> Question {
    match Call::new(call).judge(&with(policy), &Links::default()) {
        Verdict::Ask(question) => question,
        other => panic!("`{call}` asks, not {other:?}"),
    }
}

fn shown(offers: &[Offer]) -> String {
    let line = |offer: &Offer| {
        let rules: Vec<&str> = offer.rules.iter().map(|rule| rule.text.as_str()).collect();
        format!("{}: {}", rules.join(" "), offer.says)
    };
    offers.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn offers_are_narrow_and_say_what_they_allow() {
    let mut lines = Vec::new();
    for call in [
        "cargo test --all",
        "cargo test && cargo build && ls",
        "cargo test > out.txt",
        "git add a && touch src/b",
        "npm test",
        "touch /srv/other/AHEAD",
        "git commit -m 'don'\\''t (yet): *'",
        "git fetch https://docs.rs/x",
        "touch a b; for f in 1 2 3 4 5 6; do touch $f; done",
        "find . -print0 | xargs -0 touch",
        "python x.py",
        "sudo cargo test",
        "bash x.sh",
        "write /srv/ws/src/deep/a.rs",
        "write /srv/ws/a.rs",
        "write /srv/ws/app/[id]/page.tsx",
        "write /srv/added/a.rs",
        "write /srv/other/a.rs",
        "read /srv/other/a.rs",
        "read /srv/u/notes",
        "read /etc",
        "cat /srv/other/a.rs",
        "host docs.rs",
        "mcp mcp__github__search",
        "network web_search",
    ] {
        lines.push(format!("{call}\n{}", shown(&question(&[], call).offers)));
    }
    insta::assert_snapshot!(lines.join("\n\n"));
}

#[test]
fn an_offer_that_is_taken_is_not_asked_again() {
    for call in [
        "cargo test --all",
        "cargo test && cargo build && ls",
        "cargo test > out.txt",
        "npm test",
        "touch /srv/other/AHEAD",
        "git commit -m 'don'\\''t (yet): *'",
        "git fetch https://docs.rs/x",
        "touch a b; for f in 1 2 3 4 5 6; do touch $f; done",
        "write /srv/ws/src/a.rs",
        "write /srv/ws/a.rs",
        "write /srv/ws/app/[id]/page.tsx",
        "write /srv/ws/a (1)/x*.rs",
        "write /srv/added/a.rs",
        "write /srv/other/a.rs",
        "read /srv/other/a.rs",
        "read /srv/u/notes",
        "read /etc",
        "cat /srv/other/a.rs",
        "host docs.rs",
        "host [::1]:80",
        "mcp mcp__github__search",
        "network web_search",
    ] {
        let asked = question(&[], call);
        assert!(!asked.offers.is_empty(), "{call}");
        for offer in &asked.offers {
            let answer = Answer::Offer(offer.clone(), Scope::Session);
            let Answered::Granted(_, Some((rules, Scope::Session))) = asked.clone().answer(answer) else {
                panic!("{call}: granted with its rules")
            };
            let mut policy: Policy = with(&[]);
            policy.rules.allow = rules;
            let verdict = Call::new(call).judge(&policy, &Links::default());
            assert!(matches!(verdict, Verdict::Allow(_)), "{call}: {offer:?}");
            // Written down and read again it is the same rule.
            let written: Vec<_> = policy.rules.allow.iter().map(|rule| rule.text.clone()).collect();
            policy.rules.allow =
                written.iter().filter(|text| text.as_str() != "web_search").map(|text| rule(text)).collect();
            let verdict = Call::new(call).judge(&policy, &Links::default());
            assert!(
                matches!(verdict, Verdict::Allow(_)) || call.starts_with("network"),
                "{call}: {written:?}"
            );
        }
    }
}

#[test]
fn the_first_offer_allows_just_the_same() {
    let first = |call: &str| question(&[], call).offers[0].clone();
    for (call, others) in [
        ("npm test", &["npm test x", "npm", "npm tests"][..]),
        ("touch AHEAD", &["touch AHEAD x", "touch", "touch /srv/other/AHEAD"]),
        ("touch /srv/other/AHEAD", &["touch /srv/other/AHEAD x", "touch /srv/other/A", "touch AHEAD"]),
        ("cargo test --all > out.txt", &["cargo test --all x > out.txt", "cargo test --all > out2.txt"]),
        ("git commit -m 'a b*'", &["git commit -m 'a b*' x", "git commit -m a b*", "git commit -m 'a bc'"]),
        ("git fetch https://docs.rs/x", &["git fetch https://docs.rs/y", "curl https://docs.rs/x"]),
        ("write /srv/ws/src/main.rs", &["write /srv/ws/src/lib.rs", "write /srv/ws/main.rs"]),
        ("write /srv/ws/main.rs", &["write /srv/ws/src/main.rs", "write /srv/ws/main.rs2"]),
    ] {
        let mut policy: Policy = with(&[]);
        policy.rules.allow = first(call).rules;
        let allowed =
            |call: &str| matches!(Call::new(call).judge(&policy, &Links::default()), Verdict::Allow(_));
        assert!(allowed(call), "{call}");
        for other in others {
            assert!(!allowed(other), "{call}: {other}");
        }
    }
}

#[test]
fn what_can_not_be_allowed_for_longer() {
    for (policy, call, always) in [
        (&["allow Bash"][..], "git push --force", true),
        (&[], "write /srv/ws/.git/config", true),
        (&[], "cat 'x", true),
        (&[], "read /srv/ws/.env", false),
        (&[], "cat .env && cargo test", false),
        (&[], "cat $X", false),
        (&[], "python x.py", false),
        (&[], "cargo test | python x.py", false),
        (&[], "PATH=/x cargo test", false),
        (&["ask Bash(cargo test:*)"], "cargo test", false),
        (&["ask Edit"], "write /srv/ws/a", false),
    ] {
        let asked = question(policy, call);
        assert_eq!((asked.offers.as_slice(), asked.always_asks), (&[][..], always), "{call}");
    }
}

#[test]
fn an_offer_of_somebody_else_counts_once() {
    let asked = question(&[], "cargo test");
    let forged = Offer { rules: vec![rule("Bash")], says: asked.offers[0].says.clone() };
    let Answered::Granted(grant, None) = asked.answer(Answer::Offer(forged, Scope::Always)) else {
        panic!("granted this time alone")
    };
    assert_eq!(grant.facets().len(), 1);
}

#[test]
fn refusals_say_what_to_do() {
    let Answered::Denied(plain) = question(&[], "cargo publish").answer(Answer::No(None)) else {
        panic!("denied")
    };
    let told = Answer::No(Some("use the staging registry".to_owned()));
    let Answered::Denied(told) = question(&[], "cargo publish").answer(told) else { panic!("denied") };
    let by_rule = |policy: &[&str], call: &str| match Call::new(call).judge(&with(policy), &Links::default())
    {
        Verdict::Deny(denial) => denial.say,
        other => panic!("`{call}` is denied, not {other:?}"),
    };
    let says = [
        plain.say,
        told.say,
        by_rule(&["deny Bash(curl:*)"], "ls | curl x"),
        by_rule(&["deny Read(secret/**)"], "cat secret/a"),
        by_rule(&["mode plan"], "write /srv/ws/a"),
        by_rule(&[], "rm -rf /"),
    ];
    insta::assert_snapshot!(says.join("\n---\n"));
}
