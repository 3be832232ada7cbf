use crate::figures::{count, grouped, tokens};
use crate::{
    Facts, ImageMatch, ReasoningMatch, Routing, Rule, RulePurpose, Session, Stickiness, ThinkingAsked,
    WebSearchMatch,
};
use rail_stdx::fits;

/// The virtual model of a request, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// Its name.
    pub virtual_model: String,
    /// Why, with the figures.
    pub why: String,
    /// Which of the user's own rules matched, as its place in [`Routing::rules`]; None for a built-in one.
    pub rule: Option<usize>,
}

/// The virtual model for requests that no other rule takes, and the chain behind all that have none.
pub(crate) const DEFAULT: &str = "default";
/// The virtual model for requests that are long.
pub(crate) const LONG_CONTEXT: &str = "longContext";

type BuiltIn = fn(&Routing, &Facts<'_>, Option<&Session>) -> Option<String>;

/// The built-in rules, in their order.
const BUILT_IN: [(i64, &str, BuiltIn); 6] = [
    (1, LONG_CONTEXT, long_context),
    (2, "imageProcessing", image_processing),
    (3, "webSearch", web_search),
    (4, "reasoning", reasoning),
    (5, "coding", coding),
    (99, DEFAULT, anything),
];

/// The names of the built-in virtual models, in the order in which they are looked at.
pub fn built_in_virtual_models() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(_, name, _)| *name)
}

/// Names the virtual model of a request: the first rule by priority that matches; of equal ones the user's goes first.
pub fn classify(routing: &Routing, facts: &Facts<'_>, session: Option<&Session>) -> Wanted {
    let session = session.filter(|_| routing.options.stickiness == Stickiness::Auto);
    let mut own: Vec<(usize, &Rule)> = routing.rules.iter().enumerate().collect();
    own.sort_by_key(|(_, rule)| rule.priority);
    let mut own = own.into_iter().peekable();
    for (priority, name, matches) in BUILT_IN {
        while let Some((at, rule)) = own.next_if(|(_, rule)| rule.priority <= priority) {
            if let Some(why) = holds(rule, routing, facts) {
                return Wanted { virtual_model: rule.name.clone(), why, rule: Some(at) };
            }
        }
        if let Some(why) = matches(routing, facts, session) {
            return Wanted { virtual_model: name.to_owned(), why, rule: None };
        }
    }
    Wanted { virtual_model: DEFAULT.to_owned(), why: nothing(facts), rule: None }
}

fn long_context(routing: &Routing, facts: &Facts<'_>, session: Option<&Session>) -> Option<String> {
    let (tokens, threshold) = (facts.tokens, routing.options.long_context_threshold);
    if tokens > threshold {
        return Some(format!(
            "{} tokens are more than the threshold of {}",
            grouped(tokens),
            grouped(threshold)
        ));
    }
    // Compared without a product that could overflow.
    let clearly_below = threshold - threshold / 5;
    let was_long = session.is_some_and(|session| session.virtual_model.as_deref() == Some(LONG_CONTEXT));
    (was_long && tokens >= clearly_below).then(|| {
        format!(
            "the conversation was longContext, and {} tokens are not clearly below the threshold of {}: less than {} would be",
            grouped(tokens),
            grouped(threshold),
            grouped(clearly_below)
        )
    })
}

fn image_processing(routing: &Routing, facts: &Facts<'_>, _: Option<&Session>) -> Option<String> {
    if facts.last_images > 0 {
        return Some(format!("the last user turn holds {}", count(facts.last_images, "image")));
    }
    if let Some(tool) = facts.image_read {
        return Some(format!("`{tool}` was just called on an image file"));
    }
    match routing.options.image_match {
        ImageMatch::LastTurn => None,
        ImageMatch::Any => {
            (facts.images > 0).then(|| format!("the conversation holds {}", count(facts.images, "image")))
        }
    }
}

fn web_search(routing: &Routing, facts: &Facts<'_>, _: Option<&Session>) -> Option<String> {
    if let Some(tool) = facts.server_search {
        return Some(format!("the provider's own web search `{tool}` is declared"));
    }
    let all = facts.tools.len();
    match routing.options.web_search_match {
        WebSearchMatch::DeclaredOnly => (all > 0 && facts.kinds.web == all).then(|| match facts.tools {
            [only] => format!("the only declared tool, `{}`, is a web tool", only.name),
            _ => format!("all {all} declared tools are web tools"),
        }),
        WebSearchMatch::Called => {
            facts.web_called.map(|tool| format!("the last assistant turn called the web tool `{tool}`"))
        }
        WebSearchMatch::Any => (facts.kinds.literally_web > 0).then(|| {
            format!(
                "the names of {} of {} hold `web`, `search` or `browser`",
                facts.kinds.literally_web,
                count(all, "tool")
            )
        }),
    }
}

