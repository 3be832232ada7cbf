//! HTML to Markdown.

use proptest::prelude::*;
use rail_web::html::{Markdown, markdown, plain};
use url::Url;

fn read(html: &str) -> Markdown {
    markdown(html, &Url::parse("https://docs.example/guide/start?x=1").unwrap(), 1_000_000)
}

#[test]
fn a_page_as_readers_see_it() {
    let page = read(include_str!("pages/guide.html"));
    assert_eq!(page.title.as_deref(), Some("Guide & more"));
    assert_eq!(page.description.as_deref(), Some("How to begin."));
    insta::assert_snapshot!(page.text);
}

#[test]
fn small_things() {
    for (html, expected) in [
        ("a<b>b</b> <i> c </i>d", "a**b** *c* d"),
        ("<p>one<p>two", "one\n\ntwo"),
        (
            "<a href=/x>y</a> <a href='#z'>z</a> <a href='javascript:a()'>j</a>",
            "[y](https://docs.example/x) z j",
        ),
        ("<base href='https://b.example/d/'><a href=e>f</a>", "[f](https://b.example/d/e)"),
        ("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>e", "- a\n- b\n  - c\n- d\n\ne"),
        ("<ol start=3><li><p>a</p><p>b</p></li><li>c</ol>", "3. a\n\n   b\n\n4. c"),
        ("<blockquote>a<p>b</blockquote>c", "> a\n>\n> b\n\nc"),
        ("<pre><code class='language-rust'>\nfn  main() {}\n</code></pre>", "```rust\nfn  main() {}\n```"),
        ("<pre>```\n</pre>", "````\n```\n````"),
        ("x <code>a`b</code>", "x ``a`b``"),
        (
            "<table><tr><th>a<th>b<tr><td>1|2<td><p>3</p><p>4</p></table>",
            "| a | b |\n| --- | --- |\n| 1\\|2 | 3 4 |",
        ),
        ("<table><tr><td><table><tr><td>in<td>ner</table><td>out</table>", "| in ner | out |\n| --- | --- |"),
        ("<table><tr><td>layout</table>", "layout"),
        ("<h2>Title <a href=#t>¶</a></h2>text", "## Title\n\ntext"),
        ("a<br>b<hr>c", "a\nb\n\n---\n\nc"),
        ("<img alt='a  b' src=p.png><img src=q.png>", "![a b](https://docs.example/guide/p.png)"),
        ("<ul><li><input type=checkbox checked> done</ul>", "- [x] done"),
        ("&lt;b&gt; &amp;amp; &#x41; &nbsp;x", "<b> &amp; A \u{a0}x"),
        ("<dl><dt>a<dd>b</dl>", "a\n: b"),
        ("a<script>if (1 < 2) {}</script><style>p{}</style><!-- c -->b", "ab"),
        ("<p hidden>x</p><p style='display: none'>y</p><div aria-hidden=true>z</div>seen", "seen"),
        ("<p style='opacity:0.5'>seen</p>", "seen"),
        ("a\u{200b}b\u{e0041}", "ab"),
        ("</p></div></table></li></ul>a", "a"),
        (
            "<a href=/x><h3>head</h3><p>text</p></a>",
            "### [head](https://docs.example/x)\n\n[text](https://docs.example/x)",
        ),
        ("", ""),
    ] {
        assert_eq!(read(html).text, expected, "{html}");
    }
}

#[test]
fn something_left_out_that_never_ends_takes_nothing_with_it() {
    assert_eq!(read("<nav>menu<p>The text of the page.").text, "menu\n\nThe text of the page.");
    assert_eq!(read("<ul><li hidden>a<li>b</ul>").text, "- a\n- b");
}

#[test]
fn the_main_part_is_what_is_given() {
    let long = "word ".repeat(60);
    let text = read(&format!("<body>around<main><h1>Main</h1>{long}</main>after")).text;
    assert!(
        text.starts_with("# Main\n\nword") && !text.contains("around") && !text.contains("after"),
        "{text}"
    );
    let all = read("<body>around<main>little</main>after").text;
    assert_eq!(all, "around\n\nlittle\n\nafter");
}

#[test]
fn no_page_is_too_deep() {
    for tag in [
        "div",
        "b",
        "a href=/x",
        "ul><li",
        "blockquote",
        "table><tr><td",
        "section",
        "nav",
        "ol><li><p",
        "svg",
        "dl><dd",
    ] {
        // One of them as long as a page may be; what is not linear would show with the others.
        let bytes = if tag == "div" { 5_000_000 } else { 300_000 };
        let opened = format!("<{tag}>").repeat(bytes / (tag.len() + 2));
        let page = read(&format!("{opened}deep"));
        assert!(page.text.len() <= bytes, "{tag}: {}", page.text.len());
        let page = read(&format!("{opened}{}", "<li>x<p>y".repeat(5_000)));
        assert!(page.text.len() <= bytes * 4, "{tag}: {}", page.text.len());
    }
}

#[test]
fn a_title_without_end_was_given_whole() {
    let long = "word\u{1b}[2J ".repeat(100_000);
    let page = read(&format!("<title>{long}</title><meta name=description content=\"{long}\"><p>text"));
    for said in [page.title, page.description] {
        let said = said.unwrap_or_default();
        assert!(said.starts_with("word [2J word") && said.chars().count() == 300, "{said}");
    }
    assert_eq!(page.text, "text");
}

#[test]
fn words_alone() {
    assert_eq!(plain("<strong>Rust</strong> &amp; <em>friends</em>&#39;s\n guide"), "Rust & friends's guide");
    assert_eq!(plain("a < b and c > d"), "a < b and c > d");
}

proptest! {
    /// Whatever a page holds, it ends, within what was asked for, and says nothing that the page does not.
    #[test]
    fn any_page_is_some_text(html in page(), chars in 0_usize..200) {
        let base = Url::parse("https://docs.example/").unwrap();
        let text = markdown(&html, &base, chars).text;
        prop_assert!(text.chars().count() <= chars);
        // In a title or a text field a script is text, and behind an open `<` it is part of that tag's name.
        let is_text = html.contains("<title") || html.contains("<textarea") || within_a_tag(&html);
        prop_assert!(!text.contains("never shown") || is_text);
        let _ = plain(&html);
    }
}

/// Whether a script begins inside of a tag that was not closed.
fn within_a_tag(html: &str) -> bool {
    let before = html.match_indices("<script").map(|(at, _)| &html[..at]);
    before.into_iter().any(|before| before.rfind('<') > before.rfind('>'))
}

fn page() -> impl Strategy<Value = String> {
    let tag = prop::sample::select(vec![
        "p",
        "div",
        "ul",
        "ol",
        "li",
        "table",
        "tr",
        "td",
        "th",
        "pre",
        "code",
        "a href=x",
        "b",
        "i",
        "h1",
        "h6",
        "br",
        "hr",
        "blockquote",
        "main",
        "article",
        "nav",
        "footer",
        "svg",
        "title",
        "dl",
        "dt",
        "dd",
        "img alt=a",
        "input type=checkbox",
        "textarea",
        "caption",
        "p hidden",
        "li hidden",
        "base href='/y/'",
        "meta charset=x",
    ]);
    let piece = prop_oneof![
        tag.clone().prop_map(|tag| format!("<{tag}>")),
        tag.prop_map(|tag| format!("</{}>", tag.split(' ').next().unwrap_or_default())),
        "[a-zäß`|\\[\\]*>&; \n]{0,8}",
        Just("<script>never shown</script>".to_owned()),
        "\\PC{0,6}",
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}
