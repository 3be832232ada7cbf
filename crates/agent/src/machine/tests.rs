//! All short traces: whatever comes in whatever order, what must hold holds.

use rail_journal::calls;
use rail_model::{CallId, CallKind, Delta, Extras, PartBody, PartKind, Purpose, Stop, ToolResult};
use rail_proto::Finish;

use super::*;

/// What can come, relative to the step that is on.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Submit,
    Interrupt,
    Text,
    Answer,
    Calls,
    Empty,
    Breaks,
    Fails,
    ToolDone,
    MayEnd,
    Objects,
    Stale,
    Compact,
    /// A good summary, where one is waited for.
    Summary,
    LastCalls,
    /// A summary that is due may be made.
    MayCompact,
    /// It may not.
    Keeps,
    /// The model is to be told something.
    Tell,
    /// A target says that the conversation is too long.
    TooLong,
    /// A result of a step that is over.
    StaleDone,
    /// No more may be spent.
    Exhausted,
    /// Another model, with instructions and tools of its own, which takes less.
    Switch,
}

const KINDS: [Kind; 22] = {
    use Kind::*;
    [
        Submit, Interrupt, Text, Answer, Calls, Empty, Breaks, Fails, ToolDone, MayEnd, Objects, Stale,
        Compact, Summary, LastCalls, MayCompact, Keeps, Tell, TooLong, StaleDone, Exhausted, Switch,
    ]
};

const SUMMARY: &str =
    "## Task\nTo test.\n\n## Decisions\nNone.\n\n## Files touched\n- none\n\n## Open items\nNone.\n";

/// A machine, all that was written, and what the user did.
#[derive(Clone)]
struct Bed {
    machine: Machine,
    records: Vec<Record>,
    typed: Vec<String>,
    /// Calls that were run, by step and id.
    run: Vec<(StepId, String)>,
    tasks: i64,
    /// A target found this conversation too long, however short it is: words of the user may be cut in what is sent, though not in the
    /// journal.
    squeezed: bool,
}

impl Bed {
    fn new() -> Self {
        let bounds = Bounds { turns: Some(4), ..Bounds::default() };
        let mut machine = Machine::new(Head { model: "m".to_owned(), ..Head::default() }, bounds);
        // So small that a summary is due after a few steps.
        machine.step(Input::Room(Some(Room { limit: 400, output: 20, reads: None })), &mut Vec::new());
        Self { machine, records: Vec::new(), typed: Vec::new(), run: Vec::new(), tasks: 0, squeezed: false }
    }

    /// In the middle of a conversation that all but fills the window: the next request waits for a summary.
    fn full() -> Self {
        let said = |role, text: String| {
            Record::Message(rail_journal::Said {
                step: 0,
                message: Message::new(role, vec![Part::text(text)]),
            })
        };
        let turn = |at: usize| {
            [said(Role::User, format!("question {at}")), said(Role::Assistant, "word ".repeat(200))]
        };
        let records: Vec<Record> = (0..12).flat_map(turn).collect();
        let mut bed = Self::new();
        let (head, bounds) = (bed.machine.head().clone(), bed.machine.bounds().clone());
        bed.machine = Machine::resumed(head, bounds, fold(&records), &mut Vec::new());
        bed.machine.step(Input::Room(Some(Room { limit: 2000, output: 100, reads: None })), &mut Vec::new());
        Self { records, ..bed }
    }

    /// Whether a task is worked on; a summary that the user wants while nothing is done is none.
    fn at_task(&self) -> bool {
        match &self.machine.state {
            State::Due { making, .. } | State::Summarising { making, .. } => !making.is_all_there_is(),
            State::Asking { .. } | State::Executing { .. } | State::Ending { .. } => true,
            State::Idle => false,
        }
    }

    fn is_due(&self) -> bool {
        matches!(self.machine.state, State::Due { .. })
    }

    fn is_summarising(&self) -> bool {
        matches!(self.machine.state, State::Summarising { .. })
    }

