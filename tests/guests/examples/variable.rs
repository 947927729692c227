//! Says the value that the variable named by the path has now, read through `wasi:config/store`.
use guests::{Answer, text, wasip3::http::types::Request};

guests::wasip3::wit_bindgen::generate!({
    inline: "
        package guests:variable;

        package wasi:config@0.2.0-rc.1 {
            interface store {
                variant error { upstream(string), io(string) }
                get: func(key: string) -> result<option<string>, error>;
            }
        }

        world guest { import wasi:config/store@0.2.0-rc.1; }
    ",
    generate_all,
    runtime_path: "guests::wasip3::wit_bindgen::rt",
});

guests::guest!(handle);

async fn handle(request: Request) -> Answer {
    match wasi::config::store::get(&guests::path(&request)[1..]) {
        Ok(Some(value)) => text(200, value),
        Ok(None) => text(404, "no such variable"),
        Err(error) => text(500, format!("{error:?}")),
    }
}
