//! An open loop of our own: each request has a time at which it is due, and its latency counts from that time.
//!
//! k6 measures from when its virtual user really began, which hides what a stalled server makes later requests wait.
//! This one counts that waiting, checks every answer's bytes, and needs no program; it costs a thread for each
//! request that may be under way.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{Generator, GeneratorError, Load, Loaded, QUANTILES, Shape, Until};
use crate::http::{Connection, Request};
use crate::interrupt::Interrupt;
use crate::results::{Figures, Gate, GateEffect, GateFinding, Latency, Quantile, Rate, Second};

const TIMEOUT: Duration = Duration::from_secs(10);

pub struct OwnLoop;

impl Generator for OwnLoop {
    fn name(&self) -> &'static str {
        "levelfield"
    }

    fn load(&self, load: &Load<'_>, interrupt: &Interrupt) -> Result<Loaded, GeneratorError> {
        let schedule = Schedule::of(load.shape);
        let workers = match load.shape {
            Shape::Open { vus, .. } => vus,
            Shape::Closed { connections, .. } => connections,
        };
        let mut sums: Vec<Worked> = Vec::new();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..workers)
                .map(|_| scope.spawn(|| work(load, &schedule, interrupt)))
                .collect();
            for thread in threads {
                // A worker panics nowhere; one that did has no sums to add.
                sums.extend(thread.join());
            }
        });
        if interrupt.is_set() {
            return Err(GeneratorError::Interrupted);
        }
        Ok(loaded(load.shape, sums, schedule.began.elapsed()))
    }
}

/// When the next request is due, and whether there is one.
struct Schedule {
    began: Instant,
    next: AtomicU64,
    /// Between two requests; none in a closed loop.
    interval: Option<Duration>,
    requests: Option<u64>,
    until: Option<Duration>,
}

impl Schedule {
    fn of(shape: Shape) -> Self {
        let (interval, requests, until) = match shape {
            Shape::Open { rate, seconds, .. } => {
                let requests = (rate * seconds).round() as u64;
                (
                    Some(Duration::from_secs_f64(1.0 / rate)),
                    Some(requests),
                    None,
                )
            }
            Shape::Closed {
                until: Until::Requests(requests),
                ..
            } => (None, Some(requests), None),
            Shape::Closed {
                until: Until::Seconds(seconds),
                ..
            } => (None, None, Some(Duration::from_secs_f64(seconds))),
        };
        Self {
            began: Instant::now(),
            next: AtomicU64::new(0),
            interval,
            requests,
            until,
        }
    }

    /// Waits for the next request's time, and returns its number and from when its latency counts.
    fn wait(&self) -> Option<(u64, Instant)> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let over = self.requests.is_some_and(|requests| number >= requests)
            || self
                .until
                .is_some_and(|until| self.began.elapsed() >= until);
        if over {
            return None;
        }
        let Some(interval) = self.interval else {
            return Some((number, Instant::now()));
        };
        let due = self.began + Duration::from_secs_f64(interval.as_secs_f64() * number as f64);
        if let Some(early) = due.checked_duration_since(Instant::now()) {
            std::thread::sleep(early);
        }
        Some((number, due))
    }
}

#[derive(Default)]
struct Worked {
    /// When each answer was due, since the load began, and how long it took from then.
    answers: Vec<(Duration, Duration)>,
    errors: BTreeMap<String, u64>,
    statuses: BTreeMap<u16, u64>,
    bytes: u64,
}

