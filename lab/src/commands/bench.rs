//! `levelfield bench`: measures, and writes results/<time>/. Exit code 0 when the plan was carried out, 130 when it was
//! interrupted, 2 when it could not be.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use crate::bench::{self, Canary, Contestant, Cores, Display, Generators, Options, Schedule};
use crate::bench::{Bench, now};
use crate::commands::check::seed_from_clock;
use crate::config::Config;
use crate::http::Origin;
use crate::interrupt::Interrupt;
use crate::limits::{self, pin_thread};
use crate::report::Report;
use crate::results::{CpuMode, Fact, Limits, Mode, Results, SCHEMA_VERSION};
use crate::services::Services;
use crate::{doctor, inventory, leftovers, machine};

#[derive(clap::Args)]
pub struct Args {
    /// The file that declares targets and profiles [default: bench.toml here, or the repository's]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Two short blocks that prove the plumbing; publishes no ratio
    #[arg(long, conflicts_with = "thorough")]
    quick: bool,
    /// Every profile, for as long as verdicts need
    #[arg(long)]
    thorough: bool,
    /// Only these profiles
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    profiles: Vec<String>,
    /// Only these targets of bench.toml
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    targets: Vec<String>,
    /// Only these scenarios
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    scenarios: Vec<String>,
    /// Also a server that runs already, unmanaged and without verdict: mine=http://127.0.0.1:9000; repeatable
    #[arg(long = "target", value_name = "NAME=URL", value_parser = unmanaged)]
    unmanaged: Vec<(String, Origin)>,
    /// Blocks of every profile
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    blocks: Option<u32>,
    /// Seconds of load in every trial
    #[arg(long, value_name = "S", value_parser = seconds)]
    seconds: Option<f64>,
    /// Order of the trials, and the resampling [default: from the clock]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Where to write [default: results/<time>]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the plan and the time it takes, and stop
    #[arg(long)]
    plan: bool,
}

fn unmanaged(text: &str) -> Result<(String, Origin), String> {
    let (name, url) = text
        .split_once('=')
        .filter(|(name, _)| !name.is_empty())
        .ok_or("give it as name=http://127.0.0.1:9000")?;
    let origin = Origin::parse(url).map_err(|error| error.to_string())?;
    Ok((name.to_owned(), origin))
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.5..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("it must be a number of seconds from 0.5 to 86400".into()),
    }
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let config = Config::load(args.config.as_deref())?;
    let contestants = Contestant::all(&config, &args.unmanaged);
    let mut described: Vec<_> = contestants
        .iter()
        .map(|one| one.described(&config))
        .collect();
    let able: Vec<Contestant<'_>> = contestants
        .iter()
        .zip(&described)
        .filter(|(_, target)| target.missing.is_none())
        .map(|(contestant, _)| contestant.clone())
        .collect();
    let schedule = Schedule::make(&config, &able, options(args))?;
    let mut display = Display::new(&schedule);
    for target in described.iter().filter(|target| target.missing.is_some()) {
        display.say(&format!(
            "{}: {}",
            target.name,
            target.missing.as_deref().unwrap_or_default()
        ));
    }
    display.plan(&schedule);
    if args.plan {
        display.finish();
        return Ok(ExitCode::SUCCESS);
    }

    let interrupt = Interrupt::on_signals().context("cannot listen for signals")?;
    let removed = leftovers::remove();
    if removed != leftovers::Removed::default() {
        display.say(&format!(
            "ended what a killed run had left: {} processes, {} cgroups",
            removed.processes, removed.cgroups
        ));
    }
    let taking_part: Vec<String> = schedule
        .contestants()
        .iter()
        .map(|one| one.name.clone())
        .collect();
    // Those that take part come first, so that they are one slice.
    described.sort_by_key(|target| !taking_part.contains(&target.name));
    inventory::count_dependencies(&config, &mut described[..taking_part.len()]);
    let cores = Cores::of_this_machine(config.limits.cpus);
    let backend = limits::best();
    let cautions = doctor::examine(&cores, &*backend);
    for caution in &cautions {
        display.say(&format!("caution: {caution}"));
    }
    let mut environment = machine::environment(
        &config.dir,
        Limits {
            backend: backend.name().to_owned(),
            cpu_mode: CpuMode::Pin,
            cpus: f64::from(config.limits.cpus),
            memory_bytes: config.limits.memory_mb << 20,
            weakness: backend.weakness().map(str::to_owned),
            server_cpus: Some(cores.server.to_string()),
            generator_cpus: Some(cores.generator.to_string()),
        },
    );
    if schedule.uses_shared_services(&config) {
        environment.facts.push(Fact {
            name: "store".into(),
            value: format!(
                "one for all targets, outside their limits, on the generator's CPU {}: its share of a latency is the \
                 same for all",
                cores.generator
            ),
        });
    }
    environment.cautions = cautions.iter().map(ToString::to_string).collect();
    // Services and generators are started by this thread, and inherit where it may run.
    pin_thread(&cores.generator);
    let generators = Generators::find(&cores);
    let mut results = Results {
        schema_version: SCHEMA_VERSION,
        lab_version: env!("CARGO_PKG_VERSION").to_owned(),
        started: now(),
        finished: None,
        stopped_early: None,
        environment,
        plan: schedule.recorded(&config, &generators),
        targets: described,
        calibrations: Vec::new(),
        contract: Vec::new(),
        trials: Vec::new(),
    };
    let dir = match &args.out {
        Some(dir) => dir.clone(),
        None => config
            .dir
            .join("results")
            .join(results.started.replace(':', "-")),
    };
    std::fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let mut bench = Bench {
        config: &config,
        cores,
        backend,
        generators,
        services: Services::default(),
        canary: Canary::of_run(schedule.options.seed),
        seed: schedule.options.seed,
        interrupt,
    };
    let outcome = bench::run(&mut bench, &schedule, &mut results, &dir, &mut display);
    Report::of(&results)
        .write(&dir)
        .context("the measurements are in results.json; the report is not written")?;
    outcome?;
    display.say(&dir.join("report.html").display().to_string());
    Ok(match results.stopped_early {
        None => ExitCode::SUCCESS,
        Some(_) => ExitCode::from(130),
    })
}

fn options(args: &Args) -> Options {
    let seed = args.seed.unwrap_or_else(seed_from_clock);
    let mut command: Vec<String> = std::env::args().skip(1).collect();
    if args.seed.is_none() {
        command.push(format!("--seed={seed}"));
    }
    Options {
        mode: match (args.quick, args.thorough) {
            (true, _) => Mode::Quick,
            (_, true) => Mode::Thorough,
            _ => Mode::Default,
        },
        seed,
        profiles: args.profiles.clone(),
        targets: args.targets.clone(),
        scenarios: args.scenarios.clone(),
        blocks: args.blocks,
        seconds: args.seconds,
        command: format!("levelfield {}", command.join(" ")),
    }
}
