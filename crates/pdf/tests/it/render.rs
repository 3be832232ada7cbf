use image::{GenericImageView, Rgba};
use rail_pdf::Pdf;

use crate::pdfs;

/// A page as it was drawn, looked at by places in points from its lower left corner.
struct Picture {
    image: image::DynamicImage,
    height: f64,
    scale: f64,
}

impl Picture {
    fn of(pdf: &Pdf, page: usize, (width, height): (f64, f64), edge: u16) -> Self {
        let image = image::load_from_memory(&pdf.render(page, edge).unwrap()).unwrap();
        let scale = f64::from(edge) / width.max(height);
        let expected = ((width * scale).round() as u32, (height * scale).round() as u32);
        assert_eq!(image.dimensions(), expected);
        Self { image, height, scale }
    }

    fn at(&self, x: f64, y: f64) -> Rgba<u8> {
        self.image.get_pixel((x * self.scale) as u32, ((self.height - y) * self.scale) as u32)
    }

    /// How many pixels of a part are dark, in hundredths.
    fn dark(&self, (x, y): (f64, f64), (width, height): (f64, f64)) -> u32 {
        let left_top = ((x * self.scale) as u32, ((self.height - y - height) * self.scale) as u32);
        let size = ((width * self.scale) as u32, (height * self.scale) as u32);
        let part = self.image.view(left_top.0, left_top.1, size.0, size.1).to_image();
        let dark = part.pixels().filter(|pixel| pixel.0[..3].iter().all(|part| *part < 100)).count();
        (dark * 100 / part.pixels().count()) as u32
    }
}

const A4: (f64, f64) = (595.28, 841.89);
const WHITE: Rgba<u8> = Rgba([255, 255, 255, 255]);
const RED: Rgba<u8> = Rgba([255, 0, 0, 255]);

#[test]
fn what_was_drawn_is_where_it_was_drawn() {
    let Some(pdfs) = pdfs() else { return };
    let pdf = Pdf::open(pdfs.bytes("pictures"), None).unwrap();
    for edge in [400, 1000] {
        let picture = Picture::of(&pdf, 1, A4, edge);
        for (x, y, expected) in [
            (200.0, 650.0, RED),
            (104.0, 604.0, RED),
            (296.0, 696.0, RED),
            (94.0, 650.0, WHITE),
            (306.0, 650.0, WHITE),
            (200.0, 590.0, WHITE),
            (200.0, 710.0, WHITE),
            (3.0, 3.0, WHITE),
            (592.0, 838.0, WHITE),
        ] {
            assert_eq!(picture.at(x, y), expected, "{x} {y} of {edge}");
        }
        // The font is not in the file.
        let text = picture.dark((100.0, 400.0), (220.0, 26.0));
        assert!((25..70).contains(&text), "{text}");
        assert_eq!(picture.dark((100.0, 300.0), (220.0, 80.0)), 0);
    }
}

#[test]
fn turned_pages_are_drawn_as_people_see_them() {
    let Some(pdfs) = pdfs() else { return };
    let pdf = Pdf::open(pdfs.bytes("rotated"), None).unwrap();
    let (width, height) = A4;
    // The box at the lower left corner of the paper, 100 by 50. The writer turns the paper too, so that each page is upright.
    let cases = [
        (1, (width, height), (95.0, 45.0), (45.0, 95.0)),
        (2, (width, height), (45.0, height - 95.0), (95.0, height - 45.0)),
        (3, (width, height), (width - 95.0, height - 45.0), (width - 45.0, height - 95.0)),
        (4, (width, height), (width - 45.0, 95.0), (width - 95.0, 45.0)),
    ];
    for (page, size, (x, y), (a, b)) in cases {
        let picture = Picture::of(&pdf, page, size, 800);
        assert_eq!((picture.at(x, y), picture.at(a, b)), (RED, WHITE), "page {page}");
    }
}

#[test]
fn an_embedded_font_is_drawn_by_its_own_outlines() {
    let Some(pdfs) = pdfs() else { return };
    let pdf = Pdf::open(pdfs.bytes("embedded"), None).unwrap();
    let picture = Picture::of(&pdf, 1, A4, 1684);
    // Each letter is a box of 14 points in steps of 18, taller from letter to letter.
    for index in 0..6 {
        let x = 72.0 + 18.0 * f64::from(index) + 9.0;
        let top = 841.89 - 72.0 + 20.0 * (0.3 + 0.04 * f64::from(index + 1));
        assert!(picture.at(x, top - 1.0).0[0] < 50, "letter {index}");
        assert_eq!(picture.at(x, top + 1.0), WHITE, "above letter {index}");
    }
}

#[test]
fn a_scanned_page_is_drawn() {
    let Some(pdfs) = pdfs() else { return };
    let pdf = Pdf::open(pdfs.bytes("scan"), None).unwrap();
    let picture = Picture::of(&pdf, 2, A4, 1000);
    let (x, y) = (200.0 / 850.0 * A4.0, A4.1 - 150.0 / 1100.0 * A4.1);
    let Rgba([red, green, blue, _]) = picture.at(x, y);
    assert!(red < 30 && green < 30 && blue > 170, "{red} {green} {blue}");
    assert!(picture.at(x, y - 150.0).0[0] > 240);
}
