//! The reference: a reverse proxy of hyper and nothing else.

use std::io;
use std::net::SocketAddr;

use hyper::body::Incoming;
use hyper::header::HOST;
use hyper::http::uri::{Authority, Scheme};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, Uri};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

/// Passes every request on to this server, until the program ends.
pub(crate) fn run(model: SocketAddr) -> io::Result<()> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(serve(model))
}

async fn serve(model: SocketAddr) -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    super::process::tell_address(listener.local_addr()?);
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client: Client<_, Incoming> = Client::builder(TokioExecutor::new()).build(connector);
    let model: Authority = model.to_string().parse().map_err(io::Error::other)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (client, model) = (client.clone(), model.clone());
        let service = service_fn(move |request| pass_on(client.clone(), model.clone(), request));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn pass_on(
    client: Client<HttpConnector, Incoming>,
    model: Authority,
    mut request: Request<Incoming>,
) -> Result<Response<Incoming>, Error> {
    let mut parts = std::mem::take(request.uri_mut()).into_parts();
    parts.scheme = Some(Scheme::HTTP);
    parts.authority = Some(model);
    *request.uri_mut() = Uri::from_parts(parts).unwrap_or_default();
    request.headers_mut().remove(HOST);
    client.request(request).await
}
