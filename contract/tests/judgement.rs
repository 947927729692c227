//! The order of judgement, on the cases of the suite and on arbitrary requests.

use contract::{Answer, CASES, GOLDEN_PAGES, GOLDEN_YEAR, Page, Route, User, UserId, route};
use proptest::prelude::*;
use serde_json::Value;

/// What a build answers whose store is up and holds no user.
fn answer(method: &str, target: &str) -> Answer {
    match route(method, target) {
        Err(refusal) => refusal,
        Ok(Route::Hello) => Answer::hello(),
        Ok(Route::Value) => Answer::value(),
        Ok(Route::Page(page)) => Answer::page(page.render(GOLDEN_YEAR)),
        Ok(Route::User(_)) => Answer::user_not_found(),
    }
}

#[test]
fn every_case_that_needs_no_store_is_answered_as_it_says() {
    let mut asked = 0;
    for (file, text) in CASES {
        let cases: Vec<Value> =
            serde_json::from_str(text).unwrap_or_else(|e| panic!("{file}: {e}"));
        for case in cases.iter().filter(|case| case.get("store").is_none()) {
            let (method, target) = case["request"].as_str().unwrap().split_once(' ').unwrap();
            let got = answer(method, target);
            let name = &case["name"];
            assert_eq!(
                u64::from(got.status),
                case["status"].as_u64().unwrap(),
                "{file}: {name}"
            );
            let headers = case["headers"].as_object().unwrap();
            assert_eq!(headers["content-type"], got.content_type, "{file}: {name}");
            assert_eq!(
                headers.len(),
                1 + usize::from(got.extra_header.is_some()),
                "{name}"
            );
            if let Some((header, value)) = got.extra_header {
                assert_eq!(headers[header], value, "{file}: {name}");
            }
            let body = match case.get("golden") {
                Some(golden) => {
                    GOLDEN_PAGES
                        .iter()
                        .find(|(name, _)| golden == name)
                        .unwrap()
                        .1
                }
                None => case["body"].as_str().unwrap(),
            };
            assert_eq!(got.body, body, "{file}: {name}");
            asked += 1;
        }
    }
    assert!(asked > 70, "only {asked} cases");
}

#[test]
fn a_user_id_is_up_to_ten_digits_of_an_int32() {
    for (text, id) in [
        ("0", 0),
        ("007", 7),
        ("2147483647", i32::MAX),
        ("0000000009", 9),
    ] {
        assert_eq!(text.parse::<UserId>().unwrap().get(), id);
    }
    for text in [
        "",
        " 1",
        "1 ",
        "-1",
        "+1",
        "1.0",
        "2147483648",
        "00000000001",
        "١",
        "0x1",
    ] {
        assert!(text.parse::<UserId>().is_err(), "{text:?}");
    }
}

#[test]
fn a_user_is_written_with_nothing_escaped_but_what_json_demands() {
    let user = User {
        id: "1".parse().unwrap(),
        name: "Zoë O'Neil & <Sons>",
        surname: "a\"b\\c\n\u{1}/",
        email: "",
    };
    let json = r#"{"Id":1,"Name":"Zoë O'Neil & <Sons>","Surname":"a\"b\\c\n\u0001/","Email":""}"#;
    assert_eq!(user.to_json(), json);
}

/// Targets near the contract's own, and targets of any characters.
fn targets() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "/",
        "//",
        "users",
        "api",
        "values",
        "helloWorld",
        "about",
        "contact",
        "1",
        "007",
        "-1",
        "%31",
        "?",
        "a=b",
        "2147483648",
        "é",
        "\u{0}",
        "",
    ]);
    prop_oneof![
        ".*",
        "/.*",
        "/users/.*",
        prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat()),
    ]
}

proptest! {
    #[test]
    fn every_request_gets_an_answer_of_the_contract(method in ".*|GET|HEAD|POST", target in targets()) {
        let got = answer(&method, &target);
        prop_assert!([200, 400, 404, 405].contains(&got.status));
        if got.status == 200 {
            prop_assert!(method == "GET" || method == "HEAD");
        }
        let path = target.split('?').next().unwrap();
        if path.contains('%') {
            prop_assert_eq!(got, Answer::invalid_path_parameter());
        } else if path.contains("//") {
            prop_assert_eq!(got, Answer::not_found());
        }
    }

    #[test]
    fn head_is_judged_as_get_is(target in targets()) {
        prop_assert_eq!(route("HEAD", &target), route("GET", &target));
    }

    #[test]
    fn neither_a_query_nor_one_trailing_slash_changes_the_route(target in targets(), query in ".*") {
        let path = target.split('?').next().unwrap();
        prop_assert_eq!(route("GET", &format!("{path}?{query}")), route("GET", path));
        if !path.ends_with('/') && !path.is_empty() {
            prop_assert_eq!(route("GET", &format!("{path}/")), route("GET", path));
        }
    }

    #[test]
    fn every_int32_from_zero_up_is_an_id_and_comes_back(id in 0..=i32::MAX) {
        prop_assert_eq!(id.to_string().parse::<UserId>().unwrap().get(), id);
        prop_assert_eq!(format!("{id:010}").parse::<UserId>().unwrap().get(), id);
    }

    #[test]
    fn what_is_parsed_as_an_id_is_digits_only(text in ".*|[0-9]{1,12}|[+-][0-9]{1,5}") {
        if let Ok(id) = text.parse::<UserId>() {
            prop_assert!(text.bytes().all(|b| b.is_ascii_digit()) && (1..=10).contains(&text.len()));
            prop_assert!(id.get() >= 0);
        }
    }

    #[test]
    fn every_page_renders_for_every_year(year in any::<u16>()) {
        for page in [Page::Home, Page::About, Page::Contact] {
            let html = page.render(year);
            let line = format!("<p>Levelfield {year}.");
            prop_assert!(html.contains(&line));
        }
    }
}
