use proptest::prelude::*;
use rail_pdf::{Pages, PagesError};

#[test]
fn pages_are_named_as_people_write_them() {
    let cases: [(&str, &[usize]); 9] = [
        ("3", &[3]),
        ("1-3,7,10-", &[1, 2, 3, 7, 10, 11, 12]),
        (" 2 - 4 , 3-5 ", &[2, 3, 4, 5]),
        ("-2", &[1, 2]),
        ("9–11", &[9, 10, 11]),
        ("7,3,3", &[3, 7]),
        ("12-99999", &[12]),
        ("13-", &[]),
        ("1,,2", &[1, 2]),
    ];
    for (text, expected) in cases {
        assert_eq!(Pages::parse(text).unwrap().of(12), expected, "{text}");
    }
}

#[test]
fn what_names_no_pages_says_what_to_write() {
    let cases = [
        ("", "`` names no pages; write `3`, `1-5`, `10-` or several of them with commas"),
        ("one", "`one` names no pages; write `3`, `1-5`, `10-` or several of them with commas"),
        ("1-2-3", "`1-2-3` names no pages; write `3`, `1-5`, `10-` or several of them with commas"),
        ("-", "`-` names no pages; write `3`, `1-5`, `10-` or several of them with commas"),
        ("0-4", "there is no page 0; pages count from 1"),
        ("5-2", "the range `5-2` ends before it begins; write `2-5`"),
    ];
    for (text, expected) in cases {
        assert_eq!(Pages::parse(text).unwrap_err().to_string(), expected, "{text}");
    }
    assert_eq!(Pages::parse(&"1,".repeat(5_000)), Err(PagesError::TooMany));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[-0-9, –a]{0,20}|.{0,30}", pages in 0_usize..40) {
        if let Ok(wanted) = Pages::parse(&text) {
            let found = wanted.of(pages);
            prop_assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(found.iter().all(|page| (1..=pages).contains(page)));
            prop_assert_eq!(Pages::parse(&wanted.to_string()), Ok(wanted));
        }
    }

    #[test]
    fn a_list_of_pages_is_named_and_found_again(pages in proptest::collection::btree_set(1_usize..60, 1..30)) {
        let pages: Vec<usize> = pages.into_iter().collect();
        let text = Pages::named(&pages).to_string();
        prop_assert_eq!(Pages::parse(&text).unwrap().of(60), pages);
    }
}
