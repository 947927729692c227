//! Asks for the variable that its query names, through every interface there is: `/spin2`, `/spin3`, `/config`, `/all`.
use guests::{Answer, text, wasip3, wasip3::http::types::Request};

wasip3::wit_bindgen::generate!({
    world: "settings",
    path: "wit",
    runtime_path: "guests::wasip3::wit_bindgen::rt",
    generate_all,
});

guests::guest!(handle);

async fn handle(request: Request) -> Answer {
    let target = guests::path(&request);
    let (path, name) = target.split_once('?').unwrap_or((&target, ""));
    let answer = match path {
        "/spin2" => format!("{:?}", fermyon::spin::variables::get(name)),
        "/spin3" => format!("{:?}", spin::variables::variables::get(name.to_owned()).await),
        "/config" => format!("{:?}", wasi::config::store::get(name)),
        _ => format!("{:?}", wasi::config::store::get_all()),
    };
    text(200, answer)
}
