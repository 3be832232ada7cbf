//! The image tool: what it takes, what it refuses, and what the model is asked.

use std::io::Cursor;
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::{ImageFormat, Rgb, RgbImage};
use rail_model::{MediaSource, Part, PartBody};
use rail_permit::{Answer, Mode, Question, Rule};
use rail_testkit::{Conversation, Peer, Step};
use rail_tool::{
    Asks, BoxFuture, Confine, HookedCall, Inquired, Inquiry, Limits, Models, Reply, Session, Told,
};
use rail_tools::{Sight, seeing};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::scratch::Scratch;

/// A model at the port, which keeps what it is asked.
#[derive(Debug, Default)]
struct Seer(Mutex<Vec<Inquiry>>);

impl Models for Seer {
    fn ask<'a>(&'a self, inquiry: Inquiry, _: &'a CancellationToken) -> BoxFuture<'a, Result<Told, String>> {
        let images = inquiry.parts.len() - 1;
        self.0.lock().unwrap().push(inquiry);
        let told = Told {
            text: format!("I see {images}.\n"),
            model: "openai/gpt-5-mini".to_owned(),
            stop: rail_model::Stop::EndTurn,
        };
        Box::pin(std::future::ready(Ok(told)))
    }
}

impl Seer {
    fn last(&self) -> Inquiry {
        self.0.lock().unwrap().last().unwrap().clone()
    }

    /// The images of the last question: type, width, height.
    fn images(&self) -> Vec<(String, u32, u32)> {
        let shown = |part: &Part| {
            let PartBody::Media(media) = &part.body else { return None };
            let MediaSource::Base64(bytes) = &media.source else { panic!("inline") };
            let picture = image::load_from_memory(&STANDARD.decode(bytes).unwrap()).unwrap();
            Some((media.mime.clone().unwrap(), picture.width(), picture.height()))
        };
        self.last().parts.iter().filter_map(shown).collect()
    }
}

/// Refuses everything, and counts.
#[derive(Default)]
struct Refuses(Mutex<usize>);

impl Asks for Refuses {
    fn ask<'a>(&'a self, _: &'a HookedCall, _: &'a Question) -> BoxFuture<'a, Reply> {
        *self.0.lock().unwrap() += 1;
        Box::pin(std::future::ready(Answer::No(None).into()))
    }

    fn keep(&self, _: &[Rule]) -> Result<(), String> {
        Ok(())
    }
}

fn seen_by(seer: &Arc<Seer>, change: impl FnOnce(&mut Session)) -> Scratch {
    Scratch::with(|session| {
        session.models = Arc::clone(seer) as Arc<dyn Models>;
        change(session);
    })
}

