//! Whatever was said: what is left is valid, fits, and has what the user said last.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use rail_agent::context::{
    Account, Budget, Images, Next, Tried, bound_result, check, cut_middle, next, plan, second, settled, trim,
    truncate, window,
};
use rail_model::{Message, Part, PartBody, Role};
use rail_route::{estimate_message, estimate_parts};

use crate::context_common::{
    assistant, call, count_images, gave, image, judge, reply, result, thinking, tokens, tool, user, words,
};

/// A step: thinking, words, and the sizes of what its calls give; a size of 0 is an image.
type Step = (bool, usize, Vec<usize>);

/// How the results of a step stand in messages.
#[derive(Clone, Copy, Debug)]
enum Results {
    Apart,
    Together,
    InUser,
}

fn size() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 1_usize..40, 2 => 60_usize..200, 1 => 300_usize..600]
}

fn step() -> impl Strategy<Value = Step> {
    let gives = prop_oneof![5 => size(), 1 => Just(0)];
    (any::<bool>(), prop_oneof![2 => Just(0), 1 => size()], vec(gives, 0..4))
}

fn conversation() -> impl Strategy<Value = Vec<Message>> {
    let results = select(vec![Results::Apart, Results::Together, Results::InUser]);
    let turn = (size(), 0_usize..3, vec(step(), 0..4));
    (vec(turn, 1..5), results, any::<bool>(), any::<bool>()).prop_map(
        |(turns, results, same_ids, at_work)| {
            let mut messages = Vec::new();
            for (said, images, steps) in turns {
                let nth = messages.len();
                let mut parts = vec![Part::text(format!("User {nth}: {}", words(said)))];
                parts.extend((0..images).map(|_| image()));
                messages.push(user(parts));
                let first = messages.len();
                for (at, step) in steps.into_iter().enumerate() {
                    let ids = if same_ids { "call".to_owned() } else { format!("call_{first}_{at}") };
                    push_step(&mut messages, &step, &ids, results);
                }
            }
            // A request ends with the user or with results.
            if at_work {
                while messages.len() > 1
                    && messages.last().is_some_and(|message| message.role == Role::Assistant)
                {
                    messages.pop();
                }
            }
            messages
        },
    )
}

