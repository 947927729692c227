//! Warming a server up until it is steady: a JIT has compiled, pools are filled, a collector has found its rhythm.

use super::trial::{Bench, Task};
use crate::gates;
use crate::generators::{Ask, Generator, Load, Shape, Until, open_loop::OwnLoop};
use crate::http::Origin;
use crate::results::{GateFinding, WarmUp};

pub const CONNECTIONS: u32 = 8;

/// Steady means that three windows agree in the median latency and in the CPU time of a request, each within this
/// share of their mean. Two windows of one unchanging server differ by a few percent on a virtual machine.
pub const TOLERANCE: f64 = 0.05;
const WINDOWS: usize = 3;
/// Of a window, in seconds. Three fit into the shortest warm-up.
const SHORTEST: f64 = 0.25;
const LONGEST: f64 = 1.0;

/// What one window showed. CPU time is known of servers that we started.
#[derive(Clone, Copy, Debug)]
struct Window {
    p50_ms: f64,
    cpu_us: Option<f64>,
}

/// Warms up; `cpu_seconds` reads what the server has used so far. The finding is that it did not become steady.
pub fn warm_up(
    bench: &Bench<'_>,
    task: Task<'_>,
    origin: &Origin,
    asks: &[Ask],
    cpu_seconds: &dyn Fn() -> Option<f64>,
) -> (Option<WarmUp>, Option<GateFinding>) {
    let (least, most) = (task.planned.warm_up_seconds, task.planned.warm_up_at_most);
    if least <= 0.0 || bench.interrupt.is_set() {
        return (None, None);
    }
    let window_seconds = (least / WINDOWS as f64).clamp(SHORTEST, LONGEST).min(least);
    let mut windows = Vec::new();
    let mut seconds = 0.0;
    let mut before = cpu_seconds();
    while seconds + window_seconds <= most + 1e-9 {
        let load = Load {
            origin,
            status: task.scenario.scenario.status,
            asks,
            seed: windows.len() as u32,
            shape: Shape::Closed {
                connections: CONNECTIONS,
                until: Until::Seconds(window_seconds),
            },
        };
        // Errors that matter come again when the load is measured.
        let Ok(loaded) = OwnLoop.load(&load, &bench.interrupt) else {
            break;
        };
        let after = cpu_seconds();
        let completed = loaded.figures.completed.max(1) as f64;
        windows.push(Window {
            p50_ms: loaded
                .figures
                .latency
                .and_then(|latency| latency.percentile(0.5))
                .unwrap_or(f64::NAN),
            cpu_us: before
                .zip(after)
                .map(|(before, after)| (after - before) * 1e6 / completed),
        });
        before = after;
        seconds += window_seconds;
        if seconds >= least - 1e-9 && spread(&windows).is_some_and(|spread| spread <= TOLERANCE) {
            break;
        }
    }
    if most <= least {
        let fixed = WarmUp {
            seconds,
            steady: None,
        };
        return (Some(fixed), None);
    }
    let spread = spread(&windows);
    let steady = spread.is_some_and(|spread| spread <= TOLERANCE);
    let finding = (!steady).then(|| gates::not_steady(seconds, spread, TOLERANCE));
    let warm_up = WarmUp {
        seconds,
        steady: Some(steady),
    };
    (Some(warm_up), finding)
}

/// How far the last windows lie from their mean, at most and in either quantity.
fn spread(windows: &[Window]) -> Option<f64> {
    let last = windows.get(windows.len().checked_sub(WINDOWS)?..)?;
    let of = |values: Vec<f64>| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values
            .iter()
            .map(|value| (value / mean - 1.0).abs())
            // A window without an answer is far from everything.
            .fold(0.0, |most, one| {
                if one.is_nan() {
                    f64::INFINITY
                } else {
                    f64::max(most, one)
                }
            })
    };
    let latency = of(last.iter().map(|window| window.p50_ms).collect());
    let cpu: Option<Vec<f64>> = last.iter().map(|window| window.cpu_us).collect();
    Some(cpu.map_or(latency, |cpu| f64::max(latency, of(cpu))))
}

#[cfg(test)]
mod tests {
    use super::{TOLERANCE, Window, spread};

    fn windows(p50: &[f64], cpu: &[f64]) -> Vec<Window> {
        let both = p50.iter().zip(cpu);
        both.map(|(&p50_ms, &cpu)| Window {
            p50_ms,
            cpu_us: Some(cpu),
        })
        .collect()
    }

    #[test]
    fn a_server_that_still_gets_faster_is_not_steady_and_one_that_stays_is() {
        let warming = windows(&[1.0, 0.7, 0.5, 0.4], &[90.0, 70.0, 60.0, 50.0]);
        assert!(spread(&warming).unwrap() > TOLERANCE);
        let warm = windows(&[1.0, 0.400, 0.404, 0.398], &[90.0, 50.0, 50.5, 49.8]);
        assert!(spread(&warm).unwrap() <= TOLERANCE);
    }

    #[test]
    fn either_quantity_alone_can_be_unsteady() {
        let compiling = windows(&[0.4, 0.4, 0.4], &[90.0, 70.0, 50.0]);
        assert!(spread(&compiling).unwrap() > TOLERANCE);
    }

    #[test]
    fn too_few_windows_and_windows_without_an_answer_are_not_steady() {
        assert_eq!(spread(&windows(&[0.4, 0.4], &[50.0, 50.0])), None);
        let dead = windows(&[0.4, f64::NAN, 0.4], &[50.0, 50.0, 50.0]);
        assert!(spread(&dead).unwrap() > TOLERANCE);
    }
}
