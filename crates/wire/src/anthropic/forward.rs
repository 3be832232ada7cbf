//! A request that goes to the API as its client wrote it.

use rail_model::Request;

use super::{RULES, request_out};
use crate::forward::{as_said, thinks_as_asked};
use crate::protocol::{HttpCall, TargetSpec};
use crate::splice;

pub(super) fn forward(request: &Request, target: &TargetSpec, body: &[u8]) -> Option<HttpCall> {
    let thinks = request.thinking.as_ref().is_none_or(|asked| {
        // Whether thoughts are shown is only said beside a form of thinking that we have a word for.
        thinks_as_asked(asked, target.thinking) && (asked.mode.is_some() || asked.show.is_none())
    });
    // Without an output limit the API refuses; we would have set one.
    let limited = request.sampling.max_output.is_some();
    if !(limited && thinks && as_said(request, target, &RULES, body)) {
        return None;
    }
    Some(request_out::post("/messages", splice::with_model(body, &target.model)?, request))
}
