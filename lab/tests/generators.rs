//! The generators against real servers: what they count, what they refuse, and what an open loop sees that a closed one
//! does not.

mod support;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lab::generators::null_server::NullServer;
use lab::generators::open_loop::OwnLoop;
use lab::generators::{Ask, Bombardier, Generator, GeneratorError, K6, Load, Loaded, Shape, Until};
use lab::http::Origin;
use lab::interrupt::Interrupt;
use lab::limits::CpuSet;
use lab::results::Gate;

const BODY: &[u8] = b"hello";

fn load(
    generator: &dyn Generator,
    origin: &Origin,
    shape: Shape,
) -> Result<Loaded, GeneratorError> {
    let ask = Ask {
        path: "/".into(),
        body: Some(BODY.into()),
    };
    load_of(generator, origin, &[ask], shape)
}

fn load_of(
    generator: &dyn Generator,
    origin: &Origin,
    asks: &[Ask],
    shape: Shape,
) -> Result<Loaded, GeneratorError> {
    let load = Load {
        origin,
        status: 200,
        asks,
        seed: 7,
        shape,
    };
    generator.load(&load, &Interrupt::default())
}

fn null_server(body: &[u8]) -> NullServer {
    NullServer::start(200, body, &CpuSet::allowed()).unwrap()
}

const OPEN: Shape = Shape::Open {
    rate: 50.0,
    vus: 10,
    seconds: 2.0,
};

#[test]
fn k6_counts_every_answer_and_gives_forty_quantiles() {
    let k6 = match K6::find(&CpuSet::allowed()) {
        Ok(k6) => k6,
        Err(missing) => return testbed::not_run("the k6 generator", &missing),
    };
    let server = null_server(BODY);
    let loaded = load(&k6, &server.origin, OPEN).unwrap();
    let figures = loaded.figures;
    let latency = figures.latency.expect("answers were timed");
    assert!(
        (100..=101).contains(&figures.completed),
        "{}",
        figures.completed
    );
    assert_eq!(latency.n, figures.completed);
    assert_eq!(latency.quantiles.len(), lab::generators::QUANTILES.len());
    assert!(
        latency
            .quantiles
            .is_sorted_by(|a, b| a.p < b.p && a.ms <= b.ms)
    );
    assert!(figures.generator_cpu.unwrap() > 0.0);
    assert_eq!(figures.offered_rate, Some(50.0));
}

#[test]
fn k6_finds_a_wrong_body() {
    let k6 = match K6::find(&CpuSet::allowed()) {
        Ok(k6) => k6,
        Err(missing) => return testbed::not_run("the k6 generator", &missing),
    };
    let server = null_server(b"hullo");
    let loaded = load(&k6, &server.origin, OPEN).unwrap();
    assert!(
        loaded
            .findings
            .iter()
            .any(|found| found.gate == Gate::ResponseErrors)
    );
    assert_eq!(loaded.figures.completed, 0);
    assert!(loaded.figures.errors["wrong answer"] >= 100);
}

#[test]
fn bombardier_sends_as_many_requests_as_it_is_told() {
    let bombardier = match Bombardier::find(&CpuSet::allowed()) {
        Ok(bombardier) => bombardier,
        Err(missing) => return testbed::not_run("the bombardier generator", &missing),
    };
    let server = null_server(BODY);
    let shape = Shape::Closed {
        connections: 4,
        until: Until::Requests(500),
    };
    let loaded = load(&bombardier, &server.origin, shape).unwrap();
    assert_eq!(loaded.figures.completed, 500);
    assert_eq!(loaded.figures.statuses[&200], 500);
    assert!(loaded.findings.is_empty(), "{:?}", loaded.findings);
    assert!(loaded.figures.latency.unwrap().mean_ms > 0.0);
    assert!(matches!(
        load(&bombardier, &server.origin, OPEN),
        Err(GeneratorError::Unable { .. })
    ));
}

