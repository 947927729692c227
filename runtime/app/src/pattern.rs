//! One route pattern: its tokens, its rank among others, and how it matches a path.
//!
//! A pattern is split at `/` and `.` into literals, `:name` parameters and a last wildcard, `/...` or `/*`. Leading
//! and trailing slashes mean nothing, in the pattern as in the path.

use std::cmp::Ordering;

/// A parsed pattern.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    tokens: Vec<Token>,
    /// The parameters' names, in order.
    pub names: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// This text, one piece between dots and slashes.
    Literal(String),
    /// Up to the next `/`; up to the next `.` when a `Dot` follows.
    Parameter,
    /// The rest, which may be empty.
    Wildcard,
    Slash,
    /// A `.` that ends a parameter. Any other dot is part of a literal.
    Dot,
}

/// What a pattern found in a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found<'p> {
    pub captures: Vec<&'p str>,
    /// Where the wildcard's part begins.
    pub tail: Option<usize>,
}

impl Pattern {
    pub fn parse(route: &str) -> Result<Self, String> {
        let (route, wildcard) = match route
            .strip_suffix("...")
            .or_else(|| route.strip_suffix('*'))
        {
            Some(before) if before.is_empty() || before.ends_with('/') => (before, true),
            _ => (route, false),
        };
        let mut pattern = Pattern {
            tokens: Vec::new(),
            names: Vec::new(),
        };
        let trimmed = route.trim_matches('/');
        if !trimmed.is_empty() {
            for (index, segment) in trimmed.split('/').enumerate() {
                if index > 0 {
                    pattern.tokens.push(Token::Slash);
                }
                pattern.segment(segment)?;
            }
        }
        if wildcard {
            if !pattern.tokens.is_empty() {
                pattern.tokens.push(Token::Slash);
            }
            pattern.tokens.push(Token::Wildcard);
        }
        Ok(pattern)
    }

    fn segment(&mut self, segment: &str) -> Result<(), String> {
        if segment == "..." {
            return Err(
                "`...` stands for the rest of the path and can only be last, as in `/a/...`".into(),
            );
        }
        for (index, piece) in segment.split('.').enumerate() {
            if index > 0 {
                match self.tokens.last_mut() {
                    Some(Token::Literal(text)) => text.push('.'),
                    Some(Token::Parameter) => self.tokens.push(Token::Dot),
                    _ => self.tokens.push(Token::Literal(".".into())),
                }
            }
            if let Some(name) = piece.strip_prefix(':') {
                if name.is_empty() {
                    return Err("`:` needs a name after it, as in `/users/:id`".into());
                }
                self.names.push(name.to_owned());
                self.tokens.push(Token::Parameter);
            } else if piece.starts_with('*') {
                return Err(
                    "`*` stands for the rest of the path and can only be last, as in `/a/*`".into(),
                );
            } else if !piece.is_empty() {
                self.tokens.push(Token::Literal(piece.to_owned()));
            }
        }
        Ok(())
    }

    /// Whether only one path, give or take slashes at its ends, matches.
    pub fn is_literal(&self) -> bool {
        self.names.is_empty() && !self.is_wildcard()
    }

    pub fn is_wildcard(&self) -> bool {
        self.tokens.last() == Some(&Token::Wildcard)
    }

