//! A gateway on scripted models, its clients, and a clock that stands still.

use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http_body_util::BodyExt;
use rail_config::{Inputs, Scope};
use rail_ledger::{Entry, Ledger, Place};
use rail_model::{
    ApiError, Assembler, EmbedRequest, Extras, Json, Message, Part, Reply, Request, Role, ToolDecl, ToolKind,
};
use rail_testkit::{Models, Turn};
use rail_upstream::{Live, LiveSettings, Upstream};
use rail_wire::{BodyKind, HttpCall, HttpReply, Operation, Protocol, TargetSpec, find};
use serde_json::json;
use tokio::sync::mpsc as channel;

use crate::arrival::Arrival;
use crate::body::Body;
use crate::exchange::exchange;
use crate::serve::Room;
use crate::{Configuration, Gateway, Observe, Parts};

/// A gateway, and where its configuration lies.
pub(super) struct World {
    pub(super) gateway: Gateway,
    _folder: tempfile::TempDir,
}

/// The protocol of this name.
pub(super) fn protocol(name: &str) -> &'static Protocol {
    find(name).unwrap()
}

/// A provider of one model `m`, which costs a dollar for a million tokens of input and two for output.
pub(super) fn provider(name: &str, protocol: &Protocol, models: &Models) -> String {
    format!(
        "[providers.{name}]\nprotocol = \"{}\"\nbase_url = \"{}\"\nkey = \"sk-of-{name}-12345678\"\nretry = {{ tries = 0 }}\n\
         models = {{ m = {{ price = {{ input = 1.0, output = 2.0 }}, tools = \"native\", vision = true, stream_usage = true }} }}\n",
        protocol.id,
        models.base_url(protocol.id),
    )
}

impl World {
    /// A gateway that is configured like this.
    pub(super) async fn new(configuration: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        rail_stdx::replace(&file, configuration.as_bytes(), rail_stdx::Access::Owner).unwrap();
        let inputs = Inputs {
            config: Some(file),
            scope: Scope::GivenFile,
            working_folder: folder.path().to_owned(),
            ..Inputs::default()
        };
        let loaded = rail_config::load(&inputs).unwrap_or_else(|problems| panic!("{problems}"));
        let gateway = Gateway::new(Parts {
            configuration: Configuration::Fixed(Arc::new(loaded)),
            upstream: Upstream::new(Arc::new(Live::new(LiveSettings::default()))),
            ledger: Ledger::open(&Place::Memory).await.unwrap(),
            observe: Observe::default(),
        });
        Self { gateway, _folder: folder }
    }

    /// A gateway on these models, asked in their order.
    pub(super) async fn on(models: &[(&str, &Protocol, &Models)]) -> Self {
        Self::with(models, "").await
    }

    /// The same with more in its configuration.
    pub(super) async fn with(models: &[(&str, &Protocol, &Models)], more: &str) -> Self {
        let chain: Vec<String> = models.iter().map(|(name, ..)| format!("{name},m")).collect();
        let providers: String = models.iter().map(|(name, of, models)| provider(name, of, models)).collect();
        Self::new(&format!("{providers}[router]\ndefault = \"{}\"\n{more}", chain.join(";"))).await
    }

    /// Answers a request.
    pub(super) async fn ask(&self, arrival: Arrival) -> Response<Body> {
        fn sent_between_threads<T: Send>(future: T) -> T {
            future
        }
        sent_between_threads(exchange(&self.gateway, arrival)).await
    }

    /// The records so far, the oldest first.
    pub(super) async fn records(&self) -> Vec<Entry> {
        self.gateway.ledger().flush().await.unwrap();
        let mut entries = self.gateway.ledger().recent(1000, None).await.unwrap();
        entries.reverse();
        entries
    }

    /// The one record there is.
    pub(super) async fn record(&self) -> Entry {
        let mut entries = self.records().await;
        assert_eq!(entries.len(), 1, "{entries:?}");
        let id = entries.remove(0).id;
        self.gateway.ledger().entry(&id).await.unwrap().unwrap()
    }
}

