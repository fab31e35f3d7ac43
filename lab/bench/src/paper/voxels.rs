//! Figure 15: speed-up of radius over brute force against the number of voxels.

use super::claim::{Claim, Found};
use super::clouds::Cloud;
use super::cuda;
use super::figure::{Context, Figure, TableRows, row, short};
use super::published::{NPDU_CPU, VOXELS_CPU, VOXELS_GPU, Workload};
use super::rule::{Rule, Unit};
use super::table::{Row, Table, range};
use super::timed;
use crate::plot::{Axis, Lines, Panel, Series, Sheet};
use crate::timing::{Case, Contender, OnCpu, baseline, measure};
use anyhow::Result;
use farpoint::{Algorithm, RadiusOptions};
use farpoint_baselines::{Method, Order};
use farpoint_cli::output::count;

pub(super) struct Voxels;

/// Voxels along the longest side; the paper names 24 and 32.
const NVOX: [u32; 8] = [8, 12, 16, 24, 32, 48, 64, 96];
const QUICK_NVOX: [u32; 3] = [8, 24, 48];

/// The variant of npdu that sorts the points first.
const SORTED: &str = "Morton order";

/// The variant that leaves the number of voxels to farpoint.
const DEFAULT: &str = "default";

impl Figure for Voxels {
    fn name(&self) -> &'static str {
        "figure15"
    }

    fn title(&self) -> &'static str {
        "Figure 15: speed-up over brute force against voxel resolution"
    }

    fn about(&self) -> &'static str {
        "A quarter of the points. The line with circles is radius with so many voxels along the \
         longest side; flat lines are algorithms without voxels. The exact ones were checked to give the same indices; npdu is approximate (a window of 64 points; \
         where it sorts first, sorting counts)."
    }

    fn head(&self) -> &'static [&'static str] {
        &timed::HEAD
    }

    fn measure(&self, context: &Context, cloud: &Cloud) -> Result<TableRows> {
        let samples = cloud.case.quarter();
        let sizes = if context.quick { &QUICK_NVOX[..] } else { &NVOX };
        let sizes = || sizes.iter().map(|nvox| Some(*nvox)).chain([None]);
        let mut contenders = timed::exact(context, cloud, samples)?;
        // It follows below, with its voxels named.
        contenders.retain(|contender| contender.name != Algorithm::radius().name());
        for nvox in sizes() {
            let variant = nvox.map_or(DEFAULT.into(), |nvox| format!("nvox={nvox}"));
            let algorithm = Algorithm::Radius(RadiusOptions::default().nvox(nvox));
            let contender = match &context.gpu {
                None => Some(OnCpu { algorithm, threads: 1 }.contender(&cloud.case, samples)),
                Some(gpu) => cuda::contender(gpu, &cloud.case, algorithm, samples)?,
            };
            contenders.extend(contender.map(|contender| contender.variant(variant)));
        }
        if context.gpu.is_none() {
            contenders.extend(windows(&cloud.case, samples));
            // Possible baseline of the paper: a loop without vectors.
            let plain = OnCpu { algorithm: Algorithm::Reference, threads: 1 };
            contenders.push(plain.contender(&cloud.case, samples));
        }
        let records = measure(cloud.case.subject(), &contenders, context.effort)?;
        Ok(timed::lines(context, &records))
    }

    fn plots(&self, table: &Table, foot: &str) -> Vec<(String, Sheet)> {
        let panels = table.each("cloud").into_iter().map(|cloud| panel(table, cloud)).collect();
        let title = format!("{} ({})", self.title(), timed::place(table));
        vec![(self.name().into(), Sheet { title, foot: foot.into(), columns: 2, panels })]
    }

    fn readable(&self, table: &Table) -> TableRows {
        let columns: Vec<_> = columns(table);
        let mut head = row(["cloud", "points", "brute force"]);
        head.extend(columns.iter().map(|(algorithm, variant)| match *variant {
            "" => (*algorithm).to_owned(),
            variant => format!("{algorithm}, {variant}"),
        }));
        let mut rows = vec![head];
        for cloud in table.each("cloud") {
            let all: Vec<_> = table.with("cloud", cloud).collect();
            let points = count(all[0].number("points") as u64);
            let mut cells = vec![cloud.to_owned(), points, timed::time(&all[0])];
            cells.extend(columns.iter().map(|(algorithm, variant)| {
                find(&all, algorithm, variant).map_or("-".into(), timed::gain)
            }));
            rows.push(cells);
        }
        rows
    }

    fn published(&self) -> TableRows {
        let mut rows = vec![row(["named in section 5.6.2", "over FPS"])];
        let line = |what: String, gain: String| vec![what, gain];
        rows.extend(VOXELS_CPU.map(|(cloud, nvox, gain)| {
            line(format!("CPU, {cloud:?}, v = {nvox}"), format!("{gain}x"))
        }));
        rows.push(line("CPU, FPS+NPDU, at best".into(), format!("{NPDU_CPU}x")));
        rows.extend(VOXELS_GPU.map(|(cloud, low, high)| {
            line(format!("GPU, {cloud:?}"), format!("{low}x to {high}x"))
        }));
        rows
    }

    fn claims(&self, table: &Table) -> Vec<Claim> {
        match timed::device(table) {
            "cuda" => on_gpu(table),
            _ => on_cpu(table),
        }
    }
}

