//! Forms of MCP servers as questions to a person, and their answers as what the server wants.

use rail_mcp::{Answer, Ask};
use rail_proto::{About, Choice, ChoiceOption, Choices, Pick, Picked};
use serde_json::{Map, Number, Value};

const OPENED: &str = "I have opened it";
const YES: &str = "Yes";
const NO: &str = "No";

/// What a person is asked.
pub(super) fn asked(server: &str, ask: &Ask) -> Choices {
    let questions = match ask {
        Ask::Url { message, url } => {
            let question = format!("The MCP server `{server}` asks you to open {url}\n{message}");
            vec![choice(
                question,
                "Open",
                vec![option(OPENED, ""), option(NO, "it is not opened")],
                Pick::One,
            )]
        }
        Ask::Form { message, schema } => {
            let fields = fields(schema);
            if fields.is_empty() {
                let question = format!("The MCP server `{server}` asks: {message}");
                vec![choice(question, "", vec![option(YES, ""), option(NO, "")], Pick::One)]
            } else {
                fields.iter().map(|field| field.question(server, message)).collect()
            }
        }
    };
    Choices { about: About::Question, questions }
}

/// What a server is told.
pub(super) fn answered(ask: &Ask, answers: &[Picked]) -> Answer {
    let first_is = |at: usize| answers.first().is_some_and(|picked| picked.options.first() == Some(&at));
    let schema = match ask {
        Ask::Url { .. } => return if first_is(0) { Answer::Accept(Value::Null) } else { Answer::Decline },
        Ask::Form { schema, .. } => schema,
    };
    let fields = fields(schema);
    if fields.is_empty() {
        return if first_is(0) { Answer::Accept(Value::Object(Map::new())) } else { Answer::Decline };
    }
    let mut content = Map::new();
    for (at, field) in fields.iter().enumerate() {
        match answers.get(at).and_then(|picked| field.value(picked)) {
            Some(value) => {
                content.insert(field.name.clone(), value);
            }
            None if field.needed => return Answer::Decline,
            None => {}
        }
    }
    Answer::Accept(Value::Object(content))
}

/// One field of a form.
struct Field<'a> {
    name: String,
    needed: bool,
    schema: &'a Value,
    kind: Kind,
}

/// What a field takes.
enum Kind {
    Text,
    Number,
    Integer,
    Truth,
    /// One of these values, each with its name for people.
    One(Vec<(String, String)>),
    /// Several of them.
    Several(Vec<(String, String)>),
}

fn fields(schema: &Value) -> Vec<Field<'_>> {
    let needed: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let field =
        |(name, schema): (&String, &'_ Value)| (name.clone(), needed.contains(&name.as_str()), kind(schema));
    let Some(properties) = properties else { return Vec::new() };
    properties
        .iter()
        .map(|(name, schema)| {
            let (name, needed, kind) = field((name, schema));
            Field { name, needed, schema, kind }
        })
        .collect()
}

fn kind(schema: &Value) -> Kind {
    if let Some(values) = values(schema) {
        return Kind::One(values);
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("boolean") => Kind::Truth,
        Some("number") => Kind::Number,
        Some("integer") => Kind::Integer,
        Some("array") => schema.get("items").and_then(values).map_or(Kind::Text, Kind::Several),
        _ => Kind::Text,
    }
}

/// The values of an enumeration, in any of the forms that servers write.
fn values(schema: &Value) -> Option<Vec<(String, String)>> {
    if let Some(all) = schema.get("enum").and_then(Value::as_array) {
        let names = schema.get("enumNames").and_then(Value::as_array);
        let name = |at: usize| names.and_then(|names| names.get(at)?.as_str());
        let each = all.iter().enumerate().filter_map(|(at, value)| {
            let value = value.as_str()?;
            Some((value.to_owned(), name(at).unwrap_or(value).to_owned()))
        });
        return Some(each.collect());
    }
    let all = schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()?;
    let each = all.iter().filter_map(|one| {
        let value = one.get("const")?.as_str()?;
        Some((value.to_owned(), one.get("title").and_then(Value::as_str).unwrap_or(value).to_owned()))
    });
    Some(each.collect())
}

