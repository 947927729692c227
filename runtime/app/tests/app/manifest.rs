//! Section 1: the manifest's version, keys, ids and names.

use levelfield_app::LoadOptions;

use crate::support::{HEAD, HELLO, Project, error};

fn whole(manifest: &str) -> String {
    let project = Project::new("");
    project.write("spin.toml", manifest);
    project.error()
}

#[test]
fn a_simple_app_is_resolved() {
    let app = Project::new(&format!(
        "version = \"1.2.3\"\ndescription = \"d\"\nauthors = [\"a\"]\ntargets = [\"spin-up:3\"]\n{HELLO}description = \"says hello\"\n"
    ))
    .load();
    assert_eq!(app.name, "test");
    assert_eq!(app.version.as_deref(), Some("1.2.3"));
    assert_eq!(app.components[0].id, "hello");
    assert_eq!(app.components[0].description.as_deref(), Some("says hello"));
    assert!(app.warnings.is_empty(), "{:?}", app.warnings);
}

#[test]
fn only_version_2_is_accepted() {
    for (version, expected) in [
        (
            "\"1\"",
            "version \"1\" is not supported; `spin doctor` converts",
        ),
        (
            "3",
            "invalid manifest version 3; write `spin_manifest_version = 2`",
        ),
        (
            "\"2\"",
            "invalid manifest version \"2\"; write `spin_manifest_version = 2`",
        ),
    ] {
        let message = whole(&format!(
            "spin_manifest_version = {version}\n[application]\nname = \"x\"\n"
        ));
        assert!(message.contains(expected), "{message}");
    }
    assert!(whole("[application]\nname = \"x\"\n").contains("spin_manifest_version: missing"));
}

#[test]
fn an_unknown_key_is_an_error_that_names_it_and_its_line() {
    for (text, line, key) in [
        (
            format!("{HEAD}[componnent.hello]\nsource = \"x\"\n"),
            4,
            "componnent",
        ),
        (format!("{HEAD}nam = \"x\"\n"), 4, "nam"),
        (format!("{HEAD}{HELLO}sauce = \"x\"\n"), 9, "sauce"),
        (
            format!("{HEAD}[variables.a]\ndefalt = \"x\"\n"),
            5,
            "defalt",
        ),
        (format!("{HEAD}[[trigger.http]]\nrout = \"/\"\n"), 5, "rout"),
        (
            format!("{HEAD}{HELLO}[component.hello.build]\ncmd = \"x\"\n"),
            10,
            "cmd",
        ),
    ] {
        let message = whole(&text);
        assert!(
            message.starts_with(&format!("spin.toml:{line}:")),
            "{message}"
        );
        assert!(
            message.contains(&format!("unknown field `{key}`")),
            "{message}"
        );
    }
}

#[test]
fn broken_toml_is_an_error_with_its_line() {
    let message = whole(&format!("{HEAD}[component.hello\n"));
    assert!(message.starts_with("spin.toml:4:"), "{message}");
}

#[test]
fn a_name_is_required() {
    assert!(whole("spin_manifest_version = 2\n[application]\n").contains("missing field `name`"));
}

#[test]
fn settings_of_tools_are_free_and_ignored() {
    let project = Project::new(&format!(
        "[application.tool.a]\nanything = {{ goes = 1 }}\n{HELLO}[component.hello.tool.b]\nanything = [1]\n"
    ));
    assert!(project.load().warnings.is_empty());
}

#[test]
fn component_ids_are_kebab_case() {
    let with = |id: &str| {
        let project = Project::new(&format!("[component.{id}]\nsource = \"hello.wasm\"\n"));
        levelfield_app::load(&project.options())
            .map(drop)
            .map_err(|error| error.to_string())
    };
    for good in ["a", "hello-world", "a1-b2", "HTTP-server", "x-X"] {
        with(good).unwrap();
    }
    for bad in ["1a", "a-1", "aB", "a--b", "a-", "-a", "\"\"", "\"ü\""] {
        assert!(
            with(bad).unwrap_err().contains("is not kebab-case"),
            "{bad}"
        );
    }
    assert!(
        with("hello_world")
            .unwrap_err()
            .contains("write `hello-world`")
    );
}

#[test]
fn variable_names_are_lower_snake_case() {
    let with = |name: &str| {
        let project = Project::new(&format!("[variables]\n{name} = {{ default = \"x\" }}\n"));
        levelfield_app::load(&project.options())
            .map(drop)
            .map_err(|error| error.to_string())
    };
    for good in ["a", "a_b1", "a1"] {
        with(good).unwrap();
    }
    for bad in ["A", "a-b", "1a", "a__b", "a_", "_a"] {
        assert!(
            with(bad).unwrap_err().contains("is not lower snake case"),
            "{bad}"
        );
    }
}

