//! `<tool_call>NAME<arg_key>K</arg_key><arg_value>V</arg_value></tool_call>`: GLM 4.5 to 4.7, Ling 3, Poolside, LongCat,
//! Hunyuan 3. The arguments can be a JSON object, too.

use super::{Evidence, Family, Found};
use crate::text::args::{Live, Params, Said};
use crate::text::block::{self, Read};
use crate::text::cx::Cx;
use crate::text::marks::{self, Dialect, Mark, Newlines, Syntax};

pub(super) const FAMILY: Family = Family {
    name: DIALECT.format,
    openers: &["<tool_call>", "<longcat_tool_call>"],
    evidence: Evidence::Strong,
    read: |cx| Box::pin(read(cx)),
};

static DIALECT: Dialect = Dialect {
    format: "glm",
    syntax: Syntax::Keys,
    wrappers: &[],
    call: "",
    param: "",
    newlines: Newlines::Verbatim,
    closers: &["</tool_call>", "</longcat_tool_call>"],
};

/// Reads a call behind `<tool_call>`.
pub(super) async fn read(cx: &mut Cx) -> Option<Found> {
    let mut found = Found::default();
    let read = call(cx).await?;
    found.closed = read.closed;
    read.add_to(&mut found);
    Some(found)
}

async fn call(cx: &mut Cx) -> Option<Read> {
    cx.blanks().await;
    let name = marks::word(cx).await?;
    // The opener of the first key is missing, so the key is glued to the name.
    if marks::arg_key_closer(cx).await {
        let (name, key) = split(cx, &name)?;
        let mut params = Params::new(Live::new(name, DIALECT.format));
        params.begin(cx, &key, Said::Nothing);
        cx.blanks().await;
        marks::suffixed(cx, "<arg_value").await;
        return block::params_from_value(cx, &DIALECT, params).await;
    }
    cx.blanks().await;
    let separated = marks::suffixed(cx, "<tool_sep").await;
    cx.blanks().await;
    let live = Live::new(name.as_str(), DIALECT.format);
    if cx.sees("{").await {
        return block::json_body(cx, &DIALECT, live).await;
    }
    let from = cx.at();
    let is_declared = cx.tool(&name).is_some();
    let goes_on = match marks::mark(cx, &DIALECT).await {
        Some(Mark::Param { .. }) => true,
        // A word between two tags may be anything, so without parameters the tool must be declared.
        Some(Mark::Uncall) => is_declared || separated,
        Some(Mark::Wrap | Mark::Unwrap | Mark::Unparam { .. } | Mark::Call(_)) => false,
        None => is_declared && (cx.is_over().await || marks::is_torn(cx, &DIALECT).await),
    };
    cx.rewind(from);
    if !goes_on {
        return None;
    }
    block::params(cx, &DIALECT, Params::new(live), false).await
}

/// Tells a declared name from the key that is glued to it. The longest name whose tool has that key wins.
fn split(cx: &Cx, glued: &str) -> Option<(String, String)> {
    let schema_has = |name: &str, key: &str| {
        cx.catalog.get(name).map(crate::schema::Schema::of).is_some_and(|schema| schema.declares(key))
    };
    let parts = || {
        (1..glued.len())
            .rev()
            .filter_map(|at| glued.split_at_checked(at))
            .filter(|(name, _)| cx.catalog.get(name).is_some())
    };
    let best = parts().find(|(name, key)| schema_has(name, key)).or_else(|| parts().next())?;
    Some((best.0.to_owned(), best.1.to_owned()))
}
