//! The sidecar under load while its server and the network fail. Every request is answered, with
//! what was asked for or with the contract's error; afterwards all is well again. The table of what
//! was seen is docs/sidecar-faults.md: UPDATE_FAULTS=1 writes it anew.

use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use bson::doc;
use testbed::http::Answer;
use testbed::mongo::{Kind, Mongo};
use testbed::repo_root;

use crate::harness::{
    ARTHUR, Connection, SOON, Sidecar, TIMED_OUT, UNAVAILABLE, own_store, present,
};
use crate::proxy::{Fault, Proxy};

/// What became of the requests of one load.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Tally {
    right: u64,
    unavailable: u64,
    timed_out: u64,
    lost: Vec<String>,
    slowest: Duration,
}

impl Tally {
    fn count(&mut self, answer: std::io::Result<Answer>, took: Duration) {
        self.slowest = self.slowest.max(took);
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return self.lost.push(error.to_string()),
        };
        match (answer.status, answer.text(), answer.header("retry-after")) {
            (200, body, None) if body == ARTHUR => self.right += 1,
            (503, body, Some("1")) if body == UNAVAILABLE => self.unavailable += 1,
            (504, body, None) if body == TIMED_OUT => self.timed_out += 1,
            _ => self.lost.push(format!("{answer:?}")),
        }
    }

    fn add(&mut self, other: Self) {
        self.right += other.right;
        self.unavailable += other.unavailable;
        self.timed_out += other.timed_out;
        self.lost.extend(other.lost);
        self.slowest = self.slowest.max(other.slowest);
    }

    /// No request is lost, whatever happens, and none takes longer than the contract allows, with
    /// what a busy machine adds.
    fn assert_none_lost(&self, fault: &str) {
        assert!(self.lost.is_empty(), "{fault}: {:?}", self.lost);
        assert!(
            self.slowest < Duration::from_millis(3500),
            "{fault}: {:?}",
            self.slowest
        );
        assert!(
            self.right + self.unavailable + self.timed_out > 0,
            "{fault}: no request was made"
        );
    }
}

/// Loads the sidecar from `clients` kept connections while `during` runs.
pub fn load(sidecar: &Sidecar, clients: usize, during: impl FnOnce()) -> Tally {
    let stop = AtomicBool::new(false);
    let total = Mutex::new(Tally::default());
    thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(|| {
                let mut tally = Tally::default();
                let mut connection = Connection::open(&sidecar.host).unwrap();
                while !stop.load(Relaxed) {
                    let begun = Instant::now();
                    tally.count(connection.get("/users/1"), begun.elapsed());
                    // Enough to be under load; more would only load the other tests.
                    thread::sleep(Duration::from_millis(2));
                }
                total.lock().unwrap().add(tally);
            });
        }
        // Also when it panics, or the clients would never end.
        let _stop = StopOnDrop(&stop);
        during();
    });
    total.into_inner().unwrap()
}

struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

fn recovers(sidecar: &Sidecar, fault: &str) {
    let deadline = Instant::now() + SOON;
    while sidecar.says("/users/1") != (200, ARTHUR.to_owned()) {
        let output = sidecar.process.output();
        assert!(
            Instant::now() < deadline,
            "no right answer again after {fault}:\n{output}"
        );
        thread::sleep(Duration::from_millis(20));
    }
    sidecar.wait_until_ready();
}

const CLIENTS: usize = 8;
const WHILE: Duration = Duration::from_millis(2500);

