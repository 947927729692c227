//! `bencher.json`: Bencher Metric Format, so that runs can be tracked over time by a tool made for it.
//!
//! The shape is `{benchmark: {measure: {value, lower_value, upper_value}}}`. The value is the median over the counted
//! trials, the bounds are their least and most.

use serde_json::{Map, Value, json};

use super::{ExportError, Exporter, Report};
use crate::analysis::counted;
use crate::metric::Metric;
use crate::results::Mode;
use crate::stats::quantile::median;

pub struct Bencher;

impl Exporter for Bencher {
    fn file_name(&self) -> &'static str {
        "bencher.json"
    }

    fn export(&self, report: &Report) -> Result<String, ExportError> {
        let results = report.results;
        let mut benchmarks = Map::new();
        for profile in &results.plan.profiles {
            // A quick run proves the plumbing; a history that held its figures would be misled.
            if results.plan.mode == Mode::Quick {
                break;
            }
            for scenario in &profile.scenarios {
                for target in &profile.targets {
                    let trials = counted(results, &profile.name, &scenario.name, &[target]);
                    let mut measures = Map::new();
                    for &metric in Metric::judged(profile.kind) {
                        let values: Vec<f64> =
                            trials.iter().filter_map(|trial| metric.of(trial)).collect();
                        let Some(value) = median(&values) else {
                            continue;
                        };
                        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
                        let most = values.iter().copied().fold(0.0, f64::max);
                        measures.insert(
                            metric.slug().into(),
                            json!({"value": value, "lower_value": least, "upper_value": most}),
                        );
                    }
                    if !measures.is_empty() {
                        let name = format!("{}/{}/{target}", profile.name, scenario.name);
                        benchmarks.insert(name, Value::Object(measures));
                    }
                }
            }
        }
        serde_json::to_string_pretty(&benchmarks)
            .map(|json| json + "\n")
            .map_err(|source| ExportError::Json {
                file: self.file_name(),
                source,
            })
    }
}
