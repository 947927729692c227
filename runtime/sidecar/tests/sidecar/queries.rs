//! Declared queries: the worked example of docs/sidecar.md, the forms that both stores answer
//! alike, and that a parameter is a value and never syntax.

use std::path::PathBuf;

use bson::{Bson, doc, oid::ObjectId};
use testbed::mongo::{Kind, Mongo};
use testbed::repo_root;

use crate::harness::{ARTHUR, Sidecar, present};

/// The code block of docs/sidecar.md that is written in this language.
fn from_docs(language: &str) -> String {
    let text = std::fs::read_to_string(repo_root().join("docs/sidecar.md")).unwrap();
    let block = text
        .split(&format!("```{language}\n"))
        .nth(1)
        .expect("the docs have the block");
    block.split("```").next().unwrap().to_owned()
}

struct Files {
    dir: tempfile::TempDir,
}

impl Files {
    fn new(config: &str, seed: &str) -> Self {
        let files = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        std::fs::write(files.path("sidecar.toml"), config).unwrap();
        std::fs::write(files.path("seed.jsonl"), seed).unwrap();
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn embedded(&self) -> Sidecar {
        let seed = format!("users={}", self.path("seed.jsonl").display());
        let config = self.path("sidecar.toml");
        Sidecar::embedded(&["--seed", &seed, "--config", config.to_str().unwrap()])
    }

    /// Over each kind of server that can be started.
    fn over_servers(&self, part: &str) -> Vec<(Mongo, Sidecar)> {
        let start = |kind: Kind| {
            let mongo = present(
                &format!("{part} over {}", kind.name()),
                Mongo::start_empty(kind, &[]),
            )?;
            mongo.seed(&self.path("seed.jsonl")).unwrap();
            let config = self.path("sidecar.toml");
            let args = ["--config", config.to_str().unwrap()];
            let sidecar = Sidecar::mongodb(mongo.connection_string(), &args);
            sidecar.wait_until_ready();
            Some((mongo, sidecar))
        };
        Kind::OURS.into_iter().filter_map(start).collect()
    }
}

#[test]
fn the_worked_example_answers_as_the_documentation_says() {
    let files = Files::new(&from_docs("toml"), &from_docs("jsonl"));
    // Each line of the block: a path, the status, the body.
    let examples = from_docs("http");
    let check = |sidecar: &Sidecar, store: &str| {
        for example in examples.lines().filter(|line| !line.is_empty()) {
            let [path, status, body] = example.splitn(3, ' ').collect::<Vec<_>>()[..] else {
                panic!("{example}");
            };
            let expected = (status.parse().unwrap(), body.to_owned());
            assert_eq!(sidecar.says(path), expected, "{store}: {path}");
        }
    };
    assert!(examples.lines().count() > 4);
    check(&files.embedded(), "embedded");
    for (mongo, sidecar) in files.over_servers("the worked example") {
        check(&sidecar, mongo.kind().name());
    }
}

/// Filters that the embedded store knows, each as a query of its own.
const FORMS: [&str; 16] = [
    r#"{"n": {"$param": "v"}}"#,
    r#"{"n": {"$eq": {"$param": "v"}}}"#,
    r#"{"n": {"$ne": {"$param": "v"}}}"#,
    r#"{"n": {"$gt": {"$param": "v"}}}"#,
    r#"{"n": {"$gte": {"$param": "v"}}}"#,
    r#"{"n": {"$lt": {"$param": "v"}}}"#,
    r#"{"n": {"$lte": {"$param": "v"}, "$exists": true}}"#,
    r#"{"n": {"$in": [{"$param": "v"}, 7, "x"]}}"#,
    r#"{"n": {"$nin": [{"$param": "v"}, 7]}}"#,
    r#"{"deep.n": {"$param": "v"}}"#,
    r#"{"list": {"$param": "v"}}"#,
    r#"{"list.n": {"$param": "v"}}"#,
    r#"{"$or": [{"n": {"$param": "v"}}, {"deep.n": {"$gt": {"$param": "v"}}}]}"#,
    r#"{"$and": [{"n": {"$gte": {"$param": "v"}}}, {"n": {"$lt": 100}}]}"#,
    r#"{"nothing": null, "n": {"$param": "v"}}"#,
    r#"{"_id": {"$param": "v"}}"#,
];

fn forms_config(forms: &[&str]) -> String {
    let mut config = "database = \"mongo\"\n".to_owned();
    for (index, form) in forms.iter().enumerate() {
        config += &format!(
            "[query.form{index}]\npath = \"/{index}/{{v:int32}}\"\ncollection = \"users\"\n\
             filter = '{form}'\nreturns = \"many\"\nlimit = 100\nsort = '{{\"_id\": 1}}'\n\
             fields = [{{ name = \"id\", from = \"_id\", type = \"any\" }}]\n"
        );
    }
    config
}

#[test]
fn both_stores_match_alike() {
    let seed = r#"
        {"_id": 1, "n": {"$numberInt": "1"}}
        {"_id": 2, "n": {"$numberLong": "1"}}
        {"_id": {"$numberDouble": "3.0"}, "n": {"$numberDouble": "1.0"}}
        {"_id": 4, "n": {"$numberDouble": "1.5"}}
        {"_id": 5, "n": "1"}
        {"_id": 6, "n": null}
        {"_id": 7}
        {"_id": 8, "n": 7, "deep": {"n": 1}}
        {"_id": 9, "n": -3, "list": [1, 2, 3]}
        {"_id": 10, "n": [1, 50], "list": [{"n": 1}, {"n": 2}]}
        {"_id": 11, "n": true, "deep": [{"n": 2}]}
        {"_id": 12, "n": {"$numberLong": "9007199254740993"}, "nothing": null}
    "#;
    let files = Files::new(&forms_config(&FORMS), seed);
    let embedded = files.embedded();
    for (mongo, sidecar) in files.over_servers("both stores match alike") {
        for (index, form) in FORMS.iter().enumerate() {
            for value in [1, 2, 3, 7, -3] {
                let path = format!("/{index}/{value}");
                let real = sidecar.says(&path);
                assert_eq!(
                    embedded.says(&path),
                    real,
                    "{}: {form} with {value}",
                    mongo.kind().name()
                );
                assert_eq!(real.0, 200);
            }
        }
    }
}

#[test]
fn a_parameter_is_a_value_whatever_it_says() {
    let hostile = [
        r#"{"$gt":""}"#,
        r#"{"$ne":null}"#,
        "$name",
        "$$ROOT",
        ".*",
        "^A",
        r#""},{"x":"1"#,
        "' || '1'=='1",
        "a\0b",
        "null",
        "true",
        "1",
        "{}",
        "[]",
        "..",
        "../users",
        "%",
        "\u{202e}",
    ];
    let config = r#"
        database = "mongo"
        [query.equal]
        path = "/equal/{v:string}"
        collection = "users"
        filter = '{"name": {"$param": "v"}}'
        returns = "many"
        limit = 10
        fields = [{ name = "name", type = "string" }]
        [query.in]
        path = "/in/{v:string}"
        collection = "users"
        filter = '{"name": {"$in": [{"$param": "v"}]}}'
        returns = "many"
        limit = 10
        fields = [{ name = "name", type = "string" }]
    "#;
    let seed: String = std::iter::once("Arthur")
        .chain(hostile)
        .enumerate()
        .map(|(index, name)| serde_json::json!({ "_id": index, "name": name }).to_string() + "\n")
        .collect();
    let encode = |text: &str| {
        text.bytes()
            .map(|byte| format!("%{byte:02x}"))
            .collect::<String>()
    };
    let files = Files::new(config, &seed);
    let check = |sidecar: &Sidecar, store: &str| {
        for name in hostile {
            for query in ["equal", "in"] {
                // It finds the one document that has it for a name, and nobody else's.
                let found = serde_json::json!([{ "name": name }]).to_string();
                let path = format!("/{query}/{}", encode(name));
                let (status, body) = sidecar.says(&path);
                let body: serde_json::Value = serde_json::from_str(&body).unwrap();
                assert_eq!(
                    (status, body.to_string()),
                    (200, found),
                    "{store}: {name:?}"
                );
            }
        }
    };
    check(&files.embedded(), "embedded");
    for (mongo, sidecar) in files.over_servers("injection") {
        check(&sidecar, mongo.kind().name());
    }
}

/// A query by `n` for each type of parameter that is not a string.
fn typed_config() -> String {
    let mut config = "database = \"mongo\"\n".to_owned();
    for declared in [
        "small:int32 min=-5 max=5",
        "large:int64",
        "key:objectid",
        "truth:bool",
    ] {
        let (name, kind) = declared.split_once(':').unwrap();
        config += &format!(
            "[query.{name}]\npath = \"/{name}/{{v:{kind}}}\"\ncollection = \"users\"\n\
             filter = '{{\"n\": {{\"$param\": \"v\"}}}}'\nreturns = \"many\"\nlimit = 100\n\
             sort = '{{\"_id\": 1}}'\nfields = [{{ name = \"id\", from = \"_id\", type = \"int32\" }}]\n"
        );
    }
    config
}

#[test]
fn every_other_type_takes_its_values_and_nothing_else() {
    // What is asked for, each number in each of its types, and what could be mistaken for it.
    let seed = r#"
        {"_id": 1, "n": 5}
        {"_id": 2, "n": {"$numberLong": "5"}}
        {"_id": 3, "n": {"$numberDouble": "5.0"}}
        {"_id": 4, "n": {"$numberDouble": "5.5"}}
        {"_id": 5, "n": "5"}
        {"_id": 6, "n": {"$oid": "0123456789abcdef01234567"}}
        {"_id": 7, "n": "0123456789abcdef01234567"}
        {"_id": 8, "n": true}
        {"_id": 9, "n": "true"}
        {"_id": 10, "n": {"gt": ""}}
        {"_id": 11, "n": null}
        {"_id": 12}
        {"_id": 13, "n": {"$numberLong": "9223372036854775807"}}
    "#;
    let found = [
        ("/small/5", &[1, 2, 3][..]),
        ("/small/-5", &[]),
        ("/large/5", &[1, 2, 3]),
        ("/large/-5", &[]),
        ("/large/9223372036854775807", &[13]),
        ("/key/0123456789abcdef01234567", &[6]),
        ("/key/0123456789ABCDEF01234567", &[6]),
        ("/key/0123456789abcdef01234568", &[]),
        ("/truth/true", &[8]),
        ("/truth/false", &[]),
    ];
    let hostile = [
        "%7B%22$gt%22:%22%22%7D",
        "%7B%22$ne%22:null%7D",
        "{$ne:1}",
        "$n",
        "$$ROOT",
        "[5]",
        "5,6",
        "5;",
        "'5'",
        "5.0",
        "5e0",
        "+5",
        "%35",
        "0x5",
        "null",
        "NaN",
        "True",
        ".*",
        "a%00b",
        "99999999999999999999",
        "0123456789abcdef0123456g",
        "ObjectId(1)",
    ];
    let invalid = (400, r#"{"message":"invalid path parameter"}"#.to_owned());
    let check = |sidecar: &Sidecar, store: &str| {
        for (path, ids) in found {
            let objects: Vec<_> = ids.iter().map(|id| format!(r#"{{"id":{id}}}"#)).collect();
            let body = format!("[{}]", objects.join(","));
            assert_eq!(sidecar.says(path), (200, body), "{store}: {path}");
        }
        for query in ["small", "large", "key", "truth"] {
            for value in hostile {
                let path = format!("/{query}/{value}");
                assert_eq!(sidecar.says(&path), invalid, "{store}: {path}");
            }
        }
    };
    let files = Files::new(&typed_config(), seed);
    check(&files.embedded(), "embedded");
    for (mongo, sidecar) in files.over_servers("other types") {
        check(&sidecar, mongo.kind().name());
    }
}

#[test]
fn a_megabyte_in_a_document_comes_whole_or_stays_where_it_is() {
    let Some(mongo) = present("1 MB fields", Mongo::start()) else {
        return;
    };
    let config = r#"
        [query.rest]
        path = "/rest/{id:int32}"
        collection = "users"
        filter = '{"_id": {"$param": "id"}}'
        projection = '{"extra": 0}'
        returns = "one"
    "#;
    let files = Files::new(
        &format!("{}{config}", levelfield_sidecar::DEFAULT_CONFIG),
        "",
    );
    let config = files.path("sidecar.toml");
    let megabyte = "x".repeat(1 << 20);
    let user = |id: i32, name: &str, extra: &str| {
        doc! { "_id": id, "name": name, "surname": "s", "email": "e", "extra": extra }
    };
    let users = vec![user(901, "n", &megabyte), user(902, &megabyte, "")];
    mongo.insert("mongo", "users", users).unwrap();
    let sidecar = Sidecar::mongodb(
        mongo.connection_string(),
        &["--config", config.to_str().unwrap()],
    );
    sidecar.wait_until_ready();
    let small = r#"{"Id":901,"Name":"n","Surname":"s","Email":"e"}"#;
    assert_eq!(sidecar.says("/users/901"), (200, small.to_owned()));
    let rest = r#"{"_id":901,"name":"n","surname":"s","email":"e"}"#;
    assert_eq!(sidecar.says("/rest/901"), (200, rest.to_owned()));
    let large = sidecar.get("/users/902");
    assert_eq!(large.status, 200);
    assert_eq!(
        large.body.len(),
        (1 << 20) + r#"{"Id":902,"Name":"","Surname":"s","Email":"e"}"#.len()
    );
}

#[test]
fn whole_documents_are_plain_json() {
    let config = r#"
        database = "mongo"
        [query.whole]
        path = "/whole/{id:int32}"
        collection = "users"
        filter = '{"_id": {"$param": "id"}}'
        returns = "one"
    "#;
    let id = ObjectId::parse_str("0123456789abcdef01234567").unwrap();
    let document = doc! { "_id": 1, "key": id, "list": [1, Bson::Null, { "deep": true }] };
    let seed = Bson::Document(document).into_relaxed_extjson().to_string();
    let sidecar = Files::new(config, &seed).embedded();
    let body = r#"{"_id":1,"key":"0123456789abcdef01234567","list":[1,null,{"deep":true}]}"#;
    assert_eq!(sidecar.says("/whole/1"), (200, body.to_owned()));
    let null = Sidecar::embedded(&["--store", "null"]);
    assert_eq!(null.get("/users/1").status, 200);
    assert_ne!(null.says("/users/1").1, ARTHUR);
}