    fn input(&mut self, kind: Kind) -> Input {
        let step = self.machine.step;
        match kind {
            Kind::Submit => {
                let text = format!("typed {}", self.typed.len());
                self.typed.push(text.clone());
                Input::Submit(Prompt::text(text))
            }
            Kind::Interrupt => Input::Interrupt,
            Kind::Text => Input::Reply(step, events(Said::Text, None)),
            Kind::Answer => Input::ReplyEnded(step, Box::default()),
            Kind::Calls => Input::ReplyEnded(step, Box::default()),
            Kind::Empty | Kind::Summary => Input::ReplyEnded(step, Box::default()),
            Kind::LastCalls => Input::LastCalls,
            Kind::Breaks => failed(step, FailureKind::Broke),
            Kind::Fails => failed(step, FailureKind::Final),
            Kind::ToolDone => {
                let open = self.machine.window().open();
                let id = open.and_then(|open| open.missing().next()).map(|call| call.id.as_str().to_owned());
                Input::ToolDone(step, Box::new(ended(&id.unwrap_or_else(|| "none".to_owned()))))
            }
            Kind::MayEnd => Input::MayEnd(step, None),
            Kind::Objects => Input::MayEnd(step, Some("not yet".to_owned())),
            Kind::Stale => Input::ReplyEnded(step.wrapping_sub(1), Box::default()),
            Kind::Compact => Input::Compact(None),
            Kind::MayCompact => Input::MayCompact(step, None),
            Kind::Keeps => Input::MayCompact(step, Some("not now".to_owned())),
            Kind::Tell => Input::Tell("news".to_owned()),
            Kind::TooLong => failed(step, FailureKind::TooLong),
            Kind::StaleDone => Input::ToolDone(step.wrapping_sub(1), Box::new(ended(&format!("{step}/0")))),
            Kind::Exhausted => Input::Exhausted("too long".to_owned()),
            Kind::Switch => Input::SetHead(vec![Part::text("Be brief.")], Vec::new()),
        }
    }

    /// Takes an input, checks what it did, and gives the effects.
    fn take(&mut self, kind: Kind) -> Vec<Effect> {
        let mut effects = Vec::new();
        if kind == Kind::Summary && !self.is_summarising() {
            return effects;
        }
        let rest = match kind {
            Kind::Summary => Some(events(Said::Words(SUMMARY), Some(Stop::EndTurn))),
            Kind::Answer => Some(events(Said::Text, Some(Stop::EndTurn))),
            Kind::Calls => Some(events(Said::Calls(self.machine.step), Some(Stop::ToolUse))),
            Kind::Empty => Some(events(Said::Nothing, Some(Stop::EndTurn))),
            _ => None,
        };
        if let Some(events) = rest.filter(|_| !self.has_begun()) {
            self.machine.step(Input::Reply(self.machine.step, events), &mut effects);
        } else if matches!(kind, Kind::Answer | Kind::Calls | Kind::Empty | Kind::Summary) {
            // An answer that has begun ends.
            let end = vec![
                Event::Closed { at: 0, extras: Extras::NONE },
                Event::Finished { stop: Stop::EndTurn, extras: Extras::NONE },
            ];
            self.machine.step(Input::Reply(self.machine.step, end), &mut effects);
        }
        let busy = self.at_task();
        let input = self.input(kind);
        self.machine.step(input, &mut effects);
        if kind == Kind::Switch {
            let now = self.machine.room.unwrap();
            let room = Room { limit: now.limit * 3 / 4, ..now };
            self.machine.step(Input::SetModel("small".to_owned()), &mut Vec::new());
            self.machine.step(Input::Room(Some(room)), &mut effects);
        }
        self.check(kind, busy, &effects);
        effects
    }

    fn has_begun(&self) -> bool {
        match &self.machine.state {
            State::Asking { said, .. } | State::Summarising { said, .. } => !said.parts().is_empty(),
            State::Idle | State::Executing { .. } | State::Due { .. } | State::Ending { .. } => false,
        }
    }

