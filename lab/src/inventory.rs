//! What a target is made of: its files, its hand-written lines of code, its settings.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::config::{Config, Target};
use crate::digest::sha256_hex;
use crate::results::{Artifact, Fact, LinesOfCode};

/// The program, unless it is an interpreter from elsewhere, and the components among the files.
pub fn artifacts(config: &Config, target: &Target, program: &Path) -> Vec<Artifact> {
    let ours = target.command[0].contains('/') || testbed::built(&target.command[0]).is_ok();
    let program = ours.then(|| program.to_owned());
    let components = target
        .files
        .iter()
        .map(|file| config.path(file))
        .filter(|file| kind(file) != "binary" && file.is_file());
    program
        .into_iter()
        .chain(components)
        .filter_map(|file| artifact(&file))
        .collect()
}

fn artifact(file: &Path) -> Option<Artifact> {
    let bytes = fs::read(file).ok()?;
    Some(Artifact {
        kind: kind(file).to_owned(),
        file: file.file_name()?.to_string_lossy().into_owned(),
        bytes: bytes.len() as u64,
        sha256: sha256_hex(&bytes),
    })
}

fn kind(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("wasm") => "wasm",
        Some("cwasm") => "cwasm",
        _ => "binary",
    }
}

/// What parity asks to disclose and can be read off bench.toml.
pub fn disclosures(config: &Config, target: &Target) -> Vec<Fact> {
    let beside: Vec<&str> = config
        .services_of(target)
        .into_iter()
        .filter(|name| config.services[*name].with_target)
        .collect();
    let flag = |name: &str| {
        let at = target.command.iter().position(|word| word == name)?;
        target.command.get(at + 1).cloned()
    };
    let mut facts = Vec::new();
    if !beside.is_empty() {
        facts.push(Fact {
            name: "inside its limits, and counted with it".into(),
            value: beside.join(", "),
        });
    }
    if let Some(reuse) = flag("--max-instance-reuse-count") {
        facts.push(Fact {
            name: "requests in one instance's life".into(),
            value: reuse,
        });
    }
    for (name, value) in &target.env {
        let runtime_knob = ["GO", "DOTNET_", "TOKIO_", "NODE_"]
            .iter()
            .any(|knob| name.starts_with(knob));
        if runtime_knob {
            facts.push(Fact {
                name: name.clone(),
                value: value.clone(),
            });
        }
    }
    facts
}

/// Code lines of hand-written source below `sources`: no blanks, no lines that are comments only, no tests.
pub fn lines_of_code(dir: &Path, sources: &[String]) -> Option<LinesOfCode> {
    let mut by_language: BTreeMap<String, u64> = BTreeMap::new();
    for source in sources {
        for file in files_below(&dir.join(source)) {
            if let Some(language) = Language::of(&file)
                && let Ok(text) = fs::read_to_string(&file)
            {
                *by_language.entry(language.name.to_owned()).or_default() += language.count(&text);
            }
        }
    }
    let total = by_language.values().sum();
    (total > 0).then(|| LinesOfCode {
        total,
        by_language,
        sources: sources.to_vec(),
    })
}

fn files_below(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let skipped = ["tests", "test", "bin", "obj", "node_modules", "target"];
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .filter(|entry| !skipped.contains(&entry.file_name().to_string_lossy().as_ref()))
        .flat_map(|entry| files_below(&entry.path()))
        .collect()
}

struct Language {
    name: &'static str,
    line_comment: &'static str,
    block_comment: (&'static str, &'static str),
}

impl Language {
    fn of(file: &Path) -> Option<Self> {
        let name = file.file_name()?.to_str()?;
        if name.ends_with("_test.go") || name.ends_with(".test.js") {
            return None;
        }
        let c_like = |name| Self {
            name,
            line_comment: "//",
            block_comment: ("/*", "*/"),
        };
        let markup = |name| Self {
            name,
            line_comment: "\0",
            block_comment: ("<!--", "-->"),
        };
        match file.extension()?.to_str()? {
            "rs" => Some(c_like("Rust")),
            "go" => Some(c_like("Go")),
            "cs" => Some(c_like("C#")),
            "js" | "mjs" => Some(c_like("JavaScript")),
            "html" | "tmpl" | "cshtml" | "eta" => Some(markup("HTML")),
            _ => None,
        }
    }

    fn count(&self, text: &str) -> u64 {
        let mut in_comment = false;
        let mut lines = 0;
        for line in text.lines() {
            let line = line.trim();
            // By this project's rule unit tests stand at a Rust file's end.
            if self.name == "Rust" && line == "#[cfg(test)]" {
                break;
            }
            let (open, close) = self.block_comment;
            if in_comment || line.starts_with(open) {
                in_comment = !line.contains(close);
            } else if !line.is_empty() && !line.starts_with(self.line_comment) {
                lines += 1;
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::lines_of_code;

    #[test]
    fn blanks_comments_and_tests_are_not_counted() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            "src/a.rs",
            "//! doc\n\nfn a() {} // why\n/* long\n comment */\nfn b() {}\n#[cfg(test)]\nmod tests {}\n",
        );
        write("src/b.go", "package b\n// comment\nfunc B() {}\n");
        write("src/b_test.go", "package b\n");
        write("src/tests/c.rs", "fn c() {}\n");
        write("src/page.html", "<!-- one -->\n<p>\n");
        let counted = lines_of_code(dir.path(), &["src".into()]).unwrap();
        assert_eq!(counted.by_language["Rust"], 2);
        assert_eq!(counted.by_language["Go"], 2);
        assert_eq!(counted.by_language["HTML"], 1);
        assert_eq!(counted.total, 5);
        assert!(lines_of_code(dir.path(), &["nothing".into()]).is_none());
    }
}
