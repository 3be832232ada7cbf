//! Files that are no text: images, notebooks, PDF, binary.

use std::io::Cursor;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::{DynamicImage, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};
use rail_model::{MediaSource, PartBody};
use rail_tool::Outcome;
use serde_json::json;

use crate::scratch::Scratch;

/// Pixels that no encoder makes small.
fn noise(width: u32, height: u32) -> RgbImage {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    RgbImage::from_fn(width, height, |_, _| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let [red, green, blue, ..] = state.to_le_bytes();
        Rgb([red, green, blue])
    })
}

fn plain(width: u32, height: u32) -> RgbImage {
    RgbImage::from_pixel(width, height, Rgb([10, 200, 30]))
}

fn encoded(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.into().write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn read(scratch: &Scratch, name: &str) -> Outcome {
    scratch.run("read_file", &json!({ "file_path": scratch.path(name) }))
}

fn says(scratch: &Scratch, name: &str) -> String {
    scratch.says("read_file", &json!({ "file_path": scratch.path(name) }))
}

/// The images of a result, with their types.
fn images(outcome: &Outcome) -> Vec<(String, Vec<u8>)> {
    let media = outcome.parts.iter().filter_map(|part| match &part.body {
        PartBody::Media(media) => Some(media),
        _ => None,
    });
    media
        .map(|media| {
            let MediaSource::Base64(bytes) = &media.source else { panic!("inline") };
            (media.mime.clone().unwrap(), STANDARD.decode(bytes).unwrap())
        })
        .collect()
}

fn size(bytes: &[u8]) -> (u32, u32) {
    let picture = image::load_from_memory(bytes).unwrap();
    (picture.width(), picture.height())
}

#[test]
fn an_image_is_shown_as_it_is() {
    let scratch = Scratch::new();
    for (format, mime) in [
        (ImageFormat::Png, "image/png"),
        (ImageFormat::Jpeg, "image/jpeg"),
        (ImageFormat::Gif, "image/gif"),
        (ImageFormat::WebP, "image/webp"),
    ] {
        let bytes = encoded(plain(40, 20), format);
        // The content tells, not the name.
        scratch.write("picture.txt", &bytes);
        let outcome = read(&scratch, "picture.txt");
        assert_eq!(images(&outcome), [(mime.to_owned(), bytes)]);
        assert!(outcome.text().contains("image of 40x20 pixels"), "{}", outcome.text());
    }
    scratch.write("text.png", "no image\n");
    assert_eq!(says(&scratch, "text.png"), "ok: 1\tno image\n\n[1 line in all]");
}

#[test]
fn a_bitmap_is_shown_as_what_providers_take() {
    let scratch = Scratch::new();
    scratch.write("a.bmp", encoded(plain(40, 20), ImageFormat::Bmp));
    let shown = images(&read(&scratch, "a.bmp"));
    assert_eq!(shown[0].0, "image/png");
    assert_eq!(size(&shown[0].1), (40, 20));
}

#[test]
fn a_large_image_is_shrunk_with_its_shape() {
    let scratch = Scratch::new();
    scratch.write("wide.png", encoded(plain(2_400, 120), ImageFormat::Png));
    let outcome = read(&scratch, "wide.png");
    assert_eq!(size(&images(&outcome)[0].1), (2_000, 100));
    let says = outcome.text();
    assert!(
        says.ends_with("; shown shrunk to 2000x100: multiply places in it by 1.20 for those in the file"),
        "{says}"
    );
    // Whatever is smaller: an even picture as PNG, and noise as JPEG.
    assert_eq!(images(&outcome)[0].0, "image/png");
    let noisy: RgbImage = image::imageops::resize(&noise(24, 500), 24, 2_400, image::imageops::Nearest);
    scratch.write("high.png", encoded(noisy, ImageFormat::Png));
    let shown = images(&read(&scratch, "high.png"));
    assert_eq!((shown[0].0.as_str(), size(&shown[0].1)), ("image/jpeg", (20, 2_000)));
    let clear = RgbaImage::from_pixel(2_100, 2, Rgba([1, 2, 3, 40]));
    scratch.write("clear.png", encoded(clear, ImageFormat::Png));
    assert_eq!(images(&read(&scratch, "clear.png"))[0].0, "image/png");
}

#[test]
fn an_image_over_the_limit_says_what_to_do() {
    let scratch = Scratch::new();
    let mut bytes = encoded(plain(40, 20), ImageFormat::Png);
    bytes.resize(3_932_160, 0);
    scratch.write("fits.png", &bytes);
    assert_eq!(images(&read(&scratch, "fits.png")).len(), 1);
    bytes.push(0);
    scratch.write("large.png", &bytes);
    insta::assert_snapshot!(says(&scratch, "large.png"), @"error: the image `{workspace}/large.png` has 3932161 bytes, more than the 3932160 (3.7 MiB) that are read; make a smaller copy through `bash` (`magick '{workspace}/large.png' -resize 2000x2000 small.jpg`) and read that");
}

#[test]
fn an_image_that_can_t_be_shrunk_is_shown_as_it_is() {
    let scratch = Scratch::new();
    let mut bytes = encoded(plain(3_000, 10), ImageFormat::Png);
    bytes.truncate(bytes.len() / 2);
    scratch.write("half.png", &bytes);
    let outcome = read(&scratch, "half.png");
    assert_eq!(images(&outcome), [("image/png".to_owned(), bytes)]);
    assert!(outcome.text().contains("it could not be shrunk and is shown as it is"), "{}", outcome.text());

    scratch.write("broken.png", b"\x89PNG\r\n\x1a\n");
    scratch.write("broken.bmp", b"BM\0\0\0\0\0\0\0\0\0\0\0\0\x28\0\0\0\x2c\x01\0\0\x03\0\0\0");
    let said = says(&scratch, "broken.bmp");
    let expected =
        "error: the image `{workspace}/broken.bmp` can't be shown: BMP of 300x3 cannot be decoded: ";
    assert!(said.starts_with(expected), "{said}");
    insta::assert_snapshot!(says(&scratch, "broken.png"), @"error: the image `{workspace}/broken.png` can't be shown: broken PNG header: cut short before its size; save the image again with another program");
}

#[test]
fn binary_files_are_described() {
    let scratch = Scratch::new();
    scratch.write("a.gz", [b"\x1f\x8b\x08".as_slice(), &[7; 2_000]].concat());
    insta::assert_snapshot!(says(&scratch, "a.gz"), @"ok: `{workspace}/a.gz` is a binary file (gzip archive, 1.9 KiB) and is not shown; look into it through `bash` with a program for its kind");
    scratch.write("a.dat", [0, 1, 2, 3, 0, 0]);
    insta::assert_snapshot!(says(&scratch, "a.dat"), @"ok: `{workspace}/a.dat` is a binary file (of an unknown kind, 6 bytes) and is not shown; look into it through `bash` with a program for its kind");
    scratch.write("large.dat", vec![0; 300 * 1024]);
    insta::assert_snapshot!(says(&scratch, "large.dat"), @"ok: `{workspace}/large.dat` is a binary file (of an unknown kind, 300 KiB) and is not shown; look into it through `bash` with a program for its kind");
}

#[test]
fn a_broken_pdf_says_what_to_do() {
    let scratch = Scratch::new();
    scratch.write("a.pdf", "%PDF-1.7\n");
    insta::assert_snapshot!(says(&scratch, "a.pdf"), @"error: `{workspace}/a.pdf` can't be read: the PDF is damaged or cut: no page can be found in it; get it again from where it comes, or try to repair a copy through `bash` (`qpdf '{workspace}/a.pdf' repaired.pdf`)");
}

#[test]
fn a_notebook_is_shown_as_its_cells() {
    let scratch = Scratch::new();
    let picture = STANDARD.encode(encoded(plain(8, 4), ImageFormat::Png));
    let notebook = json!({
        "nbformat": 4, "nbformat_minor": 5, "metadata": {},
        "cells": [
            { "cell_type": "code", "id": "a1", "metadata": {}, "source": ["plot()\n", "done()"], "outputs": [
                { "output_type": "display_data", "data": { "image/png": picture, "text/plain": "<Figure>" } },
            ] },
            { "cell_type": "markdown", "id": "b2", "metadata": {}, "source": "*end*" },
        ],
    });
    scratch.write("a.ipynb", notebook.to_string());
    let outcome = read(&scratch, "a.ipynb");
    assert_eq!(size(&images(&outcome)[0].1), (8, 4));
    insta::assert_snapshot!(outcome.text(), @r"
    [cell 1, id `a1`, code]
    plot()
    done()
    [output, PNG image of 8x4 pixels, 131 bytes]

    [output]
    <Figure>
    [cell 2, id `b2`, markdown]
    *end*

    [2 cells in all; change cells with `notebook_edit`]
    ");
    let second = scratch.says("read_file", &json!({ "file_path": scratch.path("a.ipynb"), "offset": 2 }));
    insta::assert_snapshot!(second, @r"
    ok: [cell 2, id `b2`, markdown]
    *end*

    [cells 2 to 2 of 2 in all; change cells with `notebook_edit`]
    ");
    let beyond = scratch.says("read_file", &json!({ "file_path": scratch.path("a.ipynb"), "offset": 3 }));
    insta::assert_snapshot!(beyond, @"error: the notebook `{workspace}/a.ipynb` has 2 cells, so there is no cell 3; ask for an `offset` of at most 2");

    scratch.write("b.ipynb", "no notebook\n");
    assert_eq!(says(&scratch, "b.ipynb"), "ok: 1\tno notebook\n\n[1 line in all]");
}
