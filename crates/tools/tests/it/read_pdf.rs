//! `read_pdf`, and `read_file` on PDFs: files of other programs, and a model that notes what it was asked.

use std::path::Path;
use std::sync::{Arc, Mutex};

use rail_model::{Part, PartBody};
use rail_testkit::Pdfs;
use rail_tool::{BoxFuture, End, Inquired, Inquiry, Models, Told, ToolEvent};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::scratch::Scratch;

/// A model that sees, what it says, and what it was asked.
#[derive(Clone, Debug)]
struct Seeing(Arc<Mutex<Vec<Inquiry>>>, &'static str);

impl Default for Seeing {
    fn default() -> Self {
        Self(Arc::default(), "what it saw")
    }
}

impl Models for Seeing {
    fn ask<'a>(&'a self, inquiry: Inquiry, _: &'a CancellationToken) -> BoxFuture<'a, Result<Told, String>> {
        self.0.lock().unwrap().push(inquiry);
        let told =
            Told { text: self.1.to_owned(), model: "some/model".to_owned(), stop: rail_model::Stop::EndTurn };
        Box::pin(std::future::ready(Ok(told)))
    }
}

impl Seeing {
    fn asked(&self) -> Vec<Inquiry> {
        self.0.lock().unwrap().clone()
    }
}

fn pdfs() -> Option<Pdfs> {
    rail_testkit::pdfs(Path::new(env!("CARGO_TARGET_TMPDIR")))
}

fn with(pdfs: &Pdfs, name: &str, models: &Seeing) -> Scratch {
    let scratch = Scratch::with(|session| session.models = Arc::new(models.clone()));
    scratch.write("a.pdf", pdfs.bytes(name));
    scratch
}

fn images(parts: &[Part]) -> usize {
    parts.iter().filter(|part| matches!(part.body, PartBody::Media(_))).count()
}

#[test]
fn the_text_comes_page_by_page() {
    let Some(pdfs) = pdfs() else { return };
    let models = Seeing::default();
    let scratch = with(&pdfs, "long", &models);
    let said = pdfs.said("long");
    let read = |pages: &str| {
        scratch.says("read_pdf", &json!({ "file_path": scratch.path("a.pdf"), "pages": pages }))
    };
    assert_eq!(
        read("299-"),
        format!(
            "ok: ## Page 299 of 300\n\n{}\n\n## Page 300 of 300\n\n{}\n\n[pages 299-300 of 300 in all]",
            said[298], said[299]
        )
    );
    let all = scratch.says("read_pdf", &json!({ "file_path": scratch.path("a.pdf") }));
    assert!(
        all.ends_with("[pages 1-50 of 300 in all; go on with `pages` \"51-300\"]"),
        "{}",
        &all[all.len() - 100..]
    );
    assert_eq!(read("0"), "error: `pages`: there is no page 0; pages count from 1");
    assert_eq!(
        read("301-"),
        "error: the PDF has 300 pages, so there is no page `301-`; ask for `pages` up to 300"
    );
    assert_eq!(models.asked(), []);
}

#[test]
fn scanned_pages_are_shown_to_a_vision_model() {
    let Some(pdfs) = pdfs() else { return };
    let models = Seeing::default();
    let scratch = with(&pdfs, "scan", &models);
    let said = scratch.says("read_pdf", &json!({ "file_path": scratch.path("a.pdf") }));
    assert_eq!(said, "ok: what it saw\n\n[2 pages in all; read from pictures of the pages by some/model]");
    let asked = models.asked();
    let [Inquiry { to: Inquired::Document, parts, .. }] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(images(parts), 2);
    let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
    assert!(texts[0].starts_with("Transcribe these pages faithfully"), "{texts:?}");
    assert_eq!(texts[1..], ["## Page 1 of 2", "## Page 2 of 2"]);
}

#[test]
fn only_scanned_pages_are_shown_and_all_pages_stay_in_their_order() {
    let Some(pdfs) = pdfs() else { return };
    let by_page = "## Page 2 of 5\n\nSCANNED TWO\n\n## Page 4 of 5\n\nSCANNED FOUR";
    let said = pdfs.said("mixed");
    for (answer, seen, below) in [
        (
            by_page,
            [
                "[on a picture of this page:]\n\nSCANNED TWO".to_owned(),
                format!("{}\n\n[on a picture of this page:]\n\nSCANNED FOUR", said[3]),
            ],
            "",
        ),
        (
            "Two and four.",
            [
                "[what was seen on a picture of this page is below]".to_owned(),
                format!("{}\n\n[what was seen on a picture of this page is below]", said[3]),
            ],
            "## On pictures of pages 2,4\n\nTwo and four.\n\n",
        ),
    ] {
        let models = Seeing(Arc::default(), answer);
        let scratch = with(&pdfs, "mixed", &models);
        let read = scratch.says("read_pdf", &json!({ "file_path": scratch.path("a.pdf") }));
        let [two, four] = seen;
        let pages = [&said[0], &two, &said[2], &four, &said[4]];
        let pages = pages.iter().zip(1..).map(|(text, page)| format!("## Page {page} of 5\n\n{text}\n\n"));
        let expected = format!(
            "ok: {}{below}[5 pages in all; pictures of pages 2,4 were read by some/model]",
            pages.collect::<String>()
        );
        assert_eq!(read, expected);
        let asked = models.asked();
        let texts: Vec<&str> = asked[0].parts.iter().skip(1).filter_map(Part::as_text).collect();
        assert_eq!((images(&asked[0].parts), texts), (2, vec!["## Page 2 of 5", "## Page 4 of 5"]));
    }
    // Nothing behind a page that nobody looked at is told before it.
    let models = Seeing(Arc::default(), "## Page 2 of 5\nSCANNED TWO");
    let scratch = Scratch::with(|session| {
        session.models = Arc::new(models.clone());
        session.limits.read.pdf_vision_pages = 1;
    });
    scratch.write("a.pdf", pdfs.bytes("mixed"));
    let read = scratch.says("read_pdf", &json!({ "file_path": scratch.path("a.pdf") }));
    let end =
        "[pages 1-3 of 5 in all; go on with `pages` \"4-5\"; pictures of page 2 were read by some/model]";
    assert!(read.contains("## Page 3 of 5") && read.ends_with(end), "{read}");
    let said = Scratch::new();
    said.write("a.pdf", pdfs.bytes("mixed"));
    let read = said.says("read_pdf", &json!({ "file_path": said.path("a.pdf") }));
    assert!(read.contains("\n[pages 2,4 have little or no text, so they are probably scanned; "), "{read}");
}

#[test]
fn a_vision_model_can_be_asked_something_else_about_any_page() {
    let Some(pdfs) = pdfs() else { return };
    let models = Seeing::default();
    let scratch = with(&pdfs, "long", &models);
    let input = json!({ "file_path": scratch.path("a.pdf"), "pages": "3-40", "force_vision": true, "prompt": "Any box?" });
    let said = scratch.says("read_pdf", &input);
    assert_eq!(
        said,
        "ok: what it saw\n\n[pages 3-12 of 300 in all; go on with `pages` \"13-40\"; read from pictures of the pages by some/model]"
    );
    let asked = models.asked();
    assert_eq!((images(&asked[0].parts), asked[0].parts[0].as_text()), (10, Some("Any box?")));
}

/// A PDF of so many pages without a letter; its table of places is left out, which readers make again.
fn blank(pages: usize) -> String {
    let kids: Vec<String> = (0..pages).map(|page| format!("{} 0 R", page + 3)).collect();
    let page = |page: usize| {
        format!("{} 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 300 200]>> endobj\n", page + 3)
    };
    format!(
        "%PDF-1.4\n1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj\n2 0 obj <</Type /Pages /Kids [{}] /Count {pages}>> endobj\n{}trailer <</Root 1 0 R>>\n",
        kids.join(" "),
        (0..pages).map(page).collect::<String>()
    )
}

#[tokio::test]
async fn pages_were_drawn_after_the_call_was_cancelled() {
    let models = Seeing::default();
    let scratch = Scratch::with(|session| session.models = Arc::new(models.clone()));
    scratch.write("a.pdf", blank(8));
    let input = json!({ "file_path": scratch.path("a.pdf") });
    let (cancel, stop) = (CancellationToken::new(), CancellationToken::new());
    let at = cancel.clone();
    scratch.events.at_each(move |event| {
        if matches!(event, ToolEvent::Progress { text, .. } if text == "draws page 2 of 8") {
            at.cancel();
        }
    });
    let outcome = scratch.call("read_pdf", &input, &cancel).await;
    let said = "the PDF was not read to its end: the call was cancelled";
    assert_eq!((outcome.end, outcome.text().as_str()), (End::Cancelled, said));
    let drawn =
        |event: &ToolEvent| matches!(event, ToolEvent::Progress { text, .. } if text.starts_with("draws"));
    assert_eq!(scratch.events.all().iter().filter(|event| drawn(event)).count(), 2);
    assert_eq!(models.asked(), []);
    // All of them otherwise.
    assert_eq!(scratch.call("read_pdf", &input, &stop).await.end, End::Done);
    assert_eq!(images(&models.asked()[0].parts), 8);
}

#[test]
fn without_a_vision_model_it_is_said_what_is_missing() {
    let Some(pdfs) = pdfs() else { return };
    let scratch = Scratch::new();
    scratch.write("a.pdf", pdfs.bytes("scan"));
    let said = scratch.says("read_pdf", &json!({ "file_path": scratch.path("a.pdf") }));
    insta::assert_snapshot!(said, @"
    ok: ## Page 1 of 2

    [no text on this page]

    ## Page 2 of 2

    [no text on this page]

    [2 pages in all]
    [these pages have little or no text, so they are probably scanned; what is above is all the text there is. No vision model read them: no model can be asked here. Tell the user that this needs a model that sees images: `OPENROUTER_API_KEY` in the environment, or one in the configuration (`rail init`)]
    ");
}

#[test]
fn what_cannot_be_read_says_what_to_do() {
    let Some(pdfs) = pdfs() else { return };
    let scratch = Scratch::with(|session| session.limits.read.pdf_bytes = 2_000_000);
    scratch.write("report.pdf", b"%PDF-1.4 and nothing more");
    scratch.write("locked.pdf", pdfs.bytes("password"));
    scratch.write("bomb.pdf", pdfs.bytes("bomb"));
    scratch.write("large.pdf", [b"%PDF-1.4".as_slice(), &[b' '; 2_202_000]].concat());
    let says: Vec<String> = ["locked.pdf", "report.pdf", "bomb.pdf", "large.pdf", "reprot.pdf"]
        .map(|name| scratch.says("read_pdf", &json!({ "file_path": scratch.path(name) })))
        .to_vec();
    insta::assert_snapshot!(says.join("\n"), @"
    error: `{workspace}/locked.pdf` can't be read: the PDF is encrypted and needs a password; ask the user for the password and decrypt a copy through `bash` (`qpdf --decrypt --password=PASSWORD '{workspace}/locked.pdf' open.pdf`), then read that
    error: `{workspace}/report.pdf` can't be read: the PDF is damaged or cut: no page can be found in it; get it again from where it comes, or try to repair a copy through `bash` (`qpdf '{workspace}/report.pdf' repaired.pdf`)
    error: `{workspace}/bomb.pdf` can't be read: the PDF has a stream that unpacks to gigabytes, which is more than is read
    error: the PDF `{workspace}/large.pdf` has 2 MiB, more than the 1.9 MiB that are read; take the pages you need out of it through `bash` (`qpdf '{workspace}/large.pdf' --pages . 1-20 -- part.pdf`) and read those
    error: there is no file `{workspace}/reprot.pdf`; did you mean `{workspace}/report.pdf`?
    ");
}

#[test]
fn read_file_reads_a_pdf_the_same_way() {
    let Some(pdfs) = pdfs() else { return };
    let scratch = Scratch::new();
    let text = pdfs.said("columns");
    scratch.write("a.pdf", pdfs.bytes("columns"));
    let said =
        scratch.says("read_file", &json!({ "file_path": scratch.path("a.pdf"), "pages": "2", "offset": 7 }));
    let expected = format!(
        "ok: ## Page 2 of 2\n\n{}\n\n[page 2 of 2 in all]\n[`read_pdf` reads pages of your choice, and shows figures to a vision model]",
        text[1]
    );
    assert_eq!(said, expected);
    scratch.write("scan.pdf", pdfs.bytes("scan"));
    let said = scratch.says("read_file", &json!({ "file_path": scratch.path("scan.pdf") }));
    assert!(said.ends_with("[these pages have little or no text, so they are probably scanned: `read_pdf` has a vision model look at them]"), "{said}");
}