#[test]
fn triggers_get_an_id_from_their_component_or_a_number() {
    let app = Project::new(
        "[[trigger.http]]\nroute = \"/1\"\ncomponent = \"hello\"\n\
         [[trigger.http]]\nroute = \"/2\"\ncomponent = \"hello\"\n\
         [[trigger.http]]\nroute = \"/3\"\nstatic_response = {}\n\
         [[trigger.http]]\nroute = \"/4\"\nid = \"mine\"\ncomponent = \"hello\"\n\
         [component.hello]\nsource = \"hello.wasm\"\n",
    )
    .load();
    let id = |path: &str| app.router.lookup(path).unwrap().route.trigger.clone();
    assert_eq!(
        ["/1", "/2", "/3", "/4"].map(id),
        [
            "hello-http-trigger",
            "http-trigger1",
            "http-trigger2",
            "mine"
        ]
    );
}

#[test]
fn an_inline_component_is_named_after_its_trigger_or_gets_a_number() {
    let app = Project::new(
        "[[trigger.http]]\nroute = \"/1\"\nid = \"one\"\ncomponent = { source = \"hello.wasm\" }\n\
         [[trigger.http]]\nroute = \"/2\"\nid = \"two_2\"\ncomponent = { source = \"other.wasm\" }\n",
    )
    .load();
    let ids: Vec<&str> = app
        .components
        .iter()
        .map(|component| component.id.as_str())
        .collect();
    assert_eq!(ids, ["inline-component1", "one-component"]);
}

#[test]
fn an_inline_component_is_checked_as_strictly_as_others() {
    let project = Project::new(
        "[[trigger.http]]\nroute = \"/\"\ncomponent = { source = \"hello.wasm\", sauce = 1 }\n",
    );
    assert!(
        project.error().contains("unknown field `sauce`"),
        "{}",
        project.error()
    );
}

#[test]
fn what_this_host_does_not_provide_is_refused_naming_who_needs_it() {
    for (field, text) in [
        ("key_value_stores", "key_value_stores = [\"default\"]"),
        ("sqlite_databases", "sqlite_databases = [\"default\"]"),
        ("ai_models", "ai_models = [\"llama2-chat\"]"),
        ("dependencies", "dependencies = { \"a:b/c\" = \"1.0\" }"),
        (
            "dependencies",
            "[component.hello.dependencies]\n\"a:b/c\" = { path = \"x.wasm\" }",
        ),
    ] {
        let message = Project::hello(text).error();
        assert!(
            message.starts_with(&format!(
                "spin.toml: component `hello` needs `{field}`, which this host does not provide; remove it"
            )),
            "{message}"
        );
    }
    let message =
        Project::new("[[trigger.redis]]\nchannel = \"x\"\ncomponent = \"hello\"\n").error();
    assert!(
        message.contains("the app needs `trigger.redis`"),
        "{message}"
    );
    let trigger = |more: &str| {
        Project::new(&format!("[[trigger.http]]\nroute = \"/\"\ncomponent = \"hello\"\n{more}\n[component.hello]\nsource = \"hello.wasm\"\n")).error()
    };
    assert!(
        trigger("executor = { type = \"wagi\" }")
            .contains("trigger `hello-http-trigger` needs `executor.type = \"wagi\"`")
    );
    assert!(trigger("components = { a = \"hello\" }").contains("needs `components`"));
}

#[test]
fn empty_lists_of_what_is_not_provided_need_nothing() {
    Project::hello(
        "key_value_stores = []\nsqlite_databases = []\nai_models = []\ndependencies = {}\n",
    )
    .load();
}

#[test]
fn the_executor_may_be_named_http_or_spin() {
    for kind in ["http", "spin"] {
        Project::new(&format!(
            "[[trigger.http]]\nroute = \"/\"\ncomponent = \"hello\"\nexecutor = {{ type = \"{kind}\" }}\n[component.hello]\nsource = \"hello.wasm\"\n"
        ))
        .load();
    }
}

#[test]
fn a_base_path_other_than_the_root_is_refused() {
    Project::new(&format!(
        "[application.trigger.http]\nbase = \"/\"\n{HELLO}"
    ))
    .load();
    let message = Project::new(&format!(
        "[application.trigger.http]\nbase = \"/v1\"\n{HELLO}"
    ))
    .error();
    assert!(
        message.contains("`base = \"/v1\"` is not possible"),
        "{message}"
    );
}

