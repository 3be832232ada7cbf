//! Logins to a real authorisation server, for a real MCP server that takes its tokens.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rail_mcp::auth::{AuthError, LoggedIn, LoggedOut, OwnClient, Refusal, Settings, Status, Tokens};
use rail_stdx::Secret;
use rail_testkit::install::program;

use super::oauth_kit::{Called, LIMIT, Person, Wish, World, mode, needs_login, outside, said};

#[tokio::test(flavor = "multi_thread")]
async fn a_login_a_call_a_renewal_and_the_end_of_it() {
    let Some(world) = World::start() else { return };
    let tokens = world.tokens();
    assert_eq!(world.call(&tokens, "whoami").await, needs_login(None), "nobody is logged in yet");
    assert_eq!(tokens.status(), Ok(Status::LoggedOut));

    let person = Person::who(Wish::Consent);
    let logged_in = tokens.login(&person, LIMIT).await.unwrap();
    assert!(logged_in.renewable, "{logged_in:?}");
    assert_eq!(logged_in.issuer, world.issuer);
    assert_eq!(world.call(&tokens, "whoami").await, said("ada by mcp:tools"));
    let [(status, page)] = person.seen().try_into().unwrap();
    assert_eq!(status, 200);
    assert!(page.contains(&world.server), "{page}");

    // Its time is over: it is renewed before the server can refuse it.
    let before = tokens.token().await.unwrap().unwrap();
    world.clock.forward(3600);
    assert_eq!(world.call(&tokens, "whoami").await, said("ada by mcp:tools"));
    let after = tokens.token().await.unwrap().unwrap();
    assert_ne!(before, after);
    assert_eq!(world.asked(), ["authorization_code", "refresh_token"]);

    // The server forgot it: it is renewed after the refusal. The refresh token is the one that the first renewal brought.
    world.clock.forward(60);
    world.forget("AccessToken");
    assert_eq!(world.call(&tokens, "whoami").await, said("ada by mcp:tools"));
    assert_eq!(world.asked(), ["authorization_code", "refresh_token", "refresh_token"]);

    // Nothing can be renewed any more.
    world.clock.forward(60);
    for kind in ["AccessToken", "RefreshToken"] {
        world.forget(kind);
    }
    assert_eq!(world.call(&tokens, "whoami").await, needs_login(None));
    assert_eq!(world.asked().last().unwrap(), "refresh_token: invalid_grant");
    assert_eq!(tokens.status(), Ok(Status::LoggedOut));
    assert_eq!(world.call(&tokens, "whoami").await, needs_login(None));
    let refusal = Refusal { status: 401, www_authenticate: "Bearer", token: None };
    let needed = AuthError::LoginNeeded { server: world.server.clone(), scope: None };
    assert_eq!(tokens.token_after(refusal).await, Err(needed));
    assert_eq!(world.asked().len(), 4, "what was refused once is not asked again");

    // The registration is still good, and so is its port.
    tokens.login(&Person::who(Wish::Consent), LIMIT).await.unwrap();
    assert_eq!(world.call(&tokens, "whoami").await, said("ada by mcp:tools"));
    assert_eq!(world.clients().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_starts_later_has_the_tokens() {
    let Some(world) = World::start() else { return };
    world.tokens().login(&Person::who(Wish::Consent), LIMIT).await.unwrap();
    let later = world.tokens();
    assert_eq!(world.call(&later, "whoami").await, said("ada by mcp:tools"));
    let Ok(Status::LoggedIn { issuer, renewable: true, expires: Some(_), .. }) = later.status() else {
        panic!("{:?}", later.status());
    };
    assert_eq!(issuer, world.issuer);
    // The same server with another client is somebody else.
    let own = Some(OwnClient { id: "configured".into(), secret: None });
    assert_eq!(world.tokens_with(Settings { client: own, ..world.settings() }).token().await, Ok(None));
    // And what was registered says what we are.
    let [client] = world.clients().try_into().unwrap();
    assert_eq!(client["client_name"], "Switchrail");
    assert_eq!(client["application_type"], "native");
    assert_eq!(client["token_endpoint_auth_method"], "none");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_file_is_for_its_owner_and_nothing_else_shows_a_secret() {
    use std::os::unix::fs::PermissionsExt;

    let Some(world) = World::start() else { return };
    let tokens = world.tokens();
    tokens.login(&Person::who(Wish::Consent), LIMIT).await.unwrap();
    for file in fs::read_dir(world.file().parent().unwrap()).unwrap() {
        assert_eq!(mode(&file.unwrap().path()), 0o600);
    }
    let token = tokens.token().await.unwrap().unwrap();
    assert!(fs::read_to_string(world.file()).unwrap().contains(token.reveal()));
    let shown = format!("{tokens:?} {:?} {token:?}", tokens.status());
    assert!(!shown.contains(token.reveal()), "{shown}");
    // A copy that was given to everybody is taken back.
    fs::set_permissions(world.file(), fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(world.call(&tokens, "whoami").await, said("ada by mcp:tools"));
    assert_eq!(mode(&world.file()), 0o600);
    // One that is damaged is not written over, and nothing of it is shown.
    fs::write(world.file(), format!("{{\"version\": 1, \"entries\": \"{}\"}}", token.reveal())).unwrap();
    let error = tokens.token().await.unwrap_err().to_string();
    assert!(
        error.contains("is damaged at line 1; move it away") && !error.contains(token.reveal()),
        "{error}"
    );
    assert!(tokens.logout().await.is_err());
    assert!(fs::read_to_string(world.file()).unwrap().contains(token.reveal()));
}

#[tokio::test(flavor = "multi_thread")]
async fn more_scopes_are_asked_for_where_the_server_misses_them() {
    let Some(world) = World::start() else { return };
    let tokens = world.tokens();
    tokens.login(&Person::who(Wish::Consent), LIMIT).await.unwrap();
    assert_eq!(world.call(&tokens, "admin").await, needs_login(Some("mcp:tools mcp:admin")));
    assert!(matches!(tokens.status(), Ok(Status::NeedsScope(scope)) if scope.ends_with("mcp:admin")));
    assert_eq!(world.call(&tokens, "whoami").await, said("ada by mcp:tools"), "the old token still serves");
    // The login may happen in another process. A request that was sent before it finds the new token.
    let sent = tokens.token().await.unwrap();
    let www_authenticate = r#"Bearer error="insufficient_scope", scope="mcp:admin""#;
    let refusal = Refusal { status: 403, www_authenticate, token: sent.as_ref() };
    let scope = Some("mcp:admin".to_owned());
    let needed = AuthError::LoginNeeded { server: world.server.clone(), scope };
    assert_eq!(tokens.token_after(refusal).await, Err(needed));
    world.tokens().login(&Person::who(Wish::Consent), LIMIT).await.unwrap();
    assert_ne!(Some(tokens.token_after(refusal).await.unwrap()), sent);
    // What no login changes is said to be so.
    let forbidden = Refusal { www_authenticate: "Bearer", ..refusal };
    let final_word = AuthError::Forbidden { server: world.server.clone(), status: 403 };
    assert_eq!(tokens.token_after(forbidden).await, Err(final_word));
    assert_eq!(world.call(&tokens, "admin").await, said("ada by mcp:tools mcp:admin"));
    assert!(matches!(tokens.status(), Ok(Status::LoggedIn { .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configured_client_keeps_its_secret_in_the_settings() {
    let Some(world) = World::start() else { return };
    let secret = "the-secret-of-the-configured-client";
    let own = OwnClient { id: "configured".into(), secret: Some(Secret::new(secret)) };
    let settings = Settings { client: Some(own), ..world.settings() };
    let tokens = world.tokens_with(settings);
    tokens.login(&Person::who(Wish::Consent), LIMIT).await.unwrap();
    world.clock.forward(3600);
    assert_eq!(world.call(&tokens, "whoami").await, said("ada by mcp:tools"));
    assert_eq!(world.asked(), ["authorization_code", "refresh_token"]);
    assert_eq!(world.clients().len(), 0, "nobody was registered");
    assert!(!fs::read_to_string(world.file()).unwrap().contains(secret));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_describes_us_where_the_server_takes_one() {
    let Some(world) = World::start() else { return };
    let settings = Settings { client_metadata_url: Some(world.document.clone()), ..world.settings() };
    let tokens = world.tokens_with(settings);
    tokens.login(&Person::who(Wish::Consent), LIMIT).await.unwrap();
    assert_eq!(world.call(&tokens, "whoami").await, said("ada by mcp:tools"));
    assert_eq!(world.clients().len(), 0, "nobody was registered");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_logout_gives_the_token_back_and_keeps_nothing() {
    let Some(world) = World::start() else { return };
    let tokens = world.tokens();
    assert_eq!(tokens.logout().await, Ok(LoggedOut::Nobody));
    tokens.login(&Person::who(Wish::Consent), LIMIT).await.unwrap();
    let token = tokens.token().await.unwrap().unwrap();
    assert_eq!(tokens.logout().await, Ok(LoggedOut::Revoked));
    assert_eq!(world.post("whoami", Some(token.reveal())).status, 401, "the whole grant is gone there");
    assert_eq!(tokens.token().await, Ok(None));
    assert!(!fs::read_to_string(world.file()).unwrap().contains("client"));
    // A server that is gone keeps nobody from logging out.
    tokens.login(&Person::who(Wish::Consent), LIMIT).await.unwrap();
    let (file, settings, clock) = (world.file(), world.settings(), Arc::clone(&world.clock));
    let text = fs::read_to_string(&file).unwrap();
    drop(world);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
    let tokens = Tokens::new(settings, outside(&file, clock)).unwrap();
    let Ok(LoggedOut::NotRevoked(AuthError::Unreachable { .. })) = tokens.logout().await else { panic!() };
    assert_eq!(tokens.status(), Ok(Status::LoggedOut));
    fs::remove_dir_all(file.parent().unwrap().parent().unwrap()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_says_no() {
    let Some(world) = World::start() else { return };
    let tokens = world.tokens();
    let person = Person::who(Wish::Abort);
    let denied = tokens.login(&person, LIMIT).await;
    let Err(AuthError::Denied { error, said, .. }) = &denied else { panic!("{denied:?}") };
    assert_eq!((error.as_str(), said.as_str()), ("access_denied", ": End-User aborted interaction"));
    assert_eq!(tokens.status(), Ok(Status::LoggedOut));
    let [(status, page)] = person.seen().try_into().unwrap();
    assert_eq!(status, 400);
    assert!(page.contains("access_denied"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_right_address_with_the_right_state_ends_a_login() {
    let Some(world) = World::start() else { return };
    let tokens = world.tokens();
    let person = Person::with_detours(Wish::Consent, |url| {
        let (base, query) = url.split_once("/callback?").unwrap();
        let wrong = query.replace("state=", "state=x");
        vec![
            format!("{base}/"),
            format!("{base}/callback/x?{query}"),
            format!("{base}/callback"),
            format!("{base}/callback?{wrong}"),
            format!("{base}/callback?{query}&code=other"),
            url.to_owned(),
        ]
    });
    tokens.login(&person, LIMIT).await.unwrap();
    assert_eq!(world.call(&tokens, "whoami").await, said("ada by mcp:tools"));
    let statuses: Vec<u16> = person.seen().iter().map(|(status, _)| *status).collect();
    assert_eq!(statuses, [404, 404, 400, 400, 400, 200]);
    assert_eq!(world.asked(), ["authorization_code"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_another_issuer_ends_the_login() {
    let Some(world) = World::start() else { return };
    let tokens = world.tokens();
    let mixed = |url: &str| {
        let (before, _) = url.split_once("iss=").unwrap();
        vec![format!("{before}iss=https%3A%2F%2Fevil.test")]
    };
    let ended = tokens.login(&Person::with_detours(Wish::Consent, mixed), LIMIT).await;
    let found = "https://evil.test".to_owned();
    assert_eq!(ended, Err(AuthError::OtherIssuer { issuer: world.issuer.clone(), found }));
    // It always names itself, so an answer without a name is not from it.
    let unnamed = |url: &str| vec![url.split_once("&iss=").unwrap().0.to_owned()];
    let ended = tokens.login(&Person::with_detours(Wish::Consent, unnamed), LIMIT).await;
    assert!(matches!(ended, Err(AuthError::OtherIssuer { .. })), "{ended:?}");
    assert_eq!(world.asked(), [""; 0], "no code was given to anybody");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_address_can_be_pasted_where_the_browser_is_elsewhere() {
    let Some(world) = World::start() else { return };
    let tokens = world.tokens();
    let person = Person::who(Wish::Paste);
    let LoggedIn { renewable, .. } = tokens.login(&person, LIMIT).await.unwrap();
    assert!(renewable);
    assert_eq!(world.call(&tokens, "whoami").await, said("ada by mcp:tools"));
    let [unfit] = person.unfit.lock().unwrap().clone().try_into().unwrap();
    assert!(unfit.contains("its `state` is that of another login"), "{unfit}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_nobody_finishes_ends() {
    let Some(world) = World::start() else { return };
    let tokens = world.tokens();
    let person = Person::who(Wish::Ignore);
    let limit = Duration::from_millis(1);
    let ended = tokens.login(&person, limit).await;
    assert_eq!(ended, Err(AuthError::TooLate { limit, hint: "" }));
    let [url] = person.opened.lock().unwrap().clone().try_into().unwrap();
    for part in [
        "code_challenge_method=S256",
        "&resource=http%3A%2F%2F127.0.0.1",
        "&state=",
        "scope=mcp%3Atools%20offline_access",
    ] {
        assert!(url.contains(part), "{part} is not in {url}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_is_made_again_where_it_is_of_no_use_any_more() {
    let Some(world) = World::start() else { return };
    let tokens = world.tokens();
    let person = Person::who(Wish::Consent);
    tokens.login(&person, LIMIT).await.unwrap();
    // Its port is taken.
    let url = person.opened.lock().unwrap()[0].clone();
    let port = url.split_once("127.0.0.1%3A").unwrap().1.split_once('%').unwrap().0;
    let port: u16 = port.parse().unwrap();
    let taken = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
    tokens.login(&Person::who(Wish::Consent), LIMIT).await.unwrap();
    assert_eq!(world.clients().len(), 2);
    // A port that is set is that port or none.
    let fixed = world.tokens_with(Settings { redirect_port: Some(port), ..world.settings() });
    let refused = fixed.login(&Person::who(Wish::Consent), LIMIT).await;
    assert!(matches!(refused, Err(AuthError::Listen { port: wanted, .. }) if wanted == port), "{refused:?}");
    drop(taken);
    // The server has forgotten us: a renewal finds out, and the next login starts from the beginning.
    world.forget("Client");
    world.clock.forward(3600);
    assert_eq!(tokens.token().await, Ok(None));
    assert_eq!(world.asked().last().unwrap(), "refresh_token: invalid_client");
    tokens.login(&Person::who(Wish::Consent), LIMIT).await.unwrap();
    assert_eq!(world.call(&tokens, "whoami").await, said("ada by mcp:tools"));
    assert_eq!(world.clients().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_secret_in_the_settings_costs_no_login() {
    let Some(world) = World::start() else { return };
    let with = |secret: &str| {
        let own = OwnClient { id: "configured".into(), secret: Some(Secret::new(secret)) };
        world.tokens_with(Settings { client: Some(own), ..world.settings() })
    };
    let right = "the-secret-of-the-configured-client";
    with(right).login(&Person::who(Wish::Consent), LIMIT).await.unwrap();
    world.clock.forward(3600);
    let error = with("another-secret-than-that").token().await.unwrap_err().to_string();
    assert!(error.contains("the renewal of the token") && error.contains("invalid_client"), "{error}");
    assert_eq!(world.call(&with(right), "whoami").await, said("ada by mcp:tools"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_is_kept_although_nobody_waits_for_it_any_more() {
    let Some(world) = World::start() else { return };
    let tokens = world.tokens();
    tokens.login(&Person::who(Wish::Consent), LIMIT).await.unwrap();
    world.clock.forward(3600);
    {
        // Begun, and given up at once.
        let mut asking = Box::pin(tokens.token());
        let begun = std::future::poll_fn(|cx| std::task::Poll::Ready(asking.as_mut().poll(cx))).await;
        assert!(begun.is_pending());
    }
    // The next one waits for it and finds what it brought.
    assert_eq!(world.call(&tokens, "whoami").await, said("ada by mcp:tools"));
    assert_eq!(world.asked(), ["authorization_code", "refresh_token"]);
}

/// How another process is told what to renew: the address, the file, and how far its clock is ahead.
const TASK: &str = "RAIL_TEST_RENEWAL";

/// What the other processes of the next test run.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "a child of this test is told its task so")]
async fn another_process_renews() {
    let Ok(task) = std::env::var(TASK) else { return };
    let [url, file, ahead] = task.split('|').collect::<Vec<_>>().try_into().unwrap();
    let clock = Arc::new(super::oauth_kit::Hand::default());
    clock.forward(ahead.parse().unwrap());
    let settings = Settings { url: url.into(), ..Settings::default() };
    let tokens = Tokens::new(settings, outside(&PathBuf::from(file), clock)).unwrap();
    println!("\nready");
    let token = tokens.token().await.unwrap().unwrap();
    println!("\ntoken {}", token.reveal());
}

#[tokio::test(flavor = "multi_thread")]
async fn several_processes_and_tasks_spend_a_refresh_token_once() {
    let Some(world) = World::start() else { return };
    let tokens = world.tokens();
    tokens.login(&Person::who(Wish::Consent), LIMIT).await.unwrap();
    world.clock.forward(3600);

    // The lock is held while they start, so that all of them come to it.
    let state = world.file().parent().unwrap().to_owned();
    let names = fs::read_dir(&state).unwrap().map(|file| file.unwrap().path());
    let renewal = names.filter(|path| path.extension().is_some_and(|ext| ext == "lock"));
    let renewal: Vec<_> = renewal.filter(|path| !path.ends_with("mcp-tokens.json.lock")).collect();
    let lock = fs::File::open(&renewal[0]).unwrap();
    lock.lock().unwrap();
    let start = || {
        let mut child = program(std::env::current_exe().unwrap());
        child.args(["--exact", "oauth::another_process_renews", "--nocapture"]);
        child.env(TASK, format!("{}|{}|3600", world.server, world.file().display()));
        let mut child = child.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line == "ready"));
        (child, lines)
    };
    let children: Vec<_> = (0..3).map(|_| start()).collect();
    let tokens = Arc::new(tokens);
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let tokens = Arc::clone(&tokens);
        tasks.spawn(async move { tokens.token().await.unwrap().unwrap() });
    }
    drop(lock);

    let mut found: Vec<String> =
        tasks.join_all().await.iter().map(|token| token.reveal().to_owned()).collect();
    for (mut child, mut lines) in children {
        let line = lines.find(|line| line.starts_with("token ")).unwrap();
        found.push(line.trim_start_matches("token ").to_owned());
        assert!(child.wait().unwrap().success());
    }
    found.dedup();
    assert_eq!(found.len(), 1, "all have the same token");
    assert_eq!(world.asked(), ["authorization_code", "refresh_token"]);
    let Ok(Called::Said(_)) = world.call(&tokens, "whoami").await else { panic!("the token is good") };
}
