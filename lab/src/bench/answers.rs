//! The scenario's own check of a target, before and after its load: the right answer to each of its requests, and a
//! user that only this run's store has.

use std::time::Duration;

use super::PlannedScenario;
use crate::generators::Ask;
use crate::http::{Connection, Origin, Request};
use crate::services::Services;
use crate::stats::random::{SplitMix64, seed_for};

const PATIENCE: Duration = Duration::from_secs(5);

/// Asks each request of the scenario once, and returns them with the bodies that are right: one that is known by its
/// hash only is known in full from then on.
pub fn right_answers(origin: &Origin, scenario: &PlannedScenario<'_>) -> Result<Vec<Ask>, String> {
    let expected = scenario.scenario;
    let mut known = Vec::new();
    for ask in &scenario.asks {
        let body = body_of(origin, &ask.path, expected.status)?;
        let same_bytes = ask.body.as_ref().is_none_or(|known| *known == body);
        let of_first = expected.sha256.as_ref().filter(|_| known.is_empty());
        let same_hash = of_first.is_none_or(|hash| *hash == crate::digest::sha256_hex(&body));
        if !same_bytes || !same_hash {
            return Err(format!(
                "GET {}: the body is not the one expected",
                ask.path
            ));
        }
        known.push(Ask {
            path: ask.path.clone(),
            body: Some(body),
        });
    }
    Ok(known)
}

fn body_of(origin: &Origin, path: &str, status: u16) -> Result<Vec<u8>, String> {
    let request = Request {
        method: "GET",
        target: path,
    };
    let answer = Connection::open(origin, PATIENCE)
        .and_then(|mut connection| connection.exchange(request, PATIENCE))
        .map_err(|error| format!("GET {path}: {error}"))?;
    match answer.status == status {
        true => Ok(answer.body),
        false => Err(format!(
            "GET {path}: expected {status}, got {}",
            answer.status
        )),
    }
}

/// A user whom nobody can know: his id is drawn once for a run, his name anew whenever he is looked for.
pub struct Canary {
    id: contract::UserId,
    names: SplitMix64,
}

impl Canary {
    pub fn of_run(seed: u64) -> Self {
        let mut random = SplitMix64::new(seed_for(seed, "canary"));
        // Above the ids of the seed, and of the cases about users that are not there.
        let id = 10_000 + random.below(2_000_000_000);
        let id = id
            .to_string()
            .parse()
            .expect("at most ten digits, and no more than an int32 holds");
        Self { id, names: random }
    }

    /// Writes him into the store and asks the target for him: another store does not have him, a cache has his old name.
    pub fn look_for(
        &mut self,
        origin: &Origin,
        services: &Services,
        store: &str,
    ) -> Result<(), String> {
        let name = format!("Canary {:016x}", self.names.next_u64());
        let user = contract::User {
            id: self.id,
            name: &name,
            surname: "of this run",
            email: "canary@mail.com",
        };
        services
            .put_user(store, &user)
            .map_err(|error| format!("the store takes no user: {error}"))?;
        let path = format!("/users/{}", user.id);
        let body = body_of(origin, &path, 200)
            .map_err(|why| format!("{why}, for a user just written to the store"))?;
        match body == user.to_json().as_bytes() {
            true => Ok(()),
            false => Err(format!(
                "GET {path}: the user just written to the store is answered otherwise: it reads another store, or a cache"
            )),
        }
    }
}