#[test]
fn every_fault_is_answered_and_passes() {
    let Some(mut mongo) = own_store("faults") else {
        return;
    };
    let mut table: Vec<(&str, Tally)> = Vec::new();
    // Beside the others, which take as long.
    let idle = thread::spawn(idle_then_burst);

    let proxy = Proxy::to(mongo.port());
    let sidecar = Sidecar::mongodb(&proxy.connection_string(), &[]);
    sidecar.wait_until_ready();
    let millis = Duration::from_millis;
    for (name, fault) in [
        ("no fault", Fault::None),
        ("connections closed", Fault::Close),
        ("connections reset", Fault::Reset),
        ("replies cut after 20 bytes", Fault::Cut),
        ("black hole", Fault::BlackHole),
        ("replies held, then let go", Fault::Hold),
        ("replies 500 ms late", Fault::Delay(millis(500))),
        (
            "replies trickle, 64 bytes each 20 ms",
            Fault::Throttle(millis(20)),
        ),
    ] {
        let tally = load(&sidecar, CLIENTS, || {
            proxy.set(fault);
            thread::sleep(WHILE);
            proxy.set(Fault::None);
        });
        tally.assert_none_lost(name);
        if fault == Fault::BlackHole {
            assert!(tally.timed_out > 0, "{name}: {tally:?}");
        }
        if matches!(fault, Fault::None | Fault::Delay(_) | Fault::Throttle(_)) {
            assert!(tally.right > 0, "{name}: {tally:?}");
        }
        table.push((name, tally));
        recovers(&sidecar, name);
    }

    let name = "server killed, started again";
    let tally = load(&sidecar, CLIENTS, || {
        match mongo.kind() {
            // It has not written what it says it has.
            Kind::SecantusDb => mongo.stop(),
            _ => mongo.kill(),
        }
        thread::sleep(millis(1000));
        mongo.restart(&[]).unwrap();
        thread::sleep(millis(1000));
    });
    tally.assert_none_lost(name);
    table.push((name, tally));
    recovers(&sidecar, name);
    drop(sidecar);

    let name = "server down at start, started later";
    mongo.stop();
    let sidecar = Sidecar::mongodb(mongo.connection_string(), &[]);
    let tally = load(&sidecar, CLIENTS, || {
        thread::sleep(millis(1500));
        mongo.restart(&[]).unwrap();
        sidecar.wait_until_ready();
        thread::sleep(millis(500));
    });
    tally.assert_none_lost(name);
    assert!(
        tally.right > 0 && tally.unavailable > 0,
        "{name}: {tally:?}"
    );
    table.push((name, tally));
    drop(sidecar);

    let name = "pool of 1, 200 clients";
    let pool_of_one = format!("{}&maxPoolSize=1", mongo.connection_string());
    let sidecar = Sidecar::mongodb(&pool_of_one, &[]);
    sidecar.wait_until_ready();
    let tally = load(&sidecar, 200, || thread::sleep(WHILE));
    tally.assert_none_lost(name);
    assert!(tally.right > 0, "{name}: {tally:?}");
    table.push((name, tally));
    recovers(&sidecar, name);

    let name = "95 s idle, then 50 clients";
    let tally = idle.join().unwrap();
    tally.assert_none_lost(name);
    assert!(tally.right > 0 && tally.timed_out == 0, "{name}: {tally:?}");
    table.push((name, tally));

    hold_table(&table);
}

