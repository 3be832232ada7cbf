//! `rail run` with stand-ins for the clients: the process, its variables, its signals and its end.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Output, Stdio};

use rail_ledger::{Ledger, NewKey, Place};

use crate::home::Home;

const CONFIG: &str = "[providers.p]\nprotocol = \"openai-chat\"\nbase_url = \"http://127.0.0.1:9/v1\"\n\
                      models = { m = { window = 64000, max_output = 8000 } }\n[router]\ndefault = \"p,m\"\n";

/// A home with this script in place of a client.
fn with(home: Home, client: &str, script: &str) -> Home {
    let path = home.path("bin").join(client);
    home.write(&format!("bin/{client}"), &format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    fs::create_dir_all(home.path("tmp")).unwrap();
    let (path, temp) = (home.path("bin"), home.path("tmp"));
    home.set("PATH", &format!("{}:/usr/bin:/bin", path.display())).set("TMPDIR", temp.to_str().unwrap())
}

/// The binary at the head of a group of its own, as a shell starts it, and deaf to no signal: whoever runs the tests may be, and a shell
/// can't trap what it was born ignoring.
#[expect(clippy::disallowed_methods, reason = "the test is about the process")]
fn start(home: &Home, args: &[&str]) -> Child {
    let mut command = Command::new("/usr/bin/env");
    command
        .args(["--default-signal=HUP,INT,QUIT,TERM", env!("CARGO_BIN_EXE_rail")])
        .args(args)
        .env_clear()
        .envs(home.variables())
        .current_dir(home.path("work"))
        .process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Sends a signal once the client has said that it is there.
#[expect(clippy::disallowed_methods, reason = "a signal is sent by another process, as a terminal does")]
fn signalled(home: &Home, signal: &str, whom: impl Fn(u32) -> String) -> Output {
    let mut child = start(home, &["run", "claude"]);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "here\n");
    assert!(!left(home).is_empty());
    assert!(Command::new("kill").args([signal, "--", &whom(child.id())]).status().unwrap().success());
    let mut output = child.wait_with_output().unwrap();
    out.read_to_end(&mut output.stdout).unwrap();
    output
}

/// The temporary folders that are there.
fn left(home: &Home) -> Vec<String> {
    let entries = fs::read_dir(home.path("tmp")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn the_clients_words_and_exit_code_are_ours() {
    let home = with(Home::with(CONFIG), "claude", "echo \"out $*\"; echo err >&2; exit 7");
    let output = home.rail(&["run", "claude", "--", "-p", "a b", "--model", "x"], "");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = (output.status.code(), text(&output.stdout), text(&output.stderr));
    assert_eq!(said, (Some(7), "out -p a b --model x\n".to_owned(), "err\n".to_owned()));
    assert_eq!(left(&home), Vec::<String>::new());
}

#[test]
fn a_client_that_a_signal_ends_is_told_as_a_shell_does() {
    let home = with(Home::with(CONFIG), "claude", "kill -9 $$");
    assert_eq!(home.rail(&["run", "claude"], "").status.code(), Some(137));
}

#[test]
fn what_is_wrong_is_told_before_anything_starts() {
    let home = with(Home::with(CONFIG), "claude", "echo started");
    insta::assert_snapshot!(home.said(&["run", "codex"], ""), @"
    rail: Codex CLI is not installed: there is no `codex` on the PATH; install it with `npm install -g @openai/codex`
    exit 2
    ");
    insta::assert_snapshot!(home.said(&["run", "emacs"], ""), @"
    error: invalid value 'emacs' for '<CLIENT>': there are claude, codex, gemini, qwen, opencode; for other programs see `rail serve`

    For more information, try '--help'.
    exit 2
    ");
    insta::assert_snapshot!(home.said(&["run", "claude", "-m", "q,m"], ""), @"
    rail: nobody can answer for `q,m`; `rail route explain --model 'q,m'` says why, `rail provider list` what there is
    exit 2
    ");
    let none = with(Home::with("[discovery]\nservers = []\n"), "claude", "echo started");
    insta::assert_snapshot!(none.said(&["run", "claude"], ""), @"
    rail: no provider is configured; run `rail init`, or set a key such as ANTHROPIC_API_KEY
    exit 2
    ");
}

#[test]
fn the_clients_variables_lead_to_the_gateway_and_nowhere_else() {
    let home = with(Home::new(), "claude", "env | sort")
        .set("ANTHROPIC_API_KEY", "sk-own")
        .set("CLAUDE_CODE_USE_BEDROCK", "1")
        .set("OPENAI_API_KEY", "sk-of-my-program")
        .set("SWITCHRAIL_DISCOVERY__SERVERS", "[]");
    let output = home.rail(&["run", "claude"], "");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(!said.contains("sk-own"), "{said}");
    assert!(said.contains("ANTHROPIC_BASE_URL=http://127.0.0.1:"), "{said}");
    // The key of a program that the user works on is none of our business.
    assert!(said.contains("OPENAI_API_KEY=sk-of-my-program"), "{said}");
    assert!(!said.contains("CLAUDE_CODE_USE_BEDROCK"), "{said}");
}

/// Asks for the models with a key and without, and says what it gets.
const LISTS: &str = r#"address=${ANTHROPIC_BASE_URL#http://}
for key in $ANTHROPIC_AUTH_TOKEN another; do
    exec 3<>/dev/tcp/${address%:*}/${address#*:}
    printf 'GET /v1/models HTTP/1.1\r\nhost: %s\r\nauthorization: Bearer %s\r\nconnection: close\r\n\r\n' "$address" "$key" >&3
    head -1 <&3 | tr -d '\r'
done"#;

#[test]
fn the_gateway_is_there_for_its_client_only() {
    let home = with(Home::with(CONFIG), "claude", "exec bash ../lists.sh");
    home.write("lists.sh", LISTS);
    let expected = "HTTP/1.1 200 OK\nHTTP/1.1 401 Unauthorized\n";
    assert_eq!(home.said(&["run", "claude"], ""), expected);
    // Nor do keys that somebody has made shut it out.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let ledger = Ledger::open(&Place::File(home.path("state/switchrail/ledger.db"))).await.unwrap();
        let new = NewKey { name: "someone".to_owned(), ..NewKey::default() };
        ledger.create_key(&new, 1).await.unwrap();
    });
    assert_eq!(home.said(&["run", "claude"], ""), expected);
}

/// What is waited for ends with the shell: a child that was forked but has no traps of its own yet does not hear the shell's `kill`.
const WAITS: &str = "trap 'echo term; exit 3' TERM; trap 'echo int; exit 4' INT; trap 'echo hup; exit 5' HUP
tail -f --pid=$$ /dev/null & waiting=$!
trap 'kill $waiting' EXIT
echo here
wait $waiting";

#[test]
fn ctrl_c_is_the_clients() {
    let home = with(Home::with(CONFIG), "claude", WAITS);
    // The terminal sends it to the whole group.
    let output = signalled(&home, "-INT", |id| format!("-{id}"));
    assert_eq!((output.status.code(), &*output.stdout), (Some(4), &b"int\n"[..]));
    assert_eq!(left(&home), Vec::<String>::new());
}

#[test]
fn whoever_ends_us_ends_the_client() {
    for (signal, code, said) in [("-TERM", 3, "term\n"), ("-HUP", 5, "hup\n")] {
        let home = with(Home::with(CONFIG), "claude", WAITS);
        let output = signalled(&home, signal, |id| id.to_string());
        assert_eq!((output.status.code(), output.status.signal()), (Some(code), None));
        assert_eq!(String::from_utf8_lossy(&output.stdout), said);
        assert_eq!(left(&home), Vec::<String>::new());
    }
}
