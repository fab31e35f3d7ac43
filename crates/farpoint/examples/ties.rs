//! Times of searches in clouds full of ties, for each point of both clouds, beside a cloud without: nanoseconds, the
//! best of several runs. On Linux processor time, of all threads together.
//!
//! `cargo run --release --example ties -- 100000 1` (points, threads); further words choose clouds, and a file of
//! rows of three `f32` is one.

use farpoint::{Cpu, Index, Matcher, NonFinite, Order, Searcher};
use farpoint_generate::{cube, duplicated, equal, lattice, line, sphere};
use std::time::Instant;

type Cloud = Vec<[f32; 3]>;

/// Seconds for one number, and the number of runs that are enough.
const PATIENCE: f64 = 1.0;
const RUNS: usize = 9;

fn main() {
    let mut words = std::env::args().skip(1);
    let mut number = |what| words.next().and_then(|word| word.parse().ok()).expect(what);
    let (points, threads) = (number("points"), number("threads"));
    let chosen: Vec<String> = words.collect();
    let cpu = Cpu::new().threads(threads);
    let files = chosen.iter().filter(|word| word.contains('.')).map(|path| {
        let cloud = file(path);
        (path.clone(), cloud.clone(), cloud)
    });
    let generated = clouds(points).into_iter().map(|(name, x, y)| (name.to_owned(), x, y));
    let is_selected = |name: &String| chosen.is_empty() || chosen.contains(name);
    println!("cloud {}", searches(0.0).map(|(name, _)| name).join(" "));
    for (name, x, y) in generated.chain(files).filter(|(name, ..)| is_selected(name)) {
        // A ball of some points, were they spread evenly in a unit cube.
        let radius = (3.0 / y.len() as f64).cbrt();
        let times = searches(radius).map(|(_, search)| {
            let nanoseconds = 1e9 * best(|| search(&cpu, &x, &y));
            format!("{:.0}", nanoseconds / (x.len() + y.len()) as f64)
        });
        println!("{name} {}", times.join(" "));
    }
}

/// A search of one cloud for the points of another.
type Search = Box<dyn Fn(&Cpu, &Cloud, &Cloud)>;

/// Returns all searches with results of fixed size, so that more neighbors take no more time to write.
fn searches(radius: f64) -> [(&'static str, Search); 8] {
    let several = |searcher: Searcher| -> Search {
        let searcher = searcher.non_finite(NonFinite::Skip);
        Box::new(move |cpu, x, y| drop(searcher.on(cpu).search(x, y).expect("a search")))
    };
    let index = |cpu: &Cpu, x: &Cloud, y: &Cloud| {
        let index = Index::build(cpu, y, NonFinite::Skip).expect("an index");
        let searcher = Searcher::nearest(3).non_finite(NonFinite::Skip);
        drop(searcher.on(cpu).search(x, &index).expect("a search"));
    };
    let matcher = Matcher::new().non_finite(NonFinite::Skip);
    [
        (
            "both-nearest",
            Box::new(move |cpu, x, y| drop(matcher.on(cpu).chamfer(x, y).expect("a search"))),
        ),
        ("4-nearest", several(Searcher::nearest(4))),
        ("16-nearest", several(Searcher::nearest(16))),
        ("16-others", several(Searcher::nearest(16).exclude_self(true))),
        ("64-nearest", several(Searcher::nearest(64))),
        ("ball-lowest", several(Searcher::ball(radius, 16))),
        ("ball-nearest", several(Searcher::ball(radius, 16).order(Order::Nearest))),
        ("index", Box::new(index)),
    ]
}

/// Returns the clouds: queries and targets.
fn clouds(n: usize) -> Vec<(&'static str, Cloud, Cloud)> {
    let self_pair = |name, cloud: Cloud| (name, cloud.clone(), cloud);
    let part = |percent: usize| {
        let mut cloud = cube(n, 1);
        // In no order, as rows without a return lie between others.
        let moved = (0..n).map(|row| row * 7919 % n).filter(|k| k % 100 < percent);
        moved.for_each(|row| cloud[row] = [0.0; 3]);
        cloud
    };
    let places = |count: usize| -> Cloud {
        let places = cube(count, 2);
        (0..n).map(|row| places[row * 7919 % count]).collect()
    };
    vec![
        self_pair("cube", cube(n, 1)),
        self_pair("1-percent-at-origin", part(1)),
        self_pair("40-percent-at-origin", part(40)),
        self_pair("99-percent-at-origin", part(99)),
        self_pair("equal", equal(n)),
        self_pair("8-places", places(8)),
        self_pair("100-places", places(100)),
        self_pair("3000-places", places(3000)),
        self_pair("duplicated", duplicated(n, 1)),
        self_pair("lattice", lattice(n)),
        self_pair("line", line(n)),
        ("cube-in-8-places", cube(n, 1), places(8)),
        ("sphere-in-its-middle", sphere(n, 1), vec![[0.0; 3]; n]),
    ]
}

/// Reads rows of three numbers.
fn file(path: &str) -> Cloud {
    let bytes = std::fs::read(path).expect("a file");
    let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().expect("four bytes"));
    bytes
        .chunks_exact(12)
        .map(|row| [number(&row[..4]), number(&row[4..8]), number(&row[8..])])
        .collect()
}

/// Returns the shortest of several runs, in seconds.
fn best(run: impl Fn()) -> f64 {
    let all = Instant::now();
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let before = seconds();
        run();
        best = best.min(seconds() - before);
        if all.elapsed().as_secs_f64() > PATIENCE {
            break;
        }
    }
    best
}

#[cfg(target_os = "linux")]
fn seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is there to be written.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

#[cfg(not(target_os = "linux"))]
fn seconds() -> f64 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().expect("a clock").as_secs_f64()
}
