//! `farpoint-lab bench`: performance of farpoint by itself (the RadiusFPS paper's figures are
//! `farpoint-lab paper`). Every part prints a table and writes records and plots; see [`parts`]. Times
//! are never compared with a limit here.

mod operators;
mod parts;
mod small;
mod stages;
mod write;

use crate::args::{self, Part};
use crate::machine::Machine;
use crate::timing::{Case, Effort, generated};
use anyhow::{Context, Result};
use farpoint_cli::input::{self, Points};
use farpoint_cli::output::{self, note};
use farpoint_generate::Kind;
use std::borrow::Cow;
use std::fs;
use std::thread::available_parallelism;

/// Number of points below which a cloud is too small to measure.
const FEWEST: usize = 8;

/// Options and clouds of all parts.
struct Bench<'a> {
    args: &'a args::Bench,
    machine: Machine,
    effort: Effort,
    /// Number of available threads.
    threads: usize,
    /// Clouds named on the command line.
    user_cases: Vec<Case>,
}

pub(crate) fn run(args: &args::Bench) -> Result<()> {
    if let Some(folder) = &args.output {
        fs::create_dir_all(folder).with_context(|| {
            format!("--output {}: can't be made; name another folder", folder.display())
        })?;
    }
    let runs = args.runs.map_or(if args.quick { 3 } else { 5 }, usize::from);
    let cores = available_parallelism().map_or(1, usize::from);
    let mut bench = Bench {
        args,
        machine: Machine::current(),
        effort: Effort { warm: 0, runs, budget: if args.quick { 0.5 } else { 10.0 } },
        threads: args.threads.map_or(cores, usize::from),
        user_cases: Vec::new(),
    };
    for path in &args.clouds {
        let (cloud, _) = input::read(
            path,
            &farpoint_io::ReadOptions::default().columns(args.columns.map(usize::from)),
        )?;
        let points = match Points::of(&cloud) {
            Points::F32(points) => Points::F32(Cow::Owned(points.into_owned())),
            Points::F64(points) => Points::F64(Cow::Owned(points.into_owned())),
        };
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let case = Case { name, points };
        if case.usable() < FEWEST {
            note(&format!("{}: fewer than {FEWEST} usable points, left out", path.display()));
            continue;
        }
        bench.user_cases.push(case);
    }
    output::print(&format!("{}\n", bench.machine))?;
    let all = <Part as clap::ValueEnum>::value_variants();
    for part in all.iter().filter(|part| args.only.is_empty() || args.only.contains(part)) {
        bench.part(*part)?;
    }
    Ok(())
}

impl Bench<'_> {
    fn part(&self, part: Part) -> Result<()> {
        match part {
            Part::Algorithms => parts::algorithms(self),
            Part::Growth => parts::growth(self),
            Part::Threads => parts::threads(self),
            Part::Stages => stages::stages(self),
            Part::Ties => parts::ties(self),
            Part::Small => small::small(self),
            Part::Operators => operators::operators_of_clouds(self),
        }
    }

    /// 1, 2, 4 ... threads, and all.
    fn steps(&self) -> Vec<usize> {
        let mut steps: Vec<_> = (0..).map(|k| 1 << k).take_while(|t| *t < self.threads).collect();
        steps.push(self.threads);
        steps
    }

    /// Points of the generated room.
    fn points(&self) -> usize {
        self.args.points.unwrap_or(if self.args.quick { 50_000 } else { 1_000_000 })
    }

    /// The generated room, unless only given clouds are selected.
    fn room(&self) -> Vec<Case> {
        if self.args.no_generated { Vec::new() } else { vec![generated(Kind::Room, self.points())] }
    }

    /// The generated clouds of a part: a room, a LiDAR turn and an object as large as the
    /// paper's.
    fn generated(&self) -> Vec<Case> {
        let mut cases = self.room();
        if !self.args.no_generated {
            let small = if self.args.quick { 8 } else { 1 };
            cases.push(generated(Kind::Lidar, 120_000 / small));
            cases.push(generated(Kind::Object, 40_000 / small));
        }
        cases
    }
}
