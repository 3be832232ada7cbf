use memchr::memchr;

use super::answer;
use super::args::Params;
use super::cx::Cx;
use super::marks::{self, Dialect, Mark, Newlines, Syntax};

/// How a value of raw text ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ended {
    /// By its closer, which is passed.
    Closed,
    /// By something that can only follow a value; it is at the cursor.
    Unclosed,
    /// With the text.
    Over,
}

/// A value of raw text that goes to a call's parameters as it comes.
pub(super) struct Raw<'a> {
    pub(super) dialect: &'a Dialect,
    /// The namespace of the parameter's tag.
    pub(super) space: &'a str,
    /// Blanks were left in the way tokenizers write them.
    pub(super) residue: bool,
}

impl Raw<'_> {
    /// Reads a value up to its end. A closer ends it only where something follows that can follow a value, so that a closer
    /// which belongs to the value stays in it.
    pub(super) async fn read(&self, cx: &mut Cx, params: &mut Params) -> Ended {
        let mut edges = Edges::new(self.dialect.newlines);
        let mut inner = Inner::default();
        loop {
            let next = memchr(b'<', cx.rest().as_bytes());
            let length = next.unwrap_or(cx.rest().len());
            self.pass(cx, length, &mut edges, params);
            if next.is_none() {
                if cx.more().await {
                    continue;
                }
                return Ended::Over;
            }
            if let Some(ended) = self.ends(cx, &edges, &mut inner, params).await {
                if ended == Ended::Unclosed && inner.any {
                    // Whether calls in it belong to it or come after it, nobody can tell.
                    return Ended::Over;
                }
                edges.end(cx, params, ended);
                return ended;
            }
            self.pass(cx, 1, &mut edges, params);
        }
    }

    /// Reads a value in `<![CDATA[` and `]]>`, which are no part of it. None, and nothing moved, when it is not so written.
    pub(super) async fn read_cdata(&self, cx: &mut Cx, params: &mut Params) -> Option<Ended> {
        if self.dialect.syntax != Syntax::Residue || !cx.take("<![CDATA[").await {
            return None;
        }
        let mut edges = Edges::new(Newlines::Verbatim);
        loop {
            let next = memchr(b']', cx.rest().as_bytes());
            let length = next.unwrap_or(cx.rest().len());
            self.pass(cx, length, &mut edges, params);
            if next.is_none() {
                if cx.more().await {
                    continue;
                }
                return Some(Ended::Over);
            }
            let from = cx.at();
            if cx.take("]]>").await {
                marks::blanks(cx, self.dialect).await;
                let closer = marks::mark(cx, self.dialect).await;
                let after = cx.at();
                if matches!(closer, Some(Mark::Unparam { .. })) && self.can_follow_value(cx).await {
                    cx.rewind(after);
                    edges.end(cx, params, Ended::Closed);
                    return Some(Ended::Closed);
                }
                cx.rewind(from);
            }
            self.pass(cx, 1, &mut edges, params);
        }
    }

    /// Moves over text that belongs to the value.
    fn pass(&self, cx: &mut Cx, length: usize, edges: &mut Edges, params: &mut Params) {
        let text = cx.slice(cx.at(), cx.at() + length).to_owned();
        cx.advance(length);
        let text = if self.residue { marks::without_residue(&text) } else { text };
        edges.text(cx, &text, params);
    }

    /// Whether the value ends at the `<` at the cursor; if so, its closer is passed.
    async fn ends(&self, cx: &mut Cx, edges: &Edges, inner: &mut Inner, params: &Params) -> Option<Ended> {
        let from = cx.at();
        let mark = marks::mark(cx, self.dialect).await?;
        let after = cx.at();
        if self.begins_call(cx, &mark).await {
            inner.open += 1;
            inner.any = true;
            cx.rewind(from);
            return None;
        }
        cx.rewind(after);
        if inner.has(&mark) {
            cx.rewind(from);
            return None;
        }
        let ended = match mark {
            Mark::Unparam { space } if space == self.space && self.can_follow_value(cx).await => {
                Some(Ended::Closed)
            }
            Mark::Param { key, .. } if self.breaks_off(edges, params.awaits(cx, &key)) => {
                Some(Ended::Unclosed)
            }
            Mark::Uncall | Mark::Unwrap if self.ends_all(cx).await => Some(Ended::Unclosed),
            Mark::Unparam { .. }
            | Mark::Param { .. }
            | Mark::Uncall
            | Mark::Unwrap
            | Mark::Wrap
            | Mark::Call(_) => None,
        };
        cx.rewind(if ended == Some(Ended::Closed) { after } else { from });
        ended
    }

    /// Whether a mark, which was just passed, begins a call that stands in the value, say as an example: then closers up to
    /// its own belong to it.
    async fn begins_call(&self, cx: &mut Cx, mark: &Mark) -> bool {
        match mark {
            Mark::Call(head) if head.name.is_some() && !head.whole => {}
            Mark::Wrap if self.dialect.syntax == Syntax::Keys => {
                cx.blanks().await;
                if marks::word(cx).await.is_none() {
                    return false;
                }
            }
            Mark::Call(_)
            | Mark::Wrap
            | Mark::Unwrap
            | Mark::Uncall
            | Mark::Param { .. }
            | Mark::Unparam { .. } => return false,
        }
        marks::blanks(cx, self.dialect).await;
        matches!(marks::mark(cx, self.dialect).await, Some(Mark::Param { .. } | Mark::Uncall))
    }

    /// Whether the tag of another parameter ends this one although it was not closed: the tool must wait for that one, and
    /// its tag begin a line where the value did. Where nothing is known of the tool, only the line tells.
    fn breaks_off(&self, edges: &Edges, awaited: Option<bool>) -> bool {
        match awaited {
            Some(awaited) => awaited && (edges.breaks || !edges.began_line),
            None => edges.breaks && self.dialect.syntax != Syntax::Legacy,
        }
    }

    /// Whether what comes next can follow a value and its closer.
    async fn can_follow_value(&self, cx: &mut Cx) -> bool {
        marks::blanks(cx, self.dialect).await;
        match marks::mark(cx, self.dialect).await {
            Some(Mark::Param { .. } | Mark::Uncall | Mark::Unwrap | Mark::Wrap) => true,
            Some(Mark::Call(head)) => head.name.is_some_and(|name| cx.tool(&name).is_some()),
            Some(Mark::Unparam { .. }) => false,
            None => ends_text(cx).await,
        }
    }

    /// Whether a closer of more than the value is really meant: nothing may follow it but other closers, the end of the
    /// text, or the next call.
    async fn ends_all(&self, cx: &mut Cx) -> bool {
        for _ in 0..3 {
            marks::blanks(cx, self.dialect).await;
            match marks::mark(cx, self.dialect).await {
                Some(Mark::Uncall | Mark::Unwrap) => {}
                Some(Mark::Wrap) => return true,
                Some(Mark::Call(head)) => return head.name.is_some_and(|name| cx.tool(&name).is_some()),
                Some(Mark::Param { .. } | Mark::Unparam { .. }) => return false,
                None => return ends_text(cx).await,
            }
        }
        false
    }
}

