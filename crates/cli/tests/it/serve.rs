//! `rail serve`: its beginning, its configuration, its end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStderr, ChildStdout, Command};

use crate::gateway::until_it_stops;
use crate::home::Home;

const CONFIG: &str = ".config/switchrail/config.toml";

fn config(models: &[&str]) -> String {
    let models: Vec<String> = models.iter().map(|model| format!("\"{model}\"")).collect();
    format!(
        "[providers.p]\nprotocol = \"openai-chat\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodels = [{}]\n\
         [router]\ndefault = \"p,m\"\n[gateway]\nlisten = \"127.0.0.1:0\"\n",
        models.join(", ")
    )
}

/// A gateway that runs; it is ended with the test.
pub(crate) struct Serving {
    pub(crate) child: Child,
    out: BufReader<ChildStdout>,
    err: Option<BufReader<ChildStderr>>,
    pub(crate) addr: String,
    greeting: String,
}

impl Serving {
    pub(crate) fn start(home: &Home, args: &[&str]) -> Self {
        let mut child = home.start(&[&["serve"], args].concat());
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let err = child.stderr.take().map(BufReader::new);
        let mut greeting = String::new();
        out.read_line(&mut greeting).unwrap();
        let addr =
            greeting.split_once("http://").map(|(_, rest)| rest.split(": ").next().unwrap().to_owned());
        Self { child, out, err, addr: addr.unwrap_or_default(), greeting }
    }

    /// The status that a path is answered with.
    fn status(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.addr).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().to_owned()
    }

    /// The next line of its stderr.
    fn told(&mut self) -> String {
        let mut line = String::new();
        self.err.as_mut().unwrap().read_line(&mut line).unwrap();
        line
    }

    #[expect(clippy::disallowed_methods, reason = "a signal is sent by another process, as a terminal does")]
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Reads its log on the side, however long it becomes.
    pub(crate) fn ignores_log(&mut self) {
        if let Some(mut err) = self.err.take() {
            std::thread::spawn(move || std::io::copy(&mut err, &mut std::io::sink()));
        }
    }

    /// Its exit code, and what it still said.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        if let Some(err) = &mut self.err {
            err.read_to_string(&mut rest).unwrap();
        }
        (self.child.wait().unwrap().code(), rest)
    }
}

#[test]
fn it_serves_until_it_is_told_to_stop() {
    let home = Home::with(&config(&["m", "n"]));
    let serving = Serving::start(&home, &[]);
    let greeting =
        serving.greeting.replace(&serving.addr, "ADDR").replace(home.path("").to_str().unwrap(), "HOME/");
    assert_eq!(
        greeting,
        "The gateway listens on http://ADDR: 1 provider, 2 targets; no key is needed; the ledger is HOME/state/switchrail/ledger.db\n"
    );
    assert_eq!([serving.status("/healthz"), serving.status("/readyz")], ["200", "200"]);
    serving.signal("-TERM");
    assert_eq!(serving.end(), (Some(0), String::new()));
}

#[test]
fn ctrl_c_ends_it_with_130_and_twice_at_once() {
    let home = Home::with(&config(&["m"]));
    let serving = Serving::start(&home, &[]);
    serving.signal("-INT");
    assert_eq!(serving.end(), (Some(130), String::new()));

    let serving = Serving::start(&home, &["--listen", "127.0.0.1:0"]);
    // A request that never comes whole would be waited for.
    let mut stream = TcpStream::connect(&serving.addr).unwrap();
    stream
        .write_all(b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 9\r\n\r\n")
        .unwrap();
    stream.read_exact(&mut [0; 12]).unwrap();
    serving.signal("-INT");
    // It says when it has heard of the first.
    until_it_stops(&serving.addr);
    serving.signal("-TERM");
    assert_eq!(serving.end(), (Some(130), String::new()));
}

#[test]
fn it_follows_its_configuration_and_keeps_the_last_good_one() {
    let home = Home::with(&config(&["m"]));
    let mut serving = Serving::start(&home, &[]);
    home.write(CONFIG, &config(&["m", "n", "o"]));
    assert!(serving.told().contains("the configuration was loaded again"));
    home.write(CONFIG, "[providers.p]\nprotocool = 1\n");
    let told = serving.told();
    assert!(told.contains("stays in force") && told.contains("protocool"), "{told}");
    assert_eq!(serving.status("/v1/models"), "200");
    serving.signal("-TERM");
    assert_eq!(serving.end().0, Some(0));
}

#[test]
fn what_keeps_it_from_serving_is_told() {
    let home = Home::with(&config(&["m"]));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    let said = |args: &[&str]| home.said(args, "").replace(&addr, "ADDR");
    insta::assert_snapshot!(said(&["serve", "--listen", &addr]), @"
    rail: ADDR is in use already, perhaps by another `rail serve`; end that one, or listen elsewhere: `--listen 127.0.0.1:0` takes any port that is free
    exit 1
    ");
    let open = said(&["serve", "--listen", "0.0.0.0:0"]);
    insta::assert_snapshot!(open.split_once(" can be").unwrap().1, @"
     reached from other machines, and there are no keys; make one with `rail key create NAME`, or listen on 127.0.0.1
    exit 2
    ");
    insta::assert_snapshot!(said(&["serve", "--listen", "nowhere"]), @"
    rail: the configuration is wrong:
    --listen: gateway.listen: this is no address to listen on; write `host:port`, such as `127.0.0.1:4141`
    exit 2
    ");
}