    fn check(&mut self, kind: Kind, busy: bool, effects: &[Effect]) {
        if matches!(kind, Kind::Stale | Kind::StaleDone) {
            assert_eq!(effects, [], "stale news has no effect");
        }
        let mut synced = true;
        for effect in effects {
            match effect {
                Effect::Persist(record) => {
                    self.records.push(record.clone());
                    synced = false;
                }
                Effect::Sync => synced = true,
                Effect::Ask(step, request) if request.purpose == Purpose::Background => {
                    assert_eq!((request.tools.len(), *step), (0, self.machine.step));
                    assert_valid(&request.messages);
                }
                Effect::Ask(step, request) => {
                    assert_eq!(
                        request.messages,
                        fold(&self.records).messages(),
                        "what is sent is what is written"
                    );
                    assert_valid(&request.messages);
                    assert_eq!(*step, self.machine.step);
                }
                Effect::RunTools(step, calls) => {
                    assert!(synced, "calls run only when they are safe on the disk");
                    let open = fold(&self.records).open().cloned().unwrap();
                    assert_eq!((open.step, &open.calls, open.begun.len()), (*step, calls, calls.len()));
                    for call in calls {
                        let run = (*step, call.id.as_str().to_owned());
                        assert!(!self.run.contains(&run), "no call runs twice");
                        self.run.push(run);
                    }
                }
                Effect::Emit(event) => match &**event {
                    SessionEvent::ToolEnd(_) | SessionEvent::Done(_) => {
                        assert!(synced, "nothing is shown that is not safe: {event:?}");
                        self.tasks -= i64::from(matches!(&**event, SessionEvent::Done(_)));
                    }
                    _ => {}
                },
                Effect::Cancel(_) | Effect::Ending(..) | Effect::Compacting(..) => {}
            }
        }
        self.tasks += i64::from(!busy && self.at_task());
        // A task that ends while words wait begins the next one at once.
        let ends = effects.iter().filter(|effect| is_done(effect)).count();
        self.tasks += i64::from(ends > 0 && self.at_task() && busy);
        assert_eq!(self.tasks, i64::from(self.at_task()), "a task has one end");
        assert_eq!(fold(&self.records), *self.machine.window(), "the conversation is what is written");
        self.squeezed |= kind == Kind::TooLong;
        if !self.squeezed {
            assert_typed(&self.typed, self.machine.window());
        }
    }
}

fn is_done(effect: &Effect) -> bool {
    matches!(effect, Effect::Emit(event) if matches!(&**event, SessionEvent::Done(_)))
}

fn fold(records: &[Record]) -> Window {
    let mut window = Window::default();
    records.iter().for_each(|record| window.apply(record));
    window
}

/// Every call has its result right behind it, and nothing else has one.
fn assert_valid(messages: &[Message]) {
    let mut waiting: Vec<String> = Vec::new();
    for message in messages {
        let results: Vec<String> = message.parts.iter().filter_map(result_id).collect();
        assert_eq!(results, waiting, "{messages:#?}");
        waiting = calls(message).iter().map(|call| call.id.as_str().to_owned()).collect();
        assert!(!message.parts.is_empty());
    }
    assert_eq!(waiting, Vec::<String>::new(), "{messages:#?}");
}

fn result_id(part: &Part) -> Option<String> {
    if let PartBody::ToolResult(result) = &part.body { Some(result.id.as_str().to_owned()) } else { None }
}

/// All that was typed is in the conversation or waits for it, once and in order.
fn assert_typed(typed: &[String], window: &Window) {
    let all = window.messages().iter().chain(window.queued());
    let texts = all.filter(|message| message.role == Role::User).flat_map(|message| &message.parts);
    let found: Vec<&str> = texts.filter_map(Part::as_text).filter(|text| text.starts_with("typed")).collect();
    assert_eq!(found, typed);
}

