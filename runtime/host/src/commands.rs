//! The commands that do not serve: `build` and `routes`.

use levelfield_app::listing::{Listing, explain};

use crate::cli::{AppFlags, Format, Routes};
use crate::error::Error;
use crate::up::json;

/// Runs the build commands of the app's components, in the manifest's order.
pub fn build(app: &AppFlags) -> Result<(), Error> {
    for recipe in levelfield_app::recipes(&app.options())? {
        recipe.run(|line| eprintln!("{line}"))?;
    }
    Ok(())
}

/// Prints the routes, or which one a path takes.
pub fn routes(flags: &Routes) -> Result<(), Error> {
    let app = levelfield_app::load(&flags.app.options())?;
    let listing = Listing::new(&app, "");
    match (&flags.path, flags.format) {
        (Some(path), _) => print!("{}", explain(&app, path)),
        (None, Format::Text) => print!("{}", listing.text()),
        (None, Format::Json) => println!("{}", json(&listing)),
    }
    Ok(())
}
