//! Through the disk as in memory: the same rows, the same bytes.

use farpoint::{Amount, NonFinite, Sampler, Start};
use farpoint_io::{
    Cloud, Column, Coordinates, Encoding, ReadOptions, Reader, WriteOptions, read, write,
    write_indices,
};
use farpoint_pipeline::disk::{Error, Event, Job, Outputs, Sampled, open, sample, write_rows};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

const MEMORY: u64 = 128 << 20;

/// A room with attributes, some rows bad, some zero, some twice.
fn room(rows: usize, single: bool) -> Cloud {
    let mut points = farpoint_generate::room(rows, 11);
    for k in (7..rows).step_by(997) {
        points[k] = points[k - 5];
    }
    points[0][1] = f32::NAN;
    points[rows / 2] = [f32::INFINITY; 3];
    points[1] = [0.0; 3];
    points[rows / 3] = [0.0; 3];
    let wide = |at: &[f32; 3]| at.map(|x| (f64::from(x) * 1000.0).round() / 1000.0 + 512_000.0);
    let mut cloud = Cloud::new(match single {
        true => Coordinates::F32(points),
        false => Coordinates::F64(points.iter().map(wide).collect()),
    });
    cloud
        .add_column("intensity", Column::U16((0..rows).map(|row| (row % 60_000) as u16).collect()));
    for color in ["red", "green", "blue"] {
        cloud.add_column(color, Column::U8((0..rows).map(|row| (row % 251) as u8).collect()));
    }
    cloud
}

fn save(folder: &Path, name: &str, cloud: &Cloud, options: &WriteOptions) -> PathBuf {
    let path = folder.join(name);
    let las = name.contains(".la");
    let usable = |&row: &usize| !las || cloud.coordinates().get(row).iter().all(|x| x.is_finite());
    let all: Vec<usize> = (0..cloud.len()).filter(usable).collect();
    write(&path, cloud, &all, options).unwrap();
    path
}

/// Returns the rows chosen in memory, and the covering radius.
fn in_memory(cloud: &Cloud, amount: Amount, start: &Start) -> (Vec<usize>, f64) {
    let job = Sampler::new(amount).start(start.clone()).non_finite(NonFinite::Skip);
    match cloud.coordinates() {
        Coordinates::F32(points) => {
            let sample = job.sample(points).unwrap();
            let radius = f64::from(sample.covering_radius());
            (sample.indices, radius)
        }
        Coordinates::F64(points) => {
            let sample = job.sample(points).unwrap();
            let radius = sample.covering_radius();
            (sample.indices, radius)
        }
    }
}

/// Returns a job with small tiles, many bands and little room for sorting.
fn small(amount: Amount, start: &Start) -> Job {
    Job::new(amount, MEMORY).start(start.clone()).sizes(3_000, 2_000, 100_000)
}

fn through_the_disk(
    folder: &Path,
    path: &Path,
    job: &Job,
    out: &str,
) -> Result<(Sampled, Vec<u8>, Vec<u8>), Error> {
    // So little that text is read in pieces; files that can't be read in parts are held.
    let reader = match Reader::open(path, &ReadOptions::default(), Some(1)) {
        Err(farpoint_io::Error::NotInParts { .. }) => {
            Reader::open(path, &ReadOptions::default(), Some(job.memory))?
        }
        found => found?,
    };
    let options = WriteOptions::default();
    let (points, rows) = (folder.join(out), folder.join("rows.npy"));
    let outputs = Outputs { points: Some((&points, &options)), indices: Some(&rows) };
    let sampled = sample(&reader, job, &outputs, &mut |_| true)?;
    Ok((sampled, std::fs::read(points).unwrap(), std::fs::read(rows).unwrap()))
}

