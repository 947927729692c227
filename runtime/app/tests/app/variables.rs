//! Section 5: variables, their providers and templates.
//!
//! Values from the environment are tested with names of their own, so that tests in one process do not meet.

use levelfield_app::{App, LoadOptions, VariableArgument, VariableError, load};

use crate::support::{Project, error};

/// A project of one component whose variable `v` is the app's variable `name`.
fn project(name: &str, declaration: &str) -> Project {
    Project::new(&format!(
        "[variables]\n{name} = {declaration}\n[component.hello]\nsource = \"hello.wasm\"\n\
         [component.hello.variables]\nv = \"<{{{{ {name} }}}}>\"\n"
    ))
}

fn value(app: &App) -> String {
    app.components[0].variable("v").unwrap()
}

fn arguments(arguments: &[String]) -> Vec<VariableArgument> {
    arguments
        .iter()
        .map(|argument| argument.parse().unwrap())
        .collect()
}

#[test]
fn a_default_is_used_when_nothing_else_has_a_value() {
    assert_eq!(value(&project("a", "{ default = \"d\" }").load()), "<d>");
    assert_eq!(
        value(
            &project(
                "a",
                "{ default = \"\", secret = true, description = \"x\" }"
            )
            .load()
        ),
        "<>"
    );
}

#[test]
fn a_variable_has_exactly_one_of_default_and_required() {
    for declaration in [
        "{}",
        "{ default = \"x\", required = true }",
        "{ required = false }",
    ] {
        let message = project("a", declaration).error();
        assert!(
            message.contains("variable `a`: needs exactly one of"),
            "{message}"
        );
    }
    assert!(
        project("a", "{ default = 1 }")
            .error()
            .contains("invalid type: integer")
    );
}

#[test]
fn a_required_variable_without_a_value_stops_the_start() {
    let message = project("needed", "{ required = true }").error();
    assert_eq!(
        message,
        "no value for required variable(s) `needed`; give one with --variable needed=VALUE or SPIN_VARIABLE_NEEDED"
    );
}

#[test]
fn the_command_line_gives_values_by_text_file_or_table() {
    let project = project("a", "{ required = true }");
    let text = project.write("text", "from a file\n").display().to_string();
    let json = project
        .write("v.json", "{\"a\": \"from json\"}")
        .display()
        .to_string();
    let toml = project
        .write("v.toml", "a = \"from toml\"\n")
        .display()
        .to_string();
    for (argument, expected) in [
        ("a=x=y".to_owned(), "<x=y>"),
        (format!("a=@{text}"), "<from a file\n>"),
        (format!("@{json}"), "<from json>"),
        (format!("@{toml}"), "<from toml>"),
    ] {
        let variables = arguments(&[argument]);
        assert_eq!(
            value(
                &load(&LoadOptions {
                    variables,
                    ..project.options()
                })
                .unwrap()
            ),
            expected
        );
    }
}

#[test]
fn of_two_values_on_the_command_line_the_last_holds() {
    let project = project("a", "{ required = true }");
    let variables = arguments(&["a=1".into(), "a=2".into()]);
    assert_eq!(
        value(
            &load(&LoadOptions {
                variables,
                ..project.options()
            })
            .unwrap()
        ),
        "<2>"
    );
}

#[test]
fn a_file_of_values_that_cannot_be_used_is_named() {
    let project = project("a", "{ required = true }");
    let wrong = project
        .write("wrong.json", "{\"a\": 1}")
        .display()
        .to_string();
    for (argument, expected) in [
        ("a=@nowhere".to_owned(), "cannot read nowhere"),
        (
            format!("@{wrong}"),
            "wrong.json:1:7: not a JSON object of strings",
        ),
    ] {
        let variables = arguments(&[argument]);
        let message = error(
            &project,
            &LoadOptions {
                variables,
                ..project.options()
            },
        );
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_value_for_no_variable_is_warned_of() {
    let project = project("a", "{ default = \"d\" }");
    let variables = arguments(&["b=1".into()]);
    let app = load(&LoadOptions {
        variables,
        ..project.options()
    })
    .unwrap();
    assert_eq!(app.warnings, ["--variable b: the app has no such variable"]);
}

#[test]
fn providers_are_asked_in_order_and_after_the_command_line() {
    let project = project("ordered", "{ default = \"d\" }");
    let dotenv = project.write("a.env", "APP_ORDERED='from dotenv'\n");
    let provider = |values: &str| {
        format!("[[variables_provider]]\ntype = \"static\"\nvalues = {{ {values} }}\n")
    };
    let env = format!(
        "[[variables_provider]]\ntype = \"env\"\nprefix = \"APP\"\ndotenv_path = \"{}\"\n",
        dotenv.display()
    );
    for (config, expected) in [
        (
            provider("ordered = \"1\"") + provider("ordered = \"2\"").as_str(),
            "<1>",
        ),
        (
            provider("other = \"1\"") + provider("ordered = \"2\"").as_str(),
            "<2>",
        ),
        (env + provider("ordered = \"2\"").as_str(), "<from dotenv>"),
        (provider("other = \"1\""), "<d>"),
    ] {
        let runtime_config = Some(project.write("runtime.toml", &config));
        let options = LoadOptions {
            runtime_config,
            ..project.options()
        };
        assert_eq!(value(&load(&options).unwrap()), expected, "{config}");
        let options = LoadOptions {
            variables: arguments(&["ordered=0".into()]),
            ..options
        };
        assert_eq!(value(&load(&options).unwrap()), "<0>");
    }
}

#[test]
fn a_broken_dotenv_file_is_named_when_it_is_needed() {
    let project = project("broken", "{ required = true }");
    let dotenv = project.write("b.env", "this is = no = 'dotenv\n");
    let config = format!(
        "[[variables_provider]]\ntype = \"env\"\ndotenv_path = \"{}\"\n",
        dotenv.display()
    );
    let runtime_config = Some(project.write("runtime.toml", &config));
    let message = error(
        &project,
        &LoadOptions {
            runtime_config,
            ..project.options()
        },
    );
    assert!(
        message.starts_with("variable `broken`: b.env: a line is not of the form NAME=VALUE"),
        "{message}"
    );
}

#[test]
fn a_component_sees_its_own_variables_alone() {
    let app = project("a", "{ default = \"d\" }").load();
    let component = &app.components[0];
    assert!(matches!(
        component.variable("a"),
        Err(VariableError::Undefined { .. })
    ));
    assert!(matches!(
        component.variable("A-1"),
        Err(VariableError::InvalidName { .. })
    ));
    let message = component.variable("a").unwrap_err().to_string();
    assert!(
        message.contains("add it to [component.hello.variables]"),
        "{message}"
    );
    assert_eq!(component.variable_names().collect::<Vec<_>>(), ["v"]);
}

#[test]
fn a_template_of_an_unknown_variable_or_without_its_end_fails_at_start() {
    let with = |template: &str| {
        Project::new(&format!(
            "[component.hello]\nsource = \"hello.wasm\"\n[component.hello.variables]\nv = \"{template}\"\n"
        ))
        .error()
    };
    assert!(
        with("{{ a }}")
            .contains("component `hello`: variables.v: `{{ a }}`: the app has no variable `a`")
    );
    assert!(
        with("{{ a").contains("component `hello`: variables.v: `{{ a` has a `{{` without its `}}`")
    );
}
