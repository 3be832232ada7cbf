//! Servers that mean no good, or know no better: no person is asked, and nothing is sent where it must not go.
#![expect(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

use rail_mcp::auth::{AuthError, Settings, Tokens};

use super::oauth_kit::{Answering, LIMIT, Person, Site, Wish, outside};

const METADATA: &str = "www-authenticate: Bearer resource_metadata=\"ORIGIN/meta\"";
const JSON: &str = "content-type: application/json";

fn json(text: &str) -> Option<(u16, &'static str, String)> {
    Some((200, JSON, text.to_owned()))
}

fn refusal() -> Option<(u16, &'static str, String)> {
    Some((401, METADATA, String::new()))
}

/// The metadata of the site itself as an authorisation server, with PKCE and nobody to register at.
fn issuer(extra: &str) -> Option<(u16, &'static str, String)> {
    json(&format!(
        r#"{{"issuer":"ORIGIN","authorization_endpoint":"ORIGIN/authorize","token_endpoint":"ORIGIN/token",
            "code_challenge_methods_supported":["S256"]{extra}}}"#
    ))
}

/// The error of a login at a site, with its own address as `ORIGIN`; nobody was asked to log in.
async fn login(answering: Answering) -> (String, Vec<String>) {
    let site = Site::start(answering);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens.json");
    let settings = Settings { url: format!("{}/mcp", site.origin), ..Settings::default() };
    let tokens = Tokens::new(settings, outside(&file, std::sync::Arc::default())).unwrap();
    let person = Person::who(Wish::Ignore);
    let error = tokens.login(&person, LIMIT).await.unwrap_err();
    assert_eq!(person.opened.lock().unwrap().len(), 0, "{error}");
    assert!(!file.exists());
    let host = site.origin.trim_start_matches("http://");
    (error.to_string().replace(&site.origin, "ORIGIN").replace(host, "HOST"), site.paths())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_pkce_is_not_used() {
    for methods in ["", r#","code_challenge_methods_supported":["plain"]"#] {
        let answering: Answering = match methods {
            "" => |path| match path {
                "/mcp" => refusal(),
                "/meta" => json(r#"{"resource":"ORIGIN/mcp","authorization_servers":["ORIGIN"]}"#),
                _ => json(
                    r#"{"issuer":"ORIGIN","authorization_endpoint":"ORIGIN/a","token_endpoint":"ORIGIN/t"}"#,
                ),
            },
            _ => |path| match path {
                "/mcp" => refusal(),
                "/meta" => json(r#"{"resource":"ORIGIN/mcp","authorization_servers":["ORIGIN"]}"#),
                _ => json(
                    r#"{"issuer":"ORIGIN","authorization_endpoint":"ORIGIN/a","token_endpoint":"ORIGIN/t",
                        "code_challenge_methods_supported":["plain"]}"#,
                ),
            },
        };
        let (error, _) = login(answering).await;
        assert!(error.starts_with("`ORIGIN` does not say that it supports PKCE"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_of_others_are_not_used() {
    let (error, paths) = login(|path| match path {
        "/mcp" => refusal(),
        _ => json(r#"{"resource":"https://other.test/mcp","authorization_servers":["ORIGIN"]}"#),
    })
    .await;
    assert!(
        error.starts_with("the metadata of ORIGIN/mcp are for another server, `https://other.test/mcp`"),
        "{error}"
    );
    assert_eq!(paths, ["/mcp", "/meta"], "the authorisation server is not asked");

    let (error, _) = login(|path| match path {
        "/mcp" => refusal(),
        "/meta" => json(r#"{"resource":"ORIGIN/mcp","authorization_servers":["ORIGIN/tenant"]}"#),
        _ => issuer(""),
    })
    .await;
    assert!(error.starts_with("`ORIGIN/tenant` was asked and `ORIGIN` answered"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_https_is_spoken_to_on_this_machine_only() {
    let (error, _) = login(|path| match path {
        "/mcp" => refusal(),
        _ => json(r#"{"resource":"ORIGIN/mcp","authorization_servers":["http://auth.example.com"]}"#),
    })
    .await;
    assert!(
        error.starts_with("the address of the authorisation server, `http://auth.example.com`, is not used"),
        "{error}"
    );

    let (error, _) = login(|path| match path {
        "/mcp" => refusal(),
        "/meta" => json(r#"{"resource":"ORIGIN/mcp","authorization_servers":["ORIGIN"]}"#),
        _ => json(
            r#"{"issuer":"ORIGIN","authorization_endpoint":"javascript:alert(1)","token_endpoint":"ORIGIN/t",
                "code_challenge_methods_supported":["S256"]}"#,
        ),
    })
    .await;
    assert!(error.starts_with("the address to log in at, `javascript:alert(1)`, is not used"), "{error}");

    let url = "http://mcp.example.com/mcp".to_owned();
    let folder = tempfile::tempdir().unwrap();
    let outside = outside(&folder.path().join("tokens.json"), std::sync::Arc::default());
    let refused = Tokens::new(Settings { url, ..Settings::default() }, outside);
    assert!(matches!(refused, Err(AuthError::Server { .. })), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_are_not_followed_to_another_server() {
    let (error, paths) = login(|path| match path {
        "/mcp" => refusal(),
        _ => Some((302, "location: https://evil.test/meta?x=1", String::new())),
    })
    .await;
    assert_eq!(
        error,
        "the metadata of the MCP server: HOST leads on to `https://evil.test/meta`, and such an answer is not followed to another server; tell whoever runs it"
    );
    assert_eq!(paths, ["/mcp", "/meta"]);
    // In a circle, it ends.
    let (error, paths) = login(|path| match path {
        "/mcp" => refusal(),
        _ => Some((307, "location: /meta", String::new())),
    })
    .await;
    assert!(error.contains("it leads on again and again"), "{error}");
    assert_eq!(paths.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_sent_is_not_sent_on() {
    let (error, paths) = login(|path| match path {
        "/mcp" => refusal(),
        "/meta" => json(r#"{"resource":"ORIGIN","authorization_servers":["ORIGIN"]}"#),
        "/register" => Some((307, "location: /elsewhere", String::new())),
        _ => issuer(r#","registration_endpoint":"ORIGIN/register""#),
    })
    .await;
    assert!(error.starts_with("the registration of this program: HOST leads on to `/elsewhere`"), "{error}");
    assert!(!paths.contains(&"/elsewhere".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_without_end_or_sense_are_given_up() {
    let (error, _) = login(|path| match path {
        "/mcp" => refusal(),
        _ => json(&"[".repeat(300 * 1024)),
    })
    .await;
    assert!(error.contains("is longer than 262144 bytes"), "{error}");
    let (error, _) = login(|path| match path {
        "/mcp" => refusal(),
        _ => json(r#"{"resource": 7, "secret": "sk-live-1234567890"}"#),
    })
    .await;
    assert!(error.contains("can't be read: Data error at line 1"), "{error}");
    let (error, _) = login(|path| match path {
        "/mcp" => refusal(),
        _ => Some((500, JSON, r#"{"error":"oops","error_description":"a\u001b[2Jb"}"#.into())),
    })
    .await;
    assert_eq!(error, "the metadata of the MCP server: HOST answered with status 500: oops: a [2Jb");
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_are_found_without_a_word_of_the_server() {
    // At the root, and by the OpenID form behind a path; nobody can be registered there.
    let (error, paths) = login(|path| match path {
        "/mcp" => Some((401, "www-authenticate: Bearer", String::new())),
        "/.well-known/oauth-protected-resource" => {
            json(r#"{"resource":"ORIGIN","authorization_servers":["ORIGIN/t1"]}"#)
        }
        "/t1/.well-known/openid-configuration" => json(
            r#"{"issuer":"ORIGIN/t1","authorization_endpoint":"ORIGIN/a","token_endpoint":"ORIGIN/t",
                "code_challenge_methods_supported":["plain","S256"]}"#,
        ),
        _ => None,
    })
    .await;
    assert!(error.starts_with("`ORIGIN/t1` does not register programs by itself"), "{error}");
    assert_eq!(
        paths,
        [
            "/mcp",
            "/.well-known/oauth-protected-resource/mcp",
            "/.well-known/oauth-protected-resource",
            "/.well-known/oauth-authorization-server/t1",
            "/.well-known/openid-configuration/t1",
            "/t1/.well-known/openid-configuration"
        ]
    );
    // A server of the first version of the standard is its own authorisation server.
    let (error, _) = login(|path| match path {
        "/mcp" => Some((401, "x: y", String::new())),
        "/.well-known/oauth-authorization-server" => issuer(""),
        _ => None,
    })
    .await;
    assert!(error.starts_with("`ORIGIN` does not register programs by itself"), "{error}");
    // One that says nothing at all.
    let (error, _) = login(|path| (path == "/mcp").then(|| (401, "x: y", String::new()))).await;
    assert!(error.starts_with("the server ORIGIN/mcp does not say where to log in"), "{error}");
    let (error, _) = login(|path| (path == "/mcp").then(|| (200, JSON, "{}".into()))).await;
    assert!(error.starts_with("the server ORIGIN/mcp answers without a login"), "{error}");
}

/// A server whose token endpoint answers so, with a token that was kept and has ended.
async fn renew(answering: Answering) -> (Result<Option<String>, String>, String) {
    let site = Site::start(answering);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens.json");
    let kept = format!(
        r#"{{"version": 1, "entries": [{{"server": "{0}/mcp", "client": "registered", "grant": {{
            "issuer": "{0}", "resource": "{0}/mcp", "token_endpoint": "{0}/token",
            "client": {{"id": "c", "method": "none"}}, "access_token": "kept-access", "refresh_token": "kept-refresh",
            "obtained": 1000, "expires": 2000}}}}]}}"#,
        site.origin
    );
    std::fs::write(&file, kept).unwrap();
    let settings = Settings { url: format!("{}/mcp", site.origin), ..Settings::default() };
    let tokens = Tokens::new(settings, outside(&file, std::sync::Arc::default())).unwrap();
    let token = tokens.token().await;
    let token = token.map(|token| token.map(|token| token.reveal().to_owned()));
    let host = site.origin.trim_start_matches("http://");
    let token = token.map_err(|error| error.to_string().replace(host, "HOST"));
    (token, std::fs::read_to_string(&file).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_that_fails_for_now_costs_no_login_and_shows_no_secret() {
    let (token, kept) = renew(|_| {
        let said = r#"{"error":"server_error","error_description":"kept-refresh was not found in time"}"#;
        Some((503, JSON, said.into()))
    })
    .await;
    let problem =
        "the renewal of the token: HOST answered with status 503: server_error: *** was not found in time";
    assert_eq!(token, Err(problem.to_owned()));
    assert!(kept.contains("kept-refresh"));
    for (answering, problem) in [
        ((|_| json(r#"{"access_token":"a","token_type":"DPoP"}"#)) as Answering, "not of the type `Bearer`"),
        (|_| json(r#"{"access_token":"a\r\nx: y","token_type":"Bearer"}"#), "can't be sent in a header"),
        (|_| json(r#"{"access_token":"","token_type":"Bearer"}"#), "can't be sent in a header"),
        (|_| json(r#"{"token_type":"Bearer"}"#), "can't be read: Data error"),
        (|_| Some((307, "location: https://evil.test/", String::new())), "leads on to `https://evil.test/`"),
    ] {
        let (token, kept) = renew(answering).await;
        assert!(token.as_ref().is_err_and(|error| error.contains(problem)), "{problem}: {token:?}");
        assert!(kept.contains("kept-refresh"), "{problem}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_taken_as_one_also_with_status_200() {
    let (token, kept) = renew(|_| json(r#"{"error":"bad_refresh_token"}"#)).await;
    assert_eq!(token, Ok(None));
    assert!(!kept.contains("kept-"), "{kept}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_gives_no_new_refresh_token_means_the_old_one() {
    let (token, kept) = renew(|_| json(r#"{"access_token":"new-access","token_type":"bearer"}"#)).await;
    assert_eq!(token, Ok(Some("new-access".to_owned())));
    assert!(kept.contains("kept-refresh") && !kept.contains("kept-access"), "{kept}");
}
