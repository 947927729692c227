//! The three pages: one layout, a view for each, and the view model that all of them take.

use askama::Template;

/// A page of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    Home,
    About,
    Contact,
}

impl Page {
    pub const fn title(self) -> &'static str {
        match self {
            Self::Home => "Home - Levelfield",
            Self::About => "About - Levelfield",
            Self::Contact => "Contact - Levelfield",
        }
    }

    pub const fn message(self) -> &'static str {
        match self {
            Self::Home => "The same service, built in many ways: see what each of them costs.",
            Self::About => "One contract, served by a component and by native builds.",
            Self::Contact => "Tell us where a build answers otherwise than the contract says.",
        }
    }

    /// Renders the page for this year.
    pub fn render(self, year: u16) -> String {
        self.render_with(self.title(), self.message(), year)
    }

    fn render_with(self, title: &str, message: &str, year: u16) -> String {
        let mut html = String::with_capacity(8 * 1024);
        let rendered = match self {
            Self::Home => Home {
                title,
                message,
                year,
            }
            .render_into(&mut html),
            Self::About => About {
                title,
                message,
                year,
            }
            .render_into(&mut html),
            Self::Contact => Contact {
                title,
                message,
                year,
            }
            .render_into(&mut html),
        };
        // The model is text and a number and the sink is a String: neither can fail to be written.
        rendered.expect("text is always written to a String");
        html
    }
}

macro_rules! view {
    ($name:ident, $path:literal) => {
        #[derive(Template)]
        #[template(path = $path)]
        struct $name<'a> {
            title: &'a str,
            message: &'a str,
            year: u16,
        }
    };
}

view!(Home, "home.html");
view!(About, "about.html");
view!(Contact, "contact.html");

#[cfg(test)]
mod tests {
    use super::Page;
    use crate::{GOLDEN_PAGES, GOLDEN_YEAR};

    const PAGES: [Page; 3] = [Page::Home, Page::About, Page::Contact];

    #[test]
    fn each_page_is_its_golden_file() {
        for (page, (name, golden)) in PAGES.iter().zip(GOLDEN_PAGES) {
            assert!(
                page.render(GOLDEN_YEAR) == *golden,
                "{name} differs: see `cargo run -p contract --example golden`"
            );
        }
    }

    #[test]
    fn golden_files_keep_to_what_every_engine_can_reproduce() {
        for (name, golden) in GOLDEN_PAGES {
            assert!(golden.is_ascii(), "{name} is not ASCII");
            assert!(golden.ends_with("</html>\n"), "{name} ends otherwise");
            for unwanted in ["\r", "<!--", "<script", "<style", "style="] {
                assert!(!golden.contains(unwanted), "{name} contains {unwanted:?}");
            }
            let year = GOLDEN_YEAR.to_string();
            assert_eq!(
                golden.matches(&year).count(),
                1,
                "{name}: the year stands once"
            );
        }
        let home = GOLDEN_PAGES[0].1.len();
        assert!(
            (7_200..=7_800).contains(&home),
            "home.html has {home} bytes"
        );
    }

    #[test]
    fn model_values_hold_only_what_no_engine_escapes() {
        for page in PAGES {
            for text in [page.title(), page.message()] {
                let plain = |c: char| c.is_ascii_alphanumeric() || " .,:()-".contains(c);
                assert!(text.chars().all(plain), "{text:?}");
            }
        }
    }

    #[test]
    fn markup_in_the_model_is_escaped() {
        let markup = r#"<b>"&'+"#;
        for page in PAGES {
            let html = page.render_with(markup, "m", 1);
            assert!(!html.contains("<b>"), "{html}");
            let title = html
                .split("<title>")
                .nth(1)
                .unwrap()
                .split('<')
                .next()
                .unwrap();
            assert_eq!(decode(title), markup);
        }
    }

    fn decode(text: &str) -> String {
        text.replace("&#60;", "<")
            .replace("&#62;", ">")
            .replace("&#34;", "\"")
            .replace("&#39;", "'")
            .replace("&#38;", "&")
    }
}
