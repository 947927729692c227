//! The shape of an answer: which fields of a document it has, under which names, of which types,
//! and the one pass that turns raw BSON into it.

use bson::oid::ObjectId;
use bson::{Bson, DateTime, Document, RawBsonRef, RawDocument, RawDocumentBuf};

use crate::json;

/// A field of the answer.
#[derive(Debug, Clone)]
pub struct Field {
    /// `"Name":`, ready to be written.
    label: Vec<u8>,
    /// The path in the document: `address.city` is `["address", "city"]`.
    from: Vec<String>,
    kind: FieldKind,
    /// Whether missing and null are answered as `null` rather than being malformed.
    optional: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FieldKind {
    /// Any number that is a whole one in range, however it is stored.
    Int32,
    Int64,
    /// Any finite number.
    Double,
    String,
    Bool,
    /// As 24 hexadecimal digits.
    ObjectId,
    /// As RFC 3339 in UTC.
    Date,
    /// Whatever is stored, see [`json::any`].
    Any,
}

/// What a stored document lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// The document's `_id`, to find it by.
    pub id: String,
    pub field: String,
}

/// How documents are written. Without fields, whole.
#[derive(Debug)]
pub struct Shape {
    fields: Option<Vec<Field>>,
    sample: RawDocumentBuf,
}

impl Field {
    pub fn new(name: &str, from: &str, kind: FieldKind, optional: bool) -> Result<Self, String> {
        let from: Vec<_> = from.split('.').map(str::to_owned).collect();
        if from
            .iter()
            .any(|part| part.is_empty() || part.starts_with('$') || part.contains('\0'))
        {
            return Err(format!(
                "field {name:?}: {:?} is not a field's path",
                from.join(".")
            ));
        }
        let mut label = Vec::new();
        json::string(&mut label, name);
        label.push(b':');
        Ok(Self {
            label,
            from,
            kind,
            optional,
        })
    }
}

impl Shape {
    pub fn whole() -> Self {
        Self {
            fields: None,
            sample: RawDocumentBuf::new(),
        }
    }

    /// # Errors
    /// A field's path cannot stand in a document.
    pub fn of(fields: Vec<Field>) -> Result<Self, String> {
        let mut sample = Document::new();
        for field in &fields {
            put(&mut sample, &field.from, field.kind.sample());
        }
        let sample = RawDocumentBuf::try_from(&sample).map_err(|error| error.to_string())?;
        Ok(Self {
            fields: Some(fields),
            sample,
        })
    }

    /// A made-up document of this shape.
    pub fn sample(&self) -> &RawDocument {
        &self.sample
    }

    /// Whether a projection leaves all that the shape needs: it includes, by 1, each field or what
    /// the field is in, and excludes nothing.
    pub fn survives(&self, projection: &Document) -> bool {
        let is_included = |field: &Field| {
            (1..=field.from.len()).any(|end| {
                let path = field.from[..end].join(".");
                path == "_id" || projection.contains_key(&path)
            })
        };
        let only_includes = projection.values().all(|value| value == &Bson::Int32(1));
        let fields = self.fields.as_ref();
        only_includes && fields.is_some_and(|fields| fields.iter().all(is_included))
    }

