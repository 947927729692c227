//! A server of our own that speaks MongoDB's protocol, on a free port, in a directory of its own,
//! seeded with the contract's fixtures.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use bson::{Bson, Document, doc};
use mongodb::Client;
use tempfile::TempDir;

use crate::{Error, Missing, Process, Ready, Result, free_port, repo_root, tool};

/// Python on a busy machine takes its time.
const START_WITHIN: Duration = Duration::from_secs(60);

/// The database and the collection of the contract.
pub const DATABASE: &str = "mongo";
pub const COLLECTION: &str = "users";

/// Names a server for tests that is used instead of one of our own.
const GIVEN: &str = "LEVELFIELD_TEST_CONNECTION_STRING";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The server that `LEVELFIELD_TEST_CONNECTION_STRING` names. It is seeded, never stopped.
    Given,
    Mongod,
    FerretDb,
    SecantusDb,
}

impl Kind {
    /// Every kind that is started here, the most faithful first.
    pub const OURS: [Self; 3] = [Self::Mongod, Self::FerretDb, Self::SecantusDb];

    pub fn name(self) -> &'static str {
        match self {
            Self::Given => GIVEN,
            Self::Mongod => "mongod",
            Self::FerretDb => "ferretdb",
            Self::SecantusDb => "secantusd-py",
        }
    }

    fn program(self) -> Result<PathBuf, Missing> {
        tool(self.name())
    }

    fn command(self, program: &Path, port: u16, dir: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(dir);
        match self {
            Self::Given => unreachable!("a given server is not started"),
            Self::Mongod => command
                .args(["--bind_ip", "127.0.0.1", "--nounixsocket", "--quiet"])
                .args(["--port", &port.to_string()])
                .arg("--dbpath")
                .arg(dir),
            Self::FerretDb => command
                .args(["--handler=sqlite", "--telemetry=disable", "--debug-addr=-"])
                .args(["--log-level=WARN", "--state-dir=-"])
                .arg(format!("--listen-addr=127.0.0.1:{port}"))
                .arg(format!("--sqlite-url=file:{}/", dir.display())),
            Self::SecantusDb => command
                .args(["--host", "127.0.0.1", "--port", &port.to_string()])
                .args(["--log-level", "WARNING", "--cache-size", "64M"])
                .arg("--storage-path")
                .arg(dir.join("data")),
        };
        command
    }
}

/// A running server, stopped when dropped.
pub struct Mongo {
    kind: Kind,
    connection_string: String,
    own: Option<Own>,
}

/// What there is of a server that we started.
struct Own {
    program: PathBuf,
    port: u16,
    process: Process,
    dir: TempDir,
}

impl Mongo {
    /// The first there is of: the server that `LEVELFIELD_TEST_CONNECTION_STRING` names, mongod,
    /// FerretDB, SecantusDB. Seeded.
    pub fn start() -> Result<Self> {
        if std::env::var_os(GIVEN).is_some() {
            return Self::start_kind(Kind::Given);
        }
        Self::start_own()
    }

    /// The same without the given one, which nobody may stop, restart or put a proxy before. Seeded.
    pub fn start_own() -> Result<Self> {
        match Kind::OURS.into_iter().find(|kind| kind.program().is_ok()) {
            Some(kind) => Self::start_kind(kind),
            None => Err(Missing {
                what: "mongod, ferretdb or secantusd-py".into(),
                remedy: "run `make setup`, or put one of them on PATH".into(),
            }
            .into()),
        }
    }

    /// A server of one kind. Seeded.
    pub fn start_kind(kind: Kind) -> Result<Self> {
        let mongo = Self::start_empty(kind, &[])?;
        mongo.seed(&repo_root().join("contract/seed.jsonl"))?;
        Ok(mongo)
    }

