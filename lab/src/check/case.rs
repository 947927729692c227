//! A case of the contract suite, as `contract/cases/README.md` describes its data.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Context;
use serde::Deserialize;

/// The state of the users' store behind the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum StoreState {
    /// Reachable and seeded with contract/seed.jsonl.
    #[default]
    Up,
    /// Nothing listens where it should be.
    Unreachable,
    /// Connections are accepted and nothing is answered.
    Stalled,
}

impl StoreState {
    pub const ALL: [Self; 3] = [Self::Up, Self::Unreachable, Self::Stalled];

    pub fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Unreachable => "unreachable",
            Self::Stalled => "stalled",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Case {
    /// The file that it stands in: "routes", "ids".
    pub group: &'static str,
    pub name: String,
    pub method: String,
    /// Goes out byte for byte.
    pub target: String,
    pub expected: Expected,
    /// The answer is neither complete before the one nor after the other.
    pub at_least: Option<Duration>,
    pub at_most: Option<Duration>,
    /// The only state that it is meant for; absent when the answer is the same in all.
    pub store: Option<StoreState>,
}

#[derive(Clone, Debug)]
pub struct Expected {
    pub status: u16,
    /// `content-type`, `retry-after`, `allow`: one that is not listed must be absent.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    request: String,
    status: u16,
    headers: BTreeMap<String, String>,
    body: Option<String>,
    golden: Option<String>,
    store: Option<StoreState>,
    at_least_ms: Option<u64>,
    at_most_ms: Option<u64>,
}

/// All cases of the contract, in order, with the pages of `year`.
pub fn all(year: u16) -> anyhow::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (group, text) in contract::CASES {
        let written: Vec<Written> =
            serde_json::from_str(text).with_context(|| format!("contract/cases/{group}.json"))?;
        for one in written {
            let name = one.name.clone();
            cases.push(
                one.into_case(group, year)
                    .with_context(|| format!("contract/cases/{group}.json: {name:?}"))?,
            );
        }
    }
    Ok(cases)
}

impl Written {
    fn into_case(self, group: &'static str, year: u16) -> anyhow::Result<Case> {
        let (method, target) = self
            .request
            .split_once(' ')
            .context("`request` is not a method, a space and a target")?;
        let body = match (self.body, self.golden) {
            (Some(body), None) => body,
            (None, Some(file)) => golden_page(&file, year)?,
            _ => anyhow::bail!("exactly one of `body` and `golden` is needed"),
        };
        Ok(Case {
            group,
            name: self.name,
            method: method.to_owned(),
            target: target.to_owned(),
            expected: Expected {
                status: self.status,
                headers: self.headers,
                body: body.into_bytes(),
            },
            at_least: self.at_least_ms.map(Duration::from_millis),
            at_most: self.at_most_ms.map(Duration::from_millis),
            store: self.store,
        })
    }
}

fn golden_page(file: &str, year: u16) -> anyhow::Result<String> {
    let (_, page) = contract::GOLDEN_PAGES
        .iter()
        .find(|(name, _)| *name == file)
        .with_context(|| format!("there is no golden file {file:?}"))?;
    Ok(page.replace(&contract::GOLDEN_YEAR.to_string(), &year.to_string()))
}

#[cfg(test)]
mod tests {
    use super::all;

    #[test]
    fn every_case_of_the_contract_can_be_read_and_has_a_name_of_its_own() {
        let cases = all(1999).unwrap();
        assert!(cases.len() > 50, "{} cases", cases.len());
        let mut names: Vec<_> = cases.iter().map(|case| (case.group, &case.name)).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), cases.len(), "two cases share a name");
    }

    #[test]
    fn the_pages_are_those_of_the_year_asked_for() {
        let cases = all(1999).unwrap();
        let home = cases.iter().find(|case| case.group == "pages").unwrap();
        let page = String::from_utf8_lossy(&home.expected.body);
        assert!(page.contains("1999") && !page.contains("2026"));
    }
}
