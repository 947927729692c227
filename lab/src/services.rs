//! The programs that targets need beside them, and the states that the contract suite puts them in.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use testbed::mongo::Mongo;
use testbed::{Process, Ready, free_port};

use crate::check::StoreState;
use crate::config::{Builtin, Config, Placeholders};
use crate::limits::Confinement;
use crate::stall::Stall;
use crate::{leftovers, programs};

const START_WITHIN: Duration = Duration::from_secs(20);

/// A running service, stopped when dropped.
pub enum Service {
    Store(Box<Mongo>),
    Program(Process),
    /// Nothing listens at its address.
    Unreachable,
    Stalled(Stall),
}

/// Running services by name, and what the names stand for.
#[derive(Default)]
pub struct Services {
    running: BTreeMap<String, Service>,
    urls: BTreeMap<String, String>,
}

impl Services {
    /// Starts what of `names` does not run yet, in order; `confinement` holds those that belong to the target.
    pub fn start(
        &mut self,
        config: &Config,
        names: &[&str],
        confinement: Option<&Confinement>,
    ) -> testbed::Result<()> {
        for name in names {
            if !self.running.contains_key(*name) {
                let (service, url) = self.start_one(config, name, confinement)?;
                self.running.insert((*name).to_owned(), service);
                self.urls.insert((*name).to_owned(), url);
            }
        }
        Ok(())
    }

    /// Puts a service into a state in which it is of no use, instead of starting it. A store that is to fall silent
    /// stands before the one of `working`, and speaks until it is told not to.
    pub fn start_broken(
        &mut self,
        config: &Config,
        name: &str,
        state: StoreState,
        working: &Services,
    ) -> std::io::Result<()> {
        let (service, port) = match state {
            StoreState::Stalled => {
                let stall = match working.running.get(name) {
                    Some(Service::Store(mongo)) => {
                        Stall::before(([127, 0, 0, 1], mongo.port()).into())?
                    }
                    _ => Stall::silent()?,
                };
                let port = stall.address.port();
                (Service::Stalled(stall), port)
            }
            _ => (Service::Unreachable, free_port()),
        };
        let service_config = &config.services[name];
        let url = match service_config.builtin {
            Some(Builtin::Mongo) => connection_string(port),
            None => url_of(service_config, port),
        };
        self.running.insert(name.to_owned(), service);
        self.urls.insert(name.to_owned(), url);
        Ok(())
    }

    fn start_one(
        &self,
        config: &Config,
        name: &str,
        confinement: Option<&Confinement>,
    ) -> testbed::Result<(Service, String)> {
        let service = &config.services[name];
        if service.builtin == Some(Builtin::Mongo) {
            let mongo = Mongo::start()?;
            let url = mongo.connection_string().to_owned();
            return Ok((Service::Store(Box::new(mongo)), url));
        }
        let port = free_port();
        let url = url_of(service, port);
        let mut placeholders = self.placeholders();
        placeholders.set("port", port);
        let program = programs::find(&config.dir, &service.command[0])?;
        let mut command = Command::new(program);
        command
            .current_dir(&config.dir)
            .args(
                service.command[1..]
                    .iter()
                    .map(|word| placeholders.fill(word)),
            )
            .envs(
                service
                    .env
                    .iter()
                    .map(|(key, value)| (key, placeholders.fill(value))),
            );
        leftovers::mark(&mut command);
        if let Some(confinement) = confinement {
            confinement.enter(&mut command);
        }
        let ready = match &service.ready {
            Some(path) => Ready::Http(format!("{url}{path}")),
            None => Ready::Port(([127, 0, 0, 1], port).into()),
        };
        let process = Process::start(&mut command, ready, START_WITHIN)?;
        Ok((Service::Program(process), url))
    }

    /// Puts a user into a store that is ours, in place of one of the same id.
    pub fn put_user(&self, store: &str, user: &contract::User<'_>) -> testbed::Result<()> {
        let Some(Service::Store(mongo)) = self.running.get(store) else {
            return Err(testbed::Error::Failed(format!(
                "{store} is no store that runs"
            )));
        };
        let document = bson::doc! {
            "_id": user.id.get(), "name": user.name, "surname": user.surname, "email": user.email,
        };
        mongo.insert(
            testbed::mongo::DATABASE,
            testbed::mongo::COLLECTION,
            vec![document],
        )
    }

    /// Drops what belongs to one target; what the whole run shares stays.
    pub fn stop_those_with_target(&mut self, config: &Config) {
        self.running
            .retain(|name, _| !config.services[name.as_str()].with_target);
    }

    /// The services that are to be reached once before they fall silent.
    pub fn about_to_fall_silent(&self) -> impl Iterator<Item = &Stall> {
        self.running.values().filter_map(|service| match service {
            Service::Stalled(stall) if stall.speaks() => Some(stall),
            _ => None,
        })
    }

    pub fn placeholders(&self) -> Placeholders {
        let mut placeholders = Placeholders::default();
        for (name, url) in &self.urls {
            placeholders.set(name, url);
        }
        placeholders
    }

    /// The process groups of those that belong to one target.
    pub fn groups_with_target(&self, config: &Config) -> Vec<u32> {
        self.running
            .iter()
            .filter(|(name, _)| config.services[name.as_str()].with_target)
            .filter_map(|(_, service)| match service {
                Service::Program(process) => Some(process.pid()),
                _ => None,
            })
            .collect()
    }
}

fn url_of(service: &crate::config::Service, port: u16) -> String {
    let mut placeholders = Placeholders::default();
    placeholders.set("port", port);
    placeholders.fill(service.url.as_deref().unwrap_or_default())
}

fn connection_string(port: u16) -> String {
    format!("mongodb://127.0.0.1:{port}/?directConnection=true")
}
