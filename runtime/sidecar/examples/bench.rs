//! `make bench-sidecar`: the sidecar against native/rust's users route, with the same driver, server
//! and load, in one run; what the sidecar itself costs; the tail while the store stalls; memory.
//!
//! Figures are ratios of this run on this machine. BENCH_SECONDS (5), BENCH_ROUNDS (3) and
//! BENCH_SOAK (1000000 requests over the null store and a tenth of them over the server, after a
//! third as many to warm up; 0 for none) in the environment change how long it takes.

#[path = "../tests/sidecar/proxy.rs"]
#[allow(dead_code)]
mod proxy;

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use proxy::{Fault, Proxy};
use testbed::mongo::Mongo;
use testbed::{Process, Ready, built, free_port, tool};

const CONNECTIONS: &str = "32";
/// Of each server: what is compared is the cost of a request, not of its schedulers.
const THREADS: &str = "2";
const MOST_AT_REST: u64 = 15 * 1024;
const SOON: Duration = Duration::from_secs(30);

struct Server {
    process: Process,
    url: String,
}

/// What one load showed.
#[derive(Debug, Clone)]
struct Load {
    per_second: f64,
    /// Processor time of the server for each request, in microseconds.
    cpu_micros: f64,
    p50_millis: f64,
    p99_millis: f64,
}

fn main() -> Result<()> {
    let seconds = from_env("BENCH_SECONDS", 5);
    let rounds = from_env("BENCH_ROUNDS", 3);
    let soak = from_env("BENCH_SOAK", 1_000_000);
    let mongo = Mongo::start_own()?;
    let store = mongo.connection_string();
    println!(
        "Server: {}; {CONNECTIONS} connections, {THREADS} threads; {rounds} rounds of {seconds} s\n",
        mongo.kind().name()
    );

    let sidecar = Server::start("levelfield-sidecar", store, &["--store", "mongodb"])?;
    let native = Server::start("levelfield-native", store, &[])?;
    let null = Server::start("levelfield-sidecar", "", &["--store", "null"])?;
    let at_rest = sidecar.memory()?;
    let duration = format!("{seconds}s");
    let closed = ["-c", CONNECTIONS, "-d", &duration];
    let mut loads = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..rounds {
        // In turn, so that what the machine does meanwhile meets all alike.
        for (server, loads) in [&sidecar, &native, &null].into_iter().zip(&mut loads) {
            loads.push(server.load(&closed)?);
        }
    }
    println!("| | requests/s | CPU per request | p50 | p99 |\n|---|--:|--:|--:|--:|");
    let [sidecar_load, native_load, null_load] = loads.map(median);
    for (name, load) in [
        ("sidecar", &sidecar_load),
        ("native/rust", &native_load),
        ("sidecar, --store null", &null_load),
    ] {
        println!(
            "| {name} | {:.0} | {:.1} us | {:.2} ms | {:.2} ms |",
            load.per_second, load.cpu_micros, load.p50_millis, load.p99_millis
        );
    }
    println!(
        "\nSidecar to native/rust: {:.2} times the requests/s, {:.2} times the CPU per request.",
        sidecar_load.per_second / native_load.per_second,
        sidecar_load.cpu_micros / native_load.cpu_micros
    );

    println!("\nStore stalls for 200 ms once a second, 200 requests/s:");
    let stalls = Stalls::before(&mongo);
    for name in ["levelfield-sidecar", "levelfield-native"] {
        let server = Server::start(name, &stalls.proxy.connection_string(), &[])?;
        let load = server.load(&["-c", CONNECTIONS, "-d", &duration, "-r", "200"])?;
        println!(
            "{name}: p50 {:.1} ms, p99 {:.0} ms",
            load.p50_millis, load.p99_millis
        );
    }
    drop(stalls);

    println!("\nMemory of the sidecar at rest: {at_rest} KiB");
    ensure!(
        at_rest < MOST_AT_REST,
        "that is not under {MOST_AT_REST} KiB"
    );
    if soak > 0 {
        Server::start("levelfield-sidecar", "", &["--store", "null"])?.soak("null store", soak)?;
        Server::start("levelfield-sidecar", store, &[])?.soak(mongo.kind().name(), soak / 10)?;
    }
    Ok(())
}

