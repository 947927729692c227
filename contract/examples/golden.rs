//! Writes the golden pages anew, after a deliberate change to the templates.

use contract::{GOLDEN_PAGES, GOLDEN_YEAR, Page};

fn main() -> std::io::Result<()> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("pages");
    for (page, (name, _)) in [Page::Home, Page::About, Page::Contact]
        .iter()
        .zip(GOLDEN_PAGES)
    {
        std::fs::write(folder.join(name), page.render(GOLDEN_YEAR))?;
    }
    Ok(())
}