fn compare(folder: &Path, path: &Path, amount: Amount, start: &Start, out: &str) {
    let cloud = read(path, &ReadOptions::default()).unwrap();
    let (rows, radius) = in_memory(&cloud, amount, start);
    let (expected, listed) = (folder.join(format!("memory-{out}")), folder.join("expected.npy"));
    let warnings = write(&expected, &cloud, &rows, &WriteOptions::default()).unwrap();
    write_indices(&listed, &rows).unwrap();
    let (sampled, points, indices) =
        through_the_disk(folder, path, &small(amount, start), out).unwrap();
    let what = format!("{} to {out}, {amount:?}, {start:?}", path.display());
    let (found, _) = indices[128..].as_chunks();
    let found: Vec<usize> = found.iter().map(|row| u64::from_le_bytes(*row) as usize).collect();
    let differ = found.iter().zip(&rows).position(|(found, row)| found != row);
    assert!(differ.is_none() && found.len() == rows.len(), "{differ:?} of {}: {what}", rows.len());
    assert!(indices == std::fs::read(listed).unwrap(), "bytes of rows differ: {what}");
    assert!(points == std::fs::read(expected).unwrap(), "bytes differ: {what}");
    assert_eq!((sampled.samples as usize, sampled.covering_radius), (rows.len(), radius), "{what}");
    assert_eq!(sampled.warnings, warnings, "{what}");
    let left: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    let spools = left.iter().filter(|name| name.to_string_lossy().contains("spool"));
    assert_eq!(spools.count(), 0, "a spool is left");
}

#[test]
fn every_format() {
    let folder = tempfile::tempdir().unwrap();
    let (single, double) = (room(20_000, true), room(20_000, false));
    let plain = WriteOptions::default();
    let big = plain.clone().encoding(Encoding::BinaryBigEndian);
    let ascii = plain.clone().encoding(Encoding::Ascii);
    let packed = plain.clone().encoding(Encoding::BinaryCompressed);
    let files = [
        ("a.las", &double, &plain, "o.las"),
        ("a.laz", &double, &plain, "o.laz"),
        ("a.laz", &double, &plain, "o.las"),
        ("b.laz", &double, &plain, "o.ply"),
        ("a.ply", &single, &plain, "o.ply"),
        ("a.ply", &single, &plain, "o.laz"),
        ("b.ply", &double, &big, "o.ply"),
        ("c.ply", &single, &ascii, "o.ply"),
        ("a.npy", &single, &plain, "o.npy"),
        ("b.npy", &double, &plain, "o.pcd"),
        ("a.pcd", &single, &plain, "o.pcd"),
        ("b.pcd", &single, &packed, "o.pcd"),
        ("c.pcd", &single, &ascii, "o.xyz"),
        ("a.xyz", &double, &plain, "o.xyz"),
        ("b.csv", &single, &plain, "o.las"),
        ("b.csv", &single, &plain, "o.csv"),
        ("b.csv", &single, &plain, "p.ply"),
        ("a.xyz", &double, &plain, "p.npy"),
        ("a.laz", &double, &plain, "p.csv"),
        ("a.laz", &double, &plain, "p.pts"),
        ("a.laz", &double, &plain, "p.npy"),
        ("a.ply", &single, &plain, "p.pcd"),
        ("c.ply", &single, &ascii, "p.xyz"),
        ("d.pts", &single, &plain, "p.pts"),
    ];
    for (name, cloud, options, out) in files {
        let path = save(folder.path(), name, cloud, options);
        compare(folder.path(), &path, Amount::Ratio(0.25), &Start::First, out);
    }
}

#[test]
fn amounts_and_starts() {
    let folder = tempfile::tempdir().unwrap();
    let path = save(folder.path(), "a.ply", &room(9_000, true), &WriteOptions::default());
    let first = Start::First;
    for amount in [
        Amount::Count(0),
        Amount::Count(1),
        Amount::Count(2),
        Amount::Count(777),
        Amount::Ratio(1.0),
        Amount::Spacing(0.3),
        Amount::Spacing(0.0),
    ] {
        compare(folder.path(), &path, amount, &first, "o.ply");
    }
    for start in [Start::Index(8_000), Start::Random(5), Start::Indices(vec![40, 8_999, 3])] {
        compare(folder.path(), &path, Amount::Count(900), &start, "o.ply");
    }
    // If nothing is chosen, starts are ignored.
    compare(folder.path(), &path, Amount::Count(0), &Start::Indices(vec![40, 40, 90_000]), "o.ply");
}

