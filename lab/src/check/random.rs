//! Ids that no build can know beforehand, drawn from a seed: what is expected of each is what the cases about its kind say.

use super::{Asked, Case, CheckedCase, Difference, Expected, PATIENCE, StoreState, compare};
use crate::http::{Connection, Origin, Request};
use crate::stats::random::{SplitMix64, seed_for};

pub const GROUP: &str = "random ids";

/// Ids of each kind.
const DRAWN: usize = 32;

/// What one kind of id looks like, and the answer to each.
struct Kind {
    name: &'static str,
    ids: Vec<(String, Expected)>,
}

/// Asks for users by ids of three kinds; `cases` are those of the contract.
pub fn check(origin: &Origin, cases: &[Case], seed: u64) -> Vec<CheckedCase> {
    let mut random = SplitMix64::new(seed_for(seed, GROUP));
    kinds(cases, &mut random)
        .into_iter()
        .map(|kind| CheckedCase {
            group: GROUP,
            name: format!("{}, {DRAWN} with seed {seed}", kind.name),
            methods: "GET".into(),
            target: "/users/{id}".into(),
            differences: kind
                .ids
                .iter()
                .flat_map(|(id, expected)| ask(origin, id, expected))
                .collect(),
        })
        .collect()
}

fn ask(origin: &Origin, id: &str, expected: &Expected) -> Vec<Asked> {
    let target = format!("/users/{id}");
    let request = Request {
        method: "GET",
        target: &target,
    };
    let answer = Connection::open(origin, PATIENCE)
        .and_then(|mut connection| connection.exchange(request, PATIENCE));
    let differences = match answer {
        Err(error) => vec![Difference::NoAnswer(error.to_string())],
        Ok(answer) => compare(expected, &answer, false),
    };
    let asked = |difference| Asked {
        method: format!("GET {target}:"),
        difference,
    };
    differences.into_iter().map(asked).collect()
}

fn kinds(cases: &[Case], random: &mut SplitMix64) -> Vec<Kind> {
    let id_of = |case: &Case| {
        let id = case.target.strip_prefix("/users/")?;
        (case.method == "GET" && !id.contains(['/', '?', '%'])).then(|| id.to_owned())
    };
    let about = |status: u16, store: Option<StoreState>| -> Vec<(String, Expected)> {
        cases
            .iter()
            .filter(|case| case.expected.status == status && case.store == store)
            .filter_map(|case| Some((id_of(case)?, case.expected.clone())))
            .collect()
    };
    let mut known = about(200, Some(StoreState::Up));
    known.extend(about(500, Some(StoreState::Up)));
    let nobody = about(404, Some(StoreState::Up));
    let invalid = about(400, None);
    let (Some((_, nobody)), Some((_, invalid))) = (nobody.first(), invalid.first()) else {
        return Vec::new();
    };
    let mut draw = |one: &mut dyn FnMut(&mut SplitMix64) -> (String, Expected)| {
        (0..DRAWN).map(|_| one(random)).collect()
    };
    vec![
        Kind {
            name: "users, their ids written with zeros before them",
            ids: draw(&mut |random| {
                let (id, expected) = &known[random.below(known.len())];
                let digits = id.len() + random.below(11 - id.len());
                (format!("{id:0>digits$}"), expected.clone())
            }),
        },
        Kind {
            name: "nobody's",
            ids: draw(&mut |random| {
                // Above the ids of the seed.
                let id = 5_000 + random.below(2_147_483_647 - 5_000);
                (id.to_string(), nobody.clone())
            }),
        },
        Kind {
            name: "no ids",
            ids: draw(&mut |random| (no_id(random), invalid.clone())),
        },
    ]
}

/// A number too large, too many digits, or a sign that is none.
fn no_id(random: &mut SplitMix64) -> String {
    let digits = |random: &mut SplitMix64, count: usize| -> String {
        (0..count)
            .map(|_| char::from(b'0' + random.below(10) as u8))
            .collect()
    };
    match random.below(3) {
        0 => (2_147_483_648_u64 + random.below(7_852_516_352) as u64).to_string(),
        1 => {
            let count = 11 + random.below(30);
            digits(random, count)
        }
        _ => {
            const SIGNS: &[u8] = b"-+._~abcxyzEXZ!$&'()*,;=:@";
            let count = 1 + random.below(6);
            let mut id = digits(random, count);
            let sign = char::from(SIGNS[random.below(SIGNS.len())]);
            id.insert(random.below(count + 1), sign);
            id
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DRAWN, SplitMix64, kinds};
    use crate::check::cases;

    #[test]
    fn every_drawn_id_is_of_its_kind() {
        let cases = cases(2031).unwrap();
        for seed in 0..50 {
            let [known, nobody, invalid] = &kinds(&cases, &mut SplitMix64::new(seed))[..] else {
                panic!("three kinds")
            };
            for kind in [known, nobody, invalid] {
                assert_eq!(kind.ids.len(), DRAWN);
            }
            for (id, expected) in known.ids.iter().chain(&nobody.ids) {
                let number = id
                    .parse::<contract::UserId>()
                    .unwrap_or_else(|_| panic!("{id}"));
                assert_eq!(expected.status == 404, number.get() > 9, "{id}");
            }
            for (id, _) in &invalid.ids {
                assert!(id.parse::<contract::UserId>().is_err(), "{id}");
                let target = format!("/users/{id}");
                let route = contract::route("GET", &target);
                assert!(route.is_err(), "{target}");
            }
        }
    }

    #[test]
    fn another_seed_draws_other_ids() {
        let cases = cases(2031).unwrap();
        let ids = |seed| {
            let kinds = kinds(&cases, &mut SplitMix64::new(seed));
            kinds
                .into_iter()
                .flat_map(|kind| kind.ids)
                .map(|(id, _)| id)
                .collect::<Vec<_>>()
        };
        assert_eq!(ids(7), ids(7));
        assert_ne!(ids(7), ids(8));
    }
}
