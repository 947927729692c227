//! Asks for the addresses of the name in its path, and says what came of it.
use std::net::ToSocketAddrs;

use guests::{Answer, text, wasip3::http::types::Request};

guests::guest!(handle);

async fn handle(request: Request) -> Answer {
    match (&guests::path(&request)[1..], 80).to_socket_addrs() {
        Ok(addresses) => text(200, format!("{} addresses", addresses.count())),
        Err(error) => text(200, format!("failed: {error}")),
    }
}
