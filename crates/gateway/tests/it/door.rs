//! A gateway that serves on a socket, before a model that repeats what it hears.

use std::net::SocketAddr;
use std::sync::Arc;

use rail_config::{Inputs, load};
use rail_gateway::{Configuration, Gateway, Observe, Parts, ServeError, serve};
use rail_ledger::{Ledger, Place};
use rail_model::ProtocolId;
use rail_stdx::Secret;
use rail_testkit::{Models, Turn};
use rail_upstream::{Live, LiveSettings, Upstream};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A gateway that serves.
pub(crate) struct Door {
    pub(crate) addr: SocketAddr,
    pub(crate) ledger: Ledger,
    pub(crate) stop: CancellationToken,
    pub(crate) served: JoinHandle<Result<(), ServeError>>,
    _models: Models,
    _folder: TempDir,
}

impl Door {
    /// One on loopback, with these settings of `[gateway]`.
    pub(crate) async fn open(gateway: &str) -> Self {
        Self::on("127.0.0.1:0", gateway, memory().await).await
    }

    /// One on this address, with this ledger. `BASE` in its settings stands for the address of the models.
    pub(crate) async fn on(listen: &str, gateway: &str, ledger: Ledger) -> Self {
        Self::made(listen, gateway, ledger, None).await
    }

    /// One on loopback that is there for a guest with this token.
    pub(crate) async fn for_guest(token: &str, ledger: Ledger) -> Self {
        Self::made("127.0.0.1:0", "", ledger, Some(Secret::new(token))).await
    }

    async fn made(listen: &str, gateway: &str, ledger: Ledger, guest: Option<Secret>) -> Self {
        let models = Models::start(vec![Turn::echo().repeat()]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("gateway.toml");
        let base_url = models.base_url(ProtocolId::new("openai-chat"));
        let gateway = gateway.replace("BASE", &base_url);
        let config = format!(
            "[providers.p]\nprotocol = \"openai-chat\"\nbase_url = \"{base_url}\"\nmodels = [\"m\"]\n\
             [router]\ndefault = \"p,m\"\n[gateway]\n{gateway}\n"
        );
        std::fs::write(&file, config).unwrap();
        let home = folder.path().to_str().unwrap();
        let inputs = Inputs {
            env: [("HOME", home)].into_iter().collect(),
            working_folder: folder.path().to_owned(),
            config: Some(file),
            ..Inputs::default()
        };
        let loaded = load(&inputs).unwrap();
        let parts = Parts {
            configuration: Configuration::Fixed(Arc::new(loaded)),
            upstream: Upstream::new(Arc::new(Live::new(LiveSettings::default()))),
            ledger: ledger.clone(),
            observe: Observe::default(),
        };
        let gateway = match guest {
            None => Gateway::new(parts),
            Some(secret) => Gateway::for_guest(parts, secret),
        };
        let listener = TcpListener::bind(listen).await.unwrap();
        let (addr, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
        let served = tokio::spawn(serve(gateway, listener, stop.clone()));
        Self { addr, ledger, stop, served, _models: models, _folder: folder }
    }
}

/// A ledger that is forgotten with the test.
pub(crate) async fn memory() -> Ledger {
    Ledger::open(&Place::Memory).await.unwrap()
}
