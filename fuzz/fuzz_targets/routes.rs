//! Any routes and any path: the router and the plain reference matcher of the tests agree. The first line of the
//! input is the path, each other a route.
#![no_main]

use levelfield_app::route::router_of;
use libfuzzer_sys::fuzz_target;

#[path = "../../runtime/app/tests/app/reference.rs"]
mod reference;

fuzz_target!(|text: &str| {
    let mut lines = text.lines();
    let path = lines.next().unwrap_or_default();
    let mut routes: Vec<&str> = lines.collect();
    // What is no route on its own is none among others.
    routes.retain(|route| router_of([*route]).is_ok());
    let Ok(router) = router_of(routes.iter().copied()) else {
        panic!("each of {routes:?} is a route, and together they are none");
    };
    let found = router.lookup(path).map(|found| found.route.raw.as_str());
    let expected = reference::lookup(&routes, path).map(|(index, _)| routes[index]);
    assert_eq!(found, expected, "{path} among {routes:?}");
});
