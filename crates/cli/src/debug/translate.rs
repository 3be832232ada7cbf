//! `rail debug translate`: the whole matrix of protocols from the command line.

use std::io::{Read, Write, stderr, stdin, stdout};

use anyhow::{Context, anyhow};
use clap::{Args, ValueEnum};
use rail_model::{Event, Loss};
use rail_wire::{BodyKind, Encoded, HttpCall, HttpReply, Protocol, ReplyTo, TargetSpec};

use super::protocol;
use crate::Failure;
use crate::images::shrink_image;

#[derive(Args)]
pub(crate) struct Translate {
    /// The protocol of the input: anthropic, openai-chat, openai-responses or gemini.
    #[arg(long, value_name = "P", value_parser = protocol)]
    from: &'static Protocol,
    /// The protocol of the output.
    #[arg(long, value_name = "Q", value_parser = protocol)]
    to: &'static Protocol,
    /// What the input is. Requests go from a client to an upstream, everything else from an upstream to a client.
    #[arg(long)]
    kind: Kind,
    /// The HTTP status that an error came with.
    #[arg(long, value_name = "N", default_value_t = 500)]
    status: u16,
    /// The model: for requests the upstream's name for it, for answers the name the client sees.
    #[arg(long, value_name = "M")]
    model: Option<String>,
    /// Ask for a stream (for requests in a protocol that says so in the path, not in the body).
    #[arg(long)]
    stream: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// A request for an answer.
    Request,
    /// A whole answer.
    Response,
    /// A streamed answer.
    Stream,
    /// An error answer.
    Error,
    /// A request to count tokens.
    CountRequest,
    /// A token count.
    CountResponse,
    /// A request for embeddings.
    EmbedRequest,
    /// Embeddings.
    EmbedResponse,
}

impl Translate {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.kind {
            Kind::Stream => self.stream(),
            Kind::Response => self.response(),
            Kind::Request | Kind::CountRequest => self.request(),
            Kind::Error => self.error(),
            Kind::CountResponse => self.count_response(),
            Kind::EmbedRequest => self.embed_request(),
            Kind::EmbedResponse => self.embed_response(),
        }
    }

    fn request(&self) -> Result<(), Failure> {
        let mut request =
            self.from.inbound.decode_request(&self.call()?).map_err(|error| anyhow!(error.message))?;
        request.stream |= self.stream;
        let target = self.target(&request.model);
        let encoded = match self.kind {
            Kind::CountRequest => {
                self.to.outbound.encode_count(&request, &target).ok_or_else(|| self.none("token counts"))?
            }
            _ => self.to.outbound.encode_request(&request, &target),
        };
        self.print(encoded)
    }

    fn embed_request(&self) -> Result<(), Failure> {
        let request =
            self.from.inbound.decode_embed(&self.call()?).map_err(|error| anyhow!(error.message))?;
        let encoded = self.to.outbound.encode_embed(&request, &self.target(&request.model));
        self.print(encoded.ok_or_else(|| self.none("embeddings"))?)
    }

    fn count_response(&self) -> Result<(), Failure> {
        let count = self.from.outbound.read_count(&input()?).map_err(anyhow::Error::from)?;
        self.reply(self.to.inbound.write_count(&count).ok_or_else(|| self.none("token counts"))?)
    }

    fn embed_response(&self) -> Result<(), Failure> {
        let reply = self.from.outbound.read_embed(&input()?).map_err(anyhow::Error::from)?;
        let reply = self.to.inbound.write_embed(&reply, &self.reply_to());
        self.reply(reply.ok_or_else(|| self.none("embeddings"))?)
    }

    fn error(&self) -> Result<(), Failure> {
        let reply = HttpReply { status: self.status, headers: Vec::new(), body: input()? };
        self.reply(self.to.inbound.write_error(&self.from.outbound.read_error(&reply)))
    }

    fn response(&self) -> Result<(), Failure> {
        let mut decoder = self.from.outbound.decoder(BodyKind::Whole);
        let mut events = Vec::new();
        decoder.push(&input()?, &mut events).map_err(anyhow::Error::from)?;
        decoder.finish(&mut events).map_err(anyhow::Error::from)?;
        let mut encoder = self.to.inbound.encoder(BodyKind::Whole, &self.reply_to());
        let mut out = Vec::new();
        events.iter().for_each(|event| encoder.push(event, &mut out));
        encoder.finish(&mut out);
        out.push(b'\n');
        show(&out, &encoder.losses())
    }

    /// Reads, translates and writes piece by piece, so that it can stand in a live pipe.
    fn stream(&self) -> Result<(), Failure> {
        let mut stdin = stdin().lock();
        let mut buffer = vec![0; 64 << 10];
        let mut size = stdin.read(&mut buffer).context("cannot read stdin")?;
        let array = buffer.iter().take(size).find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
        let kind = if array { BodyKind::Array } else { BodyKind::Stream };
        let mut decoder = self.from.outbound.decoder(kind);
        let mut encoder = self.to.inbound.encoder(kind, &self.reply_to());
        let mut events: Vec<Event> = Vec::new();
        let mut broken = None;
        while size > 0 {
            broken = decoder.push(buffer.get(..size).unwrap_or_default(), &mut events).err();
            self.forward(&mut events, encoder.as_mut())?;
            if broken.is_some() {
                break;
            }
            size = stdin.read(&mut buffer).context("cannot read stdin")?;
        }
        let broken = broken.or_else(|| decoder.finish(&mut events).err());
        events.extend(broken.clone().map(|error| Event::Failed(error.into_upstream_error())));
        self.forward(&mut events, encoder.as_mut())?;
        let mut out = Vec::new();
        encoder.finish(&mut out);
        show(&out, &encoder.losses())?;
        broken.map_or(Ok(()), |error| Err(Failure::Task(error.into())))
    }

    fn forward(&self, events: &mut Vec<Event>, encoder: &mut dyn rail_wire::Encode) -> Result<(), Failure> {
        let mut out = Vec::new();
        events.drain(..).for_each(|event| encoder.push(&event, &mut out));
        show(&out, &encoder.losses())
    }

    fn call(&self) -> Result<HttpCall, Failure> {
        Ok(HttpCall::post("", input()?))
    }

    fn target(&self, asked: &str) -> TargetSpec {
        let model = self.model.clone().unwrap_or_else(|| asked.to_owned());
        TargetSpec { shrink: Some(shrink_image), ..TargetSpec::new(model) }
    }

    fn reply_to(&self) -> ReplyTo {
        ReplyTo { model: self.model.clone(), ..ReplyTo::default() }
    }

    fn none(&self, what: &str) -> Failure {
        Failure::Usage(anyhow!("{} has no {what}; choose another --to", self.to.id))
    }

    fn print(&self, encoded: Encoded) -> Result<(), Failure> {
        let mut out = encoded.call.body;
        out.push(b'\n');
        show(&out, &encoded.losses)
    }

    fn reply(&self, reply: HttpReply) -> Result<(), Failure> {
        let mut out = reply.body;
        out.push(b'\n');
        show(&out, &[])
    }
}

fn input() -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    stdin().lock().read_to_end(&mut bytes).context("cannot read stdin")?;
    Ok(bytes)
}

fn show(bytes: &[u8], losses: &[Loss]) -> Result<(), Failure> {
    let write = || {
        let mut out = stdout().lock();
        out.write_all(bytes)?;
        out.flush()?;
        for loss in losses {
            writeln!(stderr(), "{}", serde_json::to_string(loss)?)?;
        }
        Ok(())
    };
    write().map_err(|error: std::io::Error| Failure::Task(error.into()))
}