/// Whether only what is left behind calls comes before the end of the text; the cursor moves over it.
pub(super) async fn ends_text(cx: &mut Cx) -> bool {
    // No answer ends with more; a limit, because this is asked again and again in a long value.
    for _ in 0..8 {
        if !answer::one_trailer(cx).await {
            break;
        }
    }
    cx.blanks().await;
    cx.is_over().await
}

/// Calls that stand in a value.
#[derive(Default)]
struct Inner {
    /// How many are not closed yet.
    open: usize,
    /// How many of those things that hold calls are not closed yet.
    wraps: usize,
    /// There were some.
    any: bool,
}

impl Inner {
    /// Whether a mark belongs to a call in the value, or to what holds one.
    fn has(&mut self, mark: &Mark) -> bool {
        match mark {
            Mark::Wrap => self.wraps += 1,
            Mark::Uncall if self.open > 0 => self.open -= 1,
            Mark::Unwrap if self.wraps > 0 => {
                self.wraps -= 1;
                self.open = 0;
            }
            Mark::Uncall | Mark::Unwrap | Mark::Param { .. } | Mark::Unparam { .. } | Mark::Call(_) => {
                return self.open > 0;
            }
        }
        true
    }
}

/// Keeps line ends at the edges of a value back until it is known whether they belong to it.
struct Edges {
    newlines: Newlines,
    /// Nothing came yet.
    fresh: bool,
    /// The format puts values on lines of their own, and this one is.
    began_line: bool,
    /// A line end that may be the last thing.
    held: String,
    /// The whole value so far, where its last character decides about its first.
    whole: Option<String>,
    /// The last character was a line end.
    breaks: bool,
}

impl Edges {
    fn new(newlines: Newlines) -> Self {
        Self { newlines, fresh: true, began_line: false, held: String::new(), whole: None, breaks: false }
    }

    fn text(&mut self, cx: &mut Cx, text: &str, params: &mut Params) {
        if text.is_empty() {
            return;
        }
        self.breaks = text.ends_with('\n');
        let mut joined = std::mem::take(&mut self.held) + text;
        if self.fresh && self.newlines != Newlines::Verbatim {
            // A carriage return alone does not tell yet whether it begins a line end.
            if joined == "\r" {
                self.held = joined;
                return;
            }
            self.fresh = false;
            match self.newlines {
                Newlines::One => {
                    let inner = strip_first(&joined).to_owned();
                    self.began_line = inner.len() < joined.len();
                    joined = inner;
                }
                Newlines::Both if strip_first(&joined).len() < joined.len() => {
                    self.whole = Some(String::new())
                }
                Newlines::Both | Newlines::Verbatim => {}
            }
        }
        if let Some(whole) = &mut self.whole {
            whole.push_str(&joined);
            return;
        }
        let kept = if joined.ends_with('\r') { joined.len() - 1 } else { strip_last(&joined).len() };
        self.held = joined.split_off(kept);
        params.text(cx, &joined);
    }

    /// The value is over. A line end before what stands in place of its closer is the markup's.
    fn end(self, cx: &mut Cx, params: &mut Params, ended: Ended) {
        if let Some(whole) = self.whole {
            let is_wrapped = strip_last(&whole).len() < whole.len();
            params.text(cx, if is_wrapped { strip_last(strip_first(&whole)) } else { &whole });
            return;
        }
        let keeps = self.newlines != Newlines::One && ended == Ended::Closed;
        if keeps || strip_last(&self.held).len() == self.held.len() {
            params.text(cx, &self.held);
        }
    }
}

fn strip_first(text: &str) -> &str {
    text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')).unwrap_or(text)
}

fn strip_last(text: &str) -> &str {
    text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n')).unwrap_or(text)
}