impl Field<'_> {
    fn question(&self, server: &str, message: &str) -> Choice {
        let said = |key: &str| self.schema.get(key).and_then(Value::as_str);
        let title = said("title").unwrap_or(&self.name);
        let about = said("description").map(|about| format!(" ({about})")).unwrap_or_default();
        let optional = if self.needed { "" } else { ", may be left out" };
        let question = format!("The MCP server `{server}` asks: {message}\n{title}{about}{optional}");
        let (options, pick) = match &self.kind {
            Kind::Truth => (vec![option(YES, ""), option(NO, "")], Pick::One),
            Kind::One(values) => (values.iter().map(|(_, name)| option(name, "")).collect(), Pick::One),
            Kind::Several(values) => {
                (values.iter().map(|(_, name)| option(name, "")).collect(), Pick::Several)
            }
            Kind::Text | Kind::Number | Kind::Integer => {
                let usual = self.schema.get("default").map(plain);
                (
                    usual.map(|usual| vec![option(&usual, "what the server suggests")]).unwrap_or_default(),
                    Pick::One,
                )
            }
        };
        choice(question, title, options, pick)
    }

    /// What a person's answer is in the form; nothing where it does not fit.
    fn value(&self, picked: &Picked) -> Option<Value> {
        let said = picked.said.as_deref().map(str::trim).filter(|said| !said.is_empty());
        let first = picked.options.first().copied();
        match &self.kind {
            Kind::Truth => match (first, said.map(str::to_ascii_lowercase).as_deref()) {
                (Some(0), _) | (None, Some("yes" | "true" | "y")) => Some(Value::Bool(true)),
                (Some(_), _) | (None, Some("no" | "false" | "n")) => Some(Value::Bool(false)),
                (None, _) => None,
            },
            Kind::One(values) => one(values, first, said),
            Kind::Several(values) => {
                let of = |at: &usize| values.get(*at).map(|(value, _)| Value::String(value.clone()));
                let all: Vec<Value> = picked.options.iter().filter_map(of).collect();
                (!all.is_empty()).then_some(Value::Array(all))
            }
            Kind::Text => self.usual(first).or_else(|| said.map(|said| Value::String(said.to_owned()))),
            Kind::Integer => {
                let number =
                    said.and_then(|said| said.parse::<i64>().ok()).map(|number| Value::Number(number.into()));
                self.usual(first).or(number)
            }
            Kind::Number => {
                let number = said.and_then(|said| said.parse::<f64>().ok()).and_then(Number::from_f64);
                self.usual(first).or_else(|| number.map(Value::Number))
            }
        }
    }

    fn usual(&self, picked: Option<usize>) -> Option<Value> {
        picked.filter(|at| *at == 0).and_then(|_| self.schema.get("default").cloned())
    }
}

/// One of the values, picked or written out.
fn one(values: &[(String, String)], picked: Option<usize>, said: Option<&str>) -> Option<Value> {
    let by_name = |said: &str| {
        values
            .iter()
            .find(|(value, name)| value.eq_ignore_ascii_case(said) || name.eq_ignore_ascii_case(said))
    };
    let found = picked.and_then(|at| values.get(at)).or_else(|| said.and_then(by_name));
    found.map(|(value, _)| Value::String(value.clone()))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn choice(question: String, header: &str, options: Vec<ChoiceOption>, pick: Pick) -> Choice {
    Choice { question, header: header.to_owned(), options, pick }
}

fn option(label: &str, description: &str) -> ChoiceOption {
    ChoiceOption { label: label.to_owned(), description: description.to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn form() -> Ask {
        let schema = json!({"type": "object", "required": ["name", "colour"], "properties": {
            "name": {"type": "string", "title": "Your name"},
            "age": {"type": "integer", "default": 30},
            "colour": {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]},
            "agree": {"type": "boolean"},
            "tags": {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}, {"const": "b"}]}},
        }});
        Ask::Form { message: "Tell me".to_owned(), schema }
    }

    #[test]
    fn a_form_is_a_question_for_each_field() {
        let choices = asked("s", &form());
        let shown: Vec<String> = choices
            .questions
            .iter()
            .map(|choice| {
                let options: Vec<&str> = choice.options.iter().map(|option| option.label.as_str()).collect();
                format!("{} [{}] {:?}", choice.header, options.join("|"), choice.pick)
            })
            .collect();
        assert_eq!(
            shown,
            [
                "Your name [] One",
                "age [30] One",
                "colour [Red|Green] One",
                "agree [Yes|No] One",
                "tags [A|b] Several"
            ]
        );
    }

    #[test]
    fn answers_have_the_form_s_types() {
        let both = Picked { options: vec![0, 1], said: None };
        let answers =
            [Picked::words("Ada"), Picked::option(0), Picked::words("green"), Picked::option(1), both];
        let expected = json!({"name": "Ada", "age": 30, "colour": "g", "agree": false, "tags": ["a", "b"]});
        assert_eq!(answered(&form(), &answers), Answer::Accept(expected));
        // What must be there and is not, or does not fit, is no answer.
        let missing = [Picked::words(" "), Picked::words("x"), Picked::option(0)];
        assert_eq!(answered(&form(), &missing), Answer::Decline);
        assert_eq!(answered(&form(), &[]), Answer::Decline);
    }

    #[test]
    fn an_address_and_a_form_without_fields_are_a_yes_or_no() {
        let url = Ask::Url { message: "Log in".to_owned(), url: "https://a.example/".to_owned() };
        assert!(asked("s", &url).questions[0].question.contains("https://a.example/"));
        assert_eq!(answered(&url, &[Picked::option(0)]), Answer::Accept(Value::Null));
        assert_eq!(answered(&url, &[Picked::option(1)]), Answer::Decline);
        let empty = Ask::Form { message: "Sure?".to_owned(), schema: json!({"type": "object"}) };
        assert_eq!(answered(&empty, &[Picked::option(0)]), Answer::Accept(json!({})));
        assert_eq!(answered(&empty, &[]), Answer::Decline);
    }

    proptest! {
        #[test]
        fn whatever_a_server_or_a_person_says_it_is_answered(
            text in "\\PC{0,40}", at in 0_usize..5, kind in "string|number|integer|boolean|array|object|x",
        ) {
            let schema = json!({"properties": {"f": {"type": kind, "enum": if at == 0 { json!([1, "a"]) } else { Value::Null }}}});
            let ask = Ask::Form { message: text.clone(), schema };
            let _ = asked(&text, &ask);
            let _ = answered(&ask, &[Picked { options: vec![at], said: Some(text) }]);
        }
    }
}
