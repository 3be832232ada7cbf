//! Whether and how much to think: the protocol has one word for it, the servers that speak it have several.

use rail_model::{Effort, Loss, Map, Request, Thinking, ThinkingMode};
use serde_json::Value;

use super::ID;
use super::types::Call;
use crate::effort;
use crate::protocol::{TargetSpec, ThinkingStyle};

/// The protocol's own field.
const EFFORT: &str = "reasoning_effort";
/// The one field that also says things that have nothing to do with thinking.
const TEMPLATE: &str = "chat_template_kwargs";
/// What templates call their switch.
const TEMPLATE_SWITCHES: [&str; 2] = ["enable_thinking", "thinking"];
/// Where the fields stand as they came, unless that is `reasoning_effort` alone in its usual spelling.
const SAID: &str = "~said";

/// Reads every spelling and takes what is understood out of the call.
pub(super) fn decode(call: &mut Call) -> Option<Thinking> {
    let word = call.reasoning_effort.take();
    let mut fields = Fields { left: call.rest.take().unwrap_or_default(), said: Map::new() };
    let asked = read(word.as_deref(), &mut fields);
    let Fields { left, mut said } = fields;
    call.rest = Some(left).filter(|left| !left.is_empty());
    let mut asked = asked?;
    let usual = said.is_empty() && asked.effort.as_ref().map(Effort::word) == word.as_deref();
    if let Some(word) = word.filter(|_| !usual) {
        said.insert(EFFORT.to_owned(), Value::from(word));
    }
    if !said.is_empty() {
        asked.extras.insert(ID, SAID, Value::Object(said));
    }
    Some(asked)
}

/// A switch says whether, a budget and an effort how much. Of two that say the same the first counts here.
fn read(word: Option<&str>, fields: &mut Fields) -> Option<Thinking> {
    let effort = |value: &Value| value.as_str().map(Effort::parse);
    let efforts = [fields.take("reasoning", Some("effort"), effort), word.map(Effort::parse)];
    let budgets = [
        fields.take("reasoning", Some("max_tokens"), Value::as_u64),
        fields.take("thinking", Some("budget_tokens"), Value::as_u64),
        fields.take("thinking_budget", None, Value::as_u64),
    ];
    let switches = [
        fields.take("reasoning", Some("enabled"), switch),
        fields.take("thinking", Some("type"), switch),
        fields.take("enable_thinking", None, switch),
    ];
    let template = TEMPLATE_SWITCHES.map(|name| fields.take(TEMPLATE, Some(name), switch));
    let effort = efforts.into_iter().flatten().next();
    let budget = budgets.into_iter().flatten().next();
    let by_budget = budget.map(|budget| if budget == 0 { ThinkingMode::Off } else { ThinkingMode::On });
    let mode = switches.into_iter().chain(template).flatten().next().or(by_budget);
    if mode.is_none() && effort.is_none() {
        return None;
    }
    let show = fields.take("reasoning", Some("exclude"), Value::as_bool).map(|exclude| !exclude);
    let (budget, effort) = match mode {
        Some(ThinkingMode::Off) => (None, None),
        Some(ThinkingMode::On | ThinkingMode::Adaptive) => {
            (budget.filter(|budget| *budget > 0), effort.filter(|effort| *effort != Effort::None))
        }
        None => (None, effort),
    };
    Some(Thinking { mode, budget, effort, show, ..Thinking::default() })
}

fn switch(value: &Value) -> Option<ThinkingMode> {
    match (value.as_bool(), value.as_str()) {
        (Some(true), _) | (_, Some("enabled")) => Some(ThinkingMode::On),
        (Some(false), _) | (_, Some("disabled")) => Some(ThinkingMode::Off),
        (_, Some("adaptive" | "auto")) => Some(ThinkingMode::Adaptive),
        (None, _) => None,
    }
}

/// Fields that the protocol itself does not have, and those of them that said how to think, whole.
struct Fields {
    left: Box<Map>,
    said: Map,
}

impl Fields {
    /// Takes a field, or one inside it, if it can be read.
    fn take<T>(&mut self, key: &str, inside: Option<&str>, read: fn(&Value) -> Option<T>) -> Option<T> {
        let field = self.left.get_mut(key)?;
        let found = inside.map_or(Some(&*field), |inside| field.get(inside)).and_then(read)?;
        if !self.said.contains_key(key) {
            self.said.insert(key.to_owned(), field.clone());
        }
        let object = inside.zip(field.as_object_mut());
        let emptied = object.is_none_or(|(inside, object)| {
            object.shift_remove(inside);
            object.is_empty()
        });
        if emptied {
            self.left.shift_remove(key);
        }
        Some(found)
    }
}

/// Says it in the client's own fields, or in the protocol's word.
pub(super) fn encode(request: &Request, target: &TargetSpec, call: &mut Call, losses: &mut Vec<Loss>) {
    let Some(asked) = &request.thinking else { return };
    let said = asked.extras.get(ID, SAID).and_then(Value::as_object);
    if target.thinking == ThinkingStyle::Never {
        leave_out(said, call, losses);
    } else if let Some(said) = said {
        call.rest.get_or_insert_default().extend(said.clone());
    } else if request.origin == Some(ID) {
        call.reasoning_effort = asked.effort.as_ref().map(|effort| effort.word().to_owned());
    } else {
        call.reasoning_effort = word(asked, target, losses);
    }
}

/// Leaves the fields out whole, except for what else the template is told.
fn leave_out(said: Option<&Map>, call: &mut Call, losses: &mut Vec<Loss>) {
    let mut lose = |path: &str| losses.push(Loss::new(path, "this model can't be told to think; left out"));
    let Some(said) = said else { return lose(EFFORT) };
    for (key, value) in said {
        if key == TEMPLATE {
            let switches =
                TEMPLATE_SWITCHES.iter().filter(|name| value.get(**name).and_then(switch).is_some());
            switches.for_each(|name| lose(&format!("{TEMPLATE}.{name}")));
        } else {
            lose(key);
            call.rest.as_mut().and_then(|rest| rest.shift_remove(key));
        }
    }
}

/// The effort word, which is all that every server understands.
fn word(asked: &Thinking, target: &TargetSpec, losses: &mut Vec<Loss>) -> Option<String> {
    if asked.show.is_some() {
        losses.push(Loss::new(
            "thinking.show",
            "openai-chat can't be told whether to show reasoning; left out",
        ));
    }
    let effort = match asked.mode {
        // Not every model knows `none`, and one that does not would refuse the whole request.
        Some(ThinkingMode::Off) if target.thinking == ThinkingStyle::Effort => Some(Effort::None),
        Some(ThinkingMode::Off) => {
            losses.push(Loss::new(
                "thinking.mode",
                "openai-chat has no word for it that all models know; left out",
            ));
            None
        }
        Some(ThinkingMode::On | ThinkingMode::Adaptive) | None => effort::word(asked, losses),
    };
    effort.map(|effort| effort.word().to_owned())
}
