//! Whether there is a model that sees images, and what a session's tools are then.

use std::sync::Arc;

use rail_tool::{AnyTool, Registry};

use crate::image::{Image, ImageBesides};

/// Who sees images in a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sight {
    /// Nobody: there is nobody whom the image tool could ask.
    Nobody,
    /// Models that the image tool asks; the main model does not.
    Others,
    /// The main model too.
    MainToo,
}

/// The tools for a session with this sight: without the image tool where nobody could be asked, and with a hint where the main model
/// is shown images anyway.
#[must_use]
pub fn seeing(registry: &Registry, sight: Sight) -> Registry {
    let name = <Image as rail_tool::Tool>::CARD.name;
    match sight {
        Sight::Nobody => registry.only(|card| card.name != name),
        Sight::Others => registry.clone(),
        Sight::MainToo => Registry::new(registry.tools().iter().map(|tool| -> Arc<dyn AnyTool> {
            if tool.card().name == name { Arc::new(ImageBesides) } else { Arc::clone(tool) }
        })),
    }
}