/// NPDU, in the order of the input, and sorted.
fn windows(case: &Case, samples: usize) -> [Contender<'_>; 2] {
    [("input order", Order::Input), (SORTED, Order::Morton)].map(|(variant, order)| {
        let method = Method::Npdu { window: None, order };
        baseline(case, method, samples).variant(variant).approximate()
    })
}

fn nvox(row: &Row<'_>) -> Option<f64> {
    row.text("variant").strip_prefix("nvox=")?.parse().ok()
}

/// Returns the columns beside brute force: algorithm and variant.
fn columns(table: &Table) -> Vec<(&str, &str)> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    for row in table.iter().filter(|row| row.text("algorithm") != "naive") {
        let column = (row.text("algorithm"), row.text("variant"));
        if !found.contains(&column) {
            found.push(column);
        }
    }
    found
}

fn find<'a>(rows: &'a [Row<'a>], algorithm: &str, variant: &str) -> Option<&'a Row<'a>> {
    rows.iter().find(|row| row.text("algorithm") == algorithm && row.text("variant") == variant)
}

const PLACE: &str = "section 5.6.2, figure 15";
const OVER_NAIVE: (&str, Unit) = ("time of naive over that of radius", Unit::Times);
const OVER_PLAIN: (&str, Unit) =
    ("time of a loop without vectors over that of radius", Unit::Times);
/// Tolerance for a machine, a cloud and a baseline that differ from the paper's.
const FACTOR: f64 = 2.0;
const BASELINES: &str = "The paper says neither what its FPS on the CPU is nor how many samples it \
    took; here both a loop with vectors (8 or 16 distances by one instruction) and one without \
    are measured, for a quarter of the points.";

fn on_cpu(table: &Table) -> Vec<Claim> {
    let [(_, first, room), (_, second, falls), (_, last, turn)] = VOXELS_CPU;
    let naive = |nvox| speed_ups(table, nvox, Algorithm::Naive);
    let plain = |nvox| speed_ups(table, nvox, Algorithm::Reference);
    let near = |paper| Rule::within(FACTOR, paper);
    let statement = |gain: f64, cloud: &str, nvox: u32| {
        format!("RadiusFPS is {gain} times as fast as FPS on the CPU ({cloud}, v = {nvox}).")
    };
    let [room_says, falls_says, turn_says] = [
        statement(room, "S3DIS room", first),
        statement(falls, "S3DIS room", second),
        statement(turn, "SemanticKITTI turn", last),
    ];
    let claim = |statement: &str, quantity, cases, paper, workload| {
        Claim::new(PLACE, statement, quantity, cases, near(paper)).on(workload).note(BASELINES)
    };
    let mut claims = vec![
        claim(&room_says, OVER_NAIVE, naive(first), room, Workload::Room),
        claim(&room_says, OVER_PLAIN, plain(first), room, Workload::Room),
        claim(&falls_says, OVER_NAIVE, naive(second), falls, Workload::Room),
        claim(&falls_says, OVER_PLAIN, plain(second), falls, Workload::Room),
        claim(&turn_says, OVER_NAIVE, naive(last), turn, Workload::Turn),
        claim(&turn_says, OVER_PLAIN, plain(last), turn, Workload::Turn),
    ];
    claims.extend(resolution_on_cpu(table));
    claims.extend(npdu(table));
    claims
}