enum Said {
    Text,
    Words(&'static str),
    Calls(StepId),
    Nothing,
}

fn events(said: Said, stop: Option<Stop>) -> Vec<Event> {
    let extras = Extras::NONE;
    let mut events = Vec::new();
    match said {
        Said::Text => return self::events(Said::Words("words"), stop),
        Said::Words(words) => {
            events.push(Event::Opened { at: 0, kind: PartKind::Text, extras: Extras::NONE });
            events.push(Event::Delta { at: 0, delta: Delta::Text(words.to_owned()), extras: Extras::NONE });
        }
        Said::Calls(step) => {
            for at in 0..2 {
                let id = CallId::Given(format!("{step}/{at}"));
                let kind = PartKind::ToolCall { id, name: "bash".to_owned(), kind: CallKind::Function };
                events.push(Event::Opened { at, kind, extras: Extras::NONE });
                events.push(Event::Delta {
                    at,
                    delta: Delta::Arguments("{}".to_owned()),
                    extras: Extras::NONE,
                });
                events.push(Event::Closed { at, extras: Extras::NONE });
            }
        }
        Said::Nothing => {}
    }
    events.extend(stop.map(|stop| Event::Finished { stop, extras }));
    events
}

fn failed(step: StepId, kind: FailureKind) -> Input {
    Input::ReplyFailed(step, AskFailure { why: "it broke".to_owned(), kind })
}

fn ended(id: &str) -> ToolEnd {
    let result = ToolResult {
        id: CallId::Given(id.to_owned()),
        name: None,
        content: vec![Part::text("done")],
        is_error: Some(false),
        kind: CallKind::Function,
    };
    ToolEnd { step: 0, result, success: true, end: Finish::Done, shown: None, duration_ms: 0 }
}

/// All traces of this length from here. What has no effect leaves the machine as it is, so that nothing new comes behind it, unless
/// it is kept for later.
fn walk(bed: &Bed, left: usize, at_each: &mut dyn FnMut(&Bed)) {
    at_each(bed);
    if left == 0 {
        return;
    }
    for kind in KINDS {
        let mut next = bed.clone();
        let effects = next.take(kind);
        if !effects.is_empty()
            || matches!(kind, Kind::Text | Kind::Compact | Kind::LastCalls | Kind::Tell | Kind::Switch)
        {
            walk(&next, left - 1, at_each);
        }
    }
}

#[test]
fn all_short_traces_keep_what_must_hold() {
    let mut seen = 0;
    let mut bed = Bed::new();
    bed.take(Kind::Submit);
    walk(&bed, 4, &mut |_| seen += 1);
    walk(&Bed::new(), 3, &mut |_| seen += 1);
    assert!(seen > 20_000, "{seen}");
}

/// The same where the window is full: traces lead through both passes of a summary, to its end and to what stands in for it.
#[test]
fn all_short_traces_of_a_full_window_keep_what_must_hold() {
    let mut bed = Bed::full();
    bed.take(Kind::Submit);
    assert!(bed.is_due());
    let (mut seen, mut second, mut summarised, mut cut) = (0, 0, 0, 0);
    walk(&bed, 3, &mut |bed| {
        seen += 1;
        second += usize::from(bed.is_summarising() && bed.machine.step > 2);
        for record in &bed.records {
            if let Record::Compacted(compacted) = record {
                summarised += usize::from(compacted.by.is_some());
                cut += usize::from(compacted.by.is_none());
            }
        }
    });
    assert!(seen > 500 && second > 0 && summarised > 0 && cut > 0, "{seen} {second} {summarised} {cut}");
    walk(&Bed::full(), 2, &mut |_| {});
}

fn kinds(effects: &[Effect]) -> Vec<&'static str> {
    let kind = |effect: &Effect| match effect {
        Effect::Persist(Record::Compacted(_)) => "compacted",
        Effect::Persist(Record::Ended(_)) => "ended",
        Effect::Persist(_) => "written",
        Effect::Ask(_, request) if request.purpose == Purpose::Background => "ask for a summary",
        Effect::Ask(..) => "ask",
        Effect::Cancel(_) => "cancel",
        Effect::Emit(event) if matches!(&**event, SessionEvent::Compacted(_)) => "told",
        Effect::Emit(event) if matches!(&**event, SessionEvent::Done(_)) => "done",
        Effect::Compacting(_, CompactTrigger::Auto, _) => "may it, being full",
        Effect::Compacting(_, CompactTrigger::Manual, _) => "may it, being asked",
        Effect::Sync | Effect::Emit(_) | Effect::RunTools(..) | Effect::Ending(..) => "",
    };
    effects.iter().map(kind).filter(|kind| !kind.is_empty()).collect()
}

