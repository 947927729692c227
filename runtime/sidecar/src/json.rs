//! BSON values as JSON text: plain JSON where JSON has the type, and a string where it does not.
//!
//! Strings escape only `"`, `\` and control characters. An ObjectId is 24 hexadecimal digits, a
//! date RFC 3339 in UTC, a Decimal128 its digits, binary data base64; a number that is not finite,
//! an undefined and the two keys that bound the order of all values are `null`.

use std::io::Write;

use bson::{RawBsonRef, RawDocument};

/// Deeper documents than MongoDB itself stores (100 levels) are not walked.
const DEEPEST: usize = 100;

/// The bytes are not BSON, or nest deeper than MongoDB allows.
#[derive(Debug)]
pub struct Unreadable;

pub fn string(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("a string always serialises into memory");
}

pub fn integer(out: &mut Vec<u8>, number: i64) {
    serde_json::to_writer(out, &number).expect("a number always serialises into memory");
}

/// A finite number as the shortest text that reads back as it, any other as `null`.
pub fn double(out: &mut Vec<u8>, number: f64) {
    serde_json::to_writer(out, &number).expect("a number always serialises into memory");
}

pub fn document(out: &mut Vec<u8>, document: &RawDocument) -> Result<(), Unreadable> {
    nested_document(out, document, 0)
}

fn nested_document(
    out: &mut Vec<u8>,
    document: &RawDocument,
    depth: usize,
) -> Result<(), Unreadable> {
    out.push(b'{');
    for (index, element) in document.iter().enumerate() {
        let (key, value) = element.map_err(|_| Unreadable)?;
        if index > 0 {
            out.push(b',');
        }
        string(out, key.as_str());
        out.push(b':');
        any(out, value, depth + 1)?;
    }
    out.push(b'}');
    Ok(())
}

/// Any value. `depth` is that of the document around it.
pub fn any(out: &mut Vec<u8>, value: RawBsonRef<'_>, depth: usize) -> Result<(), Unreadable> {
    use RawBsonRef as B;
    if depth > DEEPEST {
        return Err(Unreadable);
    }
    match value {
        B::Double(number) => double(out, number),
        B::String(text) | B::Symbol(text) | B::JavaScriptCode(text) => string(out, text),
        B::Array(array) => {
            out.push(b'[');
            for (index, value) in array.into_iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                any(out, value.map_err(|_| Unreadable)?, depth + 1)?;
            }
            out.push(b']');
        }
        B::Document(document) => nested_document(out, document, depth)?,
        B::Boolean(truth) => out.extend_from_slice(if truth { b"true" } else { b"false" }),
        B::Int32(number) => integer(out, number.into()),
        B::Int64(number) => integer(out, number),
        B::ObjectId(id) => quoted(out, format_args!("{id}")),
        B::Decimal128(number) => quoted(out, format_args!("{number}")),
        B::DateTime(date) => match date.try_to_rfc3339_string() {
            Ok(text) => string(out, &text),
            // Outside the years that RFC 3339 can write: milliseconds since 1970.
            Err(_) => integer(out, date.timestamp_millis()),
        },
        B::Timestamp(timestamp) => integer(out, timestamp.time.into()),
        B::Binary(binary) => quoted(out, format_args!("{}", Base64(binary.bytes))),
        B::RegularExpression(regex) => string(out, regex.pattern.as_str()),
        B::JavaScriptCodeWithScope(code) => string(out, code.code),
        B::DbPointer(_) | B::Null | B::Undefined | B::MinKey | B::MaxKey => {
            out.extend_from_slice(b"null");
        }
    }
    Ok(())
}

/// Text that has nothing to escape.
fn quoted(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.push(b'"');
    out.write_fmt(text)
        .expect("a vector takes all that is written");
    out.push(b'"');
}

struct Base64<'a>(&'a [u8]);

impl std::fmt::Display for Base64<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const DIGITS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        for chunk in self.0.chunks(3) {
            let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            for digit in 0..4 {
                let sextet = (bits >> (18 - 6 * digit)) & 63;
                let is_padding = digit > chunk.len();
                let text = if is_padding {
                    '='
                } else {
                    char::from(DIGITS[sextet as usize])
                };
                std::fmt::Write::write_char(f, text)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use bson::{Binary, RawDocumentBuf, doc, oid::ObjectId, spec::BinarySubtype};

    fn encoded(document: &bson::Document) -> String {
        let raw = RawDocumentBuf::try_from(document).unwrap();
        let mut out = Vec::new();
        super::document(&mut out, &raw).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_become_plain_json() {
        let binary = |bytes: &[u8]| Binary {
            subtype: BinarySubtype::Generic,
            bytes: bytes.into(),
        };
        assert_eq!(
            encoded(&doc! {
                "a": 1, "b": 2_i64, "c": 2.5, "d": f64::NAN, "e": [true, null],
                "f": ObjectId::parse_str("0123456789abcdef01234567").unwrap(),
                "g": bson::DateTime::from_millis(0), "h": {"x\"": "\\\n\u{1f}ë\u{7f}"},
                "i": binary(b"ab"), "j": binary(b"abc"), "k": binary(b"a"), "l": binary(b""),
            }),
            "{\"a\":1,\"b\":2,\"c\":2.5,\"d\":null,\"e\":[true,null],\
             \"f\":\"0123456789abcdef01234567\",\"g\":\"1970-01-01T00:00:00Z\",\
             \"h\":{\"x\\\"\":\"\\\\\\n\\u001fë\u{7f}\"},\
             \"i\":\"YWI=\",\"j\":\"YWJj\",\"k\":\"YQ==\",\"l\":\"\"}"
        );
    }
}
