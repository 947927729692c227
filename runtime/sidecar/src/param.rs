//! A typed parameter of a path, and the value that a request gives for it.
//!
//! A parameter is a value and never syntax: whatever a client writes becomes exactly one BSON value
//! of the declared type, or the request is refused.

use std::borrow::Cow;

use bson::{Bson, oid::ObjectId};

/// A parameter as declared: `{id:int32 min=0}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    pub name: String,
    pub kind: Kind,
}

/// The type of a parameter, with its bounds, both inclusive.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Int32 {
        min: i64,
        max: i64,
    },
    Int64 {
        min: i64,
        max: i64,
    },
    /// Percent-encoded UTF-8; the bounds count characters.
    String {
        min: i64,
        max: i64,
    },
    /// 24 hexadecimal digits.
    ObjectId,
    /// `true` or `false`.
    Bool,
}

/// What a request gave for a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Value {
    Int32(i32),
    Int64(i64),
    String(String),
    ObjectId(ObjectId),
    Bool(bool),
}

/// No string parameter is longer than this many characters unless its `max` says so.
const STRING_MAX: i64 = 256;

impl Param {
    /// Reads what stands between the braces.
    pub fn declared(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let (name, kind) = words
            .next()
            .and_then(|word| word.split_once(':'))
            .ok_or_else(|| format!("{{{text}}} is not {{name:type}}"))?;
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return Err(format!(
                "{name:?} is not a parameter's name: use letters, digits and _"
            ));
        }
        let (least, most) = match kind {
            "int32" => (i64::from(i32::MIN), i64::from(i32::MAX)),
            "int64" => (i64::MIN, i64::MAX),
            "string" => (0, i64::from(u16::MAX)),
            "objectid" | "bool" => (0, 0),
            _ => {
                return Err(format!(
                    "{kind:?} is not a parameter's type: int32, int64, string, objectid or bool"
                ));
            }
        };
        let (mut min, mut max) = match kind {
            "string" => (1, STRING_MAX),
            _ => (least, most),
        };
        for word in words {
            let (bound, number) = word
                .split_once('=')
                .filter(|_| !matches!(kind, "objectid" | "bool"))
                .ok_or_else(|| format!("{word:?} is not a bound of {kind}"))?;
            let number: i64 = number
                .parse()
                .ok()
                .filter(|number| (least..=most).contains(number))
                .ok_or_else(|| format!("{number:?} is not a bound from {least} to {most}"))?;
            match bound {
                "min" => min = number,
                "max" => max = number,
                _ => return Err(format!("{bound:?} is not a bound: min or max")),
            }
        }
        if min > max {
            return Err(format!("{name}: min={min} is above max={max}"));
        }
        let kind = match kind {
            "int32" => Kind::Int32 { min, max },
            "int64" => Kind::Int64 { min, max },
            "string" => Kind::String { min, max },
            "objectid" => Kind::ObjectId,
            _ => Kind::Bool,
        };
        Ok(Self {
            name: name.to_owned(),
            kind,
        })
    }
}

impl Kind {
    /// The value of a raw path segment, or `None` if it is not one of this type within bounds.
    pub fn parse(&self, segment: &str) -> Option<Value> {
        match *self {
            Self::Int32 { min, max } => {
                let number = integer(segment, 10, min)?;
                let number = Some(number).filter(|n| (min..=max).contains(n))?;
                Some(Value::Int32(i32::try_from(number).ok()?))
            }
            Self::Int64 { min, max } => {
                let number = integer(segment, 19, min)?;
                (min..=max)
                    .contains(&number)
                    .then_some(Value::Int64(number))
            }
            Self::String { min, max } => {
                let text = percent_decoded(segment)?;
                let length = i64::try_from(text.chars().count()).ok()?;
                (min..=max)
                    .contains(&length)
                    .then(|| Value::String(text.into_owned()))
            }
            Self::ObjectId => ObjectId::parse_str(segment).ok().map(Value::ObjectId),
            Self::Bool => segment.parse().ok().map(Value::Bool),
        }
    }

