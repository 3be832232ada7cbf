use html5gum::{DefaultEmitter, Token, Tokenizer};
use url::Url;

use super::Markdown;
use super::block::{Blocks, Gap};
use super::inline::{Inline, Span, fence};
use super::table::Table;
use super::tag::{Attributes, attribute, is_block, is_hidden, is_void, language, role};

/// Lists within each other whose numbers are kept.
const MAX_LISTS: usize = 32;
/// Quotes and items within each other that are kept open; what is deeper stands at the same place.
const MAX_OPEN: usize = 64;
/// Characters of an address.
const MAX_LINK: usize = 1_000;

/// What of a page is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Keep {
    /// What a reader came for.
    Main,
    /// Navigation and hidden parts too.
    All,
    /// The words alone, without any mark.
    Words,
}

/// A page that was walked over.
pub(super) struct Walked {
    pub(super) page: Markdown,
    /// Whether something that is left out never ended.
    pub(super) left_open: bool,
}

/// The way through a page, token by token.
pub(super) struct Walk<'a> {
    keep: Keep,
    base: Option<Url>,
    page_base: &'a Url,
    blocks: Blocks,
    line: Inline,
    lists: Vec<List>,
    /// Quotes and items that are open, the innermost last.
    open: Vec<Opened>,
    /// Quotes that were too deep to be opened.
    unopened: usize,
    heading: Option<usize>,
    pre: Option<Pre>,
    table: Option<Table>,
    skipped: Option<Skipped>,
    title: Option<String>,
    description: Option<String>,
    in_title: bool,
    main: Part,
    article: Part,
}

struct List {
    /// The next number; none where there are only dots.
    number: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Opened {
    Quote,
    Item,
}

struct Pre {
    text: String,
    language: String,
}

/// What is left out, until as many ends of its name have come as beginnings.
struct Skipped {
    name: Vec<u8>,
    depth: usize,
}

/// Where a part of the page stands in what is written.
#[derive(Default)]
struct Part {
    from: Option<usize>,
    to: Option<usize>,
    depth: usize,
    /// How many there are.
    count: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn over(html: &str, base: &'a Url, max_chars: usize, keep: Keep) -> Walked {
        let mut walk = Self {
            keep,
            base: None,
            page_base: base,
            blocks: Blocks::default(),
            line: Inline::default(),
            lists: Vec::new(),
            open: Vec::new(),
            unopened: 0,
            heading: None,
            pre: None,
            table: None,
            skipped: None,
            title: None,
            description: None,
            in_title: false,
            main: Part::default(),
            article: Part::default(),
        };
        let mut emitter = DefaultEmitter::default();
        emitter.naively_switch_states(true);
        // A character has four bytes at most; what is not the main part is dropped later.
        let room = max_chars.saturating_mul(4).saturating_add(1 << 20);
        let mut cut = false;
        for Ok(token) in Tokenizer::new_with_emitter(html, emitter) {
            match token {
                Token::StartTag(tag) => walk.start(&tag.name, &tag.attributes, tag.self_closing),
                Token::EndTag(tag) => walk.end(&tag.name),
                Token::String(text) => walk.text(&String::from_utf8_lossy(&text)),
                Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
            }
            if walk.blocks.length() > room {
                cut = true;
                break;
            }
        }
        walk.finish(max_chars, cut)
    }

    fn start(&mut self, name: &[u8], attributes: &Attributes, self_closing: bool) {
        if let Some(skipped) = &mut self.skipped {
            if skipped.name == name && !self_closing {
                skipped.depth += 1;
            }
            return;
        }
        if !is_void(name) && !self_closing && self.leaves_out(name, attributes) {
            if is_block(name) {
                self.flush();
            }
            self.skipped = Some(Skipped { name: name.to_owned(), depth: 1 });
            return;
        }
        if let Some(pre) = &mut self.pre {
            match name {
                b"br" => pre.text.push('\n'),
                b"code" if pre.language.is_empty() => pre.language = language(attributes),
                _ => {}
            }
            return;
        }
        if let Some(span) = self.span(name, attributes) {
            // Links do not stand within each other: the first was not ended.
            if matches!(span, Span::Link(_)) {
                self.line.close(|open| matches!(open, Span::Link(_)));
            }
            self.line.open(span);
            return;
        }
        match name {
            b"title" => self.in_title = self.title.is_none(),
            b"base" => {
                self.base = attribute(attributes, b"href").and_then(|to| self.page_base.join(&to).ok())
            }
            b"meta" => self.meta(attributes),
            b"br" => self.line_break(),
            b"wbr" => {}
            b"hr" => self.rule(),
            b"img" => self.image(attributes),
            b"input" => self.checkbox(attributes),
            b"td" | b"th" | b"tr" | b"table" | b"thead" | b"tbody" | b"tfoot" | b"caption" => {
                self.start_table(name)
            }
            b"ul" | b"ol" | b"menu" => self.start_list(name, attributes),
            b"li" => self.start_item(),
            b"dd" => self.start_definition(),
            b"blockquote" => {
                self.boundary(Gap::Blank);
                if self.table.is_some() || self.open.len() >= MAX_OPEN {
                    self.unopened += 1;
                } else {
                    self.blocks.open_quote();
                    self.open.push(Opened::Quote);
                }
            }
            b"pre" | b"listing" | b"xmp" => {
                self.boundary(Gap::Blank);
                self.pre = Some(Pre { text: String::new(), language: language(attributes) });
            }
            [b'h', level @ b'1'..=b'6'] => {
                self.boundary(Gap::Blank);
                self.heading = Some(usize::from(level - b'0'));
            }
            b"main" | b"article" => {
                self.boundary(Gap::Blank);
                let at = self.blocks.length();
                self.part(name).open(at);
            }
            _ if role(attributes, "main") => self.boundary(Gap::Blank),
            _ if is_block(name) => self.boundary(gap(name, &self.blocks)),
            _ => {}
        }
    }

