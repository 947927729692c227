//! Caches and shared reads, where a query declares them: how often the server is really asked.

use std::time::Duration;

use bson::doc;
use testbed::mongo::Mongo;

use crate::harness::{Connection, Sidecar, own_store};
use crate::proxy::{Fault, Proxy};

const TTL: Duration = Duration::from_millis(1500);

/// The users as they are, kept for long, and kept for [`TTL`].
fn config() -> String {
    let first = levelfield_sidecar::DEFAULT_CONFIG;
    let (database, users) = first.split_once("[query.users]").unwrap();
    let kept = |name: &str, ttl: &str| {
        let cache = format!("cache = {{ ttl = \"{ttl}\", max_entries = 10 }}\nreturns =");
        format!("[query.{name}]{users}")
            .replace("/users/", &format!("/{name}/"))
            .replace("returns =", &cache)
    };
    let (long, short) = (kept("long", "1m"), kept("short", "1500ms"));
    format!("{database}[query.users]{users}\n{long}\n{short}")
}

struct Parts {
    mongo: Mongo,
    proxy: Proxy,
    sidecar: Sidecar,
    _dir: tempfile::TempDir,
}

fn start(part: &str) -> Option<Parts> {
    let mongo = own_store(part)?;
    let proxy = Proxy::to(mongo.port());
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("sidecar.toml");
    std::fs::write(&file, config()).unwrap();
    let args = ["--config", file.to_str().unwrap()];
    let sidecar = Sidecar::mongodb(&proxy.connection_string(), &args);
    sidecar.wait_until_ready();
    Some(Parts {
        mongo,
        proxy,
        sidecar,
        _dir: dir,
    })
}

impl Parts {
    /// How many reads of the server 20 requests at once take.
    fn reads_of_a_burst(&self, path: &str) -> usize {
        let before = self.proxy.finds();
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n");
        let mut connections: Vec<_> = (0..20)
            .map(|_| Connection::open(&self.sidecar.host).unwrap())
            .collect();
        for connection in &mut connections {
            connection.send(request.as_bytes()).unwrap();
        }
        for connection in &mut connections {
            assert_eq!(connection.receive(true).unwrap().status, 200, "{path}");
        }
        self.proxy.finds() - before
    }
}

#[test]
fn one_read_serves_all_who_ask_at_once_and_later() {
    let Some(parts) = start("shared reads") else {
        return;
    };
    parts.proxy.set(Fault::Delay(Duration::from_millis(100)));
    assert_eq!(parts.reads_of_a_burst("/users/1"), 20, "without a cache");
    assert_eq!(parts.reads_of_a_burst("/long/1"), 1, "at once");
    assert_eq!(parts.reads_of_a_burst("/long/1"), 0, "later");
    assert_eq!(parts.reads_of_a_burst("/long/01"), 0, "the same value");
    assert_eq!(parts.reads_of_a_burst("/long/2"), 1, "another value");
    // That there is no such user is an answer, too.
    assert_eq!(parts.sidecar.says("/long/77").0, 404);
    let before = parts.proxy.finds();
    assert_eq!(parts.sidecar.says("/long/77").0, 404);
    assert_eq!(parts.proxy.finds(), before);
}

#[test]
fn a_kept_answer_is_given_until_its_time_is_up_and_read_again_then() {
    let Some(parts) = start("a cache's end") else {
        return;
    };
    let user = |name: &str| doc! { "_id": 950, "name": name, "surname": "s", "email": "e" };
    let put = |name: &str| {
        let users = vec![user(name)];
        parts.mongo.insert("mongo", "users", users).unwrap();
    };
    put("before");
    let begun = std::time::Instant::now();
    let before = parts.proxy.finds();
    let says = |name: &str| parts.sidecar.says("/short/950").1.contains(name);
    assert!(says("before"));
    put("after");
    let kept = says("before");
    // On a machine that is busy enough, its time may be up already.
    assert!(kept || begun.elapsed() >= TTL);
    crate::harness::eventually("the new name is seen", || says("after"));
    assert!(begun.elapsed() >= TTL, "{:?}", begun.elapsed());
    assert_eq!(parts.proxy.finds() - before, 2, "one read for each time");
}

#[test]
fn a_failure_is_not_kept() {
    let Some(parts) = start("a failure beside a cache") else {
        return;
    };
    parts.proxy.set(Fault::Close);
    assert_eq!(parts.sidecar.says("/long/1").0, 503);
    parts.proxy.set(Fault::None);
    crate::harness::eventually("the store is read again", || {
        parts.sidecar.says("/long/1").0 == 200
    });
}
