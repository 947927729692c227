//! Templates: text with `{{ variable }}` in it.

use std::fmt;

/// A parsed template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Variable(String),
}

impl Template {
    /// Parses `text`. The error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find("{{") {
            if open > 0 {
                parts.push(Part::Literal(rest[..open].to_owned()));
            }
            let inside = &rest[open + 2..];
            let close = inside
                .find("}}")
                .ok_or_else(|| format!("`{text}` has a `{{{{` without its `}}}}`"))?;
            parts.push(Part::Variable(inside[..close].trim().to_owned()));
            rest = &inside[close + 2..];
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(rest.to_owned()));
        }
        Ok(Template { parts })
    }

    /// The variables that the template names, in order.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Variable(name) => Some(name.as_str()),
            Part::Literal(_) => None,
        })
    }

    /// Whether the template names no variable.
    pub fn is_literal(&self) -> bool {
        self.variables().next().is_none()
    }

    /// The text with each variable replaced by what `value` says.
    pub fn render<E>(&self, mut value: impl FnMut(&str) -> Result<String, E>) -> Result<String, E> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(literal) => text.push_str(literal),
                Part::Variable(name) => text.push_str(&value(name)?),
            }
        }
        Ok(text)
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            Part::Literal(literal) => f.write_str(literal),
            Part::Variable(name) => write!(f, "{{{{ {name} }}}}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn render(text: &str) -> String {
        Template::parse(text)
            .unwrap()
            .render(|name| Ok::<_, ()>(format!("<{name}>")))
            .unwrap()
    }

    #[test]
    fn variables_are_replaced_and_the_rest_is_kept() {
        assert_eq!(
            render("https://{{ host }}:{{port}}/{}"),
            "https://<host>:<port>/{}"
        );
        assert_eq!(render("{{{a}}}"), "<{a>}");
        assert_eq!(render("a }} b"), "a }} b");
    }

    #[test]
    fn an_open_brace_pair_must_close() {
        assert!(
            Template::parse("a {{ b")
                .unwrap_err()
                .contains("without its `}}`")
        );
    }

    proptest! {
        #[test]
        fn no_text_panics_and_text_without_braces_is_itself(text in ".*") {
            match Template::parse(&text) {
                Ok(template) if template.is_literal() => prop_assert_eq!(render(&text), text),
                Ok(template) => { Template::parse(&template.to_string()).unwrap(); }
                Err(_) => prop_assert!(text.contains("{{")),
            }
        }
    }
}
