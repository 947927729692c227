//! The names of a manifest: component ids (kebab-case) and variable names (lower snake case).

use std::fmt;

use serde::{Deserialize, Deserializer, de};

/// A component's id: words of ASCII alphanumerics joined by `-`, each starting with a letter and all of one case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ComponentId(String);

impl ComponentId {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ComponentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for ComponentId {
    type Error = String;

    fn try_from(id: String) -> Result<Self, String> {
        if id.contains('_') {
            return Err(format!(
                "component id `{id}` contains `_`; write `{}`",
                id.replace('_', "-")
            ));
        }
        for word in id.split('-') {
            let starts_with_letter = word.starts_with(|c: char| c.is_ascii_alphabetic());
            let alphanumeric = word.chars().all(|c| c.is_ascii_alphanumeric());
            let one_case = !(word.contains(|c: char| c.is_ascii_lowercase())
                && word.contains(|c: char| c.is_ascii_uppercase()));
            if !(starts_with_letter && alphanumeric && one_case) {
                return Err(format!(
                    "component id `{id}` is not kebab-case: `{word}` must start with a letter and be all lower-case or all upper-case ASCII letters and digits"
                ));
            }
        }
        Ok(ComponentId(id))
    }
}

/// A variable's name: lower snake case, starting with a letter, ending in a letter or digit, without `__`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct VariableName(String);

impl VariableName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for VariableName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !name.starts_with(|c: char| c.is_ascii_lowercase())
            || name.ends_with('_')
            || name.contains("__")
            || !name.chars().all(known)
        {
            return Err(format!(
                "variable name `{name}` is not lower snake case: lower-case letters, digits and single `_` between them, starting with a letter"
            ));
        }
        Ok(VariableName(name))
    }
}

/// Deserializes through `TryFrom<String>`, so that a bad name is an error at its place in the file.
macro_rules! deserialize_checked {
    ($type:ty) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?
                    .try_into()
                    .map_err(de::Error::custom)
            }
        }
    };
}
deserialize_checked!(ComponentId);
deserialize_checked!(VariableName);
