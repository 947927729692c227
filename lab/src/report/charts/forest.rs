//! Ratios with their intervals, one chart a comparison, all on one scale.

use super::{Chart, Drawn, anchor};
use crate::analysis::{Finding, Measured, Ratio};
use crate::report::Report;
use crate::report::format;
use crate::report::sections::words;
use crate::report::svg::{Anchor, Scale, Svg};
use crate::report::table::Table;
use crate::stats::verdict::EQUIVALENCE;

const WIDTH: f64 = 860.0;
const ROW: f64 = 26.0;
const TOP: f64 = 26.0;

pub fn draw(report: &Report) -> Drawn {
    let measured = || {
        let ratios = report
            .analysis
            .ratios
            .iter()
            .chain(&report.analysis.control);
        ratios.filter_map(|ratio| Some((ratio, ratio.measured?)))
    };
    let (mut low, mut high) = (0.9_f64, 1.1_f64);
    for (_, measured) in measured() {
        low = low.min(measured.interval.low);
        high = high.max(measured.interval.high);
    }
    let mut groups: Vec<(&str, &str)> = Vec::new();
    for (ratio, _) in measured() {
        let pair = (ratio.target.as_str(), ratio.baseline.as_str());
        if !groups.contains(&pair) {
            groups.push(pair);
        }
    }
    if groups.is_empty() {
        return Err("no ratio was published in this run".into());
    }
    let scale = Scale::logarithmic((low / 1.02, high * 1.02), (250.0, 610.0));
    Ok(groups
        .into_iter()
        .map(|(target, baseline)| {
            let rows: Vec<(&Ratio, Measured)> = measured()
                .filter(|(ratio, _)| ratio.target == target && ratio.baseline == baseline)
                .collect();
            one(target, baseline, &rows, &scale)
        })
        .collect())
}

fn one(target: &str, baseline: &str, rows: &[(&Ratio, Measured)], scale: &Scale) -> Chart {
    let bottom = TOP + ROW * rows.len() as f64;
    let mut svg = Svg::new(WIDTH, bottom + 26.0);
    let (band_low, band_high) = (scale.at(EQUIVALENCE.0), scale.at(EQUIVALENCE.1));
    svg.rect(
        band_low,
        TOP - 6.0,
        band_high - band_low,
        bottom - TOP + 6.0,
        "band",
    );
    for value in scale.ticks(6) {
        let x = scale.at(value);
        svg.line((x, TOP - 6.0), (x, bottom), "grid");
        svg.text(
            x,
            bottom + 17.0,
            Anchor::Middle,
            "tick",
            &format!("{}×", format::plain(value)),
        );
    }
    svg.line((scale.at(1.0), TOP - 6.0), (scale.at(1.0), bottom), "one");
    svg.text(0.0, 10.0, Anchor::Start, "axis", "metric, load");
    svg.text(scale.at(1.0), 10.0, Anchor::Middle, "axis", "same");
    svg.text(628.0, 10.0, Anchor::Start, "axis", "ratio, interval");
    svg.text(WIDTH, 10.0, Anchor::End, "axis", "verdict");
    let mut table = Table::new(
        format!("{target} / {baseline}"),
        &[
            "metric", "load", "#ratio", "#low", "#high", "#level", "#blocks", "verdict", "labels",
        ],
    );
    for (i, (ratio, measured)) in rows.iter().enumerate() {
        let y = TOP + ROW * (i as f64 + 0.5);
        let interval = measured.interval;
        let judged = matches!(ratio.finding, Finding::Verdict(_));
        let (word, tone) = words::verdict(ratio);
        svg.text(0.0, y + 4.0, Anchor::Start, "label", ratio.metric.title());
        svg.text(130.0, y + 4.0, Anchor::Start, "tick", &words::load(ratio));
        let class = if judged { tone.class() } else { "open" };
        svg.line(
            (scale.at(interval.low), y),
            (scale.at(interval.high), y),
            &format!("ci {class}"),
        );
        svg.dots(&[(scale.at(measured.ratio), y)], &format!("point {class}"));
        let ratio_text = format::ratio(measured.ratio);
        let range = format::range(interval.low, interval.high);
        svg.text(628.0, y + 4.0, Anchor::Start, "label num", &ratio_text);
        svg.text(676.0, y + 4.0, Anchor::Start, "tick num", &range);
        svg.text(
            WIDTH,
            y + 4.0,
            Anchor::End,
            "label",
            if judged { &word } else { "no verdict" },
        );
        table.row(vec![
            ratio.metric.title().into(),
            words::load(ratio),
            format!("{:.3}", measured.ratio),
            format!("{:.3}", interval.low),
            format!("{:.3}", interval.high),
            format::level(interval.level),
            ratio.blocks.to_string(),
            word,
            words::labels(ratio).join("; "),
        ]);
    }
    Chart::new(
        anchor(&["forest", target, baseline]),
        format!("{target} against {baseline}"),
        format!("Ratios {target} / {baseline} with their intervals; the shaded band is ±3 %."),
        svg,
        table.without_empty_columns(),
    )
}