#[test]
fn rows_that_were_chosen_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let options = WriteOptions::default();
    let truth = folder.path().join("truth");
    std::fs::create_dir(&truth).unwrap();
    for name in ["a.laz", "a.ply", "a.npy", "a.csv"] {
        let path = save(folder.path(), name, &room(9_000, false), &options);
        let cloud = read(&path, &ReadOptions::default()).unwrap();
        let reader = Reader::open(&path, &ReadOptions::default(), Some(1)).unwrap();
        let finite = |row: &usize| cloud.coordinates().get(*row).iter().all(|x| x.is_finite());
        // In any order, one of them twice.
        let rows = (0..4_000).chain([5]).map(|k| k * 7_919 % cloud.len());
        let rows: Vec<usize> = rows.filter(finite).collect();
        let requested: Vec<u64> = rows.iter().map(|&row| row as u64).collect();
        for to in ["o.ply", "o.laz", "o.npy", "o.csv"] {
            let (out, expected) = (folder.path().join(to), truth.join(to));
            let warnings = write(&expected, &cloud, &rows, &options).unwrap();
            let questions = AtomicUsize::new(0);
            let write = |rows: &[u64], most: usize| {
                questions.store(0, Ordering::Relaxed);
                let on = || questions.fetch_add(1, Ordering::Relaxed) < most;
                write_rows(&reader, rows, MEMORY, (&out, &options), &on)
            };
            assert_eq!(write(&requested, usize::MAX).unwrap(), warnings, "{name} to {to}");
            assert!(std::fs::read(&out).unwrap() == std::fs::read(&expected).unwrap());
            std::fs::remove_file(&out).unwrap();
            for most in 0..questions.load(Ordering::Relaxed) {
                assert!(matches!(write(&requested, most), Err(Error::Stopped)), "{name} to {to}");
            }
            let error = write(&[0, cloud.len() as u64], usize::MAX).unwrap_err();
            assert!(matches!(error, Error::Input { .. }), "{error}");
            assert!(error.to_string().contains(&format!("row {}", cloud.len())), "{error}");
            // No output, and nothing beside it.
            let left = std::fs::read_dir(folder.path()).unwrap();
            let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            assert!(left.into_iter().all(|name| name.starts_with("a.") || name == "truth"));
        }
    }
}

#[test]
fn awkward_clouds() {
    let folder = tempfile::tempdir().unwrap();
    let lattice = (0..8_000).map(|k| [k % 20, k / 20 % 20, k / 400].map(|x| x as f32)).collect();
    let line = (0..5_000).map(|k| [(k * 7919 % 5_000) as f32, 0.0, 0.0]).collect();
    let same = vec![[1.5, 2.5, -3.5]; 4_000];
    let one = vec![[1.0, 2.0, 3.0]];
    let dense = (0..6_000).map(|k| if k == 9 { [1e6; 3] } else { [(k % 80) as f32 * 1e-3; 3] });
    for (k, points) in [lattice, line, same, one, dense.collect()].into_iter().enumerate() {
        let cloud = Cloud::new(Coordinates::F32(points));
        let path = save(folder.path(), &format!("{k}.npy"), &cloud, &WriteOptions::default());
        compare(folder.path(), &path, Amount::Ratio(0.3), &Start::First, "o.npy");
        compare(folder.path(), &path, Amount::Ratio(1.0), &Start::First, "o.npy");
    }
}

#[test]
fn what_the_cloud_does_not_have_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = save(folder.path(), "a.ply", &room(5_000, true), &WriteOptions::default());
    let first = Start::First;
    for (amount, start, words) in [
        (Amount::Count(6_000), first.clone(), "6000"),
        (Amount::Ratio(1.5), first.clone(), "1.5"),
        (Amount::Count(5), Start::Index(2_500), "2500"),
        (Amount::Count(5), Start::Index(5_000), "5000"),
        (Amount::Count(5), Start::Indices(vec![3, 4, 3]), "3"),
    ] {
        let found = through_the_disk(folder.path(), &path, &small(amount, &start), "o.ply");
        let error = found.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        assert!(!folder.path().join("o.ply").exists());
    }
    let reader = Reader::open(&path, &ReadOptions::default(), None).unwrap();
    let little = Job::new(Amount::Count(5), 1 << 20);
    let error = sample(&reader, &little, &Outputs::default(), &mut |_| true).unwrap_err();
    assert!(error.to_string().contains("1 MiB is allowed"), "{error}");
}

