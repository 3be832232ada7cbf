//! Calls written as Python call expressions: `f(a="x", n=1)`. Literals only; nothing is ever run.
//!
//! [`call`] reads one call as it comes and gives long strings out early. Where that fails, [`loose`] reads a whole stretch
//! again and finds out which quotes were meant as delimiters.

mod call;
mod form;
mod literal;
mod loose;
mod scan;
mod string;

pub(super) use call::{Read, Unnamed, arguments, name};
pub(super) use form::{Extent, Form, blanks, calls};

use crate::Tool;
use crate::schema::Schema;

/// The parameter that an argument without a name stands for. None where the schema leaves it open.
fn unnamed_key(tool: &Tool, index: usize) -> Option<String> {
    let properties = tool.schema()?.get("properties")?.as_object()?;
    let required: Vec<&str> = Schema::of(tool).required().collect();
    // In a signature, parameters without a default come first; whether in the order of the one list or the other, nobody says.
    let needed = |key: &&str| required.contains(key);
    let keys = || properties.keys().map(String::as_str);
    let order: Vec<&str> = keys().filter(needed).chain(keys().filter(|key| !needed(key))).collect();
    let key = order.get(index)?;
    required.get(index).is_none_or(|listed| listed == key).then(|| (*key).to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::unnamed_key;
    use crate::Tool;

    #[test]
    fn arguments_without_a_name_go_by_the_order_of_a_signature() {
        let check = |schema: serde_json::Value, expected: [Option<&str>; 3]| {
            let tool = Tool::new("f", Some(schema));
            assert_eq!(
                [0, 1, 2].map(|index| unnamed_key(&tool, index)),
                expected.map(|key| key.map(Into::into))
            );
        };
        let of = |keys: &[&str], required: &[&str]| {
            let properties: serde_json::Map<_, _> =
                keys.iter().map(|key| ((*key).to_owned(), json!({}))).collect();
            json!({"properties": properties, "required": required})
        };
        check(of(&["a", "b"], &["a", "b"]), [Some("a"), Some("b"), None]);
        check(of(&["limit", "path"], &["path"]), [Some("path"), Some("limit"), None]);
        check(of(&["a", "b", "c"], &["b", "a"]), [None, None, Some("c")]);
        check(of(&["a", "b"], &[]), [Some("a"), Some("b"), None]);
        check(json!({}), [None, None, None]);
    }
}
