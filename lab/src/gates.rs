//! What makes a trial void or labels its figures: readings against limits that were fixed before the run.

use crate::noise::Noise;
use crate::results::{Figures, Gate, GateEffect, GateFinding};

/// Of one core, used by programs that are none of ours.
pub const MAX_FOREIGN_CORES: f64 = 0.10;
/// Of the CPU time of all cores, taken by the hypervisor.
pub const MAX_STEAL_SHARE: f64 = 0.02;
/// Of the time, in which something waited for a CPU; ours alone wait when a core is saturated, so that it only labels.
pub const PRESSURE_LABEL: f64 = 0.75;
/// Of its cores: above this k6's own timings inflate (its documentation asks for a fifth of them idle).
pub const MAX_GENERATOR_SHARE: f64 = 0.80;
/// Of the time, in which a quota held the server back.
pub const THROTTLED_LABEL: f64 = 0.01;

/// The rules as sentences, for the plan: written down before the first trial.
pub fn exclusion_rules() -> Vec<String> {
    vec![
        "a target that answers a case of the contract wrongly is not measured".into(),
        "a trial is failed when its server does not start, answers wrongly, dies or runs out of memory".into(),
        format!("void when other programs use more than {} of a core", percent(MAX_FOREIGN_CORES)),
        format!("void when the hypervisor takes more than {} of the CPU time", percent(MAX_STEAL_SHARE)),
        format!("void when the generator of an open loop, the lab and a shared store use more than {} of their cores", percent(MAX_GENERATOR_SHARE)),
        "void when more than 0.1 % of the iterations were dropped, or fewer were started than were due".into(),
        "void when the generator's script threw or logged an error".into(),
        "labelled when the server was not steady at the end of its warm-up".into(),
        format!("labelled when something waited for a CPU in more than {} of the time", percent(PRESSURE_LABEL)),
        format!("labelled when the quota held the server back in more than {} of the time", percent(THROTTLED_LABEL)),
    ]
}

pub fn noise(noise: &Noise) -> Vec<GateFinding> {
    let mut findings = Vec::new();
    if noise.foreign_cores > MAX_FOREIGN_CORES {
        findings.push(GateFinding {
            gate: Gate::ForeignLoad,
            effect: GateEffect::Void,
            reading: format!(
                "other programs used {} of a core, limit {}",
                percent(noise.foreign_cores),
                percent(MAX_FOREIGN_CORES)
            ),
        });
    }
    if noise.steal_share > MAX_STEAL_SHARE {
        findings.push(GateFinding {
            gate: Gate::CpuSteal,
            effect: GateEffect::Void,
            reading: format!(
                "the hypervisor took {}, limit {}",
                percent(noise.steal_share),
                percent(MAX_STEAL_SHARE)
            ),
        });
    }
    if let Some(share) = noise.pressure_share.filter(|&share| share > PRESSURE_LABEL) {
        findings.push(GateFinding {
            gate: Gate::CpuPressure,
            effect: GateEffect::Label,
            reading: format!(
                "something waited for a CPU in {} of the time",
                percent(share)
            ),
        });
    }
    findings
}

/// An open loop needs headroom for its generator and what shares its cores; a closed loop saturates its generator by
/// design, and is calibrated instead.
pub fn generator(cores_used: f64, cores: usize, open_loop: bool) -> Option<GateFinding> {
    let share = cores_used / cores.max(1) as f64;
    (open_loop && share > MAX_GENERATOR_SHARE).then(|| GateFinding {
        gate: Gate::GeneratorHeadroom,
        effect: GateEffect::Void,
        reading: format!(
            "the load's side used {} of its cores, limit {}",
            percent(share),
            percent(MAX_GENERATOR_SHARE)
        ),
    })
}

/// The warm-up reached its limit first.
pub fn not_steady(seconds: f64, spread: Option<f64>, tolerance: f64) -> GateFinding {
    let spread = spread.map_or("too few windows to tell".into(), |spread| {
        format!("its last windows were {} from their mean", percent(spread))
    });
    GateFinding {
        gate: Gate::NotSteady,
        effect: GateEffect::Label,
        reading: format!(
            "{spread} after {seconds:.1} s, limit {}",
            percent(tolerance)
        ),
    }
}

pub fn throttled(figures: &Figures, seconds: f64) -> Option<GateFinding> {
    let throttled = figures.server?.throttled_seconds?;
    (throttled > THROTTLED_LABEL * seconds).then(|| GateFinding {
        gate: Gate::Throttled,
        effect: GateEffect::Label,
        reading: format!("held back for {throttled:.2} of {seconds:.1} s"),
    })
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::{generator, noise};
    use crate::noise::Noise;
    use crate::results::{Gate, GateEffect};

    const QUIET: Noise = Noise {
        foreign_cores: 0.02,
        steal_share: 0.0,
        pressure_share: Some(0.3),
    };

    fn gates(reading: Noise) -> Vec<(Gate, GateEffect)> {
        noise(&reading)
            .into_iter()
            .map(|found| (found.gate, found.effect))
            .collect()
    }

    #[test]
    fn a_quiet_machine_passes() {
        assert_eq!(gates(QUIET), []);
    }

    #[test]
    fn foreign_load_and_steal_void_a_trial_and_pressure_labels_it() {
        let busy = Noise {
            foreign_cores: 0.4,
            ..QUIET
        };
        assert_eq!(gates(busy), [(Gate::ForeignLoad, GateEffect::Void)]);
        let stolen = Noise {
            steal_share: 0.05,
            ..QUIET
        };
        assert_eq!(gates(stolen), [(Gate::CpuSteal, GateEffect::Void)]);
        let pressed = Noise {
            pressure_share: Some(0.96),
            ..QUIET
        };
        assert_eq!(gates(pressed), [(Gate::CpuPressure, GateEffect::Label)]);
    }

    #[test]
    fn an_open_loop_needs_headroom_and_a_closed_one_does_not() {
        assert!(generator(0.85, 1, true).is_some());
        assert!(generator(0.85, 2, true).is_none());
        assert!(generator(1.0, 1, false).is_none());
    }
}
