//! The values of command-line arguments that set an app's variables and environment.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::Error;
use crate::manifest::from_toml;

/// `--variable`: `K=V`, `K=@file` (the file's text), `@file.json` or `@file.toml` (a table of strings).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariableArgument {
    Value { name: String, value: String },
    FileText { name: String, path: PathBuf },
    Json(PathBuf),
    Toml(PathBuf),
}

impl FromStr for VariableArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix('@') {
            let path = PathBuf::from(path);
            return match path.extension().and_then(|extension| extension.to_str()) {
                Some("json") => Ok(VariableArgument::Json(path)),
                Some("toml") => Ok(VariableArgument::Toml(path)),
                _ => Err(format!(
                    "`{text}`: a file of variables must end in .json or .toml"
                )),
            };
        }
        let (name, value) = pair(text)?;
        // The form `K=@f.json` holds the whole file as one value, as in Spin.
        Ok(match value.strip_prefix('@') {
            Some(path) => VariableArgument::FileText {
                name,
                path: path.into(),
            },
            None => VariableArgument::Value { name, value },
        })
    }
}

/// `--env`: `K=V`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentArgument {
    pub name: String,
    pub value: String,
}

impl FromStr for EnvironmentArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = pair(text)?;
        Ok(EnvironmentArgument { name, value })
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!("`{text}` is not of the form NAME=VALUE")),
    }
}

/// The values that the arguments give; of two for one name the last holds.
pub(crate) fn values(arguments: &[VariableArgument]) -> Result<HashMap<String, String>, Error> {
    let mut values = HashMap::new();
    for argument in arguments {
        match argument {
            VariableArgument::Value { name, value } => {
                values.insert(name.clone(), value.clone());
            }
            VariableArgument::FileText { name, path } => {
                values.insert(name.clone(), read(path)?);
            }
            VariableArgument::Toml(path) => {
                values.extend(from_toml::<HashMap<String, String>>(&read(path)?, path)?)
            }
            VariableArgument::Json(path) => {
                let table: HashMap<String, String> =
                    serde_json::from_str(&read(path)?).map_err(|error| Error::Syntax {
                        path: path.clone(),
                        line: error.line(),
                        column: error.column(),
                        message: "not a JSON object of strings".into(),
                    })?;
                values.extend(table);
            }
        }
    }
    Ok(values)
}

fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_told_by_its_look() {
        let parse = |text: &str| text.parse::<VariableArgument>();
        assert_eq!(
            parse("a=b=c"),
            Ok(VariableArgument::Value {
                name: "a".into(),
                value: "b=c".into()
            })
        );
        assert_eq!(
            parse("a="),
            Ok(VariableArgument::Value {
                name: "a".into(),
                value: String::new()
            })
        );
        assert_eq!(
            parse("a=@f.json"),
            Ok(VariableArgument::FileText {
                name: "a".into(),
                path: "f.json".into()
            })
        );
        assert_eq!(
            parse("@f.toml"),
            Ok(VariableArgument::Toml("f.toml".into()))
        );
        for wrong in ["a", "=b", "@f.yaml", ""] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
