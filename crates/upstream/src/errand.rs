//! What is asked of a target: an answer, a token count, or vectors.

use bytes::Bytes;
use rail_model::{EmbedReply, EmbedRequest, ProtocolId, Request, TokenCount, Usage};
use rail_route::Attempt;
use rail_wire::{MAX_FRAME, Shrink, WireError};

use crate::answer::Answer;
use crate::failure::Failure;
use crate::letter::Letter;
use crate::limits::Limits;
use crate::{Fix, Incoming};

/// Something to ask of a target.
pub(crate) trait Errand {
    /// What comes of it.
    type Got;
    /// Whether a target that does not do it is in trouble.
    const TELLS_OF_HEALTH: bool;
    /// What no target can do if none has a call for it, and which can.
    const UNKNOWN: &'static str;

    /// Writes it for a target, with what was learned of it; None where its protocol has no such call. The error says why
    /// the target can't be asked.
    fn write(
        &self,
        attempt: &Attempt,
        fixes: &[Fix],
        shrink: Option<Shrink>,
    ) -> Result<Option<Letter>, String>;

    /// Takes a good answer, as far as it must be there before anybody is told of it. The tokens that it reported by then are
    /// put into `reported`, whatever becomes of it.
    async fn receive(
        &self,
        letter: &Letter,
        incoming: Incoming,
        limits: Limits,
        reported: &mut Usage,
    ) -> Result<Received<Self::Got>, Failure>;
}

/// What came of an errand.
pub(crate) enum Received<T> {
    /// Content.
    Content(T),
    /// All that there is, and it is nothing.
    Empty(T),
}

/// A request as the client wrote it.
#[derive(Clone, Copy, Debug)]
pub struct Original<'a> {
    /// The protocol that the client speaks.
    pub protocol: ProtocolId,
    /// The body, from which the request was read.
    pub body: &'a Bytes,
}

/// An answer of the model.
pub(crate) struct Answering<'a> {
    pub(crate) request: &'a Request,
    /// What may go on as it came.
    pub(crate) original: Option<&'a Original<'a>>,
}

impl Errand for Answering<'_> {
    type Got = Box<Answer>;
    const TELLS_OF_HEALTH: bool = true;
    const UNKNOWN: &'static str = "answer";

    fn write(
        &self,
        attempt: &Attempt,
        fixes: &[Fix],
        shrink: Option<Shrink>,
    ) -> Result<Option<Letter>, String> {
        Letter::write(attempt, self.request, self.original, fixes, shrink).map(Some)
    }

    async fn receive(
        &self,
        letter: &Letter,
        incoming: Incoming,
        limits: Limits,
        reported: &mut Usage,
    ) -> Result<Received<Self::Got>, Failure> {
        let mut answer = Box::new(Answer::new(letter, incoming, limits));
        let begun = answer.begin().await;
        *reported = answer.reported();
        let empty = begun?;
        Ok(if empty { Received::Empty(answer) } else { Received::Content(answer) })
    }
}

/// A token count. A server that does not count may well answer.
pub(crate) struct Counting<'a>(pub(crate) &'a Request);

impl Errand for Counting<'_> {
    type Got = TokenCount;
    const TELLS_OF_HEALTH: bool = false;
    const UNKNOWN: &'static str =
        "count tokens; ask for a target that speaks `anthropic`, `openai-responses` or `gemini`";

    fn write(
        &self,
        attempt: &Attempt,
        fixes: &[Fix],
        shrink: Option<Shrink>,
    ) -> Result<Option<Letter>, String> {
        Letter::count(attempt, self.0, fixes, shrink)
    }

    async fn receive(
        &self,
        letter: &Letter,
        incoming: Incoming,
        limits: Limits,
        _: &mut Usage,
    ) -> Result<Received<TokenCount>, Failure> {
        let body = whole(incoming, &limits).await?;
        read(letter, letter.outbound().read_count(&body))
    }
}

/// Vectors.
pub(crate) struct Embedding<'a>(pub(crate) &'a EmbedRequest);

impl Errand for Embedding<'_> {
    type Got = EmbedReply;
    const TELLS_OF_HEALTH: bool = true;
    const UNKNOWN: &'static str = "give embeddings; ask for a target that speaks `openai-chat` or `gemini`";

    fn write(&self, attempt: &Attempt, fixes: &[Fix], _: Option<Shrink>) -> Result<Option<Letter>, String> {
        Letter::embed(attempt, self.0, fixes)
    }

    async fn receive(
        &self,
        letter: &Letter,
        incoming: Incoming,
        limits: Limits,
        _: &mut Usage,
    ) -> Result<Received<EmbedReply>, Failure> {
        let body = whole(incoming, &limits).await?;
        read(letter, letter.outbound().read_embed(&body))
    }
}

fn read<T>(letter: &Letter, read: Result<T, WireError>) -> Result<Received<T>, Failure> {
    read.map(Received::Content).map_err(|error| Failure::Unreadable(error).settled(letter.provider()))
}

/// The whole body of an answer.
async fn whole(incoming: Incoming, limits: &Limits) -> Result<Vec<u8>, Failure> {
    let Incoming { body: mut source, .. } = incoming;
    let mut body = Vec::new();
    while let Some(piece) = limits.wait(source.next()).await? {
        body.extend_from_slice(&piece.map_err(Failure::Transport)?);
        if body.len() > MAX_FRAME {
            return Err(Failure::Flood(body.len()));
        }
    }
    Ok(body)
}