#[test]
fn our_own_loops_count_answers_bodies_and_errors() {
    let server = null_server(BODY);
    let loaded = load(&OwnLoop, &server.origin, OPEN).unwrap();
    assert_eq!(loaded.figures.completed, 100);
    assert!(loaded.findings.is_empty());
    let rates: Vec<f64> = loaded
        .figures
        .timeline
        .iter()
        .map(|second| second.rate)
        .collect();
    assert_eq!(rates, [50.0, 50.0], "a line for each second");

    let wrong = null_server(b"hullo");
    let shape = Shape::Closed {
        connections: 2,
        until: Until::Requests(20),
    };
    let loaded = load(&OwnLoop, &wrong.origin, shape).unwrap();
    assert_eq!(loaded.figures.errors["wrong body"], 20);
    assert!(loaded.figures.latency.is_none(), "errors have no latency");

    let nobody = Origin::from(std::net::SocketAddr::from((
        [127, 0, 0, 1],
        testbed::free_port(),
    )));
    let loaded = load(&OwnLoop, &nobody, shape).unwrap();
    assert_eq!(loaded.figures.errors["connection refused"], 20);
    assert!(
        loaded
            .findings
            .iter()
            .any(|found| found.gate == Gate::ResponseErrors)
    );
}

/// For the first 50 ms of every second nothing is answered.
#[test]
fn a_stall_shows_in_the_open_loop_and_hides_from_a_closed_loop_of_one() {
    let began = Instant::now();
    let address = support::serve(move |asked| {
        let into_second = began.elapsed().as_millis() % 1000;
        if into_second < 50 {
            std::thread::sleep(Duration::from_millis((50 - into_second) as u64));
        }
        support::answer(asked, 200, &[], "hello")
    });
    let origin = Origin::from(address);
    let p99 = |shape| {
        let latency = load(&OwnLoop, &origin, shape)
            .unwrap()
            .figures
            .latency
            .unwrap();
        latency
            .quantiles
            .iter()
            .find(|quantile| quantile.p >= 0.99)
            .unwrap()
            .ms
    };
    let open = p99(Shape::Open {
        rate: 200.0,
        vus: 40,
        seconds: 4.0,
    });
    let closed = p99(Shape::Closed {
        connections: 1,
        until: Until::Seconds(4.0),
    });
    assert!(
        open > 25.0,
        "a twentieth of the requests fall into a stall, and the open loop's p99 is {open} ms"
    );
    assert!(
        closed < open / 2.0,
        "one request a second meets the stall, and the closed loop's p99 is {closed} ms"
    );
}

/// Six requests whose answers differ; the server keeps what it was asked.
#[test]
fn every_generator_asks_the_requests_that_the_seed_draws() {
    let asks: Vec<Ask> = (1..=6)
        .map(|number| Ask {
            path: format!("/{number}"),
            body: Some(format!("body of /{number}").into()),
        })
        .collect();
    let asked_by = |generator: &dyn Generator| {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let keeping = Arc::clone(&asked);
        let address = support::serve(move |asked| {
            keeping.lock().unwrap().push(asked.target.clone());
            support::answer(asked, 200, &[], &format!("body of {}", asked.target))
        });
        let origin = Origin::from(address);
        let loaded = load_of(generator, &origin, &asks, OPEN).unwrap();
        assert!(loaded.figures.errors.is_empty(), "{:?}", loaded.figures);
        let mut asked = asked.lock().unwrap().clone();
        asked.sort_unstable();
        // A busy machine may drop some; those that were begun are the first of the draw.
        let load = Load {
            origin: &origin,
            status: 200,
            asks: &asks,
            seed: 7,
            shape: OPEN,
        };
        let mut drawn: Vec<String> = (0..asked.len() as u64)
            .map(|number| load.ask(number).path.clone())
            .collect();
        drawn.sort_unstable();
        assert_eq!(asked, drawn, "{}", generator.name());
        asked
    };
    let own = asked_by(&OwnLoop);
    let different: std::collections::BTreeSet<&String> = own.iter().collect();
    assert_eq!((own.len(), different.len()), (100, 6), "{own:?}");
    match K6::find(&CpuSet::allowed()) {
        Ok(k6) => drop(asked_by(&k6)),
        Err(missing) => testbed::not_run("the requests that k6 draws", &missing),
    }
}

#[test]
fn a_constant_answer_to_different_requests_is_found_out() {
    let asks: Vec<Ask> = ["/1", "/2"]
        .map(|path| Ask {
            path: path.into(),
            body: Some(path.into()),
        })
        .to_vec();
    let always_the_first = null_server(b"/1");
    let loaded = load_of(&OwnLoop, &always_the_first.origin, &asks, OPEN).unwrap();
    assert!(
        loaded.figures.errors["wrong body"] > 20,
        "{:?}",
        loaded.figures
    );
    let gates: Vec<Gate> = loaded.findings.iter().map(|found| found.gate).collect();
    assert_eq!(gates, [Gate::ResponseErrors]);
}
