//! Lines in a notation that people can read.

use rail_tui::text::{Flow, Line, Look, Role, Span};

/// Each line behind `~` if it is broken between words, with what stands before the rest of it at its end, and behind `=` if it is left to the terminal.
pub(crate) fn lines(lines: &[Line]) -> String {
    let line = |line: &Line| {
        let text = spans(&line.spans);
        match &line.flow {
            Flow::Words(hang) if hang.is_empty() => format!("~{text}"),
            Flow::Words(hang) => format!("~{text} ↩{}", spans(hang).replace(' ', "·")),
            Flow::Terminal => format!("={text}"),
        }
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn spans(spans: &[Span]) -> String {
    spans.iter().map(span).collect()
}

fn span(span: &Span) -> String {
    let Look { role, bold, italic, underline, strike, reverse } = span.look;
    let marks = [(bold, '*'), (italic, '/'), (underline, '_'), (strike, '-'), (reverse, '!')];
    let marks: String = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| mark).collect();
    let role = match role {
        Role::Plain => String::new(),
        Role::Syntax(syntax) => format!("{syntax:?}"),
        role => format!("{role:?}"),
    };
    match role.to_lowercase() + &marks {
        look if look.is_empty() => span.text().to_owned(),
        look => format!("⟨{look}:{}⟩", span.text()),
    }
}