    /// Matches a path that was stripped of slashes at both ends.
    pub fn matches<'p>(&self, path: &'p str) -> Option<Found<'p>> {
        let mut captures = Vec::new();
        let mut rest = path;
        for (index, token) in self.tokens.iter().enumerate() {
            let next = self.tokens.get(index + 1);
            match token {
                Token::Literal(text) => rest = rest.strip_prefix(text.as_str())?,
                Token::Parameter => {
                    if rest.is_empty() {
                        return None;
                    }
                    let end = match next {
                        Some(Token::Dot) => rest
                            .find(['.', '/'])
                            .filter(|&end| rest[end..].starts_with('.'))?,
                        _ => rest.find('/').unwrap_or(rest.len()),
                    };
                    captures.push(&rest[..end]);
                    rest = &rest[end..];
                }
                Token::Slash if rest.is_empty() && next == Some(&Token::Wildcard) => {}
                Token::Slash => rest = rest.strip_prefix('/')?,
                Token::Dot => rest = rest.strip_prefix('.')?,
                Token::Wildcard => {
                    return Some(Found {
                        captures,
                        tail: Some(path.len() - rest.len()),
                    });
                }
            }
        }
        rest.is_empty().then_some(Found {
            captures,
            tail: None,
        })
    }

    /// Which of two patterns is tried first: position by position a literal before a parameter before the wildcard;
    /// where that does not decide, the one with more dots, then the shorter one.
    pub fn precedence(&self, other: &Self) -> Ordering {
        let rank = |token: &Token| match token {
            Token::Literal(_) => 0,
            Token::Parameter => 1,
            Token::Wildcard => 2,
            Token::Slash | Token::Dot => 3,
        };
        let dots = |pattern: &Self| {
            pattern
                .tokens
                .iter()
                .filter(|&token| *token == Token::Dot)
                .count()
        };
        let positions = self
            .tokens
            .iter()
            .zip(&other.tokens)
            .map(|(a, b)| rank(a).cmp(&rank(b)));
        positions
            .fold(Ordering::Equal, Ordering::then)
            .then_with(|| dots(other).cmp(&dots(self)))
            .then_with(|| self.tokens.len().cmp(&other.tokens.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captures<'p>(route: &str, path: &'p str) -> Option<Vec<&'p str>> {
        Pattern::parse(route)
            .unwrap()
            .matches(path)
            .map(|found| found.captures)
    }

    #[test]
    fn a_parameter_before_a_dot_ends_at_the_dot() {
        assert_eq!(captures("/:n.html", "x.html"), Some(vec!["x"]));
        assert_eq!(captures("/:n.html", ".html"), Some(vec![""]));
        assert_eq!(captures("/:n.html", "a/x.html"), None);
        assert_eq!(captures("/:n.:ext", "a.b.c"), Some(vec!["a", "b.c"]));
        assert_eq!(
            captures("/v:n", "v:n"),
            Some(vec![]),
            "`:` inside a piece is an ordinary character"
        );
    }

    #[test]
    fn a_parameter_may_be_empty_between_slashes_but_not_at_the_end() {
        assert_eq!(captures("/a/:m/x", "a//x"), Some(vec![""]));
        assert_eq!(captures("/users/:id", "users"), None);
    }

    #[test]
    fn an_inner_double_slash_matches_only_itself() {
        assert_eq!(captures("/a//b", "a/b"), None);
        assert_eq!(captures("/a/b", "a//b"), None);
        assert_eq!(captures("/a//b", "a//b"), Some(vec![]));
    }

    #[test]
    fn a_dot_at_the_start_of_a_segment_is_an_ordinary_character() {
        assert_eq!(captures("/a/.b", "a/.b"), Some(vec![]));
        assert_eq!(captures("/a/.b", "a.b"), None);
        assert_eq!(
            captures("/.well-known/:x", ".well-known/y"),
            Some(vec!["y"])
        );
    }

    #[test]
    fn a_wildcard_matches_the_rest_and_nothing_but_whole_segments() {
        assert_eq!(
            Pattern::parse("/t/...").unwrap().matches("t").unwrap().tail,
            Some(1)
        );
        assert_eq!(
            Pattern::parse("/t/*")
                .unwrap()
                .matches("t//b")
                .unwrap()
                .tail,
            Some(2)
        );
        assert!(Pattern::parse("/t/...").unwrap().matches("tx").is_none());
    }

    #[test]
    fn a_wildcard_anywhere_else_and_a_nameless_parameter_are_errors() {
        for route in ["/a/.../b", "/*/b", "/a/*b", "/a.*", "/:", "/a/:/b"] {
            assert!(Pattern::parse(route).is_err(), "{route}");
        }
    }
}