#[test]
fn stopped_after_any_band_and_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let path = save(folder.path(), "a.laz", &room(8_000, false), &WriteOptions::default());
    let spool = folder.path().join("spool");
    let job = small(Amount::Ratio(0.25), &Start::First);
    let (_, expected, _) = through_the_disk(folder.path(), &path, &job, "once.laz").unwrap();
    let reader = Reader::open(&path, &ReadOptions::default(), None).unwrap();
    let (out, options) = (folder.path().join("o.laz"), WriteOptions::default());
    let outputs = Outputs { points: Some((&out, &options)), indices: None };
    let job = job.spool(spool.clone());
    let mut bands = 0;
    for stop in 0.. {
        // Every run continues for one event more than the one before, and one band at least.
        let job = job.clone().resume(stop > 0);
        let (mut band_count, mut finished) = (0, 0);
        let found = sample(&reader, &job, &outputs, &mut |event| {
            band_count += 1;
            finished += usize::from(matches!(event, Event::Band { .. }));
            stop > 60 || band_count <= stop.min(2) && finished < 1
        });
        bands += finished;
        match found {
            Err(Error::Stopped) => assert!(!out.exists()),
            found => {
                let sampled = found.unwrap();
                assert!(sampled.bands > 3 && bands > 3, "{} {bands}", sampled.bands);
                break;
            }
        }
    }
    assert!(std::fs::read(&out).unwrap() == expected);
    assert_eq!(std::fs::read_dir(&spool).unwrap().count(), 0);
}

/// Every part of the input is read twice by all runs together, however often they are stopped.
#[test]
fn stopped_while_reading_and_resumed() {
    for (name, single) in [("a.ply", true), ("a.laz", false), ("a.xyz", false)] {
        let folder = tempfile::tempdir().unwrap();
        let path = save(folder.path(), name, &room(120_000, single), &WriteOptions::default());
        let spool = folder.path().join("spool");
        let mut job = small(Amount::Count(3_000), &Start::Random(7));
        job.sizes.lap = Some(1);
        let (_, expected, _) = through_the_disk(folder.path(), &path, &job, "once.npy").unwrap();
        let reader = open(&path, &ReadOptions::default(), MEMORY).unwrap();
        let (out, options) = (folder.path().join("o.npy"), WriteOptions::default());
        let outputs = Outputs { points: Some((&out, &options)), indices: None };
        let (parts, mut read) = (reader.parts(), Vec::new());
        assert!(parts > 1, "{name}");
        let mut run = |stops: bool, resumes: bool| {
            let job = job.clone().spool(spool.clone()).resume(resumes);
            sample(&reader, &job, &outputs, &mut |event| match event {
                Event::Read { parts, of } => {
                    assert_eq!(of, 2 * reader.parts());
                    read.push(parts);
                    !stops
                }
                Event::Surveyed { resumed, .. } => resumed == resumes,
                _ => true,
            })
        };
        for stop in 0..2 * parts {
            assert!(matches!(run(true, stop > 0), Err(Error::Stopped)), "{name} {stop}");
        }
        let error = run(false, false).unwrap_err().to_string();
        assert!(error.contains("`resume"), "{error}");
        run(false, true).unwrap();
        assert!(read.into_iter().eq(1..=2 * parts), "{name}");
        assert!(std::fs::read(&out).unwrap() == expected, "{name}");
        assert_eq!(std::fs::read_dir(&spool).unwrap().count(), 0);
    }
}

#[test]
fn a_spool_of_other_options_or_damaged_while_reading_is_not_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let path = save(folder.path(), "a.ply", &room(3_000, false), &WriteOptions::default());
    let reader = Reader::open(&path, &ReadOptions::default(), None).unwrap();
    let (spool, start) = (folder.path().join("spool"), Start::First);
    let run = |amount, resume, stops| {
        let job = small(amount, &start).spool(spool.clone()).resume(resume);
        sample(&reader, &job, &Outputs::default(), &mut |event| {
            !(stops && matches!(event, Event::Read { .. }))
        })
    };
    let ratio = Amount::Ratio(0.25);
    assert!(matches!(run(ratio, false, true), Err(Error::Stopped)));
    let error = run(Amount::Ratio(0.5), true, false).unwrap_err().to_string();
    assert!(error.contains("amount") && error.contains("0.25"), "{error}");
    let place = spool.join("reading");
    let mut bytes = std::fs::read(&place).unwrap();
    bytes[40] ^= 1;
    std::fs::write(&place, &bytes).unwrap();
    let error = run(ratio, true, false).unwrap_err().to_string();
    assert!(error.contains("reading") && error.contains("start again"), "{error}");
    bytes[40] ^= 1;
    std::fs::write(&place, &bytes).unwrap();
    run(ratio, true, false).unwrap();
}
