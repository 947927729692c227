//! The charts: each an SVG with a name, a description and the table of what it shows.

pub mod bars;
pub mod forest;
pub mod ladder;
pub mod quantiles;
pub mod strip;
pub mod timeline;

use super::format;
use super::svg::{Anchor, Scale, Svg};
use super::table::Table;
use crate::results::{Results, Target};

pub struct Chart {
    /// Unique on the page.
    pub id: String,
    pub title: String,
    /// One or two sentences: what to see, and how it was made.
    pub summary: String,
    pub svg: String,
    pub table: Table,
}

impl Chart {
    fn new(id: String, title: String, summary: String, svg: Svg, table: Table) -> Chart {
        let svg = svg.finish(&id, &title, &summary);
        Chart {
            id,
            title,
            summary,
            svg,
            table,
        }
    }
}

/// The charts of one kind, or why this run has none.
pub type Drawn = Result<Vec<Chart>, String>;

/// The frame that most charts share: room for the labels, and the plot inside it.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Frame {
    fn vertical_axis(&self, svg: &mut Svg, scale: &Scale, title: &str) {
        for value in scale.ticks(5) {
            let y = scale.at(value);
            svg.line((self.left, y), (self.right, y), "grid");
            svg.text(
                self.left - 8.0,
                y + 4.0,
                Anchor::End,
                "tick",
                &format::plain(value),
            );
        }
        svg.text(0.0, self.top - 14.0, Anchor::Start, "axis", title);
    }

    fn horizontal_axis(
        &self,
        svg: &mut Svg,
        scale: &Scale,
        title: &str,
        label: impl Fn(f64) -> String,
    ) {
        for value in scale.ticks(6) {
            let x = scale.at(value);
            svg.line((x, self.top), (x, self.bottom), "grid");
            svg.text(x, self.bottom + 17.0, Anchor::Middle, "tick", &label(value));
        }
        svg.text(self.right, self.bottom + 35.0, Anchor::End, "axis", title);
    }
}

/// A target's place in the plan gives it its colour and marker in every chart.
fn series(results: &Results, target: &str) -> usize {
    results
        .targets
        .iter()
        .position(|other| other.name == target)
        .unwrap_or(0)
}

fn ran(results: &Results) -> impl Iterator<Item = &Target> {
    results
        .targets
        .iter()
        .filter(|target| target.missing.is_none())
}

/// Letters, digits and hyphens, for an anchor.
fn anchor(parts: &[&str]) -> String {
    let safe = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    parts.join("-").chars().map(safe).collect()
}
