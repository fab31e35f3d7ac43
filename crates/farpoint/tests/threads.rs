//! Threads with names, processors and scheduling: in a process of its own, which has one global pool.

#![cfg(all(feature = "rayon", target_os = "linux"))]

use farpoint::{Cpu, Error, Sampler, Scheduling, ThreadOptions};
use farpoint_generate::{Kind, generate};
use std::fs;

/// Returns the names of all threads of this process, and the processors that each may run on.
fn threads() -> Vec<(String, String)> {
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    let read = |task: fs::DirEntry| {
        let status = fs::read_to_string(task.path().join("status")).ok()?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.unwrap_or_default().trim().to_owned()
        };
        Some((field("Name"), field("Cpus_allowed_list")))
    };
    tasks.filter_map(read).collect()
}

#[test]
fn the_pool_has_the_requested_threads() {
    let text = |options: ThreadOptions| options.start().unwrap_err().to_string();
    // Refused, without a pool.
    assert!(text(ThreadOptions::new().threads(0)).contains("at least one"));
    let message = text(ThreadOptions::new().cpus([0, 100_000]));
    assert!(message.contains("CPU 100000"), "{message}");
    let message = text(ThreadOptions::new().scheduling(Scheduling::Fifo(0)));
    assert!(message.contains("priority 0"), "{message}");
    assert!(!threads().iter().any(|(name, _)| name.starts_with("turns")));
    assert_eq!(ThreadOptions::new().name("turns").cpus([0, 0, 0]).start(), Ok(3));
    let own: Vec<_> =
        threads().into_iter().filter(|(name, _)| name.starts_with("turns-")).collect();
    assert_eq!(own.len(), 3);
    assert!(own.iter().all(|(_, cpus)| cpus == "0"), "{own:?}");
    // The calling thread is not one of them, and results are those of any thread.
    let cloud = generate(Kind::Lidar, 20_000, 1);
    let job = Sampler::count(5_000);
    let found = job.sample(&cloud).unwrap().indices;
    assert_eq!(found, job.on(&Cpu::new().threads(1)).sample(&cloud).unwrap().indices);
    let again = ThreadOptions::new().start();
    assert!(matches!(again, Err(Error::BadThreads(..))));
    assert!(again.unwrap_err().to_string().contains("has been started"));
}