#[test]
fn a_summary_takes_two_passes_and_each_end_leads_on() {
    let due = || {
        let mut bed = Bed::full();
        assert_eq!(kinds(&bed.take(Kind::Submit)), ["written", "may it, being full"]);
        let unasked = bed.clone();
        assert_eq!(kinds(&bed.take(Kind::MayCompact)), ["ask for a summary"]);
        (unasked, bed)
    };
    // Who objects keeps a model from it; the oldest are cut all the same, or nothing could be asked any more.
    assert_eq!(kinds(&due().0.take(Kind::Keeps)), ["compacted", "told", "ask"]);
    assert_eq!(kinds(&due().0.take(Kind::Interrupt)), ["cancel", "ended", "done"]);
    let due = || due().1;
    let mut good = due();
    assert_eq!(kinds(&good.take(Kind::Summary)), ["written", "ask for a summary"]);
    assert_eq!(kinds(&good.clone().take(Kind::Summary)), ["written", "compacted", "told", "ask"]);
    // The first pass stands where the second breaks or says nothing of use.
    assert_eq!(kinds(&good.clone().take(Kind::Breaks)), ["compacted", "told", "ask"]);
    assert_eq!(kinds(&good.clone().take(Kind::Empty)), ["written", "compacted", "told", "ask"]);
    assert_eq!(kinds(&good.take(Kind::Interrupt)), ["cancel", "ended", "done"]);
    // Without a first pass the oldest are cut, and the task goes on.
    assert_eq!(kinds(&due().take(Kind::Answer)), ["written", "compacted", "told", "ask"]);
    assert_eq!(kinds(&due().take(Kind::Calls)), ["written", "compacted", "told", "ask"]);
    assert_eq!(kinds(&due().take(Kind::Fails)), ["compacted", "told", "ask"]);
    assert_eq!(kinds(&due().take(Kind::Interrupt)), ["cancel", "ended", "done"]);
    // What the user wants while nothing is done changes nothing when it fails.
    let mut asked = Bed::full();
    assert_eq!(kinds(&asked.take(Kind::Compact)), ["may it, being asked"]);
    assert_eq!(kinds(&asked.clone().take(Kind::Keeps)), [""; 0]);
    assert_eq!(kinds(&asked.take(Kind::MayCompact)), ["ask for a summary"]);
    assert_eq!(kinds(&asked.clone().take(Kind::Fails)), [""; 0]);
    assert_eq!(kinds(&asked.clone().take(Kind::Interrupt)), ["cancel"]);
    asked.take(Kind::Summary);
    assert_eq!(kinds(&asked.take(Kind::Summary)), ["written", "compacted", "told"]);
}

#[test]
fn the_last_calls_end_the_task_and_nothing_more_is_asked() {
    let mut bed = Bed::new();
    for kind in [Kind::Submit, Kind::Calls, Kind::LastCalls] {
        bed.take(kind);
    }
    assert_eq!(kinds(&bed.take(Kind::ToolDone)), ["written"]);
    assert_eq!(kinds(&bed.take(Kind::ToolDone)), ["written", "ended", "done"]);
    // It is of no effect on the next task.
    bed.take(Kind::Submit);
    bed.take(Kind::Calls);
    bed.take(Kind::ToolDone);
    assert_eq!(kinds(&bed.take(Kind::ToolDone)), ["written", "ask"]);
}

/// The process ends behind each single effect of each trace: what was shown is there, and no call that may have been run runs again.
#[test]
fn whatever_is_cut_off_is_mended() {
    fn crash(bed: &Bed, left: usize) {
        for kind in KINDS {
            let mut next = bed.clone();
            let effects = next.take(kind);
            if effects.is_empty()
                && !matches!(kind, Kind::Text | Kind::Compact | Kind::LastCalls | Kind::Tell | Kind::Switch)
            {
                continue;
            }
            for cut in 0..=effects.len() {
                resume(bed, &effects[..cut]);
            }
            if left > 1 {
                crash(&next, left - 1);
            }
        }
    }
    fn resume(before: &Bed, effects: &[Effect]) {
        let mut records = before.records.clone();
        let mut shown = String::new();
        for effect in effects {
            match effect {
                Effect::Persist(record) => records.push(record.clone()),
                Effect::Emit(event) => {
                    if let SessionEvent::Text { text, .. } = &**event {
                        shown.push_str(text);
                    }
                }
                _ => {}
            }
        }
        let mut out = Vec::new();
        let machine = Machine::resumed(Head::default(), Bounds::default(), fold(&records), &mut out);
        assert_valid(machine.window().messages());
        assert!(!out.iter().any(|effect| matches!(effect, Effect::RunTools(..) | Effect::Ask(..))));
        // What was cut to fit is in the journal still.
        let voided = records.iter().any(|record| matches!(record, Record::Void(_) | Record::Compacted(_)));
        let mut texts =
            machine.window().messages().iter().flat_map(|message| &message.parts).filter_map(Part::as_text);
        assert!(shown.is_empty() || voided || texts.any(|text| text.contains(&shown)), "{shown}");
        // Once mended, it is whole: nothing is mended again.
        out.iter().for_each(|effect| {
            if let Effect::Persist(record) = effect {
                records.push(record.clone());
            }
        });
        let mut again = Vec::new();
        Machine::resumed(Head::default(), Bounds::default(), fold(&records), &mut again);
        assert_eq!(again, []);
    }
    for (mut bed, length) in [(Bed::new(), 3), (Bed::full(), 2)] {
        bed.take(Kind::Submit);
        crash(&bed, length);
    }
}
