//! A strict reader of Prometheus' text format: what it does not know, or finds in the wrong place, is a failure.

use std::collections::BTreeMap;

/// A scrape: every sample by its name and labels as written, `name{a="b",c="d"}`.
pub struct Exposition {
    samples: BTreeMap<String, f64>,
}

/// The family that the samples being read belong to.
struct Family {
    name: String,
    kind: String,
}

impl Exposition {
    /// Reads `text`, or panics with the line that is wrong.
    pub fn parse(text: &str) -> Self {
        assert!(text.ends_with('\n'), "the last line has an end");
        let mut samples = BTreeMap::new();
        let mut families: Vec<Family> = Vec::new();
        let mut help: Option<String> = None;
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, text) = rest.split_once(' ').expect(line);
                assert!(help.is_none() && !text.is_empty(), "{line}");
                help = Some(name.to_owned());
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').expect(line);
                assert_eq!(help.take().as_deref(), Some(name), "HELP before {line}");
                assert!(matches!(kind, "counter" | "gauge" | "histogram"), "{line}");
                assert!(families.iter().all(|f| f.name != name), "twice: {line}");
                assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
                families.push(Family {
                    name: name.to_owned(),
                    kind: kind.to_owned(),
                });
            } else {
                let (key, value) = line.rsplit_once(' ').expect(line);
                let value: f64 = value.parse().expect(line);
                let name = check_key(key);
                let family = families.last().expect(line);
                let known = match family.kind.as_str() {
                    "histogram" => ["_bucket", "_sum", "_count"]
                        .iter()
                        .any(|suffix| name == format!("{}{suffix}", family.name)),
                    _ => name == family.name,
                };
                assert!(known, "a sample of another family: {line}");
                assert!(value >= 0.0, "{line}");
                let before = samples.insert(key.to_owned(), value);
                assert!(before.is_none(), "twice: {line}");
            }
        }
        let exposition = Exposition { samples };
        let histograms = families.iter().filter(|f| f.kind == "histogram");
        histograms.for_each(|family| exposition.check_histogram(&family.name));
        exposition
    }

    /// The sample with exactly this name and these labels.
    pub fn get(&self, key: &str) -> f64 {
        *self
            .samples
            .get(key)
            .unwrap_or_else(|| panic!("no sample {key}"))
    }

    /// All samples whose name and labels contain each of `parts`, added up.
    pub fn sum(&self, parts: &[&str]) -> f64 {
        self.samples
            .iter()
            .filter(|(key, _)| parts.iter().all(|part| key.contains(part)))
            .map(|(_, value)| value)
            .sum()
    }

    /// Buckets are cumulative and end with `+Inf`, which is the count.
    fn check_histogram(&self, name: &str) {
        let counts: Vec<_> = self
            .samples
            .iter()
            .filter_map(|(key, count)| Some((key.strip_prefix(&format!("{name}_count"))?, count)))
            .collect();
        assert!(!counts.is_empty(), "{name} has a count");
        for (labels, count) in counts {
            let labels = labels.trim_matches(['{', '}']);
            let prefix = format!("{name}_bucket{{{labels},le=\"");
            let mut buckets: Vec<(f64, f64)> = self
                .samples
                .iter()
                .filter_map(|(key, value)| {
                    let bound = key.strip_prefix(&prefix)?.strip_suffix("\"}")?;
                    let bound = if bound == "+Inf" {
                        f64::INFINITY
                    } else {
                        bound.parse().expect("a bound")
                    };
                    Some((bound, *value))
                })
                .collect();
            buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert!(
                buckets.is_sorted_by_key(|bucket| bucket.1),
                "{name}: cumulative"
            );
            assert_eq!(buckets.last(), Some(&(f64::INFINITY, *count)), "{name}");
            self.get(&format!("{name}_sum{{{labels}}}"));
        }
    }
}

/// Checks `name{label="value",…}` character by character and gives the name.
fn check_key(key: &str) -> &str {
    let word = |text: &str| {
        let mut characters = text.chars();
        characters.next().is_some_and(|c| c.is_ascii_lowercase())
            && characters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    let Some((name, labels)) = key.split_once('{') else {
        assert!(word(key), "{key}");
        return key;
    };
    assert!(word(name), "{key}");
    let labels = labels.strip_suffix("\"}").expect(key);
    for label in labels.split("\",") {
        let (label, value) = label.split_once("=\"").expect(key);
        assert!(word(label) && !value.contains('"'), "{key}");
    }
    name
}
