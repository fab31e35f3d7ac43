//! A failed allocation on the way through the disk is an error, and nothing is left. A process of its own, whose
//! allocator refuses.

#[path = "../../farpoint/tests/refusing/mod.rs"]
mod refusing;

use farpoint::Amount;
use farpoint_io::{Cloud, Coordinates, ReadOptions, WriteOptions, write};
use farpoint_pipeline::disk::{Error, Job, Outputs, open, sample, write_rows};
use refusing::refused;

/// Bytes of an allocation that is refused in its turn: those that grow with a tile or the sample. Buffers of reading
/// and writing are smaller.
const LARGE: usize = 4 << 20;

#[test]
fn memory_that_is_refused_is_an_error() {
    const POINTS: usize = 800_000;
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("a.ply"), folder.path().join("o.ply"));
    let cloud = Cloud::new(Coordinates::F32(farpoint_generate::room(POINTS, 3)));
    let rows: Vec<usize> = (0..POINTS).collect();
    write(&input, &cloud, &rows, &WriteOptions::default()).unwrap();
    let rows: Vec<u64> = (0..POINTS as u64).rev().collect();
    let (reading, writing) = (ReadOptions::default(), WriteOptions::default());
    let job = Job::new(Amount::Ratio(0.02), 128 << 20);
    let reader = open(&input, &reading, job.memory).unwrap();
    let points = Some((output.as_path(), &writing));
    let sampled =
        || sample(&reader, &job, &Outputs { points, indices: None }, &mut |_| true).map(drop);
    let written =
        || write_rows(&reader, &rows, job.memory, (&output, &writing), &|| true).map(drop);
    for work in [&sampled as &dyn Fn() -> _, &written] {
        let (result, allocations) = refused(isize::MAX / 2, work);
        result.unwrap();
        std::fs::remove_file(&output).unwrap();
        assert!(allocations > 1, "{allocations}");
        for number in 0..allocations {
            match refused(number, work).0 {
                Err(Error::Job(farpoint::Error::OutOfMemory { bytes })) if bytes >= LARGE => {}
                // The error of a tile comes as its text.
                Err(Error::Tiles(error)) if error.to_string().contains("cannot allocate") => {}
                other => panic!("allocation {number} of {allocations}: {other:?}"),
            }
            assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "allocation {number}");
        }
    }
}