    /// A server of one kind with arguments of the caller's added, and nothing in it.
    pub fn start_empty(kind: Kind, args: &[&str]) -> Result<Self> {
        if kind == Kind::Given {
            let connection_string = std::env::var(GIVEN).map_err(|_| Missing {
                what: GIVEN.into(),
                remedy: format!("set {GIVEN} to a MongoDB that tests may write to"),
            })?;
            return Ok(Self {
                kind,
                connection_string,
                own: None,
            });
        }
        let program = kind.program()?;
        let dir = TempDir::new()
            .map_err(|error| Error::Failed(format!("cannot make a directory: {error}")))?;
        let port = free_port();
        let process = launch(kind, &program, port, dir.path(), args)?;
        Ok(Self {
            kind,
            connection_string: format!("mongodb://127.0.0.1:{port}/?directConnection=true"),
            own: Some(Own {
                program,
                port,
                process,
                dir,
            }),
        })
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub fn connection_string(&self) -> &str {
        &self.connection_string
    }

    /// The loopback port of a server of ours.
    ///
    /// # Panics
    /// On a given server: what needs the port starts a kind of its own.
    pub fn port(&self) -> u16 {
        self.own().port
    }

    /// Where a server of ours keeps its data.
    pub fn dir(&self) -> &Path {
        self.own().dir.path()
    }

    fn own(&self) -> &Own {
        self.own.as_ref().expect("a server of our own")
    }

    fn own_mut(&mut self) -> &mut Own {
        self.own.as_mut().expect("a server of our own")
    }

    /// Ends the server without asking, as a crash does. What it had not yet written is lost.
    pub fn kill(&mut self) {
        self.own_mut().process.kill();
    }

    /// Ends the server as a supervisor does. Its data stays.
    pub fn stop(&mut self) {
        self.own_mut().process.stop();
    }

    /// Starts it again on the same port and data, with these arguments added.
    pub fn restart(&mut self, args: &[&str]) -> Result<()> {
        let kind = self.kind;
        let own = self.own_mut();
        own.process.stop();
        own.process = launch(kind, &own.program, own.port, own.dir.path(), args)?;
        Ok(())
    }

    /// Puts the documents of a file of extended-JSON lines into the contract's collection, in
    /// place of those of the same `_id`.
    pub fn seed(&self, file: &Path) -> Result<()> {
        let documents = read_documents(file)?;
        self.insert(DATABASE, COLLECTION, documents)
    }

    /// Puts documents into a collection, in place of those of the same `_id`.
    pub fn insert(&self, database: &str, collection: &str, documents: Vec<Document>) -> Result<()> {
        self.with_client(|client| async move {
            let collection = client.database(database).collection::<Document>(collection);
            for document in documents {
                let id = document.get("_id").cloned().unwrap_or(Bson::Null);
                collection.delete_many(doc! { "_id": id }).await?;
                collection.insert_one(document).await?;
            }
            Ok(())
        })
    }

    /// Runs a command against a database, as a test does to make a user or arm a fail point.
    pub fn command(&self, database: &str, command: Document) -> Result<Document> {
        self.with_client(
            |client| async move { client.database(database).run_command(command).await },
        )
    }

    /// The driver needs a runtime; the caller may already be inside one, where another cannot be
    /// blocked on, hence the thread.
    fn with_client<T, F>(&self, work: impl FnOnce(Client) -> F + Send) -> Result<T>
    where
        T: Send,
        F: Future<Output = mongodb::error::Result<T>>,
    {
        let run = || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(async {
                let client = Client::with_uri_str(&self.connection_string).await?;
                let result = work(client.clone()).await;
                client.shutdown().immediate(true).await;
                result
            })
        };
        std::thread::scope(|scope| scope.spawn(run).join())
            .expect("the driver does not panic")
            .map_err(|error| Error::Failed(format!("{}: {error}", self.kind.name())))
    }
}

/// Starts a server and waits until it accepts connections. The driver waits for the rest.
fn launch(kind: Kind, program: &Path, port: u16, dir: &Path, args: &[&str]) -> Result<Process> {
    Process::start(
        kind.command(program, port, dir).args(args),
        Ready::Port(([127, 0, 0, 1], port).into()),
        START_WITHIN,
    )
}

/// The documents of a file of MongoDB extended-JSON lines.
pub fn read_documents(file: &Path) -> Result<Vec<Document>> {
    let failed = |what: String| Error::Failed(format!("{}{what}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| failed(format!(": {error}")))?;
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| {
            let number = index + 1;
            let value: serde_json::Value = serde_json::from_str(line)
                .map_err(|error| failed(format!(":{number}: {error}")))?;
            match Bson::try_from(value) {
                Ok(Bson::Document(document)) => Ok(document),
                Ok(_) => Err(failed(format!(":{number}: not a document"))),
                Err(error) => Err(failed(format!(":{number}: {error}"))),
            }
        })
        .collect()
}
