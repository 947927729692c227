//! A MongoDB filter with places for parameters: `{"city": {"$param": "city"}}`.
//!
//! A place takes one value of the parameter's type. Where MongoDB would read a value as more than
//! a value (a pattern, a search expression, code), a place is refused, and inside `$expr`, where a
//! string that starts with `$` would name a field, it is wrapped in `$literal`.

use bson::{Bson, Document, doc};

use crate::param::{Param, Value};

#[derive(Debug, Clone)]
pub enum Node {
    /// Without a place in it.
    Fixed(Bson),
    /// The parameter of this index.
    Place {
        param: usize,
        literal: bool,
    },
    Document(Vec<(String, Node)>),
    Array(Vec<Node>),
}

/// Operators that run code given as text. Nothing here needs them, so no filter has them.
const CODE: [&str; 3] = ["$where", "$function", "$accumulator"];
/// Operators whose operands have a syntax of their own.
const SYNTAX: [&str; 4] = ["$regex", "$options", "$text", "$jsonSchema"];

/// The key of a place.
pub const PLACE: &str = "$param";

#[derive(Debug)]
pub struct Template {
    pub fields: Vec<(String, Node)>,
}

impl Template {
    /// Reads a filter in MongoDB extended JSON.
    pub fn declared(text: &str, params: &[Param]) -> Result<Self, String> {
        let mut fields = Vec::new();
        for (key, value) in parse_document(text)? {
            let place = Surroundings::default().inside(&key)?;
            fields.push((key, node(value, params, place)?));
        }
        Ok(Self { fields })
    }

    /// The filter of a request.
    pub fn bind(&self, values: &[Value]) -> Document {
        bind_fields(&self.fields, values)
    }

    /// Whether the parameter of this index has a place here.
    pub fn uses(&self, param: usize) -> bool {
        self.fields.iter().any(|(_, node)| node.uses(param))
    }
}

impl Node {
    fn uses(&self, wanted: usize) -> bool {
        match self {
            Self::Fixed(_) => false,
            Self::Place { param, .. } => *param == wanted,
            Self::Document(fields) => fields.iter().any(|(_, node)| node.uses(wanted)),
            Self::Array(nodes) => nodes.iter().any(|node| node.uses(wanted)),
        }
    }

    fn bind(&self, values: &[Value]) -> Bson {
        match self {
            Self::Fixed(value) => value.clone(),
            Self::Place { param, literal } => {
                let value = Bson::from(values[*param].clone());
                if *literal {
                    Bson::Document(doc! { "$literal": value })
                } else {
                    value
                }
            }
            Self::Document(fields) => Bson::Document(bind_fields(fields, values)),
            Self::Array(nodes) => nodes.iter().map(|node| node.bind(values)).collect(),
        }
    }
}

fn bind_fields(fields: &[(String, Node)], values: &[Value]) -> Document {
    fields
        .iter()
        .map(|(key, node)| (key.clone(), node.bind(values)))
        .collect()
}

/// A document in MongoDB extended JSON.
pub fn parse_document(text: &str) -> Result<Document, String> {
    let json: serde_json::Value =
        serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    match Bson::try_from(json) {
        Ok(Bson::Document(document)) => Ok(document),
        Ok(_) => Err("not a document in braces".to_owned()),
        Err(error) => Err(format!("not extended JSON: {error}")),
    }
}

/// The name that a `{"$param": "name"}` holds, if the document is one.
pub fn place_name(document: &Document) -> Result<Option<&str>, String> {
    match document.get(PLACE) {
        None => Ok(None),
        Some(Bson::String(name)) if document.len() == 1 => Ok(Some(name)),
        Some(_) => Err(format!(
            "a place is {{\"{PLACE}\": \"name\"}} and nothing else"
        )),
    }
}

/// What stands around a place, as far as it changes what a value there means.
#[derive(Debug, Clone, Copy, Default)]
struct Surroundings {
    expression: bool,
    syntax: Option<&'static str>,
}

impl Surroundings {
    fn inside(self, key: &str) -> Result<Self, String> {
        if CODE.contains(&key) {
            return Err(format!("{key} runs code and is not possible here"));
        }
        Ok(Self {
            expression: self.expression || key == "$expr",
            syntax: SYNTAX
                .into_iter()
                .find(|operator| *operator == key)
                .or(self.syntax),
        })
    }
}

fn node(value: Bson, params: &[Param], around: Surroundings) -> Result<Node, String> {
    match value {
        Bson::Document(document) => {
            if let Some(name) = place_name(&document)? {
                if let Some(operator) = around.syntax {
                    return Err(format!(
                        "{operator} has a syntax of its own and takes no parameter ({name:?})"
                    ));
                }
                let param = index_of(name, params)?;
                return Ok(Node::Place {
                    param,
                    literal: around.expression,
                });
            }
            let mut fields = Vec::with_capacity(document.len());
            for (key, value) in document {
                let around = around.inside(&key)?;
                fields.push((key, node(value, params, around)?));
            }
            let fixed = fields
                .iter()
                .all(|(_, node)| matches!(node, Node::Fixed(_)));
            let node = Node::Document(fields);
            Ok(if fixed {
                Node::Fixed(node.bind(&[]))
            } else {
                node
            })
        }
        Bson::Array(values) => {
            let nodes = values
                .into_iter()
                .map(|value| node(value, params, around))
                .collect::<Result<Vec<_>, _>>()?;
            let fixed = nodes.iter().all(|node| matches!(node, Node::Fixed(_)));
            let node = Node::Array(nodes);
            Ok(if fixed {
                Node::Fixed(node.bind(&[]))
            } else {
                node
            })
        }
        Bson::JavaScriptCode(_) | Bson::JavaScriptCodeWithScope(_) => {
            Err("JavaScript is not possible here".to_owned())
        }
        value => Ok(Node::Fixed(value)),
    }
}

/// The index of a parameter by its name.
pub fn index_of(name: &str, params: &[Param]) -> Result<usize, String> {
    params
        .iter()
        .position(|param| param.name == name)
        .ok_or_else(|| format!("parameter {name:?} is not in the path"))
}
