use rail_pdf::{Pdf, PdfError};

use crate::pdfs;

#[test]
fn a_small_file_that_unpacks_to_gigabytes_is_refused() {
    let Some(pdfs) = pdfs() else { return };
    for name in ["bomb", "bomb-in-bomb"] {
        let refused = Pdf::open(pdfs.bytes(name), None).err().map(|error| error.to_string());
        let expected = "the PDF has a stream that unpacks to gigabytes, which is more than is read";
        assert_eq!(refused.as_deref(), Some(expected), "{name}");
    }
}

#[test]
fn what_would_never_end_is_refused_by_its_page() {
    let Some(pdfs) = pdfs() else { return };
    for name in ["again-and-again", "laughs"] {
        let pdf = Pdf::open(pdfs.bytes(name), None).unwrap();
        for found in [pdf.text(1).map(drop), pdf.render(1, 100).map(drop)] {
            assert!(matches!(found, Err(PdfError::TooMuch { page: Some(1), .. })), "{name}: {found:?}");
        }
    }
}

#[test]
fn images_that_claim_too_much_are_not_decoded() {
    let Some(pdfs) = pdfs() else { return };
    for name in ["huge-image", "huge-fax"] {
        let pdf = Pdf::open(pdfs.bytes(name), None).unwrap();
        assert_eq!(pdf.text(1), Ok(String::new()), "{name}");
        let expected = PdfError::TooMuch { page: Some(1), what: "an image of too many pixels" };
        assert_eq!(pdf.render(1, 100), Err(expected), "{name}");
    }
}

#[test]
fn a_page_without_end_is_drawn_as_small_as_any() {
    let Some(pdfs) = pdfs() else { return };
    let pdf = Pdf::open(pdfs.bytes("huge-page"), None).unwrap();
    let image = image::load_from_memory(&pdf.render(1, 300).unwrap()).unwrap();
    assert_eq!((image.width(), image.height()), (300, 1));
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let Some(pdfs) = pdfs() else { return };
    // What comes of it is of no interest; that it comes back is.
    for name in ["deep", "circle", "turned-in-itself"] {
        if let Ok(pdf) = Pdf::open(pdfs.bytes(name), None) {
            let _ = (pdf.text(1), pdf.render(1, 50));
        }
    }
}
