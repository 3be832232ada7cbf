//! `rail mcp login` and `logout`, with a real authorisation server and a real MCP server that takes its tokens.

use std::io::{BufRead, BufReader, Read, Write};

use rail_mcp::auth::Browser;

use crate::scratch::{CONFIG, Home, is_private};
use crate::typed::wait_for;

#[path = "../../../mcp/tests/it/oauth_kit.rs"]
#[expect(dead_code, reason = "the tests of logins themselves need more of it")]
mod oauth_kit;

use oauth_kit::{Person, Wish, World};

fn home(world: &World) -> Home {
    let home = Home::new().with("PATH", "/usr/local/bin:/usr/bin:/bin");
    home.write(CONFIG, &format!("[mcp.servers.guarded]\nurl = \"{}\"\n", world.server));
    home
}

/// A login whose address this person opens: what was printed, and how it ended.
fn login(home: &Home, args: &[&str], person: &Person, by_hand: bool) -> (Option<i32>, String) {
    let mut child = home.start(&[&["mcp", "login", "guarded"], args].concat());
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut output = BufReader::new(output);
    let mut shown = String::new();
    let url = loop {
        let mut line = String::new();
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "no address was shown: {shown}");
        shown += &line;
        if line.starts_with("http") {
            break line;
        }
    };
    person.open(url.trim());
    if by_hand {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        // The first is another address than the one that is wanted.
        for _ in 0..2 {
            let pasted = runtime.block_on(person.pasted()).unwrap();
            input.write_all(format!("\n{pasted}\n").as_bytes()).unwrap();
        }
    }
    output.read_to_string(&mut shown).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut shown).unwrap();
    // It must end although its input is open.
    let code = child.wait().unwrap().code();
    drop(input);
    (code, shown)
}

#[test]
fn a_login_is_used_until_the_logout() {
    let Some(world) = World::start() else { return };
    let home = home(&world);
    let said = |args: &[&str]| home.rail(&[&["mcp"], args].concat(), "").whole();
    let refused = said(&["test", "guarded"]);
    assert!(refused.contains("the server wants a login; log in with `rail mcp login guarded`"), "{refused}");
    assert!(said(&["get", "guarded"]).contains("  login      nobody is logged in\n"));

    let (code, shown) = login(&home, &["--no-browser"], &Person::who(Wish::Consent), false);
    assert_eq!(code, Some(0), "{shown}");
    let until = format!("`guarded`: logged in at {} for `mcp:tools", world.issuer);
    assert!(shown.contains(&until) && shown.contains(" UTC, renewed by itself\n"), "{shown}");
    assert!(is_private(&home.path("state/switchrail/mcp-tokens.json")));
    let tested = said(&["test", "guarded"]);
    assert!(tested.contains("tools (2): whoami, admin"), "{tested}");
    let got = said(&["get", "guarded"]);
    assert!(got.contains("  login      logged in at ") && got.contains(" until 20"), "{got}");
    let json = said(&["get", "guarded", "--json"]);
    assert!(json.contains(r#""state": "logged in""#) && json.contains(r#""renewable": true"#), "{json}");

    assert!(said(&["logout", "guarded"]).contains("`guarded`: logged out; the token was given back\n"));
    assert!(said(&["logout", "guarded"]).contains("`guarded`: nobody was logged in\n"));
    assert!(said(&["test", "guarded"]).contains("log in with `rail mcp login guarded`"));
}

#[test]
fn the_address_that_the_browser_ended_at_can_be_pasted() {
    let Some(world) = World::start() else { return };
    let (code, shown) = login(&home(&world), &[], &Person::who(Wish::Paste), true);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("rail: that is not the address that this login ended with"), "{shown}");
}

#[test]
fn a_person_says_no() {
    let Some(world) = World::start() else { return };
    let (code, shown) = login(&home(&world), &["--no-browser"], &Person::who(Wish::Abort), false);
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("refused the login: access_denied"), "{shown}");
}

#[test]
fn the_browser_is_opened_where_there_is_a_display() {
    let Some(world) = World::start() else { return };
    let home = home(&world).with("DISPLAY", ":0");
    // A browser that does nothing but tell which address it was given.
    let folder = home.path("bin");
    home.write(
        "bin/xdg-open",
        "#!/bin/sh\nprintf '%s %s' \"$#\" \"$1\" > ../opened.part && mv ../opened.part ../opened\n",
    );
    std::fs::set_permissions(folder.join("xdg-open"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let home = home.with("PATH", &format!("{}:/usr/bin:/bin", folder.display()));
    let (code, shown) = login(&home, &[], &Person::who(Wish::Consent), false);
    assert_eq!(code, Some(0), "{shown}");
    // It goes on by itself, so that it may still be at it.
    let opened = home.path("opened");
    wait_for(&opened);
    let url = shown.lines().find(|line| line.starts_with("http")).unwrap();
    assert_eq!(std::fs::read_to_string(opened).unwrap(), format!("1 {url}"));
}

#[test]
fn what_has_no_login_says_so() {
    let home = Home::new().with("PATH", "/usr/local/bin:/usr/bin:/bin");
    home.write(
        CONFIG,
        "[mcp.servers.files]\ncommand = \"true\"\n[mcp.servers.keyed]\nurl = \"https://h.test/mcp\"\n\
         headers = { authorization = \"Bearer k\" }\n[mcp.servers.plain]\nurl = \"http://h.test/mcp\"\n\
         [mcp.servers.off]\nurl = \"https://h.test/mcp\"\nenabled = false\n",
    );
    for command in ["login", "logout"] {
        for (name, why) in [
            ("fils", "there is no MCP server `fils`; did you mean `files`?"),
            ("files", "`files` is a program that is started here, and there is no login to it"),
            (
                "keyed",
                "`keyed` is sent the header `Authorization` that is set for it; take that out to log in",
            ),
            ("plain", "`plain`: the address of the MCP server, `http://h.test/mcp`, can't be logged in to: "),
            ("off", "`off` is not used: "),
        ] {
            let said = home.rail(&["mcp", command, name], "");
            assert_eq!((said.code, said.out.as_str()), (Some(1), ""), "{command} {name}");
            assert!(said.err.contains(why), "{command} {name}: {}", said.err);
        }
    }
}
