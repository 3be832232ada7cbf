//! Whatever happens in whatever order, on whatever terminal: nothing breaks, all that was finished is there, and the cursor is where something is.

use proptest::prelude::*;
use rail_proto::{
    About, Choice, ChoiceOption, Choices, Doing, Finish, Leave, Mode, PermissionAsk, Pick, Prompt, Reason,
    SessionEvent, ShellState, TodoStatus,
};
use rail_tui::input::Keys;
use rail_tui::screen::{Screen, Size};
use rail_tui::text::Line;
use rail_tui::theme::Theme;
use rail_tui::wrap::{Long, rows};
use rail_tui::{Extent, Item, News, PickerKind, Start};
use serde_json::json;

use crate::screens::{Stage, Step};
use crate::screens_script::*;

/// Words as models and people write them, and signs that are none.
fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z ]{0,40}",
        "[a-z]{30,90}",
        // Joined signs are left out: how wide they are differs between terminals.
        "[日本語é👍🇩🇪\u{301}a ]{0,20}",
        "(- |# |> |```|\\| a \\| b \\||\\*\\*|`|\n|\n\n|[a-z]{1,6} |\t|\u{1b}\\[2J|\r){0,12}",
    ]
}

fn events() -> impl Strategy<Value = SessionEvent> {
    let id = || prop_oneof![Just("a"), Just("b"), Just("c")];
    let reason = prop_oneof![Just(Reason::Answered), Just(Reason::Failed), Just(Reason::Interrupted)];
    let finish =
        prop_oneof![Just(Finish::Done), Just(Finish::Denied), Just(Finish::Failed), Just(Finish::Cancelled)];
    let status =
        prop_oneof![Just(TodoStatus::Pending), Just(TodoStatus::InProgress), Just(TodoStatus::Completed)];
    let pick = prop_oneof![Just(Pick::One), Just(Pick::Several)];
    prop_oneof![
        8 => words().prop_map(|words| text(&words)),
        2 => words().prop_map(|words| thinking(&words)),
        2 => words().prop_map(|words| prompted(&words)),
        1 => words().prop_map(|words| SessionEvent::Queued(Prompt::text(words))),
        1 => Just(routed()),
        1 => (0u64..300_000).prop_map(spent),
        2 => (id(), words()).prop_map(|(id, words)| call(id, "Bash", json!({"command": words}))),
        2 => (id(), finish, words()).prop_map(|(id, finish, words)| result(id, finish, &words, preview(&words, 3))),
        1 => (id(), words()).prop_map(|(id, text)| SessionEvent::ToolProgress { id: id.into(), text }),
        1 => words().prop_map(|why| SessionEvent::Restarted { step: 1, why }),
        1 => (id(), words()).prop_map(|(id, words)| agent(id, "explore", &words)),
        1 => id().prop_map(|id| agent_ended(id, Reason::Answered)),
        1 => prop::collection::vec((status, words()), 0..9)
            .prop_map(|todos| SessionEvent::Todos(todos.into_iter().map(|(status, words)| todo(status, &words)).collect())),
        1 => words().prop_map(|words| SessionEvent::Shells(vec![shell("s", &words, ShellState::Running)])),
        2 => (id(), words(), any::<bool>()).prop_map(|(id, words, always_asks)| {
            let offers = vec![Leave { rules: vec![words.clone()], says: words.clone() }];
            let ask = permission("bash", json!({"command": words.clone()}));
            SessionEvent::Permission(PermissionAsk { id: id.into(), doing: vec![Doing::Runs(words)], offers, always_asks, ..ask })
        }),
        1 => (id(), words(), pick).prop_map(|(id, words, pick)| {
            let option = ChoiceOption { label: words.clone(), description: words.clone() };
            let question = Choice { question: words.clone(), header: String::new(), options: vec![option; 3], pick };
            let choices = Choices { about: About::LeavePlan { plan: words }, questions: vec![question; 2] };
            SessionEvent::Choice { id: id.into(), choices }
        }),
        1 => id().prop_map(|id| SessionEvent::Withdrawn { id: id.into() }),
        1 => Just(mode(Mode::Plan)),
        1 => words().prop_map(SessionEvent::Title),
        1 => (reason, words()).prop_map(|(reason, words)| done(reason, &words)),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    let named = prop::sample::select(vec![
        "<CR>",
        "<Esc>",
        "<Tab>",
        "<BackTab>",
        "<BS>",
        "<Up>",
        "<Down>",
        "<Left>",
        "<Right>",
        "<Home>",
        "<PageUp>",
        "<A-CR>",
        "<C-c>",
        "<C-r>",
        "<C-o>",
        "<C-t>",
        "<C-w>",
        "<C-u>",
        "<C-l>",
        "/",
        "@",
        "!",
        "1",
        "2",
        "4",
        " ",
        "/theme<CR>",
        "/keys<CR>",
        "/vim<CR>",
        "!ls<CR>",
    ]);
    let items = |words: Vec<String>| -> Vec<Item> {
        words
            .into_iter()
            .map(|words| Item {
                value: "1".into(),
                label: words.clone(),
                detail: words.clone(),
                more: vec![words; 3],
            })
            .collect()
    };
    prop_oneof![
        10 => events().prop_map(Step::Event),
        6 => named.prop_map(|keys| Step::Keys(keys.to_owned())),
        3 => "[a-z日é👍 ]{1,12}".prop_map(Step::Keys),
        1 => words().prop_map(Step::Paste),
        1 => words().prop_map(|words| Step::News(News::ShellOutput(words))),
        1 => words().prop_map(|how| Step::News(News::ShellEnded { how })),
        1 => words().prop_map(|words| Step::News(News::Say(words))),
        1 => prop::collection::vec(words(), 0..12).prop_map(move |words| Step::News(News::Picker(PickerKind::Rewind, items(words)))),
        1 => (0u64..3_000).prop_map(Step::Tick),
    ]
}

fn start_of(theme: usize, vim: bool, verbose: bool) -> Start {
    Start {
        theme: Theme::ALL[theme % Theme::ALL.len()],
        keys: if vim { Keys::Vim } else { Keys::Usual },
        extent: if verbose { Extent::Verbose } else { Extent::Condensed },
        ..start()
    }
}

/// The rows of finished lines, as a terminal of this width has them.
fn folded(lines: &[Line], size: Size) -> Vec<String> {
    let mut terminal =
        crate::screens::terminal(size.columns.try_into().unwrap(), size.rows.try_into().unwrap());
    let mut screen = Screen::new(size, Theme::Plain);
    let none = rail_tui::screen::Live::default();
    terminal.process(screen.frame(lines, &none).as_bytes());
    crate::screens::texts(&mut terminal)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens(
        size in (20u16..100, 5u16..30),
        (theme, vim, verbose) in (0usize..4, any::<bool>(), any::<bool>()),
        script in prop::collection::vec(steps(), 1..40),
    ) {
        let start = start_of(theme, vim, verbose);
        let mut stage = Stage::new(start, size);
        stage.play(&script);
        let theme = stage.theme;
        stage.is_clean(theme);
        // All that was finished is in the terminal, in order, before the live region.
        let wanted = folded(&stage.finished, stage.size());
        let shown = stage.everything();
        prop_assert!(shown.len() >= wanted.len());
        prop_assert_eq!(&shown[..wanted.len()], &wanted[..]);
    }

    #[test]
    fn whatever_the_size_becomes(
        script in prop::collection::vec(prop_oneof![4 => steps(), 1 => (1u16..100, 1u16..30).prop_map(|(columns, rows)| Step::Resize(columns, rows))], 1..40),
    ) {
        let mut stage = Stage::new(start(), (80, 24));
        for step in &script {
            stage.play(std::slice::from_ref(step));
            let Size { columns, rows: high } = stage.size();
            let live = stage.live();
            let (row, column) = stage.terminal.screen().cursor_position();
            prop_assert!(usize::from(row) < high && usize::from(column) <= columns);
            if let Some((row, _)) = live.cursor {
                prop_assert!(row < live.lines.len().max(1), "{row} of {}", live.lines.len());
                // What the user types is never scrolled off by what stands below it.
                let below: usize = live.lines.iter().skip(row).map(|line| rows(line, columns, Long::Split).len()).sum();
                prop_assert!(high < 5 || columns < 12 || below <= high, "{below} rows from the cursor on, of {high}");
            }
        }
    }
}