fn work(load: &Load<'_>, schedule: &Schedule, interrupt: &Interrupt) -> Worked {
    let mut worked = Worked::default();
    let mut connection = None;
    while let Some((number, due)) = schedule.wait() {
        if interrupt.is_set() {
            break;
        }
        let ask = load.ask(number);
        let request = Request {
            method: "GET",
            target: &ask.path,
        };
        let opened = match connection.take() {
            Some(connection) => Ok(connection),
            None => Connection::open(load.origin, TIMEOUT),
        };
        let answered = opened.and_then(|mut connection| {
            let answer = connection.exchange(request, TIMEOUT)?;
            Ok((connection, answer))
        });
        match answered {
            Err(error) => *worked.errors.entry(error.class().into()).or_default() += 1,
            Ok((kept, answer)) => {
                *worked.statuses.entry(answer.status).or_default() += 1;
                worked.bytes += answer.wire_bytes as u64;
                if answer.keep_alive {
                    connection = Some(kept);
                }
                if answer.status != load.status {
                    let class = format!("status {}", answer.status);
                    *worked.errors.entry(class).or_default() += 1;
                } else if ask.body.as_ref().is_some_and(|body| *body != answer.body) {
                    *worked.errors.entry("wrong body".into()).or_default() += 1;
                } else {
                    worked.answers.push((due - schedule.began, due.elapsed()));
                }
            }
        }
    }
    worked
}

fn loaded(shape: Shape, sums: Vec<Worked>, took: Duration) -> Loaded {
    let mut figures = Figures::default();
    let mut answers = Vec::new();
    let mut bytes = 0;
    for worked in sums {
        answers.extend(worked.answers);
        bytes += worked.bytes;
        for (class, count) in worked.errors {
            *figures.errors.entry(class).or_default() += count;
        }
        for (status, count) in worked.statuses {
            *figures.statuses.entry(status).or_default() += count;
        }
    }
    figures.timeline = timeline(&answers);
    let mut latencies: Vec<Duration> = answers.iter().map(|(_, latency)| *latency).collect();
    latencies.sort_unstable();
    figures.completed = latencies.len() as u64;
    figures.bytes_received = Some(bytes);
    if let Shape::Open { rate, .. } = shape {
        figures.offered_rate = Some(rate);
    }
    figures.rate = Some(Rate {
        mean: figures.completed as f64 / took.as_secs_f64(),
        stdev: None,
        max: None,
    });
    figures.latency = latency(&latencies);
    let wrong: u64 = figures.errors.values().sum();
    let findings = (wrong > 0).then(|| GateFinding {
        gate: Gate::ResponseErrors,
        effect: GateEffect::Void,
        reading: format!(
            "{wrong} of {} answers were wrong or missing",
            wrong + figures.completed
        ),
    });
    Loaded {
        figures,
        findings: findings.into_iter().collect(),
    }
}

/// A line for each whole second in which requests were due.
fn timeline(answers: &[(Duration, Duration)]) -> Vec<Second> {
    let mut by_second: BTreeMap<u32, Vec<Duration>> = BTreeMap::new();
    for (due, latency) in answers {
        let second = u32::try_from(due.as_secs()).unwrap_or(u32::MAX);
        by_second.entry(second).or_default().push(*latency);
    }
    by_second
        .into_iter()
        .map(|(second, mut latencies)| {
            latencies.sort_unstable();
            let latency = latency(&latencies);
            let percentile = |p| latency.as_ref().and_then(|latency| latency.percentile(p));
            Second {
                second,
                rate: latencies.len() as f64,
                p50_ms: percentile(0.5),
                p99_ms: percentile(0.99),
                cpu: None,
                rss_bytes: None,
            }
        })
        .collect()
}

/// Exact quantiles of every sample; `sorted` ascending.
fn latency(sorted: &[Duration]) -> Option<Latency> {
    let (first, last) = (sorted.first()?, sorted.last()?);
    let ms = |duration: &Duration| duration.as_secs_f64() * 1e3;
    let total: f64 = sorted.iter().map(ms).sum();
    Some(Latency {
        n: sorted.len() as u64,
        min_ms: ms(first),
        mean_ms: total / sorted.len() as f64,
        max_ms: ms(last),
        stdev_ms: None,
        quantiles: QUANTILES
            .iter()
            .map(|&p| {
                let rank = ((p * sorted.len() as f64).ceil() as usize).clamp(1, sorted.len());
                Quantile {
                    p,
                    ms: ms(&sorted[rank - 1]),
                }
            })
            .collect(),
    })
}
