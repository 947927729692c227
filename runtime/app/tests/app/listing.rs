//! Section 7: the table of routes, and which route a path takes.

use levelfield_app::App;
use levelfield_app::listing::{Listing, explain};

use crate::support::Project;

fn app() -> App {
    Project::new(
        "[[trigger.http]]\nroute = \"/...\"\ncomponent = \"hello\"\n\
         [[trigger.http]]\nroute = \"/users/:id/...\"\ncomponent = \"users\"\n\
         [[trigger.http]]\nroute = \"/robots.txt\"\nid = \"robots\"\nstatic_response = {}\n\
         [component.hello]\nsource = \"hello.wasm\"\ndescription = \"says hello\"\n\
         [component.users]\nsource = \"other.wasm\"\n",
    )
    .load()
}

#[test]
fn the_table_is_as_spin_prints_it() {
    assert_eq!(
        Listing::new(&app(), "http://127.0.0.1:3000").text(),
        "Available Routes:\n\
         \x20 hello: http://127.0.0.1:3000 (wildcard)\n\
         \x20   says hello\n\
         \x20 users: http://127.0.0.1:3000/users/:id (wildcard)\n\
         \x20 robots: http://127.0.0.1:3000/robots.txt\n"
    );
}

#[test]
fn the_json_has_the_same_routes() {
    let json = serde_json::to_value(Listing::new(&app(), "http://127.0.0.1:3000")).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "base_url": "http://127.0.0.1:3000",
            "routes": [
                { "id": "hello", "route": "/", "wildcard": true, "description": "says hello" },
                { "id": "users", "route": "/users/:id", "wildcard": true },
                { "id": "robots", "route": "/robots.txt", "wildcard": false },
            ]
        })
    );
}

#[test]
fn a_path_is_explained_with_its_captures_and_what_it_passed() {
    let explained = explain(&app(), "/users/7/x?q=1");
    assert_eq!(
        explained,
        "/users/7/x is answered by users through the route /users/:id/...\n\
         \x20 :id = \"7\"\n\
         \x20 the wildcard's part = \"/x\"\n\
         \x20 /... (hello) matches too and comes after it\n"
    );
    assert!(explain(&app(), "/.well-known/spin/health").contains("by the host itself"));
    let app = Project::new("[[trigger.http]]\nroute = \"/a\"\nstatic_response = {}\n").load();
    assert_eq!(explain(&app, "/b"), "/b matches no route: 404\n");
}
