//! `wasi:http` fields over [`http::HeaderMap`], shared by both WASI versions: what a guest may set, and how much.

use std::sync::Arc;

use http::header::{self, HeaderMap, HeaderName, HeaderValue};

/// The most that one fields resource may hold, names, values and bookkeeping counted.
const SIZE_LIMIT: usize = 128 * 1024;
/// What an entry costs beside its bytes, so that empty headers count too.
const ENTRY_COST: usize = 32;

/// A fields resource: cheap to share, copied when a mutable one is changed.
#[derive(Clone, Debug)]
pub struct Fields {
    map: Arc<HeaderMap>,
    mutable: bool,
    size: usize,
}

/// Why fields were not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldsError {
    Immutable,
    InvalidSyntax,
    Forbidden,
    TooLarge,
}

impl Fields {
    pub fn new() -> Self {
        Fields {
            map: Arc::default(),
            mutable: true,
            size: 0,
        }
    }

    /// Headers that came from outside: a guest may read them.
    pub fn immutable(map: impl Into<Arc<HeaderMap>>) -> Self {
        Fields {
            map: map.into(),
            mutable: false,
            size: 0,
        }
    }

    /// A copy that a guest may change.
    pub fn mutable_copy(&self) -> Self {
        Fields {
            map: self.map.clone(),
            mutable: true,
            size: self
                .map
                .iter()
                .map(|(name, value)| entry_size(name, value.len()))
                .sum(),
        }
    }

    /// The same headers, read-only, as those of a message are.
    pub fn shared(&self) -> Self {
        Fields {
            map: self.map.clone(),
            mutable: false,
            size: self.size,
        }
    }

    pub fn map(&self) -> &HeaderMap {
        &self.map
    }

    pub fn into_map(self) -> HeaderMap {
        Arc::unwrap_or_clone(self.map)
    }

    pub fn get<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a HeaderValue> {
        self.map.get_all(name).iter()
    }

    pub fn append(&mut self, name: &str, value: &[u8]) -> Result<(), FieldsError> {
        let name = writable(name)?;
        if !self.mutable {
            return Err(FieldsError::Immutable);
        }
        let value = parse(&name, value)?;
        // Two lengths would let two readers of the message disagree on where it ends.
        if name == header::CONTENT_LENGTH && self.map.contains_key(&name) {
            return Err(FieldsError::InvalidSyntax);
        }
        self.grow(entry_size(&name, value.len()))?;
        Arc::make_mut(&mut self.map)
            .try_append(name, value)
            .map_err(|_| FieldsError::TooLarge)?;
        Ok(())
    }

    pub fn set(&mut self, name: &str, values: &[Vec<u8>]) -> Result<(), FieldsError> {
        self.remove(name)?;
        values.iter().try_for_each(|value| self.append(name, value))
    }

    /// Removes every value of `name` and gives them back.
    pub fn remove(&mut self, name: &str) -> Result<Vec<HeaderValue>, FieldsError> {
        let name = writable(name)?;
        if !self.mutable {
            return Err(FieldsError::Immutable);
        }
        if !self.map.contains_key(&name) {
            return Ok(Vec::new());
        }
        let map = Arc::make_mut(&mut self.map);
        let values: Vec<HeaderValue> = map.get_all(&name).iter().cloned().collect();
        map.remove(&name);
        for value in &values {
            self.size = self.size.saturating_sub(entry_size(&name, value.len()));
        }
        Ok(values)
    }

    fn grow(&mut self, by: usize) -> Result<(), FieldsError> {
        if self.size + by > SIZE_LIMIT {
            return Err(FieldsError::TooLarge);
        }
        self.size += by;
        Ok(())
    }
}

fn entry_size(name: &HeaderName, value: usize) -> usize {
    name.as_str().len() + value + ENTRY_COST
}

fn writable(name: &str) -> Result<HeaderName, FieldsError> {
    let name = HeaderName::try_from(name).map_err(|_| FieldsError::InvalidSyntax)?;
    if is_forbidden(&name) {
        return Err(FieldsError::Forbidden);
    }
    Ok(name)
}

fn parse(name: &HeaderName, value: &[u8]) -> Result<HeaderValue, FieldsError> {
    if *name == header::CONTENT_LENGTH && content_length_value(value).is_none() {
        return Err(FieldsError::InvalidSyntax);
    }
    HeaderValue::from_bytes(value).map_err(|_| FieldsError::InvalidSyntax)
}

/// Headers that belong to a connection, which is the host's, not the guest's.
pub fn is_forbidden(name: &HeaderName) -> bool {
    matches!(
        name.as_str(),
        "connection"
            | "keep-alive"
            | "proxy-authenticate"
            | "proxy-authorization"
            | "proxy-connection"
            | "transfer-encoding"
            | "upgrade"
            | "host"
            | "http2-settings"
    )
}

/// Digits and nothing else: `+5`, `5,5` and an empty value have been ways to smuggle requests.
fn content_length_value(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// The announced length, `None` without one, an error for one that is malformed or repeated.
pub fn content_length(headers: &HeaderMap) -> Result<Option<u64>, FieldsError> {
    let mut values = headers.get_all(header::CONTENT_LENGTH).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(FieldsError::InvalidSyntax);
    }
    content_length_value(value.as_bytes())
        .map(Some)
        .ok_or(FieldsError::InvalidSyntax)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_length_is_digits_and_there_is_one() {
        for bad in ["+5", "-5", " 5", "", "5,5", "99999999999999999999999"] {
            let mut fields = Fields::new();
            assert_eq!(
                fields.append("content-length", bad.as_bytes()),
                Err(FieldsError::InvalidSyntax),
                "{bad:?}"
            );
        }
        let mut fields = Fields::new();
        fields.append("content-length", b"5").unwrap();
        assert_eq!(
            fields.append("Content-Length", b"6"),
            Err(FieldsError::InvalidSyntax)
        );
        assert_eq!(content_length(fields.map()), Ok(Some(5)));
    }

    #[test]
    fn connection_headers_are_the_hosts() {
        for name in ["Connection", "transfer-encoding", "HOST", "upgrade"] {
            assert_eq!(
                Fields::new().append(name, b"x"),
                Err(FieldsError::Forbidden)
            );
        }
    }

    #[test]
    fn fields_have_a_limit_and_give_back_what_is_removed() {
        let mut fields = Fields::new();
        let big = vec![b'x'; SIZE_LIMIT / 2];
        fields.append("a", &big).unwrap();
        assert_eq!(fields.append("b", &big), Err(FieldsError::TooLarge));
        assert_eq!(fields.remove("a").unwrap().len(), 1);
        fields.append("b", &big).unwrap();
    }

    #[test]
    fn a_line_break_is_no_header_value() {
        assert_eq!(
            Fields::new().append("x", b"a\r\nb: c"),
            Err(FieldsError::InvalidSyntax)
        );
    }
}
