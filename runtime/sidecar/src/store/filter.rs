//! Filters in memory: the forms that the embedded store knows, matched as MongoDB matches them.
//! A form that is not here is refused when the sidecar starts, never guessed at.

use bson::{Bson, Document};

use super::order::{order, rank};
use crate::template::{Node, Template};

/// Operators that compare a field with a value.
const COMPARISONS: [&str; 6] = ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"];
/// Operators that take a list of filters.
const JUNCTIONS: [&str; 3] = ["$and", "$or", "$nor"];

/// Whether every form in a filter is one of those here.
pub fn check(filter: &Template) -> Result<(), String> {
    check_fields(&filter.fields)
}

fn check_fields(fields: &[(String, Node)]) -> Result<(), String> {
    for (key, node) in fields {
        match node {
            Node::Array(filters) if JUNCTIONS.contains(&key.as_str()) => {
                for filter in filters {
                    check_node(filter)?;
                }
            }
            Node::Fixed(Bson::Array(filters)) if JUNCTIONS.contains(&key.as_str()) => {
                for filter in filters {
                    check_node(&Node::Fixed(filter.clone()))?;
                }
            }
            _ if key.starts_with('$') => return Err(unknown(key)),
            Node::Document(operators) => check_operators(operators)?,
            Node::Fixed(Bson::Document(operators)) => check_operators(&as_nodes(operators))?,
            Node::Fixed(Bson::RegularExpression(_)) => return Err(unknown("a pattern")),
            _ => {}
        }
    }
    Ok(())
}

fn check_node(filter: &Node) -> Result<(), String> {
    match filter {
        Node::Document(fields) => check_fields(fields),
        Node::Fixed(Bson::Document(document)) => check_fields(&as_nodes(document)),
        _ => Err("a list of filters holds something else".to_owned()),
    }
}

fn check_operators(operators: &[(String, Node)]) -> Result<(), String> {
    // A document without operators is a value to be equal to.
    if !operators.iter().any(|(key, _)| key.starts_with('$')) {
        return Ok(());
    }
    for (key, node) in operators {
        let is_list = matches!(node, Node::Array(_) | Node::Fixed(Bson::Array(_)));
        match key.as_str() {
            "$in" | "$nin" if is_list => {}
            "$exists" if matches!(node, Node::Fixed(Bson::Boolean(_))) => {}
            key if COMPARISONS.contains(&key) => {}
            key => return Err(unknown(key)),
        }
    }
    Ok(())
}

fn as_nodes(document: &Document) -> Vec<(String, Node)> {
    document
        .iter()
        .map(|(key, value)| (key.clone(), Node::Fixed(value.clone())))
        .collect()
}

fn unknown(form: &str) -> String {
    format!("the embedded store does not know {form} in a filter; use --store mongodb")
}

/// Whether a document matches a filter that passed [`check`].
pub fn matches(filter: &Document, document: &Document) -> bool {
    filter.iter().all(|(key, condition)| {
        let any_of = |filters: &Bson| {
            let filters = filters.as_array().into_iter().flatten();
            filters
                .filter_map(Bson::as_document)
                .any(|filter| matches(filter, document))
        };
        let all_of = |filters: &Bson| {
            let filters = filters.as_array().into_iter().flatten();
            filters
                .filter_map(Bson::as_document)
                .all(|filter| matches(filter, document))
        };
        match key.as_str() {
            "$and" => all_of(condition),
            "$or" => any_of(condition),
            "$nor" => !any_of(condition),
            path => field_matches(condition, &candidates(document, path)),
        }
    })
}

fn field_matches(condition: &Bson, found: &[&Bson]) -> bool {
    match condition {
        Bson::Document(operators) if operators.keys().any(|key| key.starts_with('$')) => operators
            .iter()
            .all(|(operator, operand)| operator_matches(operator, operand, found)),
        value => equals(value, found),
    }
}

fn operator_matches(operator: &str, operand: &Bson, found: &[&Bson]) -> bool {
    let list = || operand.as_array().into_iter().flatten();
    // A comparison with another type is false, not an order between types.
    let compares = |accept: fn(std::cmp::Ordering) -> bool| {
        let same_type = found.iter().filter(|value| rank(value) == rank(operand));
        same_type
            .into_iter()
            .any(|value| !is_nan_pair(value, operand) && accept(order(value, operand)))
    };
    match operator {
        "$eq" => equals(operand, found),
        "$ne" => !equals(operand, found),
        "$in" => list().any(|value| equals(value, found)),
        "$nin" => !list().any(|value| equals(value, found)),
        "$gt" => compares(std::cmp::Ordering::is_gt),
        "$gte" => compares(std::cmp::Ordering::is_ge) || is_missing_null(operand, found),
        "$lt" => compares(std::cmp::Ordering::is_lt),
        "$lte" => compares(std::cmp::Ordering::is_le) || is_missing_null(operand, found),
        "$exists" => found.is_empty() != (operand == &Bson::Boolean(true)),
        _ => false,
    }
}

/// NaN is only ever equal to NaN; it is neither above nor below a number.
fn is_nan_pair(left: &Bson, right: &Bson) -> bool {
    let is_nan = |value: &Bson| value.as_f64().is_some_and(f64::is_nan);
    is_nan(left) != is_nan(right)
}

fn equals(value: &Bson, found: &[&Bson]) -> bool {
    is_missing_null(value, found)
        || found
            .iter()
            .any(|candidate| order(candidate, value).is_eq())
}

/// A missing field is equal to null.
fn is_missing_null(value: &Bson, found: &[&Bson]) -> bool {
    found.is_empty() && value == &Bson::Null
}

/// The values at a path: the value itself and, for an array, each of its elements; through arrays
/// of documents on the way.
fn candidates<'a>(document: &'a Document, path: &str) -> Vec<&'a Bson> {
    let mut found = Vec::new();
    collect(document, path, &mut found);
    found
}

fn collect<'a>(document: &'a Document, path: &str, found: &mut Vec<&'a Bson>) {
    // A key with a dot in it is not reachable, as in MongoDB.
    let (key, rest) = path
        .split_once('.')
        .map_or((path, None), |(key, rest)| (key, Some(rest)));
    let Some(value) = document.get(key) else {
        return;
    };
    collect_in(value, rest, found);
}

fn collect_in<'a>(value: &'a Bson, rest: Option<&str>, found: &mut Vec<&'a Bson>) {
    match (value, rest) {
        (Bson::Array(elements), None) => {
            found.push(value);
            found.extend(elements);
        }
        (value, None) => found.push(value),
        (Bson::Document(inner), Some(rest)) => collect(inner, rest, found),
        (Bson::Array(elements), Some(rest)) => {
            let (key, deeper) = rest
                .split_once('.')
                .map_or((rest, None), |(key, deeper)| (key, Some(deeper)));
            if let Some(element) = key
                .parse()
                .ok()
                .and_then(|index: usize| elements.get(index))
            {
                collect_in(element, deeper, found);
            }
            for element in elements.iter().filter_map(Bson::as_document) {
                collect(element, rest, found);
            }
        }
        _ => {}
    }
}

/// What a document is sorted by: the value at a path, null for none, and of an array its least
/// element, or its greatest when descending.
pub fn sort_key(document: &Document, path: &str, descending: bool) -> Bson {
    let found = candidates(document, path);
    let elements = found
        .iter()
        .filter(|value| !matches!(value, Bson::Array(_)));
    let key = if descending {
        elements.max_by(|left, right| order(left, right))
    } else {
        elements.min_by(|left, right| order(left, right))
    };
    key.map_or(Bson::Null, |value| (*value).clone())
}