    /// Whether `%` may stand in a segment of this type.
    pub fn is_percent_encoded(&self) -> bool {
        matches!(self, Self::String { .. })
    }
}

/// Digits, with leading zeros if wanted, and a minus sign only where the bounds reach below zero;
/// never a plus sign.
fn integer(segment: &str, most_digits: usize, min: i64) -> Option<i64> {
    let digits = match segment.strip_prefix('-') {
        Some(digits) if min < 0 => digits,
        Some(_) => return None,
        None => segment,
    };
    let well_formed = (1..=most_digits).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    // An i64 may still overflow on 19 digits, which is as wrong as a letter.
    well_formed.then(|| segment.parse().ok())?
}

fn percent_decoded(segment: &str) -> Option<Cow<'_, str>> {
    if !segment.contains('%') {
        return Some(Cow::Borrowed(segment));
    }
    let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
    let mut decoded = Vec::with_capacity(segment.len());
    let mut bytes = segment.bytes();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            // Two hexadecimal digits make at most 255.
            b'%' => (digit(bytes.next())? * 16 + digit(bytes.next())?) as u8,
            _ => byte,
        });
    }
    String::from_utf8(decoded).ok().map(Cow::Owned)
}

impl From<Value> for Bson {
    fn from(value: Value) -> Self {
        match value {
            Value::Int32(number) => Self::Int32(number),
            Value::Int64(number) => Self::Int64(number),
            Value::String(text) => Self::String(text),
            Value::ObjectId(id) => Self::ObjectId(id),
            Value::Bool(truth) => Self::Boolean(truth),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(declared: &str, segment: &str) -> Option<Value> {
        Param::declared(declared).unwrap().kind.parse(segment)
    }

    #[test]
    fn an_int32_from_zero_is_the_contracts_user_id() {
        for (segment, id) in [("1", 1), ("007", 7), ("0", 0), ("2147483647", i32::MAX)] {
            assert_eq!(parse("id:int32 min=0", segment), Some(Value::Int32(id)));
        }
        for segment in [
            "-1",
            "-0",
            "+1",
            "1.5",
            "abc",
            "",
            " 1",
            "2147483648",
            "00000000001",
        ] {
            assert_eq!(parse("id:int32 min=0", segment), None, "{segment}");
        }
    }

    #[test]
    fn integers_keep_their_bounds() {
        assert_eq!(
            parse("n:int32", "-2147483648"),
            Some(Value::Int32(i32::MIN))
        );
        assert_eq!(parse("n:int32 min=-5 max=5", "-6"), None);
        assert_eq!(
            parse("n:int64", "9223372036854775807"),
            Some(Value::Int64(i64::MAX))
        );
        assert_eq!(parse("n:int64", "9223372036854775808"), None);
        assert_eq!(parse("n:int64", "-"), None);
    }

    #[test]
    fn a_string_is_decoded_once_and_counted_in_characters() {
        let text = |text: &str| Some(Value::String(text.to_owned()));
        assert_eq!(parse("c:string", "Saint%20Denis"), text("Saint Denis"));
        assert_eq!(parse("c:string", "%2541"), text("%41"));
        assert_eq!(parse("c:string max=3", "Zo%C3%AB"), text("Zoë"));
        assert_eq!(parse("c:string max=2", "Zo%C3%AB"), None);
        for segment in ["%", "%4", "%zz", "%ff", "%+1", ""] {
            assert_eq!(parse("c:string", segment), None, "{segment}");
        }
    }

    #[test]
    fn a_declaration_that_is_wrong_is_refused() {
        for declared in [
            "id",
            "id:int",
            "id:int32 mi=0",
            "id:int32 min=a",
            "id:int32 max=3000000000",
            "id:int32 min=2 max=1",
            "id:bool min=0",
            ":int32",
            "a-b:int32",
            "s:string min=-1",
        ] {
            assert!(Param::declared(declared).is_err(), "{declared}");
        }
    }
}
