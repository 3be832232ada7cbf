use crate::setup::{Call, Links, with};

#[test]
fn each_part_is_explained() {
    let policy = with(&["allow Bash(cargo test:*)", "ask Bash(git push:*)", "deny Read(secret/**)"]);
    let explained =
        Call::new("cd src && cargo test > out.txt; cat /etc/hosts | grep x; git push; cat ../secret/a")
            .explain(&policy, &Links::default());
    insta::assert_snapshot!(explained);
}

#[test]
fn offers_are_explained() {
    insta::assert_snapshot!(
        Call::new("cargo build && cat /srv/other/x").explain(&with(&[]), &Links::default())
    );
}

#[test]
fn the_same_as_json() {
    let explained = Call::new("git push --force").explain(&with(&["allow Bash"]), &Links::default());
    insta::assert_snapshot!(serde_json::to_string_pretty(&explained).unwrap());
}
