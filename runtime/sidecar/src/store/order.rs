//! How MongoDB compares values: by type first, then within the type, numbers as one type.

use std::cmp::Ordering;

use bson::Bson;

/// The place of a value's type in the order of all values (MongoDB manual, "Comparison/Sort
/// Order"). Values of different places never match each other.
pub fn rank(value: &Bson) -> u8 {
    match value {
        Bson::MinKey => 0,
        Bson::Null | Bson::Undefined => 1,
        Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_) | Bson::Decimal128(_) => 2,
        Bson::String(_) | Bson::Symbol(_) => 3,
        Bson::Document(_) => 4,
        Bson::Array(_) => 5,
        Bson::Binary(_) => 6,
        Bson::ObjectId(_) => 7,
        Bson::Boolean(_) => 8,
        Bson::DateTime(_) => 9,
        Bson::Timestamp(_) => 10,
        Bson::RegularExpression(_) => 11,
        Bson::DbPointer(_) | Bson::JavaScriptCode(_) | Bson::JavaScriptCodeWithScope(_) => 12,
        Bson::MaxKey => 13,
    }
}

pub fn order(left: &Bson, right: &Bson) -> Ordering {
    use Bson as B;
    rank(left)
        .cmp(&rank(right))
        .then_with(|| match (left, right) {
            (B::String(left) | B::Symbol(left), B::String(right) | B::Symbol(right)) => {
                left.cmp(right)
            }
            (B::Document(left), B::Document(right)) => {
                let fields =
                    left.iter()
                        .zip(right.iter())
                        .map(|((key, value), (other_key, other))| {
                            let by_type = rank(value).cmp(&rank(other));
                            by_type
                                .then_with(|| key.cmp(other_key))
                                .then_with(|| order(value, other))
                        });
                first_difference(fields).then(left.len().cmp(&right.len()))
            }
            (B::Array(left), B::Array(right)) => {
                let values = left
                    .iter()
                    .zip(right)
                    .map(|(value, other)| order(value, other));
                first_difference(values).then(left.len().cmp(&right.len()))
            }
            (B::Binary(left), B::Binary(right)) => {
                let key = |binary: &bson::Binary| (binary.bytes.len(), u8::from(binary.subtype));
                key(left)
                    .cmp(&key(right))
                    .then_with(|| left.bytes.cmp(&right.bytes))
            }
            (B::ObjectId(left), B::ObjectId(right)) => left.cmp(right),
            (B::Boolean(left), B::Boolean(right)) => left.cmp(right),
            (B::DateTime(left), B::DateTime(right)) => left.cmp(right),
            (B::Timestamp(left), B::Timestamp(right)) => {
                (left.time, left.increment).cmp(&(right.time, right.increment))
            }
            _ => numbers(left, right).unwrap_or(Ordering::Equal),
        })
}

fn first_difference(mut orders: impl Iterator<Item = Ordering>) -> Ordering {
    orders
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

fn numbers(left: &Bson, right: &Bson) -> Option<Ordering> {
    let integer = |value: &Bson| value.as_i32().map(i64::from).or_else(|| value.as_i64());
    match (integer(left), integer(right)) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        (Some(left), None) => Some(integer_and_double(left, right.as_f64()?)),
        (None, Some(right)) => Some(integer_and_double(right, left.as_f64()?).reverse()),
        (None, None) => {
            let (left, right) = (left.as_f64()?, right.as_f64()?);
            // NaN is equal to itself and below every other number.
            Some(
                left.partial_cmp(&right)
                    .unwrap_or_else(|| right.is_nan().cmp(&left.is_nan())),
            )
        }
    }
}

/// Exact, where going through a double would not be from 2^53 on.
fn integer_and_double(integer: i64, double: f64) -> Ordering {
    let limit = 2f64.powi(63);
    if double.is_nan() || double < -limit {
        Ordering::Greater
    } else if double >= limit {
        Ordering::Less
    } else {
        let fraction = double.fract();
        integer
            .cmp(&(double.trunc() as i64))
            .then_with(|| 0.0.partial_cmp(&fraction).unwrap_or(Ordering::Equal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_across_their_types() {
        let sorted = [
            Bson::Null,
            Bson::Double(f64::NAN),
            Bson::Double(f64::NEG_INFINITY),
            Bson::Int64(i64::MIN),
            Bson::Double(-1.5),
            Bson::Int32(-1),
            Bson::Double(0.5),
            Bson::Int64(1),
            Bson::Double(1.5),
            Bson::Int64((1 << 53) + 1),
            Bson::Double(2f64.powi(63)),
            Bson::String(String::new()),
        ];
        for (index, left) in sorted.iter().enumerate() {
            for (other, right) in sorted.iter().enumerate() {
                assert_eq!(order(left, right), index.cmp(&other), "{left} and {right}");
            }
        }
        assert!(order(&Bson::Int32(3), &Bson::Double(3.0)).is_eq());
        assert!(order(&Bson::Int64((1 << 53) + 1), &Bson::Double(2f64.powi(53))).is_gt());
    }
}
