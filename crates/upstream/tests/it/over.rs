//! The same test over plain HTTP and over TLS.

use rail_route::Provider;
use rail_testkit::{
    Authority, Conversation, Models, Peer, ServerCert, Step, Turn, refused_addr, text as say,
};
use tempfile::TempDir;

use crate::world::{self, CHAT};

/// Makes each of these functions two tests, one over plain HTTP and one over TLS. A function that is not listed is unused,
/// which the compiler says.
macro_rules! over_both {
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            use crate::over::Over;

            #[tokio::test(start_paused = true)]
            async fn plain() {
                super::$test(&Over::Plain).await;
            }

            #[tokio::test(start_paused = true)]
            async fn tls() {
                super::$test(&Over::tls()).await;
            }
        }
    )*};
}
pub(crate) use over_both;

/// How the servers of a test are reached.
pub(crate) enum Over {
    /// Over plain HTTP.
    Plain,
    /// Over TLS, with a certificate of an authority whose file is in this folder.
    Tls(Box<ServerCert>, TempDir),
}

impl Over {
    /// TLS with an authority of the test's own.
    pub(crate) fn tls() -> Self {
        let (authority, folder) = (Authority::new().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(folder.path().join("ca.pem"), authority.pem()).unwrap();
        Self::Tls(Box::new(authority.server().unwrap()), folder)
    }

    /// A server that plays these conversations.
    pub(crate) fn peer(&self, script: Vec<Conversation>) -> Peer {
        match self {
            Self::Plain => Peer::start(script).unwrap(),
            Self::Tls(cert, _) => Peer::start_tls(script, cert).unwrap(),
        }
    }

    /// A server that does the same on every connection: it reads the request, then does this.
    pub(crate) fn always(&self, steps: impl IntoIterator<Item = Step>) -> Peer {
        let steps = [Step::ReadRequest].into_iter().chain(steps);
        self.peer(vec![Conversation::new(steps).repeat()])
    }

    /// A server that answers every request with these bytes.
    pub(crate) fn answers(&self, bytes: Vec<u8>) -> Peer {
        self.always([Step::Send(closing(&bytes))])
    }

    /// A server of scripted models.
    pub(crate) fn models(&self, script: Vec<Turn>) -> Models {
        match self {
            Self::Plain => Models::start(script).unwrap(),
            Self::Tls(cert, _) => Models::start_tls(script, cert).unwrap(),
        }
    }

    /// A server that always answers `from b`.
    pub(crate) fn good(&self) -> Models {
        self.models(vec![Turn::reply(vec![say("from b")]).repeat()])
    }

    /// A provider at this address that trusts the test's authority.
    pub(crate) fn provider(&self, name: &str, base_url: String) -> Provider {
        let provider = world::provider(name, base_url);
        match self {
            Self::Plain => provider,
            Self::Tls(_, folder) => Provider { ca: Some(folder.path().join("ca.pem")), ..provider },
        }
    }

    /// The provider of a server with a script.
    pub(crate) fn of(&self, name: &str, peer: &Peer) -> Provider {
        self.provider(name, peer.url("/v1"))
    }

    /// The provider `b` of a server with models.
    pub(crate) fn b(&self, models: &Models) -> Provider {
        self.provider("b", models.base_url(CHAT))
    }

    /// Where nobody listens.
    pub(crate) fn nowhere(&self) -> String {
        self.url(&refused_addr().unwrap().to_string())
    }

    /// The address of an API on this host.
    pub(crate) fn url(&self, host: &str) -> String {
        match self {
            Self::Plain => format!("http://{host}/v1"),
            Self::Tls(..) => format!("https://{host}/v1"),
        }
    }
}

/// An answer that says that it closes its connection, so that the next request does not try whether it has already.
pub(crate) fn closing(answer: &[u8]) -> Vec<u8> {
    let at = answer.windows(2).position(|pair| pair == b"\r\n").unwrap();
    let (status, rest) = answer.split_at(at);
    [status, b"\r\nconnection: close", rest].concat()
}
