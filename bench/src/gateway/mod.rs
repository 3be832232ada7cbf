//! The gateway over loopback, against a bare reverse proxy of hyper in the same run.

mod load;
mod memory;
mod model;
mod options;
mod process;
mod proxy;
mod reply;
mod rows;
mod streams;
mod table;

use std::net::SocketAddr;
use std::sync::Arc;

use rail_wire::Protocol;

use crate::talk::{self, Size};
use model::Manner;
use options::Options;
use process::{Calls, Server, rail_program};

/// A benchmark of the gateway, or one of the programs that take part in it.
pub(crate) fn run(name: &str, mut args: impl Iterator<Item = String>) -> Result<(), String> {
    match name {
        "model" => {
            process::end_with_parent();
            model::run().map_err(|error| format!("the model: {error}"))
        }
        "bare-proxy" => {
            process::end_with_parent();
            let model = args.next().and_then(|addr| addr.parse().ok()).ok_or("say where the model is")?;
            proxy::run(model).map_err(|error| format!("the bare proxy: {error}"))
        }
        _ => {
            let options = Options::parse(args)?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.map_err(|error| error.to_string())?.block_on(async {
                match name {
                    "gateway-memory" => memory::run(&options).await,
                    "gateway-streams" => streams::run(&options).await,
                    _ => rows::run(&options).await,
                }
            })
        }
    }
}

/// The servers of one run.
struct Stage {
    model: Server,
    bare: Server,
    /// None when it was left out.
    rail: Option<Server>,
}

impl Stage {
    fn set(options: &Options) -> Result<Self, String> {
        let model = Server::own("model", &[])?;
        let bare = Server::own("bare-proxy", &[model.addr.to_string()])?;
        let rail = if options.without_rail {
            None
        } else {
            Some(Server::rail(&rail_program(options.rail.clone())?, model.addr)?)
        };
        Ok(Self { model, bare, rail })
    }
}

/// Whom a client speaks with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Via {
    /// The model, or a proxy that changes nothing.
    Straight,
    /// The gateway, where the model's name says where to go.
    Gateway,
}

/// What a client asks, and of whom.
#[derive(Clone, Copy)]
struct Question {
    /// The client's protocol.
    from: &'static Protocol,
    /// The model's.
    to: &'static Protocol,
    calls: Calls,
    size: Size,
    manner: Manner,
}

/// A whole HTTP request.
fn request(via: Via, question: Question, addr: SocketAddr) -> Arc<[u8]> {
    let Question { from, to, calls, size, manner } = question;
    let model = process::model_name(to.id, calls, manner);
    let call = talk::call(from, size, &model, manner.streams());
    let manner = match via {
        Via::Straight => format!("/{}", manner.name()),
        Via::Gateway => String::new(),
    };
    let mark = if call.query.is_empty() { "" } else { "?" };
    // Each protocol's clients say the version; OpenAI's have it in the address that they are given.
    let version = if call.path.starts_with("/v1") { "" } else { "/v1" };
    let mut head =
        format!("POST {manner}{version}{}{mark}{} HTTP/1.1\r\nhost: {addr}\r\n", call.path, call.query);
    for (name, value) in &call.headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += &format!("content-length: {}\r\n\r\n", call.body.len());
    [head.as_bytes(), &call.body].concat().into()
}
