//! Bearer tokens: one in use and, while it is being replaced, a second.

use hyper::header::{AUTHORIZATION, HeaderMap};
use subtle::ConstantTimeEq;

/// The tokens that are valid. None means that none is needed.
#[derive(Default)]
pub struct Tokens {
    tokens: Vec<String>,
}

/// Shorter tokens can be guessed.
const SHORTEST: usize = 16;

impl Tokens {
    /// One or two tokens with white space between them.
    pub fn read(text: &str) -> Result<Self, String> {
        let tokens: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        match tokens.len() {
            0 => return Err("holds no token".to_owned()),
            1 | 2 => {}
            count => {
                return Err(format!(
                    "holds {count} tokens; two are valid at once at most"
                ));
            }
        }
        if tokens.iter().any(|token| token.len() < SHORTEST) {
            return Err(format!("holds a token of less than {SHORTEST} characters"));
        }
        Ok(Self { tokens })
    }

    pub fn are_needed(&self) -> bool {
        !self.tokens.is_empty()
    }

    /// Whether a request may pass. The time it takes tells nothing of a token but its length.
    pub fn admit(&self, headers: &HeaderMap) -> bool {
        if !self.are_needed() {
            return true;
        }
        let given = headers
            .get(AUTHORIZATION)
            .map_or(&b""[..], |value| value.as_bytes());
        let token = match given.split_at_checked(7) {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case(b"bearer ") => token,
            _ => return false,
        };
        // All are compared, whichever matches.
        let matches = self
            .tokens
            .iter()
            .map(|valid| valid.as_bytes().ct_eq(token));
        matches
            .fold(subtle::Choice::from(0), |any, one| any | one)
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_of_two_tokens_passes_and_nothing_else_does() {
        let tokens = Tokens::read("0123456789abcdef\nfedcba9876543210\n").unwrap();
        let admit = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, value.parse().unwrap());
            tokens.admit(&headers)
        };
        assert!(admit("Bearer 0123456789abcdef") && admit("bearer fedcba9876543210"));
        for wrong in [
            "",
            "Bearer",
            "Bearer ",
            "0123456789abcdef",
            "Basic 0123456789abcdef",
            "Bearer 0123456789abcde",
            "Bearer 0123456789abcdef ",
            "Bearer 0123456789abcdeg",
        ] {
            assert!(!admit(wrong), "{wrong:?}");
        }
        assert!(!tokens.admit(&HeaderMap::new()));
    }

    #[test]
    fn tokens_that_protect_nothing_are_refused() {
        for text in [
            "",
            " \n",
            "short",
            "0123456789abcdef 0123456789abcdef 0123456789abcdef",
        ] {
            assert!(Tokens::read(text).is_err(), "{text:?}");
        }
    }
}
