//! The validator that stands before every send: a request is brought into a form its target accepts.
//!
//! Encoders call [`fit`] first and then only write down what it gives. What had to go or to change is a named loss, so
//! a conversation that once was valid can't be bricked by another model, an image, an interrupt or a crash.
//!
//! A request that came in the target's own protocol is left as it is wherever that can be valid: what its client said
//! to its own protocol was either valid or never was. What the *conversation* owes its target is mended even then:
//! pairs, ids, names, blank texts, seals, images, cache marks, limits.

mod arrange;
mod cache;
mod check;
mod limits;
mod losses;
mod media;
mod pairing;
mod parts;
mod rules;
mod seals;
mod tools;
mod turns;

pub use check::check;
pub(crate) use media::word;
pub use rules::{Results, Rules};
pub(crate) use seals::switch_off;

use rail_model::{Loss, Request};

use self::losses::{Losses, Place};
use self::turns::Turn;
use crate::protocol::TargetSpec;
use crate::restore::Restore;

/// A request as its target accepts it.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The request.
    pub request: Request,
    /// What had to go or to change, by the indices of the request as it came in.
    pub losses: Vec<Loss>,
    /// What the answer must change back.
    pub restore: Restore,
    places: Vec<Vec<Place>>,
}

impl Fitted {
    /// Says of losses that were found while writing the fitted request where they stood in the request as it came in.
    pub fn at_origin(&self, losses: &mut [Loss]) {
        for loss in losses {
            if let Some(path) = self.origin_of(&loss.path) {
                loss.path = path;
            }
        }
    }

    fn origin_of(&self, path: &str) -> Option<String> {
        let (message, rest) = path.strip_prefix("messages[")?.split_once(']')?;
        let places = self.places.get(message.parse::<usize>().ok()?)?;
        let in_part = rest.strip_prefix(".content[").and_then(|rest| rest.split_once(']'));
        let (place, rest) = match in_part {
            Some((part, rest)) => (places.get(part.parse::<usize>().ok()?)?, rest),
            None => (places.first()?, rest),
        };
        let (message, part) = place.message_and_part()?;
        Some(match (in_part, part) {
            (Some(_), Some(part)) => format!("messages[{message}].content[{part}]{rest}"),
            (Some(_), None) | (None, _) => format!("messages[{message}]{rest}"),
        })
    }
}

/// Brings a request into a form the target accepts.
pub fn fit(request: &Request, target: &TargetSpec, rules: &Rules) -> Fitted {
    let mut work = Work::new(request.clone(), target, rules);
    // What stands beside the conversation.
    losses::name_top_level(&mut work);
    tools::fit_declarations(&mut work);
    tools::mend_choice(&mut work);
    // Each part by itself, where it stands; nothing has moved yet.
    parts::fit_parts(&mut work);
    // The conversation as a whole.
    turns::lower_midway_system(&mut work);
    pairing::pair(&mut work);
    turns::settle_empty(&mut work);
    turns::trim_prefill(&mut work);
    turns::begin_with_user(&mut work);
    cache::settle(&mut work);
    let places = work.close_turns();
    // Numbers that depend on the conversation.
    seals::settle_thinking(&mut work);
    limits::settle(&mut work);
    Fitted { request: work.request, losses: work.losses.finish(), restore: work.restore, places }
}

/// A request on the bench. Its messages are `turns` until they are closed again.
struct Work<'a> {
    target: &'a TargetSpec,
    rules: &'a Rules,
    /// The request came in the target's own protocol.
    own: bool,
    request: Request,
    turns: Vec<Turn>,
    losses: Losses,
    restore: Restore,
    /// How many images must still go, oldest first.
    images_over: usize,
    /// Whether a tool had to go.
    tools_dropped: bool,
}

impl<'a> Work<'a> {
    fn new(request: Request, target: &'a TargetSpec, rules: &'a Rules) -> Self {
        Self {
            target,
            rules,
            own: request.origin == Some(rules.protocol),
            images_over: media::images_over(&request, target),
            request,
            turns: Vec::new(),
            losses: Losses::default(),
            restore: Restore::default(),
            tools_dropped: false,
        }
    }

    /// Whether blank texts may stay: only the protocol's own client may have said them, and only where it allows them.
    fn keeps_blanks(&self) -> bool {
        self.own && self.rules.empty_text
    }

    fn takes_custom_tools(&self) -> bool {
        self.rules.custom_tools && self.target.quirks.custom_tools
    }

    /// Makes messages of the turns again; gives the place that each part came from.
    fn close_turns(&mut self) -> Vec<Vec<Place>> {
        let turns = std::mem::take(&mut self.turns);
        let places = turns.iter().map(|turn| turn.pieces.iter().map(|piece| piece.place).collect()).collect();
        self.request.messages = turns.into_iter().map(Turn::close).collect();
        places
    }
}
