//! Says what it sees: method, path, headers, environment.
use guests::{Answer, text, wasip3::http::types::Request};

guests::guest!(handle);

async fn handle(request: Request) -> Answer {
    let mut seen = format!("path {}\n", guests::path(&request));
    for (name, value) in request.get_headers().copy_all() {
        seen += &format!("header {name}: {}\n", String::from_utf8_lossy(&value));
    }
    for (name, value) in std::env::vars() {
        seen += &format!("env {name}={value}\n");
    }
    println!("hello on stdout");
    text(200, seen)
}
