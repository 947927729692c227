//! What changed between two runs, as a table for a terminal or a pull request.

use super::format;
use super::sections::words;
use super::table::Table;
use crate::compare::Change;

pub fn changes_table(changes: &[Change]) -> String {
    let regressions = changes
        .iter()
        .filter(|change| change.is_regression())
        .count();
    let mut table = Table::new(
        match regressions {
            0 => "No regression.".to_owned(),
            n => format!("{}.", format::plural(n, "regression")),
        },
        &[
            "target",
            "load",
            "metric",
            "#old",
            "#new",
            "#new / old",
            "#interval",
            "verdict",
        ],
    );
    for change in changes {
        let ratio = &change.ratio;
        let figure = |value| format!("{} {}", format::number(value), ratio.metric.unit());
        let (word, _) = words::verdict(ratio);
        table.row(vec![
            ratio.target.clone(),
            words::load(ratio),
            ratio.metric.title().into(),
            figure(change.old),
            figure(change.new),
            ratio
                .measured
                .map_or(String::new(), |m| format::ratio(m.ratio)),
            ratio
                .measured
                .map_or(String::new(), |m| format::interval(&m.interval)),
            if change.is_regression() {
                format!("**regression**: {word}")
            } else {
                word
            },
        ]);
    }
    table.markdown()
}
