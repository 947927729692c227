//! `{port}` and `{service}` in commands and environments.

use std::collections::BTreeMap;

/// What each name stands for.
#[derive(Clone, Debug, Default)]
pub struct Placeholders(BTreeMap<String, String>);

impl Placeholders {
    pub fn set(&mut self, name: &str, value: impl ToString) {
        self.0.insert(name.to_owned(), value.to_string());
    }

    /// Names that nothing stands for are left as they are: braces have other uses too.
    pub fn fill(&self, text: &str) -> String {
        let mut filled = text.to_owned();
        for (name, value) in &self.0 {
            filled = filled.replace(&format!("{{{name}}}"), value);
        }
        filled
    }
}

/// The names among `names` that the texts mention in braces.
pub fn named_in<'a>(names: impl Iterator<Item = &'a String>, texts: &[&str]) -> Vec<&'a str> {
    names
        .filter(|name| {
            texts
                .iter()
                .any(|text| text.contains(&format!("{{{name}}}")))
        })
        .map(String::as_str)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::Placeholders;

    #[test]
    fn names_are_filled_in_and_other_braces_stay() {
        let mut placeholders = Placeholders::default();
        placeholders.set("port", 8080);
        assert_eq!(
            placeholders.fill("127.0.0.1:{port} {{ x }} {port}{other}"),
            "127.0.0.1:8080 {{ x }} 8080{other}"
        );
    }
}
