//! The report: one document made from a run's results, written in several formats.

mod bencher;
mod changes;
mod charts;
mod csv;
mod document;
mod format;
mod html;
mod markdown;
mod sections;
mod svg;
mod table;

pub use bencher::Bencher;
pub use changes::changes_table;
pub use csv::Csv;
pub use html::Html;
pub use markdown::Markdown;

use std::path::Path;

use crate::analysis::Analysis;
use crate::results::Results;

/// What every format is made from.
pub struct Report<'a> {
    pub results: &'a Results,
    pub analysis: Analysis,
}

/// A format that a report can be written in.
pub trait Exporter {
    /// Inside the run's directory.
    fn file_name(&self) -> &'static str;
    fn export(&self, report: &Report) -> Result<String, ExportError>;
}

/// Every format, in the order that they are written.
pub const EXPORTERS: [&dyn Exporter; 4] = [&Html, &Markdown, &Csv, &Bencher];

#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("cannot render {file}: {source}")]
    Template {
        file: &'static str,
        source: askama::Error,
    },
    #[error("cannot render {file}: {source}")]
    Json {
        file: &'static str,
        source: serde_json::Error,
    },
    #[error("cannot write {file}: {source}")]
    Write {
        file: String,
        source: std::io::Error,
    },
}

impl<'a> Report<'a> {
    pub fn of(results: &'a Results) -> Report<'a> {
        Report {
            results,
            analysis: Analysis::of(results),
        }
    }

    /// Writes every format into `dir`.
    pub fn write(&self, dir: &Path) -> Result<(), ExportError> {
        for exporter in EXPORTERS {
            let path = dir.join(exporter.file_name());
            std::fs::write(&path, exporter.export(self)?).map_err(|source| ExportError::Write {
                file: path.display().to_string(),
                source,
            })?;
        }
        Ok(())
    }
}
