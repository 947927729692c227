//! Says the value that the variable named by the path has now, read through `wasi:config/store`.
use guests::{Answer, text, wasip3::http::types::Request};

guests::wasip3::wit_bindgen::generate!({
    world: "settings",
    path: "wit",
    runtime_path: "guests::wasip3::wit_bindgen::rt",
    generate_all,
});

guests::guest!(handle);

async fn handle(request: Request) -> Answer {
    match wasi::config::store::get(&guests::path(&request)[1..]) {
        Ok(Some(value)) => text(200, value),
        Ok(None) => text(404, "no such variable"),
        Err(error) => text(500, format!("{error:?}")),
    }
}
