//! What must hold of any bytes that are taken for a PDF.

use rail_pdf::{Budget, Pdf};

/// Reads and draws the first pages, or has them refused; neither may panic, and both stay within a small budget.
pub fn pdf(input: &[u8]) {
    let budget = Budget {
        stream_bytes: 16 << 20,
        content_bytes: 4 << 20,
        steps: 100_000,
        letters: 50_000,
        image_pixels: 4_000_000,
        pages: 1_000,
    };
    // A mutated beginning would end each run at once.
    let bytes = [b"%PDF-1.7\n", input].concat();
    let Ok(pdf) = Pdf::open_within(bytes, None, budget) else { return };
    assert!(pdf.pages() > 0, "a PDF without pages is refused");
    for page in 1..=pdf.pages().min(3) {
        if let Ok(text) = pdf.text(page) {
            assert!(!text.contains(|letter: char| letter.is_control() && letter != '\n'), "{text:?}");
        }
        if let Ok(png) = pdf.render(page, 64) {
            assert!(png.starts_with(b"\x89PNG"), "a picture is a PNG");
        }
    }
}
