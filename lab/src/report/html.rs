//! `report.html`: one file, no network, no script needed to read it.

use askama::Template;

use super::document::{Block, Document};
use super::format::escape;
use super::sections::document;
use super::sections::trials::ON_THE_PAGE;
use super::table::Table;
use super::{ExportError, Exporter, Report, csv};

pub struct Html;

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    document: &'a Document,
    style: &'static str,
    script: &'static str,
    /// Trials, for the table that is made when asked for and for the download; empty without trials.
    csv: String,
}

impl Exporter for Html {
    fn file_name(&self) -> &'static str {
        "report.html"
    }

    fn export(&self, report: &Report) -> Result<String, ExportError> {
        let trials = &report.results.trials;
        let csv = if trials.is_empty() {
            String::new()
        } else {
            csv::lines(trials.iter().take(ON_THE_PAGE))
        };
        let page = Page {
            document: &document(report),
            style: include_str!("../../templates/report.css"),
            script: include_str!("../../templates/report.js"),
            csv: in_script(&csv),
        };
        page.render().map_err(|source| ExportError::Template {
            file: self.file_name(),
            source,
        })
    }
}

/// Text inside a data block ends at the first `</script`; a run's own words must not be able to end it.
fn in_script(text: &str) -> String {
    text.replace("</", "< /").replace("<!--", "< !--")
}

impl Block {
    pub fn html(&self) -> String {
        match self {
            Block::Heading(text) => format!("<h3>{}</h3>", escape(text)),
            Block::Text(text) => format!("<p>{}</p>", escape(text)),
            Block::List(lines) => {
                let items: String = lines
                    .iter()
                    .map(|line| format!("<li>{}</li>", escape(line)))
                    .collect();
                format!("<ul>{items}</ul>")
            }
            Block::Chart(chart) => format!(
                "<figure id=\"{}\"><h3>{}</h3><p class=\"note\">{}</p>{}{}</figure>",
                chart.id,
                escape(&chart.title),
                escape(&chart.summary),
                scrolling("plot", &format!("Chart: {}", chart.title), &chart.svg),
                folded("Table", &chart.table)
            ),
            Block::Table(table) => scrolling("wide", &table.caption, &table.html()),
            Block::Folded { summary, table } => folded(summary, table),
            Block::Code(code) => format!("<pre tabindex=\"0\"><code>{}</code></pre>", escape(code)),
            Block::Absent(why) => format!("<p class=\"absent\">{}</p>", escape(why)),
        }
    }
}

/// What may be wider than a phone scrolls by itself, by keyboard too.
fn scrolling(class: &str, name: &str, html: &str) -> String {
    let name = escape(name);
    format!(
        "<div class=\"{class}\" role=\"group\" tabindex=\"0\" aria-label=\"{name}\">{html}</div>"
    )
}

fn folded(summary: &str, table: &Table) -> String {
    let table = scrolling("wide", &table.caption, &table.html());
    format!(
        "<details><summary>{}</summary>{table}</details>",
        escape(summary)
    )
}
