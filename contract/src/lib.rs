//! The Levelfield contract: what every build answers, decided in one place and without I/O.
//!
//! A build calls [`route`] with the method and the raw request target, gets either a [`Route`] to
//! serve or the [`Answer`] that refuses it, and turns an [`Answer`] into its own response type.
//! Nothing here reads a clock, an environment variable or a socket, and nothing panics on any input.

mod answer;
mod pages;
mod route;
mod sidecar;
mod user;
mod year;

pub use answer::{Answer, JSON};
pub use pages::Page;
pub use route::{ALLOWED_METHODS, Route, route};
pub use sidecar::{
    InvalidSidecarUrl, SIDECAR_BODY_LIMIT, SIDECAR_PATIENCE, SIDECAR_TOKEN_VARIABLE,
    SIDECAR_URL_DEFAULT, SIDECAR_URL_VARIABLE, SidecarUrl, relay,
};
pub use user::{InvalidUserId, User, UserId};
pub use year::{InvalidYear, YEAR_VARIABLE, year};

/// Every fixture of the `users` collection: MongoDB extended JSON, a document a line.
pub const SEED: &str = include_str!("../seed.jsonl");

/// The year with which the golden pages were rendered.
pub const GOLDEN_YEAR: u16 = 2026;

/// The cases of the contract suite: name of the file and its text, see `cases/README.md`.
pub const CASES: &[(&str, &str)] = &[
    ("routes", include_str!("../cases/routes.json")),
    ("judgement", include_str!("../cases/judgement.json")),
    ("ids", include_str!("../cases/ids.json")),
    ("methods", include_str!("../cases/methods.json")),
    ("users", include_str!("../cases/users.json")),
    ("pages", include_str!("../cases/pages.json")),
];

/// The golden pages: name of the file and its text, rendered with [`GOLDEN_YEAR`].
pub const GOLDEN_PAGES: &[(&str, &str)] = &[
    ("home.html", include_str!("../pages/home.html")),
    ("about.html", include_str!("../pages/about.html")),
    ("contact.html", include_str!("../pages/contact.html")),
];
