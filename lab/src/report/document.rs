//! The report before it has a format: what stands where, and in which words.

use super::charts::Chart;
use super::table::Table;

pub struct Document {
    pub title: String,
    /// One line under the title: when, where, how long.
    pub subtitle: String,
    pub badge: Badge,
    pub cards: Vec<Card>,
    /// Comparisons without any ratio, and why.
    pub not_compared: Vec<String>,
    pub sections: Vec<Section>,
}

/// Whether to believe the run.
pub struct Badge {
    pub word: String,
    pub tone: Tone,
    /// (what was controlled, what came out, well or not)
    pub points: Vec<(String, String, Tone)>,
}

/// One comparison's verdicts.
pub struct Card {
    pub target: String,
    pub baseline: String,
    pub rows: Vec<CardRow>,
}

pub struct CardRow {
    pub metric: String,
    pub load: String,
    pub ratio: String,
    pub interval: String,
    pub word: String,
    pub tone: Tone,
    pub labels: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Bad,
    Even,
    Open,
}

impl Tone {
    pub fn class(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Bad => "bad",
            Tone::Even => "even",
            Tone::Open => "open",
        }
    }

    /// Beside the colour, for those who do not see it.
    pub fn sign(self) -> &'static str {
        match self {
            Tone::Good => "+",
            Tone::Bad => "−",
            Tone::Even => "=",
            Tone::Open => "?",
        }
    }
}

pub struct Section {
    /// Its anchor.
    pub id: &'static str,
    pub heading: &'static str,
    pub blocks: Vec<Block>,
}

pub enum Block {
    Heading(&'static str),
    Text(String),
    List(Vec<String>),
    Chart(Chart),
    Table(Table),
    /// Long; shown on demand.
    Folded {
        summary: String,
        table: Table,
    },
    Code(String),
    /// A chart that this run has no data for, and why.
    Absent(String),
}
