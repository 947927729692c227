//! Reads source text once and keeps, per line, what is left of it without comments and strings' contents.

use super::language::Language;

/// Lines that hold code, Rust's test items left out.
pub fn code_lines(text: &str, language: &Language) -> u64 {
    let lines = stripped(text, language);
    let is_code = |line: &&String| !line.trim().is_empty();
    let lines: Vec<String> = match language.name {
        "Rust" => without_test_items(lines),
        _ => lines,
    };
    lines.iter().filter(is_code).count() as u64
}

/// The text's lines without comments, every string's content replaced by one `"`, which keeps its lines counting.
fn stripped(text: &str, language: &Language) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut rest = text;
    // Comments that have opened, by what closes them; a string by what closes it and whether it escapes.
    let mut comments: Vec<(&str, &str)> = Vec::new();
    let mut string: Option<(&str, bool)> = None;
    while let Some(next) = rest.chars().next() {
        let mut taken = next.len_utf8();
        if next == '\n' {
            lines.push(String::new());
        } else if let Some(&(open, close)) = comments.last() {
            if rest.starts_with(close) {
                comments.pop();
                taken = close.len();
            } else if language.nested && rest.starts_with(open) {
                comments.push((open, close));
                taken = open.len();
            }
        } else if let Some((close, escapes)) = string {
            keep(&mut lines, '"');
            if rest.starts_with(close) {
                string = None;
                taken = close.len();
            } else if escapes && next == '\\' {
                // The escaped character goes with it, unless it is the line's end.
                taken += rest[taken..]
                    .chars()
                    .next()
                    .filter(|c| *c != '\n')
                    .map_or(0, char::len_utf8);
            }
        } else if language
            .line_comments
            .iter()
            .any(|open| rest.starts_with(open))
        {
            taken = rest.find('\n').unwrap_or(rest.len());
        } else if let Some(&block) = language
            .block_comments
            .iter()
            .find(|(open, _)| rest.starts_with(open))
        {
            comments.push(block);
            taken = block.0.len();
        } else if let Some(style) = language.strings.iter().find(|s| rest.starts_with(s.open)) {
            keep(&mut lines, '"');
            taken = style.open.len();
            string = (!style.close.is_empty()).then_some((style.close, style.escapes));
        } else {
            keep(&mut lines, next);
        }
        rest = &rest[taken..];
    }
    lines
}

fn keep(lines: &mut [String], character: char) {
    if let Some(line) = lines.last_mut() {
        line.push(character);
    }
}

/// Without `#[cfg(test)]` and the item behind it: up to the brace that closes it, or its semicolon.
fn without_test_items(lines: Vec<String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut lines = lines.into_iter();
    while let Some(line) = lines.next() {
        let Some((_, behind)) = line.split_once("#[cfg(test)]") else {
            kept.push(line);
            continue;
        };
        let mut depth = 0_i64;
        let mut item = Some(behind.to_owned());
        while let Some(line) = item {
            let opened = line.contains('{') || depth > 0;
            depth += line.matches('{').count() as i64 - line.matches('}').count() as i64;
            if depth <= 0 && (opened || line.contains(';')) {
                break;
            }
            item = lines.next();
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(language: &str, text: &str) -> u64 {
        code_lines(text, Language::named(language).unwrap())
    }

    #[test]
    fn blanks_and_comments_do_not_count_and_code_beside_a_comment_does() {
        assert_eq!(
            lines(
                "Go",
                "a()\n\n  \t\n// b\nc() // d\n/* e\nf */ g()\n/* h */\n"
            ),
            3
        );
    }

    #[test]
    fn rust_comments_nest() {
        assert_eq!(lines("Rust", "/* a /* b */ c\nstill */ d();\n"), 1);
        assert_eq!(lines("Go", "/* a /* b */ c()\n"), 1);
    }

    #[test]
    fn a_comment_mark_inside_a_string_is_no_comment() {
        assert_eq!(lines("Rust", "let a = \"http://x /*\";\nb();\n"), 2);
        assert_eq!(
            lines("Rust", "let a = r#\"\"/*\"#;\nlet q = '\"'; // c\nb();\n"),
            3
        );
        assert_eq!(lines("Rust", "let a = \"\\\"/*\";\nb();\n"), 2);
        assert_eq!(lines("Go", "a := `\n/*\n\n`\nb()\n"), 4);
        assert_eq!(lines("C#", "var p = @\"c:\\\"; // x\nvar q = 1;\n"), 2);
    }

    #[test]
    fn a_lifetime_opens_no_string() {
        assert_eq!(lines("Rust", "fn a<'x>(b: &'x str) {} // c\n// d\n"), 1);
    }

    #[test]
    fn rusts_test_items_do_not_count_whatever_their_shape() {
        let text =
            "a();\n#[cfg(test)]\nmod tests {\n    fn b() {\n        \"}\";\n    }\n}\nc();\n";
        assert_eq!(lines("Rust", text), 2);
        assert_eq!(lines("Rust", "#[cfg(test)]\nmod tests;\nc();\n"), 1);
        assert_eq!(lines("Rust", "#[cfg(test)] use x::y;\nc();\n"), 1);
    }

    #[test]
    fn templates_have_comments_of_their_own() {
        assert_eq!(lines("Razor", "@* a\nb *@\n<p>@Model.Title</p>\n"), 1);
        assert_eq!(lines("HTML", "{{/* a */}}\n<!-- b -->\n<p>\n"), 1);
    }
}
