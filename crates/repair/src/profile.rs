/// What is known of a model before it speaks, as far as reading its calls depends on it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Profile {
    /// Its family, where text alone does not tell: `functionary_v3.2`, `harmony`, `hunyuan`, `ernie`, ….
    pub family: Option<String>,
    /// Its template ends with the opener of a reasoning block, so that the text of an answer begins inside it. It says
    /// nothing of an answer whose reasoning the server tells apart.
    pub starts_in_reasoning: bool,
    /// It was taught to write calls as JSON, so JSON counts as a call anywhere in its text.
    pub prompted: bool,
    /// Its server escapes `&`, `<`, `>` and quotes in arguments as HTML entities.
    pub escapes_entities: bool,
    /// Only the first call of an answer counts: the model writes further ones without waiting for results.
    pub one_call: bool,
}
