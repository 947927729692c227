//! Variables: what a component reads by name while it runs.

/// Why a variable has no value.
#[derive(Debug, thiserror::Error)]
pub enum VariableError {
    #[error(
        "component `{component}` has no variable `{name}`; add it to [component.{component}.variables]"
    )]
    Undefined { component: String, name: String },

    #[error("variable `{name}`: {message}")]
    Provider { name: String, message: String },
}