fn encoded(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    RgbImage::from_pixel(width, height, Rgb([10, 200, 30])).write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn png() -> Vec<u8> {
    encoded(4, 2, ImageFormat::Png)
}

fn says(scratch: &Scratch, input: &Value) -> String {
    scratch.says("image", input)
}

#[test]
fn one_image_is_asked_about_and_the_answer_says_by_whom() {
    let seer = Arc::new(Seer::default());
    let scratch = seen_by(&seer, |_| ());
    scratch.write("photo.png", png());
    let said = says(&scratch, &json!({ "image": "{workspace}/photo.png" }));
    insta::assert_snapshot!(said, @r#"
    ok: I see 1.

    details: {"model":"openai/gpt-5-mini","image":"{workspace}/photo.png"}
    "#);
    let Inquiry { asker, to, system, parts, max_output, .. } = seer.last();
    assert_eq!(asker, "image");
    assert_eq!((to, system, max_output), (Inquired::Vision { model: None }, None, None));
    assert_eq!(parts[0].as_text(), Some("Describe the image."));
    assert_eq!(seer.images(), [("image/png".to_owned(), 4, 2)]);
}

#[test]
fn the_question_and_the_model_are_the_call_s() {
    let seer = Arc::new(Seer::default());
    let scratch = seen_by(&seer, |_| ());
    scratch.write("photo.png", png());
    let input = json!({ "image": "photo.png", "prompt": "How many cats?", "model": "qwen/qwen-vl" });
    insta::assert_snapshot!(says(&scratch, &input), @r#"
    ok: I see 1.

    details: {"model":"openai/gpt-5-mini","image":"photo.png"}
    "#);
    let asked = seer.last();
    assert_eq!(asked.to, Inquired::Vision { model: Some("qwen/qwen-vl".to_owned()) });
    assert_eq!(asked.parts[0].as_text(), Some("How many cats?"));
}

#[test]
fn an_image_may_be_named_in_every_form() {
    let seer = Arc::new(Seer::default());
    let home = tempfile::tempdir().unwrap();
    let scratch = seen_by(&seer, |session| session.home = Some(home.path().canonicalize().unwrap()));
    std::fs::write(home.path().join("at home.png"), png()).unwrap();
    scratch.write("a b.png", png());
    let data = format!("data:image/png;base64,{}", STANDARD.encode(png()));
    let home_url = format!("file://{}/at%20home.png", home.path().canonicalize().unwrap().display());
    for source in [
        "{workspace}/a b.png",
        "a b.png",
        "./a b.png",
        "~/at home.png",
        "file://{workspace}/a%20b.png",
        &home_url,
        &data,
    ] {
        let said = says(&scratch, &json!({ "image": source }));
        assert!(said.starts_with("ok: I see 1.\n\ndetails: "), "{source}: {said}");
        assert_eq!(seer.images(), [("image/png".to_owned(), 4, 2)], "{source}");
    }
    insta::assert_snapshot!(says(&scratch, &json!({ "image": data })), @r#"
    ok: I see 1.

    details: {"model":"openai/gpt-5-mini","image":"data:image/png;base64,… (128 bytes)"}
    "#);
}

#[test]
fn twenty_images_are_taken_and_one_more_is_not() {
    let seer = Arc::new(Seer::default());
    let scratch = seen_by(&seer, |_| ());
    let names: Vec<String> = (1..=21).map(|number| format!("{number}.png")).collect();
    names.iter().for_each(|name| drop(scratch.write(name, png())));
    insta::assert_snapshot!(says(&scratch, &json!({ "images": names[..20] })), @r#"
    ok: I see 20.

    details: {"model":"openai/gpt-5-mini","images":["1.png","2.png","3.png","4.png","5.png","6.png","7.png","8.png","9.png","10.png","11.png","12.png","13.png","14.png","15.png","16.png","17.png","18.png","19.png","20.png"]}
    "#);
    assert_eq!(seer.images().len(), 20);
    for (input, expected) in [
        (json!({ "images": names }), "21 images are more than the 20 that one call takes"),
        (json!({ "images": names, "max_images": 100 }), "21 images are more than the 20 that one call takes"),
        (
            json!({ "image": "21.png", "images": names[..20] }),
            "21 images are more than the 20 that one call takes",
        ),
        (
            json!({ "images": names[..3], "max_images": 2 }),
            "3 images are more than the 2 that one call takes",
        ),
        (json!({ "images": names[..3], "maxImages": 2 }), "3 images are more than the 2 that one call takes"),
        (json!({}), "no image is named; give one as `image` or several as `images`"),
    ] {
        let said = says(&scratch, &input);
        assert!(said.starts_with(&format!("error: {expected}")), "{input}: {said}");
    }
    // One that is named twice counts once.
    let said = says(&scratch, &json!({ "image": "1.png", "images": names[..20] }));
    assert!(said.starts_with("ok: I see 20."), "{said}");
}

#[test]
fn images_are_brought_into_a_form_that_models_take() {
    let seer = Arc::new(Seer::default());
    let scratch = seen_by(&seer, |_| ());
    for (name, bytes, expected) in [
        ("a.gif", encoded(4, 2, ImageFormat::Gif), ("image/gif", 4, 2)),
        ("a.jpg", encoded(4, 2, ImageFormat::Jpeg), ("image/jpeg", 4, 2)),
        ("a.webp", encoded(4, 2, ImageFormat::WebP), ("image/webp", 4, 2)),
        ("a.bmp", encoded(4, 2, ImageFormat::Bmp), ("image/png", 4, 2)),
        ("large.png", encoded(4000, 2000, ImageFormat::Png), ("image/png", 2000, 1000)),
    ] {
        scratch.write(name, bytes);
        let said = says(&scratch, &json!({ "image": name }));
        assert!(said.starts_with("ok: "), "{name}: {said}");
        assert_eq!(seer.images(), [(expected.0.to_owned(), expected.1, expected.2)], "{name}");
    }
}

#[test]
fn a_data_address_that_lies_about_its_type_is_taken_for_what_it_is() {
    let seer = Arc::new(Seer::default());
    let scratch = seen_by(&seer, |_| ());
    let jpeg = STANDARD.encode(encoded(4, 2, ImageFormat::Jpeg));
    let said = says(&scratch, &json!({ "image": format!("data:image/png;base64,{jpeg}") }));
    assert!(said.starts_with("ok: "), "{said}");
    assert_eq!(seer.images(), [("image/jpeg".to_owned(), 4, 2)]);
    let pdf = STANDARD.encode("%PDF-1.7 and more");
    insta::assert_snapshot!(
        says(&scratch, &json!({ "image": format!("data:image/png;base64,{pdf}") })),
        @"error: `data:image/png;base64,… (24 bytes)` is no image that can be shown: it is a PDF document; PNG, JPEG, GIF, WebP and BMP are"
    );
}

#[test]
fn what_can_t_be_taken_is_named() {
    let seer = Arc::new(Seer::default());
    let scratch = seen_by(&seer, |_| ());
    scratch.write("large.png", encoded(600, 600, ImageFormat::Bmp));
    scratch.write("cut.png", &png()[..20]);
    scratch.write("empty.png", "");
    scratch.write("page.png", "<html>");
    scratch.write("odd.bin", [0_u8, 1, 2, 0xff, 0xfe, 0]);
    std::fs::create_dir(scratch.path("folder")).unwrap();
    let all: Vec<String> = [
        json!({ "image": "gone.png" }),
        json!({ "image": "large.png", "max_bytes_mb": 1 }),
        json!({ "image": "large.png", "maxBytesMb": 0.5 }),
        json!({ "image": "large.png", "max_bytes_mb": 0 }),
        json!({ "image": "cut.png" }),
        json!({ "image": "empty.png" }),
        json!({ "image": "page.png" }),
        json!({ "image": "odd.bin" }),
        json!({ "image": "folder" }),
        json!({ "image": "file://elsewhere/a.png" }),
        json!({ "image": "ftp://host/a.png" }),
        json!({ "image": "data:image/png,plain" }),
    ]
    .iter()
    .map(|input| format!("{input}\n  {}", says(&scratch, input)))
    .collect();
    insta::assert_snapshot!(all.join("\n"));
    assert_eq!(seer.0.lock().unwrap().len(), 0, "nobody was asked");
}

#[test]
fn all_images_together_have_a_limit() {
    let seer = Arc::new(Seer::default());
    let scratch = seen_by(&seer, |_| ());
    let names: Vec<String> = (0..20).map(|number| format!("{number}.bmp")).collect();
    let large = encoded(1_400, 1_400, ImageFormat::Bmp);
    names.iter().for_each(|name| drop(scratch.write(name, &large)));
    insta::assert_snapshot!(
        says(&scratch, &json!({ "images": names })),
        @"error: these 20 images are together more than the 100 MiB that one call takes; ask about fewer at once"
    );
}

#[test]
fn addresses_on_the_network_are_refused_in_the_sandbox() {
    let seer = Arc::new(Seer::default());
    let person = Arc::new(Refuses::default());
    for confine in [Confine::Workspace, Confine::ReadOnly] {
        let scratch = Scratch::asking_with(Arc::clone(&person) as Arc<dyn Asks>, |session| {
            session.models = Arc::clone(&seer) as Arc<dyn Models>;
            session.confine = confine;
        });
        scratch.executor.change_policy(|policy| policy.mode = Mode::Default);
        let said = says(&scratch, &json!({ "image": "https://example.com/a.png" }));
        assert_eq!(
            said,
            "error: `https://example.com/a.png` is on the network, which is not reached from the sandbox; save the image in the workspace and name the file, or ask the user to run with `--sandbox off`"
        );
    }
    assert_eq!(seer.0.lock().unwrap().len(), 0, "nobody was asked");
    assert_eq!(*person.0.lock().unwrap(), 0, "not even for leave");
}

#[test]
fn a_path_outside_the_workspace_asks_and_a_link_to_a_secret_does_too() {
    let seer = Arc::new(Seer::default());
    let person = Arc::new(Refuses::default());
    let scratch = Scratch::asking_with(Arc::clone(&person) as Arc<dyn Asks>, |session| {
        session.models = Arc::clone(&seer) as Arc<dyn Models>;
    });
    scratch.executor.change_policy(|policy| policy.mode = Mode::Default);
    std::fs::write(scratch.outside().join("photo.png"), png()).unwrap();
    scratch.write("own.png", png());
    scratch.write(".env", png());
    std::os::unix::fs::symlink(scratch.path(".env"), scratch.path("link.png")).unwrap();
    std::os::unix::fs::symlink(scratch.outside().join("photo.png"), scratch.path("out.png")).unwrap();
    assert!(says(&scratch, &json!({ "image": "own.png" })).starts_with("ok: "));
    assert_eq!(*person.0.lock().unwrap(), 0);
    let outside = format!("file://{}", scratch.outside().join("photo.png").display());
    for (at, source) in [outside.as_str(), "../photo.png", "out.png", "link.png"].iter().enumerate() {
        let said = says(&scratch, &json!({ "images": ["own.png", source] }));
        assert!(said.starts_with("error: "), "{source}: {said}");
        assert_eq!(*person.0.lock().unwrap(), at + 1, "{source}: {said}");
    }
    assert_eq!(seer.0.lock().unwrap().len(), 1, "only what is in the workspace was shown");
}

#[test]
fn where_nobody_sees_there_is_no_tool_and_a_main_model_that_sees_gets_a_hint() {
    let (registry, limits) = (rail_tools::registry(), Limits::default());
    let told = |sight| {
        let tools = seeing(&registry, sight);
        let mut all = tools.shown("claude", &limits).filter(|(tool, _)| tool.card().name == "image");
        all.next().map(|(tool, declared)| {
            (declared.description.unwrap(), registry.say("claude", tool.card().prompt))
        })
    };
    assert_eq!(told(Sight::Nobody), None);
    let (others, own) = (told(Sight::Others).unwrap(), told(Sight::MainToo).unwrap());
    // Before the first call, and in the explanation that comes with its result.
    let hint = "You see images yourself: use this only for images that were not already provided in the user's message";
    assert!(!others.0.contains(hint) && own.0.ends_with(hint), "{own:?}");
    assert_eq!(own.1.strip_prefix(&others.1), Some(&*format!("- {hint}. `Read` shows you a file.\n")));
    let names = |sight| {
        seeing(&registry, sight).tools().iter().map(|tool| tool.card().name.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(Sight::MainToo), names(Sight::Others));
    assert_eq!(names(Sight::Nobody).len() + 1, names(Sight::Others).len());
}

#[test]
fn outside_of_the_sandbox_an_address_is_fetched_behind_all_guards() {
    let seer = Arc::new(Seer::default());
    let answer = |status: u16, head: &str, body: &[u8]| {
        let head = format!(
            "HTTP/1.1 {status} x\r\n{head}content-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        Conversation::new([Step::ReadRequest, Step::Send([head.as_bytes(), body].concat()), Step::Close])
    };
    let large = encoded(900, 900, ImageFormat::Bmp);
    let peer = Peer::start(vec![
        answer(200, "content-type: text/html\r\n", &png()),
        answer(200, "content-type: image/png\r\n", b"<html>no image</html>"),
        answer(302, "location: https://elsewhere.example/a.png\r\n", b""),
        answer(404, "", b""),
        answer(200, "", &large),
    ])
    .unwrap();
    let port = peer.addr().port();
    let scratch = seen_by(&seer, |session| {
        session.web.allow_private = vec![rail_config::settings::PrivatePlace(format!("127.0.0.1:{port}"))];
        session.web.proxy = Some("direct".to_owned());
    });
    let url = peer.url("/a.png");
    let mut all: Vec<String> = Vec::new();
    for input in
        [json!({ "image": url }), json!({ "image": url }), json!({ "image": url }), json!({ "image": url })]
    {
        all.push(says(&scratch, &input));
    }
    all.push(says(&scratch, &json!({ "image": url, "max_bytes_mb": 1 })));
    // Nobody allowed this one.
    all.push(says(&scratch, &json!({ "image": "http://169.254.169.254/latest/a.png" })));
    let said = all.join("\n").replace(&port.to_string(), "{port}");
    insta::assert_snapshot!(said);
    assert_eq!(seer.0.lock().unwrap().len(), 1);
    assert_eq!(peer.requests()[0].header("accept"), Some("image/*"));
}