fn from_env(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

fn median(mut loads: Vec<Load>) -> Load {
    loads.sort_by(|left, right| left.cpu_micros.total_cmp(&right.cpu_micros));
    loads.swap_remove(loads.len() / 2)
}

impl Server {
    fn start(binary: &str, connection_string: &str, args: &[&str]) -> Result<Self> {
        let address = format!("127.0.0.1:{}", free_port());
        let url = format!("http://{address}/users/1");
        let mut command = Command::new(built(binary)?);
        command
            .args(["--listen", &address])
            .args(args)
            .env("CONNECTION_STRING", connection_string)
            .env("TOKIO_WORKER_THREADS", THREADS);
        if binary == "levelfield-sidecar" {
            command.args(["--threads", THREADS]);
        }
        let process = Process::start(&mut command, Ready::Http(url.clone()), SOON)?;
        Ok(Self { process, url })
    }

    /// Loads it and sees to it that every answer was right.
    fn load(&self, how: &[&str]) -> Result<Load> {
        let before = self.cpu()?;
        let output = Command::new(tool("bombardier")?)
            .args(how)
            .args(["-l", "-p", "r", "-o", "json", &self.url])
            .output()?;
        let cpu = self.cpu()? - before;
        let report: serde_json::Value = serde_json::from_slice(&output.stdout)
            .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
        let result = &report["result"];
        let number = |name: &str| result[name].as_f64().with_context(|| format!("no {name}"));
        let right = number("req2xx")?;
        for other in ["req1xx", "req3xx", "req4xx", "req5xx", "others"] {
            ensure!(
                number(other)? == 0.0,
                "{}: not every answer was right: {result}",
                self.url
            );
        }
        let percentile = |name: &str| {
            result["latency"]["percentiles"][name]
                .as_f64()
                .unwrap_or(f64::NAN)
        };
        Ok(Load {
            per_second: right / number("timeTakenSeconds")?,
            cpu_micros: cpu / right,
            p50_millis: percentile("50") / 1e3,
            p99_millis: percentile("99") / 1e3,
        })
    }

    /// Loads it with many requests, a tenth at a time, and looks at its memory in between. The allocator and the
    /// connections' buffers take a while to find their size, so that a third as many requests come before. Flat is at
    /// most 5 % more at the end: of a million requests each may leave less than half a byte.
    fn soak(&self, store: &str, requests: u64) -> Result<()> {
        let tenth = (requests / 10).max(1);
        let rest = self.memory()?;
        self.load(&["-c", CONNECTIONS, "-n", &(requests / 3).to_string()])?;
        let mut memory = vec![self.memory()?];
        for _ in 0..10 {
            self.load(&["-c", CONNECTIONS, "-n", &tenth.to_string()])?;
            memory.push(self.memory()?);
        }
        println!(
            "Soak, {store}: {rest} KiB at rest; {memory:?} when warm and after each {tenth} requests"
        );
        let (warm, end) = (memory[0], memory[10]);
        ensure!(
            end <= warm + warm / 20,
            "memory grows: {warm} KiB, then {end} KiB"
        );
        Ok(())
    }

    /// Processor time used so far, in microseconds.
    fn cpu(&self) -> Result<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.pid()))?;
        let (_, fields) = stat.rsplit_once(')').context("no process name in stat")?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        // proc(5): utime and stime are fields 14 and 15, in ticks of 10 ms; state is field 3.
        Ok((fields[11].parse::<f64>()? + fields[12].parse::<f64>()?) * 1e4)
    }

    /// Resident memory in KiB.
    fn memory(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.pid()))?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .context("no VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse()?)
    }
}

/// A proxy that holds all replies for 200 ms once a second, for as long as the value lives.
struct Stalls {
    proxy: Arc<Proxy>,
    stop: Arc<AtomicBool>,
}

impl Stalls {
    fn before(mongo: &Mongo) -> Self {
        let proxy = Arc::new(Proxy::to(mongo.port()));
        let stop = Arc::new(AtomicBool::new(false));
        let (stalling, stopped) = (Arc::clone(&proxy), Arc::clone(&stop));
        thread::spawn(move || {
            while !stopped.load(Relaxed) {
                stalling.set(Fault::Hold);
                thread::sleep(Duration::from_millis(200));
                stalling.set(Fault::None);
                thread::sleep(Duration::from_millis(800));
            }
        });
        Self { proxy, stop }
    }
}

impl Drop for Stalls {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
    }
}