/// A question with a tool, for an answer as a stream or not.
pub(super) fn question(stream: bool) -> Request {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let tool = ToolDecl {
        name: "read".to_owned(),
        description: Some("Reads a file.".to_owned()),
        kind: ToolKind::Function { parameters: Some(Json::from(schema)) },
        strict: None,
        cache: None,
        extras: Extras::NONE,
    };
    let messages = vec![Message::new(Role::User, vec![Part::text("What is in a.txt?")])];
    Request { model: "asked".to_owned(), messages, tools: vec![tool], stream, ..Request::default() }
}

/// A request of a client of this protocol.
pub(super) fn arrival(protocol: &'static Protocol, request: &Request) -> Arrival {
    let mut call = protocol.outbound.encode_request(request, &TargetSpec::new(&request.model)).call;
    let gemini = protocol.id.name() == "gemini";
    call.path = format!("{}{}", if gemini { "/v1beta" } else { "/v1" }, call.path);
    let operation = if gemini && request.stream { Operation::GenerateStream } else { Operation::Generate };
    from(protocol, operation, call)
}

/// A call of a client of this protocol.
pub(super) fn from(protocol: &'static Protocol, operation: Operation, call: HttpCall) -> Arrival {
    let came = tokio::time::Instant::now().into_std();
    Arrival {
        id: "r1".to_owned(),
        came,
        at: 1_800_000_000_123,
        key: None,
        protocol,
        operation,
        call,
        room: Room::default(),
    }
}

/// A request for a token count.
pub(super) fn counting(protocol: &'static Protocol) -> Arrival {
    let mut call = protocol.outbound.encode_count(&question(false), &TargetSpec::new("asked")).unwrap().call;
    call.path = format!("/v1beta{}", call.path);
    from(protocol, Operation::Count, call)
}

/// A request for embeddings of these texts.
pub(super) fn embedding(protocol: &'static Protocol, request: &EmbedRequest) -> Arrival {
    let mut call = protocol.outbound.encode_embed(request, &TargetSpec::new(&request.model)).unwrap().call;
    call.path = format!("/v1beta{}", call.path);
    from(protocol, Operation::Embed, call)
}

/// A whole body.
pub(super) async fn body(response: Response<Body>) -> Bytes {
    response.into_body().collect().await.unwrap().to_bytes()
}

/// The next piece of a body; none at its end.
pub(super) async fn piece(body: &mut Body) -> Option<String> {
    let frame = body.frame().await?.unwrap().into_data().unwrap();
    Some(String::from_utf8(frame.to_vec()).unwrap())
}

/// An answer as a client of this protocol reads it.
pub(super) async fn read(
    protocol: &Protocol,
    kind: BodyKind,
    response: Response<Body>,
) -> Result<Reply, ApiError> {
    let status = response.status().as_u16();
    let body = body(response).await;
    if status != 200 {
        let reply = HttpReply::json(status, body.to_vec());
        return Err(protocol.outbound.read_error(&reply));
    }
    let (mut decoder, mut events) = (protocol.outbound.decoder(kind), Vec::new());
    decoder.push(&body, &mut events).unwrap();
    decoder.finish(&mut events).unwrap();
    let mut assembler = Assembler::default();
    events.into_iter().for_each(|event| assembler.push(event));
    assembler.finish().unwrap()
}

/// A header of an answer.
pub(super) fn header<'a>(response: &'a Response<Body>, name: &str) -> Option<&'a str> {
    response.headers().get(name).map(|value| value.to_str().unwrap())
}

/// Models that tell when a request has come to them.
pub(super) fn telling(script: Vec<Turn>) -> (Models, channel::UnboundedReceiver<()>) {
    let (told, come) = channel::unbounded_channel();
    let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
    let models = Models::listen(anywhere, script, move |_| told.send(()).unwrap_or_default()).unwrap();
    (models, come)
}

/// Keeps a paused clock from running ahead while sockets work; it moves only by `advance`.
pub(super) fn frozen() -> mpsc::Sender<()> {
    let (held, released) = mpsc::channel::<()>();
    // A test that waits for what never comes must fail and not hang: after this long the clock runs again.
    tokio::task::spawn_blocking(move || released.recv_timeout(Duration::from_secs(20)).ok());
    held
}
