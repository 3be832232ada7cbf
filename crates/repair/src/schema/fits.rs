//! Whether a value fits a schema.

use serde_json::Value;

use super::{Fuel, Kind, Schema, Types, alternatives, map, types};

impl Schema<'_> {
    /// Whether a value fits, within a bound of work; what is beyond the bound fits.
    pub(crate) fn fits(self, value: &Value, fuel: &Fuel) -> bool {
        fuel.deeper(|| self.fits_here(value, fuel)).unwrap_or(true)
    }

    fn fits_here(self, value: &Value, fuel: &Fuel) -> bool {
        if self.node == &Value::Bool(false) {
            return false;
        }
        if !types::of(self, fuel).has(Kind::of(value)) {
            return false;
        }
        let nullable = |view: &Value| view.get("nullable") == Some(&Value::Bool(true));
        let views = self.views();
        if value.is_null() && views.iter().any(|view| nullable(view)) {
            return true;
        }
        views.into_iter().all(|view| self.fits_view(view, value, fuel))
            && match value {
                Value::Object(members) => {
                    self.required().all(|name| members.contains_key(name))
                        && members.iter().all(|(name, member)| self.fits_member(name, member, fuel))
                }
                Value::Array(items) => items
                    .iter()
                    .enumerate()
                    .all(|(at, item)| self.item(at).is_none_or(|schema| schema.fits(item, fuel))),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
            }
    }

    /// What a node says of the value as a whole.
    fn fits_view(self, view: &Value, value: &Value, fuel: &Fuel) -> bool {
        let listed = match (view.get("const"), view.get("enum")) {
            (Some(only), _) => same_value(only, value),
            (None, Some(Value::Array(list))) => list.iter().any(|allowed| same_value(allowed, value)),
            (None, _) => true,
        };
        let mut branches = alternatives(view).peekable();
        listed
            && (branches.peek().is_none()
                || branches.any(|node| Schema { root: self.root, node }.fits(value, fuel)))
    }

    fn fits_member(self, name: &str, value: &Value, fuel: &Fuel) -> bool {
        let declared = self.views().into_iter().filter_map(|view| map(view, "properties")?.get(name)).next();
        match declared {
            Some(node) => Schema { root: self.root, node }.fits(value, fuel),
            None if self.is_closed() => self.may_match(name),
            None => self.property(name).is_none_or(|schema| schema.fits(value, fuel)),
        }
    }

    /// Whether two values are the same to a schema.
    pub(crate) fn same(one: &Value, other: &Value) -> bool {
        same_value(one, other)
    }

    /// The types that are allowed here, within a bound of work.
    pub(crate) fn types_within(self, fuel: &Fuel) -> Types {
        types::of(self, fuel)
    }
}

/// Whether two values are the same; numbers are by their worth, not by their spelling.
fn same_value(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64().is_some_and(|n| Some(n) == other.as_f64())
        }
        (one, other) => one == other,
    }
}
