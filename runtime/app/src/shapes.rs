//! How a manifest's values may be shaped: a string or a table, one string or a list, triggers by their kind.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::manifest::Triggers;

/// A value written as a string or as a table.
#[derive(Debug)]
pub(crate) enum StringOr<T> {
    String(String),
    Table(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for StringOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StringOrTable<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for StringOrTable<T> {
            type Value = StringOr<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a table")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(StringOr::String(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(de::value::MapAccessDeserializer::new(map)).map(StringOr::Table)
            }
        }

        deserializer.deserialize_any(StringOrTable(PhantomData))
    }
}

/// A string or a list of strings.
#[derive(Clone, Debug)]
pub(crate) struct OneOrMany(pub Vec<String>);

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StringOrList;

        impl<'de> Visitor<'de> for StringOrList {
            type Value = OneOrMany;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of strings")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(OneOrMany(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(de::value::SeqAccessDeserializer::new(list)).map(OneOrMany)
            }
        }

        deserializer.deserialize_any(StringOrList)
    }
}

impl<'de> Deserialize<'de> for Triggers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ByKind;

        impl<'de> Visitor<'de> for ByKind {
            type Value = Triggers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of triggers by their kind, as in [[trigger.http]]")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut triggers = Triggers::default();
                while let Some(kind) = map.next_key::<String>()? {
                    if kind == "http" {
                        triggers.http = map.next_value()?;
                    } else {
                        map.next_value::<IgnoredAny>()?;
                        triggers.others.push(kind);
                    }
                }
                Ok(triggers)
            }
        }

        deserializer.deserialize_map(ByKind)
    }
}
