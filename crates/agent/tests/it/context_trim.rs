//! Trimming and truncation, shown.

use rail_agent::context::{Budget, Cut, Images, bound_result, trim, truncate};
use rail_model::{Message, Part, PartBody, Role};

use crate::context_common::{
    assistant, call, gave, image, judge, result, says, shown, thinking, tokens, tool, user, words,
};

/// So many steps, each of which reads a file of so many words.
fn reading(steps: usize, size: usize) -> Vec<Message> {
    let mut messages = vec![says("Read them all.")];
    for step in 0..steps {
        let id = format!("call_{step}");
        messages.push(assistant([call(&id, "read_file", &format!(r#"{{"file_path":"/src/{step}.rs"}}"#))]));
        messages.push(tool([gave(&id, &words(size))]));
    }
    messages
}

#[test]
fn old_outputs_go_and_say_what_they_were() {
    let mut messages = reading(6, 200);
    messages[2] = tool([gave(
        "call_0",
        &format!(
            "a\n[3 characters are left out here; the whole output is in `/s/outputs/call_0-0.txt`: read it]\n{}",
            words(200)
        ),
    )]);
    let used = tokens(&messages);
    let budget = Budget { tail_steps: 2, ..Budget::new(used * 10 / 8, 0) };
    let trimmed = trim(&messages, &budget).unwrap();
    let cut: Vec<usize> = trimmed.cut.iter().map(|cut| cut.message).collect();
    assert_eq!(cut, [2, 4, 6], "oldest first, and no more than needed");
    assert_eq!(trimmed.cut[0].tool.as_deref(), Some("read_file"));
    insta::assert_snapshot!(shown(&trimmed.messages[..7]), @r#"
    User: Read them all.
    Assistant: read_file {"file_path":"/src/0.rs"}
    Tool: = [The output of `read_file` is no longer shown (3 lines, 1584 characters): the whole output is in `/s/outputs/call_0-0.txt`]
    Assistant: read_file {"file_path":"/src/1.rs"}
    Tool: = [The output of `read_file` is no longer shown (1 line, 1490 characters): call it again if it is needed]
    Assistant: read_file {"file_path":"/src/2.rs"}
    Tool: = [The output of `read_file` is no longer shown (1 line, 1490 characters): call it again if it is needed]
    "#);
    assert_eq!(trimmed.messages[7..], messages[7..]);
    assert_eq!(tokens(&trimmed.messages), used - trimmed.freed);
}

#[test]
fn too_little_to_gain_is_left_alone() {
    let messages = reading(6, 200);
    let budget = Budget { tail_steps: 6, ..Budget::new(tokens(&messages), 0) };
    assert_eq!(trim(&messages, &budget), None, "all of it is recent");
    let mut talk = vec![says("Read one.")];
    talk.extend((0..9).flat_map(|_| [assistant([Part::text(words(100))]), says(&words(100))]));
    assert_eq!(trim(&talk, &Budget::new(tokens(&talk), 0)), None, "nothing but words");
}

#[test]
fn old_images_are_told_in_words() {
    let mut messages = vec![user([Part::text("Look."), image()])];
    for step in 0..4 {
        let id = format!("call_{step}");
        messages.push(assistant([call(&id, "shot", "{}")]));
        messages.push(tool([result(&id, [Part::text("taken"), image()])]));
    }
    messages.push(user([Part::text("And this?"), image()]));
    let budget = Budget { tail_steps: 1, images: Images { count: 5, ..vast().images }, ..vast() };
    let trimmed = trim(&messages, &budget).unwrap();
    insta::assert_snapshot!(shown(&trimmed.messages), @r#"
    User: Look.
    User: [Image: 4×3 GIF, no longer shown]
    Assistant: shot {}
    Tool: = taken | [Image: 4×3 GIF, no longer shown]
    Assistant: shot {}
    Tool: = taken | [Image: 4×3 GIF, no longer shown]
    Assistant: shot {}
    Tool: = taken | [Image: 4×3 GIF, no longer shown]
    Assistant: shot {}
    Tool: = taken | Media(Media { kind: Image, mime: Some("i
    User: And this?
    User: Media(Media { kind: Image, mime: Some("i
    "#);
    assert_eq!(trimmed.cut[0], Cut { message: 0, part: 1, tool: None, freed: trimmed.cut[0].freed });
    assert_eq!(trim(&trimmed.messages, &budget), None);
}

fn vast() -> Budget {
    Budget::new(1_000_000, 0)
}

#[test]
fn a_single_huge_message_is_cut_in_the_middle() {
    let messages = [says(&format!("Begin. {} End.", words(5000)))];
    let budget = Budget::new(1000, 200);
    let after = truncate(&messages, &budget);
    judge(&after, &budget).unwrap();
    let text = after.last().unwrap().parts[0].as_text().unwrap();
    assert!(text.starts_with("Begin. word0 ") && text.ends_with(" End."), "{text}");
    assert!(text.contains(" characters are left out here]"), "{text}");
}

#[test]
fn a_window_full_of_images_is_emptied() {
    let images: Vec<Part> = (0..200).map(|_| image()).collect();
    let messages = [user([vec![Part::text("Compare.")], images].concat())];
    for limit in [1_000, 20_000, 1_000_000] {
        let budget = Budget::new(limit, 100);
        let after = truncate(&messages, &budget);
        judge(&after, &budget).unwrap();
        assert!(after.last().unwrap().parts[0].as_text().unwrap().starts_with("Compare."));
    }
}

#[test]
fn a_last_step_that_is_too_large_keeps_its_calls_and_seals() {
    let step = assistant([thinking("hm"), call("a", "bash", "{}"), call("b", "shot", "{}")]);
    let results = tool([gave("a", &words(5000)), result("b", [image()])]);
    let messages = [says("Do it."), step.clone(), results];
    let budget = Budget::new(2000, 200);
    let after = truncate(&messages, &budget);
    judge(&after, &budget).unwrap();
    assert_eq!(after[1], messages[0]);
    assert_eq!(after[2], step);
    assert_eq!(after.len(), 4);
}

#[test]
fn what_fits_is_not_truncated() {
    let messages = reading(3, 100);
    assert_eq!(truncate(&messages, &Budget::new(tokens(&messages) * 2, 0)), messages);
}

#[test]
fn a_window_of_no_size_still_has_the_user() {
    let after = truncate(&reading(3, 100), &Budget::new(10, 10));
    assert_eq!(after.iter().map(|message| message.role).collect::<Vec<_>>(), [Role::User]);
}

#[test]
fn a_bounded_result_says_where_the_whole_is() {
    let text = format!("{} the whole output is in `/s/a.txt`: read it {}", words(100), words(100));
    let PartBody::ToolResult(whole) = result("a", [Part::text(text), image(), image()]).body else {
        panic!()
    };
    let bounded = bound_result(whole, 60);
    insta::assert_snapshot!(shown(&[tool([Part::new(PartBody::ToolResult(bounded))])]), @r"
    Tool: = word0 word1 word2 word3 w

    [1374 characters are left out here; the whole output is in `/s/a.txt`]

    d96 word97 word98 word99  | [Image: 4×3 GIF, no longer shown]
    [Image: 4×3 GIF, no longer shown]
    ");
}