fn hold_table(table: &[(&str, Tally)]) {
    let mut text = String::from(
        "# Faults\n\n\
         What became of the requests while the store or the network failed, in one run of the\n\
         sidecar's tests (`UPDATE_FAULTS=1 cargo test --release -p levelfield-sidecar faults` writes\n\
         this file). Lost is whatever is neither the user asked for nor the contract's 503 or 504;\n\
         the tests fail unless it is 0. The counts depend on the machine.\n\n\
         | fault | answered right | 503 | 504 | lost |\n|---|--:|--:|--:|--:|\n",
    );
    for (name, tally) in table {
        let Tally {
            right,
            unavailable,
            timed_out,
            lost,
            ..
        } = tally;
        writeln!(
            text,
            "| {name} | {right} | {unavailable} | {timed_out} | {} |",
            lost.len()
        )
        .unwrap();
    }
    let file = repo_root().join("docs/sidecar-faults.md");
    if std::env::var_os("UPDATE_FAULTS").is_some() {
        std::fs::write(&file, text).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    let without_counts = |text: &str| -> Vec<String> {
        text.lines()
            .map(|line| line.split(" | ").next().unwrap_or_default().to_owned())
            .collect()
    };
    assert_eq!(
        without_counts(&kept),
        without_counts(&text),
        "docs/sidecar-faults.md is of other tests; UPDATE_FAULTS=1 writes it anew"
    );
}

/// Longer than any client's pool keeps a connection: the usual ones give up after 90 s at most.
const IDLE: Duration = Duration::from_secs(95);

/// Nothing for long, on a connection that stays open; then many at once.
fn idle_then_burst() -> Tally {
    let mongo = Mongo::start_own().unwrap();
    let sidecar = Sidecar::mongodb(mongo.connection_string(), &[]);
    sidecar.wait_until_ready();
    let mut kept = Connection::open(&sidecar.host).unwrap();
    assert_eq!(kept.get("/users/1").unwrap().text(), ARTHUR);
    thread::sleep(IDLE);
    assert_eq!(kept.get("/users/1").unwrap().text(), ARTHUR);
    load(&sidecar, 50, || thread::sleep(Duration::from_secs(1)))
}

#[test]
fn connections_that_nothing_comes_over_are_given_up_for_new_ones() {
    let Some(mongo) = own_store("a network that loses connections") else {
        return;
    };
    let proxy = Proxy::to(mongo.port());
    // A connection that was idle between two checks is replaced by a new one, which is lost, while
    // the driver's own look at the server goes on as before.
    let string = format!("{}&maxIdleTimeMS=100", proxy.connection_string());
    let sidecar = Sidecar::mongodb(&string, &[]);
    sidecar.wait_until_ready();
    proxy.set(Fault::Strand);
    let given_up = "giving up on the store's connections and opening new ones";
    let is_given_up = sidecar.process.wait_for_output(given_up, SOON);
    assert!(is_given_up, "{}", sidecar.process.output());
    assert!(matches!(sidecar.get("/users/1").status, 503 | 504));
    proxy.set(Fault::None);
    recovers(&sidecar, "connections that were lost");
}

/// A server whose commands can be made to fail.
pub fn failing_server(part: &str) -> Option<Mongo> {
    let started = Mongo::start_empty(Kind::SecantusDb, &["--enable-test-commands"]);
    let mongo = present(part, started)?;
    mongo
        .seed(&repo_root().join("contract/seed.jsonl"))
        .unwrap();
    Some(mongo)
}

/// Makes the next find fail, or all until it is turned off.
pub fn fail_finds(mongo: &Mongo, mode: bson::Bson, how: bson::Document) {
    let mut data = doc! { "failCommands": ["find"] };
    data.extend(how);
    let command = doc! { "configureFailPoint": "failCommand", "mode": mode, "data": data };
    mongo.command("admin", command).unwrap();
}

#[test]
fn an_error_that_may_pass_is_tried_again_once() {
    let Some(mongo) = failing_server("fail points") else {
        return;
    };
    let sidecar = Sidecar::mongodb(mongo.connection_string(), &[]);
    sidecar.wait_until_ready();
    let mut retries = 0;
    for how in [
        doc! { "errorCode": 11602 }, // InterruptedDueToReplStateChange
        doc! { "errorCode": 10107 }, // NotWritablePrimary
        doc! { "closeConnection": true },
    ] {
        fail_finds(&mongo, doc! { "times": 1 }.into(), how.clone());
        let said = sidecar.says("/users/1");
        let output = sidecar.process.output();
        assert_eq!(said, (200, ARTHUR.to_owned()), "{how}: {output}");
        retries += 1;
        assert_eq!(sidecar.metric("sidecar_retries_total"), retries, "{how}");
    }
}

#[test]
fn an_error_that_stays_is_answered_as_the_contract_says() {
    let Some(mongo) = failing_server("fail points that stay") else {
        return;
    };
    let sidecar = Sidecar::mongodb(mongo.connection_string(), &[]);
    sidecar.wait_until_ready();
    for (how, status) in [
        (doc! { "errorCode": 10107 }, 503),
        (doc! { "closeConnection": true }, 503),
        (doc! { "errorCode": 13 }, 503), // Unauthorized
        (doc! { "errorCode": 50 }, 504), // MaxTimeMSExpired
    ] {
        fail_finds(&mongo, "alwaysOn".into(), how.clone());
        let body = if status == 503 {
            UNAVAILABLE
        } else {
            TIMED_OUT
        };
        assert_eq!(sidecar.says("/users/1"), (status, body.to_owned()), "{how}");
        mongo
            .command(
                "admin",
                doc! { "configureFailPoint": "failCommand", "mode": "off" },
            )
            .unwrap();
        recovers(&sidecar, &how.to_string());
    }
}
