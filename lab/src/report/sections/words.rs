//! What a ratio is called.

use crate::analysis::{Finding, Ratio};
use crate::report::document::Tone;
use crate::stats::verdict::Verdict;

/// The verdict's word, or why there is none.
pub fn verdict(ratio: &Ratio) -> (String, Tone) {
    match &ratio.finding {
        Finding::Verdict(verdict) => {
            let tone = match verdict {
                Verdict::Better => Tone::Good,
                Verdict::Worse => Tone::Bad,
                Verdict::Equivalent => Tone::Even,
                Verdict::Inconclusive => Tone::Open,
            };
            (ratio.metric.word(*verdict).into(), tone)
        }
        Finding::Withheld(why) => (format!("no verdict: {why}"), Tone::Open),
    }
}

pub fn load(ratio: &Ratio) -> String {
    format!("{}, {}", ratio.scenario, ratio.profile)
}

pub fn labels(ratio: &Ratio) -> Vec<String> {
    ratio.labels.iter().map(ToString::to_string).collect()
}
