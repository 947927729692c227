//! Tests of whole apps on disk, one file for each thing that an app has.

mod building;
mod files;
mod headers;
mod listing;
mod manifest;
mod outbound;
mod properties;
mod reference;
mod routing;
mod sources;
mod support;
mod variables;