/// Returns the claims on the dependence of the speed on the number of voxels.
fn resolution_on_cpu(table: &Table) -> [Claim; 4] {
    let [(_, first, room), (_, second, falls), _] = VOXELS_CPU;
    let step = ("speed at v = 32 over that at v = 24", Unit::Times);
    let steps = || {
        let pairs = swept(table, second).into_iter().zip(swept(table, first));
        pairs.map(|(b, a)| Found::of(&b, "", gain(&b) / gain(&a))).collect::<Vec<_>>()
    };
    let best = ("number of voxels with the highest speed", Unit::Voxels);
    let bests = bests(table).map(|(best, _)| Found::of(&best, "", nvox(&best).unwrap_or(f64::NAN)));
    [
        Claim::new(
            PLACE,
            format!("On the CPU v = {first} is best for the room."),
            best,
            bests.collect(),
            Rule::within(1.5, f64::from(first)),
        )
        .on(Workload::Room),
        Claim::new(
            PLACE,
            format!(
                "Beyond v = {first} the speed falls on the room, from {room} to {falls} times."
            ),
            step,
            steps(),
            Rule::Below(1.0),
        )
        .on(Workload::Room),
        Claim::new(
            PLACE,
            "It rises up to v = 32 on the SemanticKITTI turn.",
            step,
            steps(),
            Rule::Above(1.0),
        )
        .on(Workload::Turn),
        Claim::new(
            PLACE,
            format!(
                "On the CPU the speed depends strongly on v (by {:.2} times from v = 24 to 32).",
                room / falls
            ),
            ("speed of the best v over that of the worst", Unit::Times),
            spreads(table),
            Rule::AtLeast(room / falls),
        )
        .note("The numbers of voxels tried here are 8 to 96, more than the paper names."),
    ]
}

fn npdu(table: &Table) -> [Claim; 2] {
    let rows = || table.with("algorithm", "npdu");
    let gains = rows().map(|row| Found::of(&row, row.text("variant"), gain(&row))).collect();
    let beside = rows().filter_map(|row| {
        let (best, _) = bests(table).find(|(best, _)| best.text("cloud") == row.text("cloud"))?;
        Some(Found::of(&row, row.text("variant"), gain(&best) / gain(&row)))
    });
    let why = "NPDU as released looks at all points for the farthest one; farpoint's keeps the \
               largest distance of each block, so that a sample costs little more than its window.";
    [
        Claim::new(
            PLACE,
            format!("FPS+NPDU is at most {NPDU_CPU} times as fast as FPS on the CPU."),
            ("time of naive over that of npdu", Unit::Times),
            gains,
            Rule::AtMost(NPDU_CPU),
        )
        .why(why),
        Claim::new(
            PLACE,
            "RadiusFPS is orders of magnitude faster than FPS+NPDU on the room.",
            ("time of npdu over that of radius at its best v", Unit::Times),
            beside.collect(),
            Rule::AtLeast(10.0),
        )
        .on(Workload::Room)
        .why(why),
    ]
}

fn on_gpu(table: &Table) -> Vec<Claim> {
    let bests: Vec<_> = bests(table).map(|(best, _)| Found::of(&best, "", gain(&best))).collect();
    let over = ("time of naive over that of radius at its best v", Unit::Times);
    let [dragon, room] = VOXELS_GPU;
    let statement = |(_, low, high), cloud: &str| {
        format!("RadiusFPS-G is {low} to {high} times as fast as FPS on the GPU ({cloud}).")
    };
    let near = |(_, low, high)| Rule::Within { factor: FACTOR, paper: [low, high] };
    let note = "A quarter of the points is sampled here; the paper does not say how many it took.";
    vec![
        Claim::new(PLACE, statement(dragon, "dragon"), over, bests.clone(), near(dragon))
            .on(dragon.0)
            .note(note),
        Claim::new(PLACE, statement(room, "S3DIS room"), over, bests, near(room)).on(room.0).note(note),
        Claim::new(
            PLACE,
            format!(
                "The speed-up on the GPU grows with the scene: {} to {} times on the room against {} \
                 to {} on the dragon.",
                room.1, room.2, dragon.1, dragon.2
            ),
            ("speed-up over that on the dragon and objects of its size", Unit::Times),
            growths(table),
            Rule::Within { factor: FACTOR, paper: [room.1 / dragon.2, room.2 / dragon.1] },
        )
        .on(Workload::Room)
        .note(note),
        Claim::new(
            PLACE,
            "On the GPU the speed hardly depends on v.",
            ("speed of the best v over that of the worst", Unit::Times),
            spreads(table),
            Rule::AtMost(1.5),
        )
        .why("farpoint's kernels give a warp to a voxel and look at all voxels for each sample; the \
              paper gives a block to each. The numbers of voxels tried here are 8 to 96."),
    ]
}

