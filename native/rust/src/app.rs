//! The routes: the contract judges a request, this module answers it.

use std::time::{SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use contract::{Answer, InvalidYear, Route, UserId};

use crate::store::{Failure, Users};

#[derive(Clone)]
pub struct App {
    users: Users,
    /// The year from the environment; without one the clock is asked at each request.
    year: Option<u16>,
}

impl App {
    pub fn new(users: Users, year: Option<String>) -> Result<Self, InvalidYear> {
        let year = year.filter(|year| !year.is_empty());
        let year = year
            .map(|year| contract::year(Some(&year), 0))
            .transpose()?;
        Ok(Self { users, year })
    }

    /// The contract is one fallback and not a list of routes, so that the component and this build
    /// match paths with the same code, on the raw path: axum's router would decode it first.
    pub fn router(self) -> Router {
        Router::new()
            .route("/healthz", get(|| async { "OK\n" }))
            .fallback(contract_route)
            .with_state(self)
    }

    fn year(&self) -> u16 {
        self.year.unwrap_or_else(|| {
            let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
            let seconds = since_epoch.map_or(0, |elapsed| elapsed.as_secs());
            // Without a variable there is nothing to be invalid.
            contract::year(None, seconds).unwrap_or_default()
        })
    }

    async fn user(&self, id: UserId) -> Answer {
        match self.users.find(id).await {
            Ok(answer) => answer,
            Err(failure) => {
                tracing::error!(%id, "{failure}");
                match failure {
                    Failure::Unavailable(_) => Answer::store_unavailable(),
                    Failure::TimedOut => Answer::store_timed_out(),
                    Failure::Malformed { .. } => Answer::user_malformed(),
                }
            }
        }
    }
}

async fn contract_route(State(app): State<App>, request: Request) -> Contract {
    let target = request
        .uri()
        .path_and_query()
        .map_or("*", |target| target.as_str());
    Contract(match contract::route(request.method().as_str(), target) {
        Ok(Route::Hello) => Answer::hello(),
        Ok(Route::Value) => Answer::value(),
        Ok(Route::Page(page)) => Answer::page(page.render(app.year())),
        Ok(Route::User(id)) => app.user(id).await,
        Err(refusal) => refusal,
    })
}

/// An answer of the contract as an axum response.
struct Contract(Answer);

impl IntoResponse for Contract {
    fn into_response(self) -> Response {
        let Self(answer) = self;
        let mut response = Response::builder()
            .status(answer.status)
            .header(CONTENT_TYPE, answer.content_type)
            .header(CONTENT_LENGTH, answer.body.len());
        if let Some((name, value)) = answer.extra_header {
            response = response.header(name, value);
        }
        response
            .body(Body::from(answer.body))
            // Every status and header of the contract is a constant that its tests have seen.
            .expect("the contract's answers are valid HTTP")
    }
}
