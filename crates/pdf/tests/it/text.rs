use rail_pdf::{Pdf, PdfError};

use crate::pdfs;

#[test]
fn a_text_is_what_was_put_in() {
    let Some(pdfs) = pdfs() else { return };
    let names = [
        "plain",
        "columns",
        "table",
        "listing",
        "letters",
        "chinese",
        "japanese",
        "korean",
        "upright",
        "embedded",
        "pictures",
        "rotated",
        "scan",
        "long",
        "empty-password",
    ];
    for name in names {
        let pdf = Pdf::open(pdfs.bytes(name), None).unwrap();
        let said = pdfs.said(name);
        assert_eq!(pdf.pages(), said.len(), "{name}");
        for (index, said) in said.iter().enumerate() {
            assert_eq!(pdf.text(index + 1).unwrap(), *said, "page {} of {name}", index + 1);
        }
    }
}

#[test]
fn an_encrypted_pdf_needs_its_password() {
    let Some(pdfs) = pdfs() else { return };
    for name in ["password", "password-rc4"] {
        let open = |password| Pdf::open(pdfs.bytes(name), password).map(|pdf| pdf.text(1));
        assert_eq!(open(None), Err(PdfError::PasswordNeeded), "{name}");
        assert_eq!(open(Some("wrong")), Err(PdfError::WrongPassword), "{name}");
        assert_eq!(open(Some("secret")), Ok(Ok(pdfs.said(name)[0].clone())), "{name}");
    }
}

#[test]
fn what_is_no_pdf_says_so() {
    for bytes in [&b""[..], b"hello", b"PDF-1.4", b"%PD"] {
        assert_eq!(Pdf::open(bytes.to_vec(), None).err(), Some(PdfError::NotPdf));
    }
    assert_eq!(Pdf::open(b"%PDF-1.7\nnothing more".to_vec(), None).err(), Some(PdfError::Damaged));
}

#[test]
fn a_page_that_is_not_there_is_an_error() {
    let Some(pdfs) = pdfs() else { return };
    let pdf = Pdf::open(pdfs.bytes("plain"), None).unwrap();
    for page in [0, 4, usize::MAX] {
        assert_eq!(pdf.text(page), Err(PdfError::NoPage { page, pages: 3 }));
        assert_eq!(pdf.render(page, 100), Err(PdfError::NoPage { page, pages: 3 }));
    }
}
