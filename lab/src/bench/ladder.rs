//! The capacity ladder: more connections step by step, until a step misses the objective.

use crate::generators::{GeneratorError, Loaded, Shape};
use crate::results::{Figures, Step};

/// Climbs until a rung misses the objective; errors end the climb and are no errors of the trial.
pub fn climb(
    shapes: &[Shape],
    objective_ms: f64,
    mut run: impl FnMut(Shape) -> Result<Loaded, GeneratorError>,
) -> Result<Loaded, GeneratorError> {
    let mut best: Option<Figures> = None;
    let mut ladder = Vec::new();
    let mut completed = 0;
    for &shape in shapes {
        let Shape::Closed { connections, .. } = shape else {
            continue;
        };
        let figures = run(shape)?.figures;
        completed += figures.completed;
        let p = |wanted: f64| {
            let latency = figures.latency.as_ref()?;
            latency
                .quantiles
                .iter()
                .find(|quantile| quantile.p >= wanted)
                .map(|quantile| quantile.ms)
        };
        let errors: u64 = figures.errors.values().sum();
        let p99_ms = p(0.99).unwrap_or(f64::MAX);
        let passed = errors == 0 && p99_ms <= objective_ms;
        let rate = figures.rate.map_or(0.0, |rate| rate.mean);
        ladder.push(Step {
            connections,
            offered_rate: None,
            rate,
            p50_ms: p(0.5).unwrap_or(f64::MAX),
            p99_ms,
            errors,
            dropped_share: 0.0,
            passed,
        });
        if !passed {
            break;
        }
        let so_far = best
            .as_ref()
            .and_then(|best| best.rate)
            .map_or(0.0, |rate| rate.mean);
        if rate > so_far {
            best = Some(figures);
        }
    }
    let mut figures = best.unwrap_or_default();
    figures.completed = completed;
    figures.ladder = ladder;
    Ok(Loaded {
        figures,
        findings: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::climb;
    use crate::generators::{Loaded, Shape, Until};
    use crate::results::{Figures, Latency, Quantile, Rate};

    fn rung(connections: u32) -> Shape {
        Shape::Closed {
            connections,
            until: Until::Seconds(1.0),
        }
    }

    /// A server that answers 1000/s on each connection, up to 4; p99 is 2 ms a connection.
    fn answered(shape: Shape, errors: u64) -> Loaded {
        let Shape::Closed { connections, .. } = shape else {
            panic!("{shape:?}")
        };
        let rate = 1000.0 * f64::from(connections.min(4));
        let ms = 2.0 * f64::from(connections);
        let mut figures = Figures {
            completed: rate as u64,
            rate: Some(Rate {
                mean: rate,
                stdev: None,
                max: None,
            }),
            latency: Some(Latency {
                n: rate as u64,
                quantiles: vec![Quantile { p: 0.5, ms }, Quantile { p: 0.99, ms }],
                ..Latency::default()
            }),
            ..Figures::default()
        };
        if errors > 0 {
            figures.errors.insert("timeout".into(), errors);
        }
        Loaded {
            figures,
            findings: Vec::new(),
        }
    }

    #[test]
    fn the_climb_ends_where_the_objective_is_missed() {
        let rungs = [1, 2, 4, 8, 16].map(rung);
        let figures = climb(&rungs, 10.0, |shape| Ok(answered(shape, 0)))
            .unwrap()
            .figures;
        let passed: Vec<bool> = figures.ladder.iter().map(|step| step.passed).collect();
        assert_eq!(
            passed,
            [true, true, true, false],
            "8 connections have a p99 of 16 ms"
        );
        assert_eq!(figures.capacity(), 4000.0);
    }

    #[test]
    fn an_error_is_a_missed_objective() {
        let figures = climb(&[rung(1), rung(2)], 10.0, |shape| Ok(answered(shape, 1)))
            .unwrap()
            .figures;
        assert_eq!(figures.ladder.len(), 1);
        assert_eq!(figures.capacity(), 0.0);
    }
}