    /// Writes a document as a JSON object.
    pub fn write(&self, out: &mut Vec<u8>, document: &RawDocument) -> Result<(), Malformed> {
        let malformed = |field: &str| Malformed {
            id: id_of(document),
            field: field.to_owned(),
        };
        let Some(fields) = &self.fields else {
            return json::document(out, document).map_err(|_| malformed("(the document)"));
        };
        // The document is walked once; what is wanted of it is only borrowed.
        let mut found: [Option<RawBsonRef<'_>>; FIELDS_AT_ONCE] = [None; FIELDS_AT_ONCE];
        for (chunk_index, chunk) in fields.chunks(FIELDS_AT_ONCE).enumerate() {
            found.fill(None);
            for element in document {
                let (key, value) = element.map_err(|_| malformed("(the document)"))?;
                for (field, slot) in chunk.iter().zip(&mut found) {
                    if field.from[0] == key.as_str() {
                        *slot = descend(value, &field.from[1..]);
                    }
                }
            }
            for (index, (field, value)) in chunk.iter().zip(found).enumerate() {
                out.push(if chunk_index == 0 && index == 0 {
                    b'{'
                } else {
                    b','
                });
                out.extend_from_slice(&field.label);
                write_value(out, field, value).ok_or_else(|| malformed(&field.from.join(".")))?;
            }
        }
        out.push(b'}');
        Ok(())
    }
}

impl FieldKind {
    fn sample(self) -> Bson {
        match self {
            Self::Int32 => Bson::Int32(1),
            Self::Int64 => Bson::Int64(1),
            Self::Double => Bson::Double(1.5),
            Self::String => Bson::String("sample".to_owned()),
            Self::Bool => Bson::Boolean(true),
            Self::ObjectId => Bson::ObjectId(ObjectId::from_bytes([0; 12])),
            Self::Date => Bson::DateTime(DateTime::from_millis(0)),
            Self::Any => Bson::Null,
        }
    }
}

/// Puts a value at a path. A path through what is no document is left out.
fn put(document: &mut Document, path: &[String], value: Bson) {
    match path {
        [] => {}
        [key] => {
            document.entry(key.clone()).or_insert(value);
        }
        [key, rest @ ..] => {
            let inner = document
                .entry(key.clone())
                .or_insert_with(|| Document::new().into());
            if let Bson::Document(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

/// How many fields one walk over a document looks for, so that no walk allocates.
const FIELDS_AT_ONCE: usize = 16;

fn descend<'a>(value: RawBsonRef<'a>, path: &[String]) -> Option<RawBsonRef<'a>> {
    path.iter()
        .try_fold(value, |value, key| value.as_document()?.get(key).ok()?)
}

/// `None` if the value is not what the field says.
fn write_value(out: &mut Vec<u8>, field: &Field, value: Option<RawBsonRef<'_>>) -> Option<()> {
    use RawBsonRef as B;
    let value = match value {
        None | Some(B::Null | B::Undefined) if field.optional => {
            out.extend_from_slice(b"null");
            return Some(());
        }
        None => return None,
        Some(value) => value,
    };
    match (field.kind, value) {
        (FieldKind::Int32, value) => {
            json::integer(out, i64::from(i32::try_from(whole(value)?).ok()?));
        }
        (FieldKind::Int64, value) => json::integer(out, whole(value)?),
        (FieldKind::Double, B::Double(number)) if number.is_finite() => json::double(out, number),
        (FieldKind::Double, B::Int32(number)) => json::double(out, f64::from(number)),
        (FieldKind::Double, B::Int64(number)) => json::double(out, number as f64),
        (FieldKind::String, B::String(text)) => json::string(out, text),
        (FieldKind::Bool, B::Boolean(_))
        | (FieldKind::ObjectId, B::ObjectId(_))
        | (FieldKind::Date, B::DateTime(_))
        | (FieldKind::Any, _) => json::any(out, value, 0).ok()?,
        _ => return None,
    }
    Some(())
}

/// A whole number, however it is stored.
fn whole(value: RawBsonRef<'_>) -> Option<i64> {
    match value {
        RawBsonRef::Int32(number) => Some(number.into()),
        RawBsonRef::Int64(number) => Some(number),
        // 2^63 is the first double past an i64; -2^63 is one itself.
        RawBsonRef::Double(number)
            if number.fract() == 0.0 && (-(2f64.powi(63))..2f64.powi(63)).contains(&number) =>
        {
            Some(number as i64)
        }
        _ => None,
    }
}

fn id_of(document: &RawDocument) -> String {
    let mut out = Vec::new();
    match document.get("_id") {
        Ok(Some(id)) if json::any(&mut out, id, 0).is_ok() => {
            // What the encoder writes is UTF-8; an id as long as a page would drown the log.
            String::from_utf8_lossy(&out[..out.len().min(200)]).into_owned()
        }
        _ => "unknown".to_owned(),
    }
}
