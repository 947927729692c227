//! `report.md`: the same document for a terminal, a pull request or a diff. Charts are their tables.

use super::document::{Block, Card, Document};
use super::sections::document;
use super::{ExportError, Exporter, Report};

pub struct Markdown;

impl Exporter for Markdown {
    fn file_name(&self) -> &'static str {
        "report.md"
    }

    fn export(&self, report: &Report) -> Result<String, ExportError> {
        Ok(render(&document(report)))
    }
}

fn render(document: &Document) -> String {
    let mut text = format!(
        "# {}\n\n{}\n\n**{}**\n\n",
        document.title, document.subtitle, document.badge.word
    );
    for (name, value, _) in &document.badge.points {
        text += &format!("- {name}: {value}\n");
    }
    text += "\n## Verdicts\n\n";
    if document.cards.is_empty() && document.not_compared.is_empty() {
        text += "No comparison was planned.\n";
    }
    for card in &document.cards {
        text += &verdicts(card);
    }
    for line in &document.not_compared {
        text += &format!("- not compared: {line}\n");
    }
    for section in &document.sections {
        text += &format!("\n## {}\n", section.heading);
        for block in &section.blocks {
            text += &format!("\n{}\n", self::block(block).trim_end());
        }
    }
    text
}

fn verdicts(card: &Card) -> String {
    let mut text = format!("- **{}** against **{}**\n", card.target, card.baseline);
    for row in &card.rows {
        let ratio = if row.ratio.is_empty() {
            String::new()
        } else {
            format!(" {}, {}:", row.ratio, row.interval)
        };
        text += &format!("  - {} ({}):{ratio} {}", row.metric, row.load, row.word);
        for label in &row.labels {
            text += &format!("; {label}");
        }
        text.push('\n');
    }
    text
}

fn block(block: &Block) -> String {
    match block {
        Block::Heading(text) => format!("### {text}"),
        Block::Text(text) => text.clone(),
        Block::List(lines) => lines.iter().map(|line| format!("- {line}\n")).collect(),
        Block::Chart(chart) => format!(
            "### {}\n\n{}\n\n{}",
            chart.title,
            chart.summary,
            chart.table.markdown()
        ),
        Block::Table(table) => table.markdown(),
        Block::Folded { summary, table } => {
            format!(
                "<details><summary>{summary}</summary>\n\n{}\n</details>",
                table.markdown()
            )
        }
        Block::Code(code) => format!("```sh\n{code}\n```"),
        Block::Absent(why) => format!("*{why}*"),
    }
}
