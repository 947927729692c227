//! A store in memory, filled once from files of MongoDB extended-JSON lines.

use std::collections::HashMap;
use std::path::Path;

use bson::{Bson, Document, RawDocumentBuf, oid::ObjectId};

use super::{Failure, Rows, filter, order::order};
use crate::param::Value;
use crate::query::Query;

/// Documents by the name of their collection.
#[derive(Default)]
pub struct Embedded {
    collections: HashMap<String, Collection>,
}

#[derive(Default)]
struct Collection {
    documents: Vec<Stored>,
    by_id: HashMap<IdKey, usize>,
}

struct Stored {
    document: Document,
    raw: RawDocumentBuf,
}

/// An `_id` that is found without a walk. Numbers that compare as equal are the same key.
#[derive(PartialEq, Eq, Hash)]
enum IdKey {
    Number(i64),
    String(String),
    ObjectId(ObjectId),
}

/// What is wrong with a seed: file, line and reason.
#[derive(Debug, thiserror::Error)]
#[error("seed {0}")]
pub struct SeedError(String);

impl Embedded {
    /// Adds a file's documents to a collection.
    pub fn load(&mut self, collection: &str, file: &Path) -> Result<(), SeedError> {
        let name = file.display();
        let text = std::fs::read_to_string(file)
            .map_err(|error| SeedError(format!("{name} cannot be read: {error}")))?;
        self.add(collection, &text)
            .map_err(|error| SeedError(format!("{name}, {error}")))
    }

    /// Adds the documents of a text of extended-JSON lines to a collection.
    pub fn add(&mut self, collection: &str, lines: &str) -> Result<(), String> {
        let collection = self.collections.entry(collection.to_owned()).or_default();
        for (index, line) in lines.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            crate::template::parse_document(line)
                .and_then(|document| collection.insert(document))
                .map_err(|error| format!("line {}: {error}", index + 1))?;
        }
        Ok(())
    }

    /// How many documents there are.
    pub fn count(&self) -> usize {
        self.collections
            .values()
            .map(|collection| collection.documents.len())
            .sum()
    }

    pub fn check(&self, query: &Query) -> Result<(), String> {
        if !self.collections.contains_key(&query.collection) {
            return Err(format!(
                "the embedded store has no collection {0:?}; fill it with --seed {0}=FILE",
                query.collection
            ));
        }
        filter::check(&query.filter)?;
        let is_direction = |value: &Bson| matches!(value, Bson::Int32(1 | -1));
        if let Some((key, _)) = query
            .sort
            .iter()
            .flatten()
            .find(|(_, value)| !is_direction(value))
        {
            return Err(format!("the embedded store sorts {key:?} by 1 or -1 only"));
        }
        let changes_nothing = |projection| query.shape.survives(projection);
        if !query.projection.as_ref().is_none_or(changes_nothing) {
            return Err(
                "the embedded store knows no projection but one that includes, by 1, \
                        each of the fields"
                    .into(),
            );
        }
        Ok(())
    }

    pub fn find(
        &self,
        query: &Query,
        values: &[Value],
        rows: &mut Rows<'_>,
    ) -> Result<(), Failure> {
        let Some(collection) = self.collections.get(&query.collection) else {
            return Ok(());
        };
        let wanted = query.filter.bind(values);
        let limit = query.limit(values) as usize;
        let mut found: Vec<&Stored> = match wanted.get("_id").and_then(IdKey::of) {
            Some(key) => {
                let index = collection.by_id.get(&key);
                index
                    .map(|index| &collection.documents[*index])
                    .into_iter()
                    .collect()
            }
            None => collection.documents.iter().collect(),
        };
        found.retain(|stored| filter::matches(&wanted, &stored.document));
        if let Some(sort) = &query.sort {
            // Stable, so that equals stay in the order of the file.
            found.sort_by(|left, right| {
                let by_key = sort.iter().map(|(path, direction)| {
                    let descending = direction == &Bson::Int32(-1);
                    let key =
                        |stored: &Stored| filter::sort_key(&stored.document, path, descending);
                    let ascending = order(&key(left), &key(right));
                    if descending {
                        ascending.reverse()
                    } else {
                        ascending
                    }
                });
                by_key.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
            });
        }
        for stored in found.into_iter().take(limit) {
            rows.push(&stored.raw)?;
        }
        Ok(())
    }
}

impl Collection {
    fn insert(&mut self, document: Document) -> Result<(), String> {
        let id = document.get("_id").ok_or("the document has no _id")?;
        if let Some(key) = IdKey::of(id)
            && self.by_id.insert(key, self.documents.len()).is_some()
        {
            return Err(format!("the _id {id} is there twice"));
        }
        let raw = RawDocumentBuf::try_from(&document).map_err(|error| error.to_string())?;
        self.documents.push(Stored { document, raw });
        Ok(())
    }
}

impl IdKey {
    fn of(id: &Bson) -> Option<Self> {
        let limit = 2f64.powi(63);
        match id {
            Bson::Int32(number) => Some(Self::Number((*number).into())),
            Bson::Int64(number) => Some(Self::Number(*number)),
            Bson::Double(number) if number.fract() == 0.0 && (-limit..limit).contains(number) => {
                Some(Self::Number(*number as i64))
            }
            Bson::String(text) => Some(Self::String(text.clone())),
            Bson::ObjectId(id) => Some(Self::ObjectId(*id)),
            _ => None,
        }
    }
}
