use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;

use rail_model::{Extras, Json, ToolDecl, ToolKind};
use rail_permit::Facet;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Card, Example, FacetCx, ToolCx, ToolFault, ToolOutput};

/// A future on the heap.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A tool: what it is, what it takes, what it will touch, and what it does.
///
/// It has no state: what lasts longer than a call is in the session's services.
pub trait Tool: Send + Sync + 'static {
    /// What it takes; the schema is made from it, and doc comments are the descriptions.
    type Input: DeserializeOwned + JsonSchema + Send + 'static;

    /// What is known of it without running it.
    const CARD: Card<'static>;

    /// What a call will touch. It looks at nothing but its input.
    fn facets(input: &Self::Input, cx: &FacetCx<'_>) -> Vec<Facet>;

    /// Does it.
    fn run(input: Self::Input, cx: ToolCx) -> impl Future<Output = Result<ToolOutput, ToolFault>> + Send;

    /// Calls and what they give, for the documentation and the tests.
    fn examples() -> &'static [Example];
}

/// A tool whatever its input: a built-in one, or one of somebody else.
pub trait AnyTool: Send + Sync {
    /// What is known of it without running it.
    fn card(&self) -> Card<'_>;
    /// The JSON Schema of what it takes.
    fn schema(&self) -> Value;
    /// Calls and what they give.
    fn examples(&self) -> &'static [Example];
    /// Takes the arguments of a call.
    ///
    /// # Errors
    /// What does not fit.
    fn admit(&self, arguments: Value) -> Result<Box<dyn Admitted>, InputFault>;

    /// Whether calls of it stand for calls of other tools.
    fn brings_others(&self) -> bool {
        false
    }

    /// The call that one of this tool stands for, if it only brings another's: that tool's name and arguments. All that is done with a
    /// call, its judgement above all, is done with that one.
    fn stands_for(&self, _arguments: &Value) -> Option<(String, Value)> {
        None
    }

    /// The tool as a model is told of it, in the native dialect.
    fn declare(&self) -> ToolDecl {
        let card = self.card();
        ToolDecl {
            name: card.name.to_owned(),
            description: Some(card.description().to_owned()),
            kind: ToolKind::Function { parameters: Some(Json::from(self.schema())) },
            strict: None,
            cache: None,
            extras: Extras::NONE,
        }
    }
}

/// A call whose arguments were taken.
pub trait Admitted: Send {
    /// What it will touch.
    fn facets(&self, cx: &FacetCx<'_>) -> Vec<Facet>;
    /// Does it.
    fn run(self: Box<Self>, cx: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolFault>>;
}

/// Arguments that a tool does not take.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}{what}", at(.path))]
pub struct InputFault {
    /// Where in the arguments; `.` is all of them.
    pub path: String,
    /// What is wrong there.
    pub what: String,
}

/// What a parameter that is a number must be: that it is none is all that the reader of it says.
fn number_words(schema: &Value, name: &str) -> Option<String> {
    let property = schema.get("properties")?.get(name)?;
    let least = property.get("minimum")?;
    Some(format!("must be a whole number of {least} or more"))
}

fn at(path: &str) -> String {
    if path == "." { String::new() } else { format!("`{path}`: ") }
}

/// A call of a built-in tool; the input was read once.
struct Call<T: Tool> {
    input: T::Input,
    tool: PhantomData<fn() -> T>,
}

impl<T: Tool> AnyTool for T {
    fn card(&self) -> Card<'_> {
        T::CARD
    }

    fn schema(&self) -> Value {
        crate::schema::of::<T::Input>()
    }

    fn examples(&self) -> &'static [Example] {
        T::examples()
    }

    fn admit(&self, arguments: Value) -> Result<Box<dyn Admitted>, InputFault> {
        let input: T::Input = serde_path_to_error::deserialize(arguments).map_err(|error| InputFault {
            path: error.path().to_string(),
            what: number_words(&self.schema(), error.path().to_string().as_str())
                .unwrap_or_else(|| error.inner().to_string()),
        })?;
        Ok(Box::new(Call::<T> { input, tool: PhantomData }))
    }
}

impl<T: Tool> Admitted for Call<T> {
    fn facets(&self, cx: &FacetCx<'_>) -> Vec<Facet> {
        T::facets(&self.input, cx)
    }

    fn run(self: Box<Self>, cx: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolFault>> {
        Box::pin(T::run(self.input, cx))
    }
}