fn push_step(messages: &mut Vec<Message>, (thinks, said, gives): &Step, ids: &str, results: Results) {
    let mut parts = Vec::new();
    if *thinks {
        parts.push(thinking("hm"));
    }
    if *said > 0 || gives.is_empty() {
        parts.push(Part::text(words(*said + 1)));
    }
    let id = |nth: usize| format!("{ids}_{nth}");
    parts.extend((0..gives.len()).map(|nth| call(&id(nth), "read_file", r#"{"file_path":"/a/b.rs"}"#)));
    messages.push(assistant(parts));
    let given: Vec<Part> = gives
        .iter()
        .enumerate()
        .map(|(nth, size)| match size {
            0 => result(&id(nth), [Part::text("a picture"), image()]),
            size => gave(&id(nth), &words(*size)),
        })
        .collect();
    match results {
        _ if given.is_empty() => {}
        Results::Apart => messages.extend(given.into_iter().map(|part| tool([part]))),
        Results::Together => messages.push(tool(given)),
        Results::InUser => messages.push(user(given)),
    }
}

fn budget() -> impl Strategy<Value = Budget> {
    let factor = select(vec![0.8, 1.0, 1.4]);
    (1_500_u64..8_000, 0_u64..300, 0_u64..400, factor, 1_u64..12, 0_usize..5).prop_map(
        |(limit, reserve, fixed, factor, count, tail_steps)| {
            let images = Images { count, bytes: 10_000, pixels: 10_000 };
            Budget { images, tail_steps, ..Budget::new(limit, reserve) }.behind(fixed, factor)
        },
    )
}

fn own_words(message: &Message) -> Vec<&str> {
    if message.role == Role::User {
        message.parts.iter().filter_map(Part::as_text).collect()
    } else {
        Vec::new()
    }
}

fn is_users(message: &Message) -> bool {
    own_words(message).iter().any(|text| text.starts_with("User "))
}

fn newest(messages: &[Message]) -> (usize, &Message) {
    messages.iter().enumerate().rfind(|(_, message)| is_users(message)).unwrap()
}

/// The newest message of the user is there: as it was if it is short, otherwise with its beginning.
fn has_newest(before: &[Message], after: &[Message], room: u64) -> Result<(), TestCaseError> {
    let (_, wanted) = newest(before);
    let (_, found) = newest(after);
    if estimate_message(wanted) <= room / 16 {
        prop_assert_eq!(found, wanted);
    } else {
        let beginning: String = own_words(wanted).concat().chars().take(8).collect();
        prop_assert!(own_words(found).concat().starts_with(&beginning), "{found:?}");
    }
    Ok(())
}

/// What of `after` is as it was comes in the order in which it was.
fn in_order(before: &[Message], after: &[Message]) -> Result<(), TestCaseError> {
    let mut at = 0;
    for message in after.iter().filter(|message| is_users(message)) {
        let key: String =
            own_words(message).concat().chars().take_while(|c| !matches!(c, ':' | '\n')).collect();
        let found =
            before.iter().skip(at).position(|old| own_words(old).concat().starts_with(&format!("{key}:")));
        prop_assert!(found.is_some(), "{key} is out of order");
        at += found.unwrap() + 1;
    }
    Ok(())
}

fn valid(messages: &[Message], budget: &Budget) -> Result<(), TestCaseError> {
    judge(messages, budget).map_err(TestCaseError::fail)
}

/// A budget in which anything fits.
fn vast() -> Budget {
    let images = Images { count: 10_000, bytes: u64::MAX, pixels: u64::MAX };
    Budget { images, ..Budget::new(u64::MAX / 4, 0) }
}

const GOOD: &str =
    "## Task\nMend it.\n\n## Decisions\nNone.\n\n## Files touched\nNone.\n\n## Open items\nAll.";

proptest! {
    // Counting tokens is slow without optimisation.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn truncated_conversations_are_valid_and_fit(messages in conversation(), budget in budget()) {
        valid(&messages, &vast())?;
        let after = truncate(&messages, &budget);
        valid(&after, &budget)?;
        has_newest(&messages, &after, budget.room())?;
        in_order(&messages, &after)?;
        prop_assert_eq!(truncate(&after, &budget), after);
    }

    #[test]
    fn trimmed_conversations_keep_what_was_said(messages in conversation(), budget in budget()) {
        let Some(trimmed) = trim(&messages, &budget) else { return Ok(()) };
        let after = &trimmed.messages;
        valid(after, &vast())?;
        prop_assert_eq!(after.len(), messages.len());
        prop_assert_eq!(tokens(&messages) - tokens(after), trimmed.freed);
        let images: u64 = messages.iter().flat_map(|message| &message.parts).map(count_images).sum();
        prop_assert!(trimmed.freed >= budget.room() / 4 || images > budget.images.count);
        let answers = messages.iter().enumerate().rev().filter(|(_, message)| message.role == Role::Assistant);
        let tail = answers.map(|(at, _)| at).take(budget.tail_steps).last().unwrap_or(messages.len());
        prop_assert_eq!(&after[tail..], &messages[tail..]);
        for (new, old) in after.iter().zip(&messages) {
            prop_assert_eq!(new.role, old.role);
            if old.role == Role::Assistant {
                prop_assert_eq!(new, old);
            }
            prop_assert_eq!(own_words(new).first().copied(), own_words(old).first().copied());
        }
        prop_assert_eq!(newest(after), newest(&messages));
        prop_assert_eq!(trim(after, &budget), None);
    }

    #[test]
    fn compacted_conversations_are_valid_and_fit(messages in conversation(), budget in budget(), reads in 1_500_u64..6_000) {
        let Some(plan) = plan(&messages, &budget, reads, None) else { return Ok(()) };
        prop_assert!(tokens(&plan.ask) <= reads, "{} tokens for {reads}", tokens(&plan.ask));
        prop_assert_eq!(plan.ask.iter().flat_map(|message| &message.parts).map(count_images).sum::<u64>(), 0);
        let Ok(summary) = check(&reply(GOOD), &plan) else { return Ok(()) };
        prop_assert!(tokens(&second(&summary, &plan)) <= reads);
        let summary = settled(summary, &reply("OK"), &plan);
        let after = window(&summary, &plan);
        valid(&after, &budget)?;
        has_newest(&messages, &after, budget.room())?;
        in_order(&messages, &after)?;
        prop_assert_eq!(&window(&summary, &plan), &after);
        prop_assert_eq!(truncate(&after, &budget), after.clone());
        let tail = &messages[plan.tail_from..];
        let end = &after[after.len() - tail.len()..];
        for (new, old) in end.iter().zip(tail) {
            // Only the results of a last step that is too large by itself are cut.
            if old.role == Role::Assistant || estimate_message(old) <= budget.room() / 64 {
                prop_assert_eq!(new, old);
            }
        }
    }

    #[test]
    fn it_always_ends_with_a_window_that_fits(messages in conversation(), budget in budget()) {
        let mut account = Account::new(0);
        messages.iter().for_each(|message| account.push(message));
        prop_assert_eq!(account.total(), tokens(&messages));
        let budget = budget.behind(0, 1.0);
        let (mut now, mut tried) = (messages.clone(), Tried::Nothing);
        for _ in 0..4 {
            match next(&account.again(&now), &budget, tried) {
                Next::Go if tried == Tried::Nothing => break,
                Next::Go => tried = Tried::Nothing,
                Next::Trim => {
                    now = trim(&now, &budget).map_or(now, |trimmed| trimmed.messages);
                    tried = Tried::Trim;
                }
                Next::Compact => tried = Tried::Compaction,
                Next::Truncate => now = truncate(&now, &budget),
            }
        }
        valid(&now, &budget)?;
    }

    #[test]
    fn a_result_is_never_larger_than_its_room(sizes in vec(size(), 0..5), images in 0_usize..4, room in 0_u64..5000) {
        let mut content: Vec<Part> = sizes.iter().map(|size| Part::text(words(*size))).collect();
        (0..images).for_each(|_| content.insert(content.len() / 2, image()));
        let PartBody::ToolResult(result) = result("c", content).body else { return Ok(()) };
        let bounded = bound_result(result.clone(), room);
        prop_assert!(estimate_parts(&bounded.content) <= room);
        if estimate_parts(&result.content) <= room {
            prop_assert_eq!(&bounded, &result);
        }
        prop_assert_eq!(bound_result(bounded.clone(), room), bounded);
    }

    #[test]
    fn a_cut_text_keeps_its_ends(text in any::<String>(), times in 1_usize..200, room in 0_u64..500) {
        let text = text.repeat(times);
        let cut = cut_middle(&text, room);
        prop_assert!(rail_route::tokens(&cut) <= room);
        if let Some((head, tail)) = cut.split_once("\n\n[").zip(cut.rsplit_once("]\n\n")).map(|(one, two)| (one.0, two.1)) {
            prop_assert!(text.starts_with(head) && text.ends_with(tail));
        }
    }
}
