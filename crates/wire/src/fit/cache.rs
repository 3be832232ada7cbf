//! Cache marks: no more than the target takes, and some of our own where nobody set any.

use rail_model::{CacheMark, Part, PartBody, Role};

use super::Work;
use super::losses::Place;
use super::parts::ATTRIBUTION;

/// Drops the earliest marks that are too many (the later one anchors the longer prefix), or sets marks.
pub(super) fn settle(work: &mut Work<'_>) {
    let max = work.rules.cache_marks;
    let mut count = 0;
    each(work, &mut |_, slot| count += usize::from(slot.is_some()));
    if count == 0 && max > 0 && work.target.quirks.inject_cache && !work.own {
        inject(work, max);
    }
    let mut over = count.saturating_sub(max);
    let mut dropped = Vec::new();
    each(work, &mut |place, slot| {
        if over > 0 && slot.take().is_some() {
            over -= 1;
            dropped.push(place);
        }
    });
    // Where a protocol has no marks at all, it caches by itself: a mark is a hint, and nothing is lost.
    if max > 0 {
        for place in dropped {
            work.losses.add(
                place,
                "cache_control",
                format!("{} takes at most {max} cache marks", work.rules.protocol),
            );
        }
    }
}

/// Visits every place of a mark in the order of the prompt: tools, system, messages; what is inside a result before the result.
fn each(work: &mut Work<'_>, visit: &mut dyn FnMut(Place, &mut Option<CacheMark>)) {
    for (at, tool) in work.request.tools.iter_mut().enumerate() {
        visit(Place::Tool(at), &mut tool.cache);
    }
    for (at, part) in work.request.system.iter_mut().enumerate() {
        visit(Place::System(at), &mut part.cache);
    }
    for piece in work.turns.iter_mut().flat_map(|turn| &mut turn.pieces) {
        if let PartBody::ToolResult(result) = &mut piece.part.body {
            result.content.iter_mut().for_each(|part| visit(piece.place, &mut part.cache));
        }
        visit(piece.place, &mut piece.part.cache);
    }
}

/// Marks the last tool, the last instruction and the user message before the last one; the longest prefixes if that is too many.
fn inject(work: &mut Work<'_>, max: usize) {
    let users = work.turns.iter_mut().filter(|turn| turn.role == Role::User);
    let message =
        users.rev().nth(1).and_then(|turn| turn.pieces.last_mut()).map(|piece| &mut piece.part.cache);
    let system =
        work.request.system.last_mut().filter(|part| !is_attribution(part)).map(|part| &mut part.cache);
    let tool = work.request.tools.last_mut().map(|tool| &mut tool.cache);
    for slot in [message, system, tool].into_iter().flatten().take(max) {
        *slot = Some(CacheMark::default());
    }
}

fn is_attribution(part: &Part) -> bool {
    part.as_text().is_some_and(|text| text.starts_with(ATTRIBUTION))
}