fn reasoning(routing: &Routing, facts: &Facts<'_>, _: Option<&Session>) -> Option<String> {
    thinks(routing, facts).then(|| match (facts.thinking, facts.effort) {
        (_, Some(effort)) => format!("thinking is asked for, with the effort `{effort}`"),
        (ThinkingAsked::Explicit, None) => "thinking is switched on".to_owned(),
        (ThinkingAsked::Unsaid | ThinkingAsked::Off | ThinkingAsked::Said, None) => {
            "something is said of thinking, and `reasoning_match` is `any`".to_owned()
        }
    })
}

/// Whether thinking counts as asked for.
fn thinks(routing: &Routing, facts: &Facts<'_>) -> bool {
    match (facts.thinking, routing.options.reasoning_match) {
        (ThinkingAsked::Explicit, _) | (ThinkingAsked::Said, ReasoningMatch::Any) => true,
        (ThinkingAsked::Said, ReasoningMatch::Explicit) | (ThinkingAsked::Unsaid | ThinkingAsked::Off, _) => {
            false
        }
    }
}

fn coding(_: &Routing, facts: &Facts<'_>, _: Option<&Session>) -> Option<String> {
    let (other, all) = (facts.kinds.other, facts.tools.len());
    (other > 0).then(|| match facts.tools {
        [only] => format!("the tool `{}` is declared, which is neither a web nor an image tool", only.name),
        _ => format!("{other} of {all} declared tools are neither web nor image tools"),
    })
}

fn anything(_: &Routing, facts: &Facts<'_>, _: Option<&Session>) -> Option<String> {
    Some(nothing(facts))
}

fn nothing(facts: &Facts<'_>) -> String {
    format!("no other rule takes it: {}, {}", tokens(facts.tokens), count(facts.tools.len(), "tool"))
}

/// Why a rule of the user's matches, if it does: all that it says must hold.
fn holds(rule: &Rule, routing: &Routing, facts: &Facts<'_>) -> Option<String> {
    // Of the client a header's value is not shown: it may hold a key.
    let headers = rule.headers.iter().map(|(name, pattern)| {
        let sent = facts.header(name).is_some_and(|value| fits(pattern, value));
        sent.then(|| format!("the header `{name}` fits `{pattern}`"))
    });
    // The system prompt is the one thing that takes time to look through, so it comes last.
    let system = std::iter::once_with(|| {
        rule.system
            .as_ref()
            .map(|marker| facts.system_holds(marker).then(|| format!("the system prompt holds \"{marker}\"")))
    });
    let said = conditions(rule, routing, facts).into_iter().flatten().chain(headers).chain(system.flatten());
    let reasons = said.collect::<Option<Vec<String>>>()?;
    Some(match reasons.as_slice() {
        [] => format!("the rule `{}` takes every request", rule.name),
        _ => format!("the rule `{}` matches: {}", rule.name, reasons.join(", ")),
    })
}

/// What a rule says of a request: None where it says nothing, else the reason if it holds.
fn conditions(rule: &Rule, routing: &Routing, facts: &Facts<'_>) -> [Option<Option<String>>; 8] {
    let tokens = || grouped(facts.tokens);
    let declared = |pattern: &String| facts.tools.iter().find(|tool| fits(pattern, &tool.name));
    [
        rule.client
            .as_ref()
            .map(|pattern| fits(pattern, facts.client).then(|| format!("the client is `{}`", facts.client))),
        rule.model
            .as_ref()
            .map(|pattern| fits(pattern, facts.asked).then(|| format!("`{}` was asked for", facts.asked))),
        rule.min_tokens.map(|min| {
            (facts.tokens >= min).then(|| format!("{} tokens are at least {}", tokens(), grouped(min)))
        }),
        rule.max_tokens.map(|max| {
            (facts.tokens <= max).then(|| format!("{} tokens are at most {}", tokens(), grouped(max)))
        }),
        (!rule.tools.is_empty()).then(|| {
            rule.tools.iter().find_map(declared).map(|tool| format!("the tool `{}` is declared", tool.name))
        }),
        rule.images.map(|wanted| {
            ((facts.images > 0) == wanted)
                .then(|| format!("the conversation holds {}", count(facts.images, "image")))
        }),
        rule.thinking.map(|wanted| {
            let word = if wanted { "asked" } else { "not asked" };
            (thinks(routing, facts) == wanted).then(|| format!("thinking is {word} for"))
        }),
        rule.purpose.map(|purpose| {
            (RulePurpose::from(facts.purpose) == purpose)
                .then(|| format!("its purpose is {}", purpose.word()))
        }),
    ]
}