    fn end(&mut self, name: &[u8]) {
        if let Some(skipped) = &mut self.skipped {
            if skipped.name == name {
                skipped.depth -= 1;
                if skipped.depth == 0 {
                    self.skipped = None;
                }
            }
            return;
        }
        match name {
            b"title" => self.in_title = false,
            b"pre" | b"listing" | b"xmp" => self.end_pre(),
            _ if self.pre.is_some() => {}
            b"a" => self.line.close(|open| matches!(open, Span::Link(_))),
            b"b" | b"strong" => self.line.close(|open| *open == Span::Strong),
            b"i" | b"em" => self.line.close(|open| *open == Span::Emphasis),
            b"s" | b"del" | b"strike" => self.line.close(|open| *open == Span::Struck),
            b"code" | b"kbd" | b"samp" | b"tt" => self.line.close(|open| *open == Span::Code),
            b"td" | b"th" | b"tr" | b"table" | b"caption" => self.end_table(name),
            b"ul" | b"ol" | b"menu" => {
                self.close_items();
                self.lists.pop();
                self.boundary(if self.lists.is_empty() { Gap::Blank } else { Gap::Line });
            }
            b"li" => self.close_items(),
            b"blockquote" => {
                self.flush();
                match self.unopened.checked_sub(1) {
                    Some(fewer) => self.unopened = fewer,
                    None => self.close_to(Opened::Quote),
                }
                self.boundary(Gap::Blank);
            }
            [b'h', b'1'..=b'6'] => {
                self.flush();
                self.heading = None;
                self.boundary(Gap::Blank);
            }
            b"main" | b"article" => {
                self.boundary(Gap::Blank);
                let at = self.blocks.length();
                self.part(name).close(at);
            }
            _ if is_block(name) => self.boundary(gap(name, &self.blocks)),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_title {
            self.title = self.title.take().or_else(|| super::in_brief(text));
            if self.keep != Keep::Words {
                return;
            }
        }
        if self.skipped.is_some() {
            return;
        }
        match &mut self.pre {
            Some(pre) => pre.text.push_str(text),
            None => self.line.add(text),
        }
    }

    fn finish(mut self, max_chars: usize, mut cut: bool) -> Walked {
        self.end_pre();
        while self.table.is_some() {
            self.end_table(b"table");
        }
        self.flush();
        let length = self.blocks.length();
        self.main.close(length);
        self.article.close(length);
        let left_open = self.skipped.is_some();
        let (main, article) = (self.main, self.article);
        let all = self.blocks.into_text();
        let chosen = if self.keep == Keep::Main { chosen(&all, &main, &article) } else { &all };
        let mut text = chosen.trim_matches('\n').to_owned();
        if let Some((end, _)) = text.char_indices().nth(max_chars) {
            text.truncate(end);
            cut = true;
        }
        let page = Markdown { title: self.title, description: self.description, text, cut };
        Walked { page, left_open }
    }

    fn part(&mut self, name: &[u8]) -> &mut Part {
        if name == b"main" { &mut self.main } else { &mut self.article }
    }

    /// Whether an element and all in it is left out.
    fn leaves_out(&self, name: &[u8], attributes: &Attributes) -> bool {
        match name {
            b"script" | b"style" | b"template" | b"svg" | b"math" | b"iframe" | b"object" | b"canvas"
            | b"audio" | b"video" | b"noscript" | b"noembed" | b"noframes" | b"select" | b"textarea"
            | b"datalist" => true,
            _ if self.keep != Keep::Main => false,
            b"nav" | b"button" | b"dialog" => true,
            // A part may have a head and a foot of its own, with what it is about.
            b"footer" | b"header" => self.main.depth == 0 && self.article.depth == 0 && name == b"footer",
            _ => is_hidden(attributes) || role(attributes, "navigation"),
        }
    }

    fn span(&mut self, name: &[u8], attributes: &Attributes) -> Option<Span> {
        if self.keep == Keep::Words {
            return None;
        }
        match name {
            b"b" | b"strong" if self.heading.is_none() => Some(Span::Strong),
            b"i" | b"em" => Some(Span::Emphasis),
            b"s" | b"del" | b"strike" => Some(Span::Struck),
            b"code" | b"kbd" | b"samp" | b"tt" => Some(Span::Code),
            b"a" => Some(Span::Link(attribute(attributes, b"href").and_then(|to| self.link(&to)))),
            _ => None,
        }
    }

    /// Where a link leads, if that is of use to a reader.
    fn link(&self, to: &str) -> Option<String> {
        let to = to.trim();
        if to.is_empty() || to.starts_with('#') {
            return None;
        }
        let url = self.base.as_ref().unwrap_or(self.page_base).join(to).ok()?;
        let readable = matches!(url.scheme(), "http" | "https" | "mailto" | "ftp");
        let text = url.as_str().replace('(', "%28").replace(')', "%29");
        (readable && text.len() <= MAX_LINK).then_some(text)
    }

    fn meta(&mut self, attributes: &Attributes) {
        let named = attribute(attributes, b"name").or_else(|| attribute(attributes, b"property"));
        if self.description.is_none()
            && named.is_some_and(|name| matches!(name.as_str(), "description" | "og:description"))
        {
            self.description = attribute(attributes, b"content").and_then(|text| super::in_brief(&text));
        }
    }

    fn line_break(&mut self) {
        if self.heading.is_some() || self.table.is_some() || self.keep == Keep::Words {
            self.line.add(" ");
        } else {
            self.line.line_break();
        }
    }

    fn rule(&mut self) {
        self.boundary(Gap::Blank);
        if self.table.is_none() && self.keep != Keep::Words {
            self.blocks.write("---");
            self.blocks.want(Gap::Blank);
        }
    }

    fn image(&mut self, attributes: &Attributes) {
        let alt = attribute(attributes, b"alt").unwrap_or_default();
        let alt = alt.split_whitespace().collect::<Vec<_>>().join(" ");
        // A picture that nobody described says nothing as text.
        if alt.is_empty() || self.keep == Keep::Words {
            return;
        }
        match attribute(attributes, b"src").and_then(|from| self.link(&from)) {
            Some(from) => self.line.push(&format!("![{alt}]({from})")),
            None => self.line.push(&format!("![{alt}]")),
        }
    }

    fn checkbox(&mut self, attributes: &Attributes) {
        if attribute(attributes, b"type").is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox"))
            && self.blocks.at_marker()
        {
            self.line.push(if attributes.contains_key(&b"checked"[..]) { "[x] " } else { "[ ] " });
        }
    }

    fn start_list(&mut self, name: &[u8], attributes: &Attributes) {
        self.boundary(if self.lists.is_empty() { Gap::Blank } else { Gap::Line });
        let first = attribute(attributes, b"start").and_then(|start| start.trim().parse().ok()).unwrap_or(1);
        if self.lists.len() < MAX_LISTS {
            self.lists.push(List { number: (name == b"ol").then_some(first) });
        }
    }

    fn start_item(&mut self) {
        // An item ends where the next of the same list begins.
        if self.open.iter().filter(|open| **open == Opened::Item).count() >= self.lists.len().max(1) {
            self.close_items();
        }
        self.flush();
        if self.table.is_some() || self.keep == Keep::Words || self.open.len() >= MAX_OPEN {
            self.line.add(" ");
            return;
        }
        let marker = match self.lists.last_mut().and_then(|list| list.number.as_mut()) {
            Some(number) => {
                let marker = format!("{number}. ");
                *number = number.saturating_add(1);
                marker
            }
            None => "- ".to_owned(),
        };
        self.blocks.open_item(marker);
        self.open.push(Opened::Item);
    }

    /// Ends the innermost item.
    fn close_items(&mut self) {
        self.flush();
        if self.open.last() == Some(&Opened::Item) {
            self.close_to(Opened::Item);
        }
    }

    fn close_to(&mut self, kind: Opened) {
        let Some(at) = self.open.iter().rposition(|open| *open == kind) else { return };
        while self.open.len() > at {
            self.open.pop();
            self.blocks.close();
        }
    }

    fn start_definition(&mut self) {
        self.boundary(Gap::Line);
        if self.table.is_none() && self.keep != Keep::Words {
            self.line.push(": ");
        }
    }

    fn start_table(&mut self, name: &[u8]) {
        if self.keep == Keep::Words {
            self.line.add(" ");
            return;
        }
        match (&mut self.table, name) {
            (None, b"table") => {
                self.boundary(Gap::Blank);
                self.table = Some(Table::default());
            }
            (Some(table), b"table") => {
                table.inner += 1;
                self.line.add(" ");
            }
            (Some(table), _) if table.inner > 0 => self.line.add(" "),
            (Some(_), b"td" | b"th") => {
                self.end_cell();
                if let Some(table) = &mut self.table {
                    table.open_cell();
                }
            }
            (Some(_), _) => {
                self.end_cell();
                if let Some(table) = &mut self.table {
                    table.row();
                }
            }
            // A cell without a table is a paragraph.
            (None, _) => self.boundary(Gap::Line),
        }
    }

    fn end_table(&mut self, name: &[u8]) {
        match (&mut self.table, name) {
            (Some(table), b"table") if table.inner > 0 => {
                table.inner -= 1;
                self.line.add(" ");
            }
            (Some(_), b"table") => {
                self.end_cell();
                self.line.forget();
                for text in self.table.take().map(Table::shown).unwrap_or_default() {
                    self.blocks.want(Gap::Blank);
                    self.blocks.write(&text);
                }
                self.blocks.want(Gap::Blank);
            }
            (Some(table), _) if table.inner > 0 => self.line.add(" "),
            (Some(_), _) => self.end_cell(),
            (None, _) => self.boundary(Gap::Line),
        }
    }

    fn end_cell(&mut self) {
        let text = self.line.take();
        if let Some(table) = &mut self.table
            && (table.is_in_cell() || !text.is_empty())
        {
            table.close_cell(text);
        }
    }

    fn end_pre(&mut self) {
        let Some(Pre { text, language }) = self.pre.take() else { return };
        let text = text.strip_prefix('\n').unwrap_or(&text).trim_end();
        let text = text.replace("\r\n", "\n");
        if text.trim().is_empty() {
            return;
        }
        if self.table.is_some() || self.keep == Keep::Words {
            self.line.open(Span::Code);
            self.line.add(&text);
            self.line.close(|open| *open == Span::Code);
            return;
        }
        let fence = fence(&text, 3);
        self.blocks.want(Gap::Blank);
        self.blocks.write(&format!("{fence}{language}\n{text}\n{fence}"));
        self.blocks.want(Gap::Blank);
    }

    /// Ends the line; the next block keeps so much distance.
    fn boundary(&mut self, gap: Gap) {
        self.flush();
        self.blocks.want(gap);
    }

    fn flush(&mut self) {
        // A cell is one line, whatever blocks stand in it.
        if self.table.is_some() || self.keep == Keep::Words {
            self.line.add(" ");
            if self.table.is_some() {
                return;
            }
        }
        let text = self.line.take();
        if text.is_empty() {
            return;
        }
        match self.heading {
            Some(level) => {
                // Many pages put a sign behind each heading that links to it.
                let text = text.replace('\n', " ");
                let text = text.trim_end_matches(['¶', '§', '#', ' ', '\u{1f517}']);
                self.blocks.write(&format!("{} {text}", "#".repeat(level)));
            }
            None => self.blocks.write(&text),
        }
    }
}

impl Part {
    fn open(&mut self, at: usize) {
        self.depth += 1;
        if self.depth == 1 {
            self.count += 1;
            self.from.get_or_insert(at);
        }
    }

    fn close(&mut self, at: usize) {
        if self.depth == 1 {
            self.to = Some(at);
        }
        self.depth = self.depth.saturating_sub(1);
    }

    fn of<'a>(&self, all: &'a str) -> Option<&'a str> {
        all.get(self.from?..self.to?)
    }
}

/// The part that a reader came for: the main one, or the only article where it is most of the page, else all of it.
fn chosen<'a>(all: &'a str, main: &Part, article: &Part) -> &'a str {
    let enough = |text: &&str| text.len() >= super::FEW && text.len() * 5 >= all.len();
    let most = |text: &&str| text.len() * 2 >= all.len();
    let main = main.of(all).filter(enough);
    let article = article.of(all).filter(|text| article.count == 1 && enough(text) && most(text));
    main.or(article).unwrap_or(all)
}

fn gap(name: &[u8], blocks: &Blocks) -> Gap {
    match name {
        b"p" | b"dt" | b"figure" | b"section" | b"details" | b"address" | b"fieldset"
            if !blocks.is_in_item() =>
        {
            Gap::Blank
        }
        b"p" => Gap::Blank,
        b"div" if !blocks.is_in_item() => Gap::Blank,
        _ => Gap::Line,
    }
}