#[test]
fn a_trigger_needs_exactly_one_component_or_static_response() {
    let trigger = |more: &str| {
        Project::new(&format!("[[trigger.http]]\nroute = \"/\"\nid = \"t\"\n{more}\n[component.hello]\nsource = \"hello.wasm\"\n")).error()
    };
    assert!(trigger("").contains("trigger `t`: needs a `component` or a `static_response`"));
    assert!(
        trigger("component = \"hello\"\nstatic_response = {}").contains("trigger `t`: has both")
    );
    assert!(
        trigger("component = \"bye\"").contains("there is no component `bye`; add [component.bye]")
    );
}

#[test]
fn environment_is_literal_and_the_command_line_adds_to_it() {
    let project = Project::hello("environment = { A = \"{{ x }}\", B = \"b\" }\n");
    let environment = vec!["B=2".parse().unwrap(), "C=3".parse().unwrap()];
    let app = levelfield_app::load(&LoadOptions {
        environment,
        ..project.options()
    })
    .unwrap();
    let pairs: Vec<_> = app.components[0]
        .environment
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    assert_eq!(pairs, ["A={{ x }}", "B=2", "C=3"]);
}

#[test]
fn a_profile_lays_itself_over_the_components_that_have_it() {
    let project = Project::hello(
        "environment = { A = \"a\", B = \"b\" }\nbuild = { command = \"make\", watch = [\"src\"] }\n\
         [component.hello.profile.debug]\nsource = \"other.wasm\"\nenvironment = { B = \"debug\" }\nbuild = { command = [\"make\", \"debug\"] }\n\
         [component.second]\nsource = \"hello.wasm\"\n",
    );
    let options = LoadOptions {
        profile: Some("debug".into()),
        ..project.options()
    };
    let app = levelfield_app::load(&options).unwrap();
    let hello = &app.components[0];
    assert!(hello.wasm.ends_with("other.wasm"));
    assert_eq!(
        hello.environment,
        [("A".into(), "a".into()), ("B".into(), "debug".into())]
    );
    assert_eq!(hello.build.as_ref().unwrap().commands, ["make", "debug"]);
    assert_eq!(hello.build.as_ref().unwrap().watch, ["src"]);
    assert!(app.components[1].wasm.ends_with("hello.wasm"));
    let options = LoadOptions {
        profile: Some("deubg".into()),
        ..project.options()
    };
    assert!(error(&project, &options).contains("no component has the profile `deubg`"));
}

#[test]
fn only_chosen_components_are_kept_with_their_routes() {
    let project = Project::new(
        "[[trigger.http]]\nroute = \"/a\"\ncomponent = \"a\"\n[[trigger.http]]\nroute = \"/b\"\ncomponent = \"b\"\n\
         [[trigger.http]]\nroute = { private = true }\ncomponent = \"b\"\n\
         [component.a]\nsource = \"hello.wasm\"\n[component.b]\nsource = \"other.wasm\"\n",
    );
    let app = levelfield_app::load(&LoadOptions {
        components: vec!["b".into()],
        ..project.options()
    })
    .unwrap();
    assert_eq!(app.components.len(), 1);
    assert!(app.router.lookup("/a").is_none());
    assert!(matches!(
        app.router.lookup("/b").unwrap().route.target,
        levelfield_app::route::Target::Component(0)
    ));
    assert_eq!(app.private, [("http-trigger1".to_owned(), 0)]);
    assert_eq!(app.chained("b.spin.internal"), Some(0));
    let options = LoadOptions {
        components: vec!["c".into()],
        ..project.options()
    };
    assert_eq!(
        error(&project, &options),
        "unknown component `c`; the app has `a`, `b`"
    );
}

#[test]
fn a_private_route_is_reached_by_chaining_alone() {
    let app = Project::new(
        "[[trigger.http]]\nroute = { private = true }\ncomponent = \"hello\"\n\
         [component.hello]\nsource = \"hello.wasm\"\n[component.idle]\nsource = \"other.wasm\"\n",
    )
    .load();
    assert!(app.router.routes().is_empty());
    assert!(app.router.lookup("/").is_none());
    assert_eq!(app.chained("hello.spin.internal"), Some(0));
    assert_eq!(app.chained("idle.spin.internal"), None, "it has no trigger");
    assert_eq!(app.chained("hello"), None);
    let message = Project::new("[[trigger.http]]\nroute = { private = false }\nid = \"t\"\ncomponent = { source = \"hello.wasm\" }\n").error();
    assert!(
        message.contains("trigger `t`: `private = false` is no route"),
        "{message}"
    );
}

#[test]
fn a_missing_manifest_is_named() {
    let project = Project::new("");
    let options = LoadOptions {
        from: Some(project.path().join("nowhere/spin.toml")),
        ..LoadOptions::default()
    };
    assert!(error(&project, &options).starts_with("cannot read nowhere/spin.toml: No such file"));
}
