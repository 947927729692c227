//! `sidecar.toml`: which queries there are. Read, checked whole, and refused by name where wrong.

use std::collections::BTreeMap;
use std::sync::Arc;

use bson::{Bson, Document};
use serde::Deserialize;

use crate::cache::Cache;
use crate::metrics::Metrics;
use crate::param::{Kind, Param};
use crate::query::{Answers, CachePolicy, Limit, Query, Returns};
use crate::quota::Quota;
use crate::router::{Path, Router};
use crate::shape::{Field, FieldKind, Shape};
use crate::template::{self, Template};

/// The built-in configuration, as a file would have it.
pub const DEFAULT: &str = include_str!("default.toml");

/// The most documents that one answer may hold.
const LARGEST_LIMIT: i64 = 1000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    database: String,
    query: BTreeMap<String, Declared>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Declared {
    path: String,
    collection: String,
    filter: String,
    projection: Option<String>,
    sort: Option<String>,
    limit: Option<DeclaredLimit>,
    returns: DeclaredReturns,
    fields: Option<Vec<DeclaredField>>,
    not_found: Option<String>,
    malformed: Option<String>,
    cache: Option<DeclaredCache>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum DeclaredReturns {
    One,
    Many,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a number, or a place such as '{\"$param\": \"limit\"}'"
)]
enum DeclaredLimit {
    Number(i64),
    Place(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredField {
    name: String,
    from: Option<String>,
    #[serde(rename = "type")]
    kind: FieldKind,
    #[serde(default)]
    optional: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredCache {
    ttl: String,
    max_entries: u64,
}

/// Reads a file's text into its queries. The error is one line: where and what.
pub fn read(text: &str, metrics: &Metrics) -> Result<Router, String> {
    let file: File = toml::from_str(text).map_err(|error| {
        let before = error
            .span()
            .map_or("", |span| &text[..span.start.min(text.len())]);
        let line = before.matches('\n').count() + 1;
        format!("line {line}: {}", error.message().replace('\n', "; "))
    })?;
    if file.query.is_empty() {
        return Err("there is no [query.NAME] in it".to_owned());
    }
    let mut queries = Vec::with_capacity(file.query.len());
    for (name, declared) in file.query {
        let query = compile(&name, &file.database, declared, metrics)
            .map_err(|error| format!("query {name:?}: {error}"))?;
        queries.push(Arc::new(query));
    }
    Router::new(queries)
}

fn compile(
    name: &str,
    database: &str,
    declared: Declared,
    metrics: &Metrics,
) -> Result<Query, String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ' ');
    if name.is_empty() || !name.chars().all(is_name) {
        return Err("a query's name has letters, digits, spaces, - and _ only".to_owned());
    }
    let path = Path::declared(&declared.path)?;
    let params: Vec<Param> = path.params().cloned().collect();
    let filter = Template::declared(&declared.filter, &params)
        .map_err(|error| format!("filter: {error}"))?;
    let returns = match (declared.returns, declared.limit) {
        (DeclaredReturns::One, None) => Returns::One,
        (DeclaredReturns::One, Some(_)) => return Err("returns one, so it has no limit".into()),
        (DeclaredReturns::Many, None) => {
            return Err(format!(
                "returns many, so it needs a limit of at most {LARGEST_LIMIT}"
            ));
        }
        (DeclaredReturns::Many, Some(limit)) => Returns::Many(compile_limit(limit, &params)?),
    };
    for (index, param) in params.iter().enumerate() {
        let limits = matches!(returns, Returns::Many(Limit::Param(of)) if of == index);
        if !filter.uses(index) && !limits {
            return Err(format!(
                "parameter {:?} is in the path and nowhere else",
                param.name
            ));
        }
    }
    let shape = compile_shape(declared.fields)?;
    let projection = declared
        .projection
        .map(|text| static_document("projection", &text))
        .transpose()?;
    let sort = declared
        .sort
        .map(|text| static_document("sort", &text))
        .transpose()?;
    Ok(Query {
        answers: Answers::new(
            name,
            declared
                .not_found
                .as_deref()
                .unwrap_or(&format!("{name} not found")),
            declared
                .malformed
                .as_deref()
                .unwrap_or(&format!("{name} record is malformed")),
        ),
        cache: declared
            .cache
            .map(compile_cache)
            .transpose()?
            .map(Cache::new),
        metrics: metrics.query(name),
        store_log: Quota::default(),
        document_log: Quota::default(),
        name: name.to_owned(),
        database: database.to_owned(),
        collection: declared.collection,
        path,
        filter,
        projection,
        sort,
        returns,
        shape,
    })
}

fn compile_limit(declared: DeclaredLimit, params: &[Param]) -> Result<Limit, String> {
    let bounds = 1..=LARGEST_LIMIT;
    match declared {
        DeclaredLimit::Number(number) => u32::try_from(number)
            .ok()
            .filter(|_| bounds.contains(&number))
            .map(Limit::Fixed)
            .ok_or_else(|| format!("limit {number} is not from 1 to {LARGEST_LIMIT}")),
        DeclaredLimit::Place(text) => {
            let document =
                template::parse_document(&text).map_err(|error| format!("limit: {error}"))?;
            let name = template::place_name(&document)?
                .ok_or("limit is neither a number nor a place for a parameter")?;
            let index = template::index_of(name, params)?;
            match params[index].kind {
                Kind::Int32 { min, max } | Kind::Int64 { min, max }
                    if bounds.contains(&min) && bounds.contains(&max) =>
                {
                    Ok(Limit::Param(index))
                }
                _ => Err(format!(
                    "the limit's parameter {name:?} needs an integer type and bounds, \
                     such as {{{name}:int32 min=1 max={LARGEST_LIMIT}}}"
                )),
            }
        }
    }
}

fn compile_shape(declared: Option<Vec<DeclaredField>>) -> Result<Shape, String> {
    let Some(declared) = declared else {
        return Ok(Shape::whole());
    };
    if declared.is_empty() {
        return Err("fields is empty; leave it out to answer with whole documents".to_owned());
    }
    let mut fields = Vec::with_capacity(declared.len());
    for (index, field) in declared.iter().enumerate() {
        if declared[..index]
            .iter()
            .any(|earlier| earlier.name == field.name)
        {
            return Err(format!("field {:?} is there twice", field.name));
        }
        let from = field.from.as_deref().unwrap_or(&field.name);
        fields.push(Field::new(&field.name, from, field.kind, field.optional)?);
    }
    Shape::of(fields)
}

/// A document without places: MongoDB would read a string in a projection as the name of a field.
fn static_document(what: &str, text: &str) -> Result<Document, String> {
    fn has_place(value: &Bson) -> bool {
        match value {
            Bson::Document(document) => document
                .iter()
                .any(|(key, value)| key == template::PLACE || has_place(value)),
            Bson::Array(values) => values.iter().any(has_place),
            _ => false,
        }
    }
    let document = template::parse_document(text).map_err(|error| format!("{what}: {error}"))?;
    if has_place(&Bson::Document(document.clone())) {
        return Err(format!(
            "{what} takes no parameter; the filter and the limit do"
        ));
    }
    Ok(document)
}

fn compile_cache(declared: DeclaredCache) -> Result<CachePolicy, String> {
    let ttl =
        crate::args::duration(&declared.ttl).map_err(|error| format!("cache.ttl: {error}"))?;
    if ttl.is_zero() || declared.max_entries == 0 {
        return Err("cache: ttl and max_entries are above 0; leave cache out for none".to_owned());
    }
    Ok(CachePolicy {
        ttl,
        max_entries: declared.max_entries,
    })
}
