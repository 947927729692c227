//! The text format of Prometheus, version 0.0.4.

use std::fmt::{Display, Write};

pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// An exposition that is being written. Writing into a string cannot fail.
#[derive(Default)]
pub struct Text(String);

impl Text {
    /// Begins the family `name`, whose samples follow.
    pub fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    pub fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0.push_str(name);
        let mut before = '{';
        for (label, text) in labels {
            let _ = write!(self.0, "{before}{label}=\"{}\"", Escaped(text));
            before = ',';
        }
        if !labels.is_empty() {
            self.0.push('}');
        }
        let _ = writeln!(self.0, " {value}");
    }

    /// A family of one sample without labels.
    pub fn single(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.family(name, kind, help);
        self.sample(name, &[], value);
    }

    pub fn into_string(self) -> String {
        self.0
    }
}

struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for character in self.0.chars() {
            match character {
                '\\' => f.write_str("\\\\")?,
                '"' => f.write_str("\\\"")?,
                '\n' => f.write_str("\\n")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_escaped() {
        let mut text = Text::default();
        text.sample("a", &[("b", "\\\"\n"), ("c", "d")], 1);
        assert_eq!(text.into_string(), "a{b=\"\\\\\\\"\\n\",c=\"d\"} 1\n");
    }
}