/// Returns the speed-up over naive.
fn gain(row: &Row<'_>) -> f64 {
    row.number("times_naive")
}

/// Returns the rows of radius with this number of voxels, one per cloud.
fn swept(table: &Table, voxels: u32) -> Vec<Row<'_>> {
    table.iter().filter(|row| nvox(row) == Some(f64::from(voxels))).collect()
}

/// Returns the speed of radius with this number of voxels over an algorithm's, where measured.
fn speed_ups(table: &Table, voxels: u32, baseline: Algorithm) -> Vec<Found> {
    let seconds = |row: &Row<'_>| row.number("seconds");
    let rows = swept(table, voxels).into_iter().filter_map(|row| {
        let mut others = table.with("cloud", row.text("cloud"));
        let other = others.find(|other| other.text("algorithm") == baseline.name())?;
        Some(Found::of(&row, "", seconds(&other) / seconds(&row)))
    });
    rows.collect()
}

/// Returns the rows of the best and the worst number of voxels of each cloud.
fn bests(table: &Table) -> impl Iterator<Item = (Row<'_>, Row<'_>)> {
    table.each("cloud").into_iter().filter_map(|cloud| {
        let rows = table.with("cloud", cloud).filter(|row| nvox(row).is_some());
        let by_gain = |a: &Row<'_>, b: &Row<'_>| gain(a).total_cmp(&gain(b));
        Some((rows.clone().max_by(by_gain)?, rows.min_by(by_gain)?))
    })
}

/// Returns the speed of the best number of voxels over that of the worst, on every cloud.
fn spreads(table: &Table) -> Vec<Found> {
    bests(table).map(|(best, worst)| Found::of(&best, "", gain(&best) / gain(&worst))).collect()
}

/// Returns the best speed-up of each cloud over that of the clouds like the dragon.
fn growths(table: &Table) -> Vec<Found> {
    let small = |row: &Row<'_>| Workload::Dragon.is_like(row.text("cloud"), row.number("points"));
    let dragons = bests(table).filter(|(best, _)| small(best)).map(|(best, _)| gain(&best));
    let Some(dragon) = dragons.reduce(f64::max) else { return Vec::new() };
    let others = bests(table).filter(|(best, _)| !small(best));
    others.map(|(best, _)| Found::of(&best, "", gain(&best) / dragon)).collect()
}

fn panel(table: &Table, cloud: &str) -> Panel {
    let all: Vec<_> = table.with("cloud", cloud).collect();
    let swept: Vec<_> = all.iter().filter_map(|row| Some((nvox(row)?, gain(row)))).collect();
    let [first, last] = range(swept.iter().map(|point| point.0));
    let mut series = vec![Series::new("radius", swept)];
    // The number of voxels that farpoint chooses is in the table, baselines are the axis.
    let left_out = [Algorithm::radius(), Algorithm::Naive, Algorithm::Reference];
    let left_out = left_out.map(|algorithm| algorithm.name());
    for row in all.iter().filter(|row| !left_out.contains(&row.text("algorithm"))) {
        let name = match row.text("variant") {
            SORTED => "npdu sorted",
            _ => row.text("algorithm"),
        };
        series.push(Series::new(name, vec![(first, gain(row)), (last, gain(row))]));
    }
    Panel::Lines(Lines {
        title: short(table, cloud).into(),
        x: Axis::log("voxels along the longest side"),
        y: Axis::log("times as fast as naive"),
        series,
    })
}
