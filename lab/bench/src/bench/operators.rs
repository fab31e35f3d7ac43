//! Point operators of networks: the k nearest, three nearest among fewer, balls; by every method, on one thread and
//! on more.

use super::Bench;
use super::write::{row, time, times};
use crate::timing::{Case, Contender, Once, Record, Subject, checksum, measure};
use anyhow::Result;
use farpoint::{Cpu, Index, Method, Neighbors, NonFinite, Points, Sampler, Scalar, Searcher};
use farpoint_cli::each_precision;
use farpoint_cli::output::{count, number};
use std::time::Instant;

/// Radius of the balls in clouds with as many points as a LiDAR turn, in meters.
const RADIUS: f64 = 0.3;
/// Maximum number of points per ball.
const IN_BALL: usize = 32;

/// Queries and searched points.
#[derive(Clone, Copy)]
enum Sides {
    /// The cloud in itself.
    Own,
    /// Queries of the cloud in a quarter of it, as features are interpolated to a finer level of a network.
    IntoQuarter,
    /// Queries of a quarter in the cloud, as features are gathered for a coarser level.
    FromQuarter,
}

impl Sides {
    /// Selects the two sides among the cloud and its quarter.
    fn of<C>(self, [cloud, quarter]: [&C; 2]) -> [&C; 2]
    where
        C: ?Sized,
    {
        match self {
            Self::Own => [cloud, cloud],
            Self::IntoQuarter => [cloud, quarter],
            Self::FromQuarter => [quarter, cloud],
        }
    }
}

/// A row of the table.
struct Operator {
    name: &'static str,
    searcher: Searcher,
    sides: Sides,
}

/// Returns the operators on a cloud with balls of this radius.
fn operators(radius: f64) -> [Operator; 4] {
    let own_cloud = Sides::Own;
    [
        Operator { name: "16 nearest", searcher: Searcher::nearest(16), sides: own_cloud },
        Operator { name: "32 nearest", searcher: Searcher::nearest(32), sides: own_cloud },
        Operator {
            name: "3 nearest in its quarter",
            searcher: Searcher::nearest(3),
            sides: Sides::IntoQuarter,
        },
        Operator {
            name: "ball of its quarter",
            searcher: Searcher::ball(radius, IN_BALL),
            sides: Sides::FromQuarter,
        },
    ]
}

pub(super) fn operators_of_clouds(bench: &Bench<'_>) -> Result<()> {
    let mut all = Vec::new();
    for case in bench.generated().iter().chain(&bench.user_cases) {
        each_precision!(&case.points, points => cloud(bench, case, points, &mut all)?);
    }
    bench.csv("operators", &all)
}

fn cloud<T: Scalar>(
    bench: &Bench<'_>,
    case: &Case,
    points: &[[T; 3]],
    all: &mut Vec<Record>,
) -> Result<()> {
    let rows = Sampler::ratio(0.25).non_finite(NonFinite::Skip).sample(points)?.indices;
    let quarter: Vec<_> = rows.into_iter().map(|row| points[row]).collect();
    let cpu = Cpu::new().threads(1);
    let built = [Index::build(&cpu, points, NonFinite::Skip)?, Index::new(&quarter)?];
    let mut table =
        vec![row(["operator", "method", "threads", "time", "over one", "bytes per point"])];
    let radius = radius(case);
    for operator in operators(radius) {
        let [x, y] = operator.sides.of([points, &quarter]);
        let mut contenders = contenders(bench, &operator, x, y);
        let [x, y] = operator.sides.of([&built[0], &built[1]]);
        contenders.push(contender(&operator, Method::Auto, 1, x, y).variant("auto with indexes"));
        let subject = Subject { name: &case.name, points: case.usable() };
        let records = measure(subject, &contenders, bench.effort)?;
        table.extend(records.iter().map(|record| {
            vec![
                record.requested.to_owned(),
                record.variant.clone(),
                record.threads.to_string(),
                time(record),
                times(&records[0], record),
                number(record.bytes_per_point()),
            ]
        }));
        all.extend(records);
    }
    let (points, quarter) = (count(case.usable()), count(quarter.len()));
    let title = format!(
        "Operators: {}, {points} points, {quarter} in its quarter, balls of radius {} for {IN_BALL}",
        case.name,
        number(radius)
    );
    bench.table(&title, &table)
}

/// Radius with about as many points per ball in rooms of any size: scans of surfaces.
fn radius(case: &Case) -> f64 {
    match case.name.strip_prefix("room-").and_then(|points| points.parse::<f64>().ok()) {
        Some(points) => 0.05 * (1e6 / points).sqrt(),
        None => RADIUS,
    }
}

/// On more and more threads, and all pairs on one.
fn contenders<'a, T: Scalar>(
    bench: &Bench<'_>,
    operator: &Operator,
    x: &'a [[T; 3]],
    y: &'a [[T; 3]],
) -> Vec<Contender<'a>> {
    let steps = (0..).map(|k| 1 << k).take_while(|threads| *threads < bench.threads);
    let mut contenders: Vec<_> = steps
        .chain([bench.threads])
        .map(|threads| contender(operator, Method::Auto, threads, x, y))
        .collect();
    contenders.push(contender(operator, Method::Brute, 1, x, y));
    contenders
}

fn contender<'a, T: Scalar, P: Points<T> + ?Sized>(
    operator: &Operator,
    method: Method,
    threads: usize,
    x: &'a P,
    y: &'a P,
) -> Contender<'a> {
    let searcher = operator.searcher.clone().method(method).non_finite(NonFinite::Skip);
    let cpu = Cpu::new().threads(threads);
    let contender = Contender::new(operator.name, x.len(), move |turn| {
        let start = Instant::now();
        let found = searcher.on(&cpu).search(x, y)?;
        let seconds = start.elapsed().as_secs_f64();
        let indices = if turn.checked { vec![digest(&found) as usize] } else { Vec::new() };
        Ok(Once { indices, seconds, algorithm: method.name(), bytes: None })
    });
    contender.variant(method.name()).threads(threads)
}

/// Checksum of indices, distances by their bits, and counts, in which all methods must agree.
fn digest<T: Scalar>(found: &Neighbors<T>) -> u64 {
    let indices = found.all_indices.iter().map(|index| u64::from(*index));
    let distances = found.all_distances.iter().map(|distance| distance.to_f64().to_bits());
    let counts = found.counts.iter().map(|count| u64::from(*count));
    checksum(indices.chain(distances).chain(counts))
}
