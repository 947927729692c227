//! The commands that do not serve: `build` and `routes`.

use levelfield_app::listing::{Listing, explain};

use crate::cli::{AppFlags, Format, Routes};
use crate::error::Error;
use crate::up::json;

/// Runs the build commands of the app's components, in the order of their ids.
pub fn build(app: &AppFlags) -> Result<(), Error> {
    let recipes = levelfield_app::recipes(&app.options())?;
    if recipes.is_empty() {
        eprintln!("nothing to build: no component has a build command");
    }
    for recipe in recipes {
        recipe.run(|command| eprintln!("Building {} with `{command}`", recipe.component))?;
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
