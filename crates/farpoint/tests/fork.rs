//! A process that was forked after a call has one thread and the parent's pool, which is dead
//! there. Every call must still come back, with the same result. A process of its own, since it forks.
#![cfg(target_os = "linux")]

use farpoint::{Algorithm, ApproximateSampler, Cpu, Sampler, approximate, chamfer, measure};
use farpoint_generate::{Kind, generate};

/// Seconds after which a child that hangs is killed.
const LIMIT: u32 = 120;

type Results = (Vec<usize>, Vec<Vec<usize>>, Vec<usize>, f64, f32, Vec<usize>);

/// Computations before the fork and after it.
fn everything(cloud: &Vec<[f32; 3]>) -> Results {
    let clouds: Vec<&[[f32; 3]]> = cloud.chunks(cloud.len() / 5).collect();
    let sampler = Sampler::ratio(0.1);
    let sample = sampler.sample(cloud).unwrap();
    let batch = sampler.sample_batch(&clouds).unwrap();
    let naive = Sampler::count(20).algorithm(Algorithm::Naive).sample(cloud).unwrap();
    let chamfer = chamfer(clouds[0], clouds[1]).unwrap().sum();
    let radius = measure::covering_radius(cloud, &sample.indices).unwrap();
    let grid = approximate::Method::Grid { keep: approximate::Keep::First };
    let grid = ApproximateSampler::ratio(grid, 0.1).sample(cloud).unwrap();
    (
        sample.indices,
        batch.into_iter().map(|sample| sample.indices).collect(),
        naive.indices,
        chamfer,
        radius,
        grid.indices,
    )
}

#[test]
fn a_forked_process_computes_the_same() {
    let cloud = generate(Kind::Room, 100_000, 3);
    let before = everything(&cloud);
    // A pool of other size, and another thread that is inside a call while the process forks.
    let busy = std::thread::spawn({
        let cloud = cloud.clone();
        move || {
            (0..20).for_each(|_| {
                drop(Sampler::ratio(0.5).on(&Cpu::new().threads(3)).sample(&cloud).unwrap())
            })
        }
    });
    for _ in 0..5 {
        // SAFETY: the child only computes, and ends without running anything of the parent's.
        match unsafe { libc::fork() } {
            -1 => panic!("no fork"),
            0 => {
                // SAFETY: sets a timer, whose signal ends the process.
                unsafe { libc::alarm(LIMIT) };
                let same = std::panic::catch_unwind(|| everything(&cloud) == before);
                // SAFETY: ends the process.
                unsafe { libc::_exit(if same.unwrap_or(false) { 0 } else { 1 }) }
            }
            child => {
                let mut status = 0;
                // SAFETY: the child is ours and waited for once.
                assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
                assert!(libc::WIFEXITED(status), "the child was killed: it hung");
                assert_eq!(libc::WEXITSTATUS(status), 0, "the child found something else");
            }
        }
    }
    busy.join().unwrap();
    assert_eq!(everything(&cloud), before);
}
