//! A table of text: what every chart carries beside it, in HTML and in Markdown.

use super::format::escape;

#[derive(Clone, Debug, Default)]
pub struct Table {
    pub caption: String,
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

#[derive(Clone, Debug)]
struct Column {
    title: String,
    numeric: bool,
}

impl Table {
    /// The first column names the row; a column title that begins with `#` holds numbers and is set to the right.
    pub fn new(caption: impl Into<String>, columns: &[&str]) -> Table {
        let column = |title: &&str| Column {
            title: title.trim_start_matches('#').to_owned(),
            numeric: title.starts_with('#'),
        };
        Table {
            caption: caption.into(),
            columns: columns.iter().map(column).collect(),
            rows: Vec::new(),
        }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Drops the columns whose every cell is empty: what no trial of this run measured is not a column of dashes.
    pub fn without_empty_columns(mut self) -> Table {
        let kept: Vec<bool> = (0..self.columns.len())
            .map(|i| i == 0 || self.rows.iter().any(|row| !row[i].is_empty()))
            .collect();
        let mut keep = kept.iter();
        self.columns
            .retain(|_| keep.next().copied().unwrap_or(true));
        for row in &mut self.rows {
            let mut keep = kept.iter();
            row.retain(|_| keep.next().copied().unwrap_or(true));
        }
        self
    }

    /// End tags that HTML lets go are let go: a report carries thousands of cells.
    pub fn html(&self) -> String {
        let mut html = format!(
            "<table><caption>{}</caption><thead><tr>",
            escape(&self.caption)
        );
        for column in &self.columns {
            let class = if column.numeric { " class=n" } else { "" };
            html += &format!("<th scope=col{class}>{}", escape(&column.title));
        }
        html += "</thead><tbody>";
        for row in &self.rows {
            html += "\n<tr>";
            for (i, (cell, column)) in row.iter().zip(&self.columns).enumerate() {
                let cell = escape(cell);
                html += &match (i, column.numeric) {
                    (0, _) => format!("<th scope=row>{cell}"),
                    (_, true) => format!("<td class=n>{cell}"),
                    _ => format!("<td>{cell}"),
                };
            }
        }
        html + "</tbody></table>"
    }

    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let cell = |text: &String| text.replace('|', "\\|").replace('\n', " ");
        let titles = self
            .columns
            .iter()
            .map(|column| cell(&column.title))
            .collect();
        let rules = self
            .columns
            .iter()
            .map(|c| if c.numeric { "--:" } else { "---" }.into());
        let mut markdown = format!("{}\n\n", self.caption);
        markdown += &line(titles);
        markdown += &line(rules.collect());
        for row in &self.rows {
            markdown += &line(row.iter().map(cell).collect());
        }
        markdown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_cannot_break_out_of_their_table() {
        let mut table = Table::new("a <caption>", &["name", "#value"]);
        table.row(vec!["<b>|x".into(), "1".into()]);
        assert!(
            table.html().contains("&lt;b&gt;|x<td class=n>1"),
            "{}",
            table.html()
        );
        assert!(
            table.markdown().contains("| <b>\\|x | 1 |"),
            "{}",
            table.markdown()
        );
    }

    #[test]
    fn a_column_that_nothing_filled_is_dropped() {
        let mut table = Table::new("", &["name", "#a", "#b"]);
        table.row(vec!["x".into(), String::new(), "2".into()]);
        assert_eq!(
            table.without_empty_columns().markdown(),
            "\n\n| name | b |\n| --- | --: |\n| x | 2 |\n"
        );
    }
}
