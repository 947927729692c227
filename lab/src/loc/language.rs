//! What a comment and a string look like in each language that is counted.

use std::path::Path;

pub struct Language {
    pub name: &'static str,
    extensions: &'static [&'static str],
    pub line_comments: &'static [&'static str],
    pub block_comments: &'static [(&'static str, &'static str)],
    /// Rust's block comments nest.
    pub nested: bool,
    /// Longest opening first.
    pub strings: &'static [StringStyle],
}

/// How a string opens and closes, and whether a backslash inside it escapes.
pub struct StringStyle {
    pub open: &'static str,
    pub close: &'static str,
    pub escapes: bool,
}

const fn string(open: &'static str, close: &'static str, escapes: bool) -> StringStyle {
    StringStyle {
        open,
        close,
        escapes,
    }
}

const C_BLOCK: &[(&str, &str)] = &[("/*", "*/")];

static LANGUAGES: [Language; 8] = [
    Language {
        name: "Rust",
        extensions: &["rs"],
        line_comments: &["//"],
        block_comments: C_BLOCK,
        nested: true,
        // Characters are no strings here: a lifetime opens with the same quote and never closes.
        strings: &[
            string("r##\"", "\"##", false),
            string("r#\"", "\"#", false),
            string("r\"", "\"", false),
            string("'\"'", "", false),
            string("'\\\"'", "", false),
            string("\"", "\"", true),
        ],
    },
    Language {
        name: "Go",
        extensions: &["go"],
        line_comments: &["//"],
        block_comments: C_BLOCK,
        nested: false,
        strings: &[
            string("`", "`", false),
            string("\"", "\"", true),
            string("'", "'", true),
        ],
    },
    Language {
        name: "C#",
        extensions: &["cs"],
        line_comments: &["//"],
        block_comments: C_BLOCK,
        nested: false,
        strings: &[
            string("\"\"\"", "\"\"\"", false),
            string("@\"", "\"", false),
            string("\"", "\"", true),
            string("'", "'", true),
        ],
    },
    Language {
        name: "Razor",
        extensions: &["cshtml", "razor"],
        line_comments: &[],
        block_comments: &[("@*", "*@"), ("<!--", "-->")],
        nested: false,
        strings: &[],
    },
    Language {
        name: "JavaScript",
        extensions: &["js", "mjs", "cjs"],
        line_comments: &["//"],
        block_comments: C_BLOCK,
        nested: false,
        strings: &[
            string("`", "`", true),
            string("\"", "\"", true),
            string("'", "'", true),
        ],
    },
    Language {
        name: "TypeScript",
        extensions: &["ts", "mts"],
        line_comments: &["//"],
        block_comments: C_BLOCK,
        nested: false,
        strings: &[
            string("`", "`", true),
            string("\"", "\"", true),
            string("'", "'", true),
        ],
    },
    Language {
        name: "HTML",
        extensions: &["html", "eta", "tmpl", "gohtml"],
        line_comments: &[],
        block_comments: &[("<!--", "-->"), ("{{/*", "*/}}"), ("{#", "#}")],
        nested: false,
        strings: &[],
    },
    Language {
        name: "CSS",
        extensions: &["css"],
        line_comments: &[],
        block_comments: C_BLOCK,
        nested: false,
        strings: &[string("\"", "\"", true), string("'", "'", true)],
    },
];

impl Language {
    pub fn of(path: &Path) -> Option<&'static Language> {
        let extension = path.extension()?.to_str()?;
        LANGUAGES
            .iter()
            .find(|language| language.extensions.contains(&extension))
    }

    #[cfg(test)]
    pub fn named(name: &str) -> Option<&'static Language> {
        LANGUAGES.iter().find(|language| language.name == name)
    }
}
