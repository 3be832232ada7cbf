use http::header::CONTENT_ENCODING;

use crate::exchange::{self, Deadline};
use crate::fetch::{Followed, good};
use crate::unpack::Extent;
use crate::{Fetcher, Limits, Place, WebFault};

/// What an address holds, as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Downloaded {
    /// Its bytes.
    Bytes {
        /// The bytes.
        bytes: Vec<u8>,
        /// Whether there are more than were read.
        cut: bool,
    },
    /// It sends on to another host, which nobody was asked about.
    Elsewhere {
        /// Where it was sent on from.
        from: String,
        /// Where to.
        to: String,
    },
}

impl Fetcher {
    /// What an address holds, of at most so many bytes: for what is no page. The same guards and redirects as of
    /// [`fetch`](Self::fetch); nothing of it is kept.
    ///
    /// # Errors
    /// Why there is nothing.
    pub async fn download(
        &self,
        place: &Place,
        wanted: &'static str,
        at_most: usize,
    ) -> Result<Downloaded, WebFault> {
        let limits = Limits { body_bytes: at_most, unpacked_bytes: at_most, ..self.limits };
        let deadline = Deadline::from_now(&limits);
        let (at, mut answer) = match self.follow(place, wanted, &deadline).await? {
            Followed::Answer(at, answer) => (at, answer),
            Followed::Elsewhere { from, to } => return Ok(Downloaded::Elsewhere { from, to }),
        };
        good(&at, &answer)?;
        let encoding = answer.header(&CONTENT_ENCODING).unwrap_or_default().to_owned();
        let body = answer.body(&at, &limits, &deadline).await?;
        let cut = body.extent == Extent::Cut;
        let bytes = exchange::unpacked(&encoding, body, &at, &limits)?;
        Ok(Downloaded::Bytes { bytes, cut })
    }
}
