//! What a person sees while it runs: a live line on a terminal, plain lines elsewhere.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::{Schedule, Task};
use crate::results::{Figures, Outcome, Trial};

pub struct Display {
    bar: Option<ProgressBar>,
    trials: u64,
    done: u64,
}

impl Display {
    pub fn new(schedule: &Schedule<'_>) -> Self {
        let trials = schedule.trials();
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(trials);
            let template = "{bar:24} {pos}/{len} trials, {elapsed} gone, {eta} left  {msg}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        Self {
            bar,
            trials,
            done: 0,
        }
    }

    /// A line that stays.
    pub fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            // A run goes on when nobody reads along.
            None => {
                let _ = writeln!(std::io::stderr(), "{line}");
            }
        }
    }

    pub fn plan(&self, schedule: &Schedule<'_>) {
        for planned in &schedule.profiles {
            let scenarios: Vec<&str> = planned
                .scenarios
                .iter()
                .map(|one| one.scenario.name.as_str())
                .collect();
            self.say(&format!(
                "{:<16} {} x {} targets, {} blocks, {} trials, about {}",
                planned.profile.name,
                scenarios.join(" and "),
                planned.contestants.len(),
                planned.blocks,
                planned.trials(),
                minutes(planned.total_seconds()),
            ));
        }
        self.say(&format!(
            "{} trials in about {}, seed {}",
            self.trials,
            minutes(schedule.seconds()),
            schedule.options.seed
        ));
    }

    pub fn begin(&self, task: &Task<'_>, block: u32, attempt: u32) {
        if let Some(bar) = &self.bar {
            let again = if attempt > 0 { ", again" } else { "" };
            bar.set_message(format!(
                "{} {} block {}/{} {}{again}",
                task.planned.profile.name,
                task.scenario.scenario.name,
                block + 1,
                task.planned.blocks,
                task.contestant.name,
            ));
        }
    }

    /// `last` when the place of this trial in the plan is filled, or stays empty.
    pub fn end(&mut self, trial: &Trial, last: bool) {
        if last {
            self.done += 1;
            if let Some(bar) = &self.bar {
                bar.inc(1);
            }
        }
        let what = match &trial.outcome {
            Outcome::Counted => trial.figures.as_ref().map(reading).unwrap_or_default(),
            Outcome::Void { why } => format!("void: {why}"),
            Outcome::Failed { why } => {
                format!("failed: {}", why.lines().next().unwrap_or_default())
            }
        };
        self.say(&format!(
            "{:>4}/{} {} {} block {} {}: {what}",
            self.done,
            self.trials,
            trial.profile,
            trial.scenario,
            trial.block + 1,
            trial.target,
        ));
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn reading(figures: &Figures) -> String {
    if let Some(cold_start) = &figures.cold_start {
        let spawns: Vec<String> = cold_start
            .spawns_ms
            .iter()
            .map(|ms| format!("{ms:.0} ms"))
            .collect();
        return format!("first answer after {}", spawns.join(", "));
    }
    if !figures.ladder.is_empty() {
        return format!("{:.0}/s within the objective", figures.capacity());
    }
    let mut parts = Vec::new();
    if let Some(rate) = figures.rate {
        parts.push(format!("{:.0}/s", rate.mean));
    }
    if let Some(latency) = &figures.latency {
        for (name, p) in [("p50", 0.5), ("p99", 0.99)] {
            if let Some(ms) = latency.percentile(p) {
                parts.push(format!("{name} {ms:.2} ms"));
            }
        }
    }
    if let Some(cpu) = figures.server.and_then(|server| server.cpu_seconds)
        && figures.completed > 0
    {
        parts.push(format!(
            "{:.0} µs CPU each",
            cpu * 1e6 / figures.completed as f64
        ));
    }
    parts.join(", ")
}

fn minutes(seconds: f64) -> String {
    match seconds {
        ..90.0 => format!("{seconds:.0} s"),
        ..5400.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}
