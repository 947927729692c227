//! The generators against a server that does nothing: what they add to every latency, and the most that they can ask.

use super::{Bench, Planned, PlannedScenario};
use crate::generators::{GeneratorError, Load, Shape, Until, null_server::NullServer};
use crate::results::{Calibration, Latency, ProfileKind};

const SECONDS: f64 = 2.0;
/// So many samples carry a p99; a slow rate is given the time for them.
const SAMPLES: f64 = 1_050.0;
const MOST_SECONDS: f64 = 5.0;

/// One calibration of a profile's load on a scenario's answer; none for cold starts, which no generator times.
pub fn calibrate(
    bench: &Bench<'_>,
    planned: &Planned<'_>,
    scenario: &PlannedScenario<'_>,
) -> Result<Option<Calibration>, GeneratorError> {
    if planned.profile.kind == ProfileKind::ColdStart {
        return Ok(None);
    }
    // Of a ladder the last rung, where the generator is at its limit.
    let Some(shape) = planned.shapes(&scenario.scenario.name).last().copied() else {
        return Ok(None);
    };
    let shape = shortened(shape);
    // One body stands for all: the server that does nothing answers everything alike.
    let asks = &scenario.asks[..1];
    let body = asks[0].body.as_deref().unwrap_or_default();
    let server = NullServer::start(scenario.scenario.status, body, &bench.cores.server)?;
    let generator = bench.generators.of(planned.profile.kind, shape);
    let load = Load {
        origin: &server.origin,
        status: scenario.scenario.status,
        asks,
        seed: 0,
        shape,
    };
    let figures = generator.load(&load, &bench.interrupt)?.figures;
    let (offered_rate, connections) = match shape {
        Shape::Open { rate, vus, .. } => (Some(rate), Some(vus)),
        Shape::Closed { connections, .. } => (None, Some(connections)),
    };
    Ok(Some(Calibration {
        profile: planned.profile.name.clone(),
        scenario: Some(scenario.scenario.name.clone()),
        generator: generator.name().to_owned(),
        offered_rate,
        connections,
        achieved_rate: figures.rate.map_or(0.0, |rate| rate.mean),
        latency: figures.latency.unwrap_or_else(Latency::default),
        generator_cpu: figures.generator_cpu,
    }))
}

fn shortened(shape: Shape) -> Shape {
    match shape {
        Shape::Open { rate, vus, seconds } => Shape::Open {
            rate,
            vus,
            // Never longer than a trial, which quick runs keep short.
            seconds: seconds.min((SAMPLES / rate).clamp(SECONDS, MOST_SECONDS)),
        },
        Shape::Closed { connections, .. } => Shape::Closed {
            connections,
            until: Until::Seconds(SECONDS),
        },
    }
}
