//! The user record and its id.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// A valid user id: 1 to 10 ASCII digits with a value in `0 ..= 2147483647`, MongoDB's int32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct UserId(i32);

impl UserId {
    pub const fn get(self) -> i32 {
        self.0
    }
}

impl fmt::Display for UserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What is not a [`UserId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidUserId;

impl fmt::Display for InvalidUserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a user id is 1 to 10 digits, at most 2147483647")
    }
}

impl std::error::Error for InvalidUserId {}

impl FromStr for UserId {
    type Err = InvalidUserId;

    /// Leading zeros are allowed (`007` is 7); a sign is not, although `i32::from_str` takes one.
    fn from_str(text: &str) -> Result<Self, InvalidUserId> {
        if text.len() > 10 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(InvalidUserId);
        }
        text.parse().map(Self).map_err(|_| InvalidUserId)
    }
}

/// A user as the contract shows it. Field order is the order in the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct User<'a> {
    pub id: UserId,
    pub name: &'a str,
    pub surname: &'a str,
    pub email: &'a str,
}

impl User<'_> {
    /// JSON in which only `"`, `\` and control characters are escaped.
    pub fn to_json(&self) -> String {
        // A struct of an integer and three strings has no way to fail to serialise.
        serde_json::to_string(self).expect("integers and strings always serialise")
    }
}
