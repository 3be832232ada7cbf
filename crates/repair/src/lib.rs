//! Tool calls from any model, in any spelling.
//!
//! Two things happen here. *Stages* stand between a decoder and whoever reads the answer: events go in, events come out,
//! with calls that a model wrote as text made into calls, and reasoning told from text. [`settle`] then brings one call
//! home: its name to a declared tool, its arguments to an object that the tool's schema accepts. Only structure is
//! looked at, never the words of prose, and what was mended is always said ([`Note`], [`Repair`]).

mod arguments;
mod catalog;
mod coerce;
mod control;
mod entities;
mod free_text;
mod infer;
mod json;
mod known;
mod live;
mod mapping;
mod names;
mod native;
mod note;
mod object_schema;
mod one_call;
mod own_ids;
mod params;
mod path;
mod profile;
mod prompted;
mod raw;
mod renames;
mod schema;
mod settle;
mod stage;
mod text;
mod unwrap;
mod validate;
mod words;

pub use catalog::{Catalog, Effect, Tool};
pub use control::no_think;
pub use live::SettleStage;
pub use mapping::{Mapping, MappingError};
pub use names::Found;
pub use native::NativeStage;
pub use note::{Note, Repair, Step, What, Written};
pub use one_call::OneCallStage;
pub use own_ids::OwnIds;
pub use profile::Profile;
pub use prompted::prompt;
pub use settle::{CallFault, End, Problem, Settled, settle};
pub use stage::{Pipeline, Stage, stages};
pub use text::{ExtractStage, formats};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use crate::{Catalog, Effect, Tool};

    /// Tools of these names, effects and schemas.
    pub(crate) fn catalog(tools: &[(&str, Effect, Value)]) -> Catalog {
        let mut catalog = Catalog::default();
        for (name, effect, schema) in tools {
            let mut tool = Tool::new(*name, Some(schema.clone()));
            tool.effect = *effect;
            catalog.add(tool);
        }
        catalog
    }

    /// Any JSON value of some depth, with hard strings.
    pub(crate) fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(|n| json!(n)),
            any::<f32>().prop_filter("finite", |n| n.is_finite()).prop_map(|n| json!(n)),
            ".{0,8}".prop_map(Value::String),
            prop::sample::select(vec![
                "5",
                "true",
                "null",
                "{}",
                "[1]",
                "{\"a\": 1}",
                "C:\\new",
                "\"",
                "a\nb"
            ])
            .prop_map(|text| json!(text)),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::vec(("[a-e\"\\\\]{1,2}", inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
            ]
        })
    }
}
