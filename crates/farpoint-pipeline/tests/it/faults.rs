//! Faults of a spool or its input give a clear error, and never a wrong result.

use farpoint::Amount;
use farpoint_io::{Cloud, Coordinates, ReadOptions, Reader, WriteOptions, write};
use farpoint_pipeline::disk::{Error, Event, Job, Outputs, Sampled, sample};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

struct Place {
    folder: tempfile::TempDir,
    job: Job,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        save(folder.path(), 6_000, 3);
        let spool = folder.path().join("spool");
        let job = Job::new(Amount::Ratio(0.25), 128 << 20).spool(spool).sizes(1_500, 800, 50_000);
        Place { folder, job }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, job: &Job, bands: usize) -> Result<Sampled, Error> {
        let reader = Reader::open(&self.path("a.ply"), &ReadOptions::default(), None)?;
        let (out, options) = (self.path("o.ply"), WriteOptions::default());
        let outputs = Outputs { points: Some((&out, &options)), indices: None };
        let mut remaining = bands;
        sample(&reader, job, &outputs, &mut |event| {
            remaining -= usize::from(matches!(event, Event::Band { .. }));
            remaining > 0
        })
    }

    /// Runs some bands; returns the error of a run resumed after `change`.
    fn after(&self, change: impl FnOnce(&Path)) -> Error {
        assert!(matches!(self.run(&self.job, 3), Err(Error::Stopped)));
        change(&self.path("spool"));
        let error = self.run(&self.job.clone().resume(true), usize::MAX).unwrap_err();
        assert!(!self.path("o.ply").exists());
        error
    }
}

/// Panics unless the error is of this file or folder and its text contains all `words`. (Errors of a tile come as its
/// text.)
fn unusable(error: &Error, name: &str, words: &[&str]) {
    assert!(matches!(error, Error::Unusable { .. } | Error::Tiles(_)), "{error:?}");
    let text = error.to_string();
    assert!(text.contains(&format!("{name}: ")), "{text}");
    assert!(words.iter().all(|word| text.contains(word)), "{text}");
}

fn save(folder: &Path, points: usize, seed: u64) {
    let cloud = Cloud::new(Coordinates::F32(farpoint_generate::room(points, seed)));
    let rows: Vec<usize> = (0..points).collect();
    write(&folder.join("a.ply"), &cloud, &rows, &WriteOptions::default()).unwrap();
}

#[test]
fn a_changed_page_is_found() {
    // Every page is read again when a run is resumed; some hold no candidates any more.
    let error = Place::new().after(|spool| {
        let path = spool.join("points");
        let mut bytes = fs::read(&path).unwrap();
        bytes.iter_mut().skip(100).step_by(200).for_each(|byte| *byte ^= 16);
        fs::write(path, bytes).unwrap();
    });
    unusable(&error, "spool/points", &["page", "`resume`"]);
}

#[test]
fn a_cut_spool_is_found() {
    let error = Place::new().after(|spool| {
        let file = File::options().write(true).open(spool.join("points")).unwrap();
        file.set_len(20_000).unwrap();
    });
    unusable(&error, "spool/points", &["20000 bytes"]);
    let error = Place::new().after(|spool| {
        let file = File::options().write(true).open(spool.join("cloud")).unwrap();
        file.set_len(200).unwrap();
    });
    unusable(&error, "spool/cloud", &[]);
}

#[test]
fn a_changed_log_is_found() {
    let error = Place::new().after(|spool| {
        let path = spool.join("log");
        let mut bytes = fs::read(&path).unwrap();
        // Behind the head of the first record.
        bytes[40] ^= 1;
        fs::write(path, bytes).unwrap();
    });
    unusable(&error, "spool/log", &["record"]);
}

#[test]
fn a_cut_log_goes_on_from_the_band_before() {
    let place = Place::new();
    let whole = Place::new();
    whole.run(&whole.job, usize::MAX).unwrap();
    assert!(matches!(place.run(&place.job, 6), Err(Error::Stopped)));
    let log = place.path("spool").join("log");
    let length = fs::metadata(&log).unwrap().len();
    File::options().write(true).open(&log).unwrap().set_len(length - 7).unwrap();
    place.run(&place.job.clone().resume(true), usize::MAX).unwrap();
    assert!(fs::read(place.path("o.ply")).unwrap() == fs::read(whole.path("o.ply")).unwrap());
}

#[test]
fn another_input_or_job_is_refused() {
    let place = Place::new();
    let error = place.after(|_| save(place.folder.path(), 6_000, 4));
    unusable(&error, "spool", &["before the input changed"]);
    unusable(&place.run(&place.job, usize::MAX).unwrap_err(), "spool", &["`resume=True`"]);
    let place = Place::new();
    place.after(|spool| {
        fs::write(spool.join("points"), b"").unwrap();
    });
    let mut other = place.job.clone().resume(true);
    other.amount = Amount::Count(7);
    let error = place.run(&other, usize::MAX).unwrap_err();
    unusable(&error, "spool", &["another amount (ratio 0.25, now 7 points)"]);
    other = place.job.clone().resume(true).start(farpoint::Start::Indices(vec![3, 5]));
    let error = place.run(&other, usize::MAX).unwrap_err();
    unusable(&error, "spool", &["another start (the first row, now rows 3, 5)"]);
}

#[test]
fn a_folder_of_others_or_in_use_is_refused() {
    let place = Place::new();
    fs::create_dir(place.path("spool")).unwrap();
    fs::write(place.path("spool").join("letter.txt"), b"dear").unwrap();
    unusable(&place.run(&place.job, usize::MAX).unwrap_err(), "spool", &["empty"]);
    fs::remove_file(place.path("spool").join("letter.txt")).unwrap();
    let path = place.path("spool").join("lock");
    fs::write(&path, b"farpoint spool\n").unwrap();
    let lock = File::options().write(true).open(path).unwrap();
    lock.lock().unwrap();
    unusable(&place.run(&place.job, usize::MAX).unwrap_err(), "spool", &["another run"]);
    drop(lock);
    place.run(&place.job, usize::MAX).unwrap();
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_said() {
    let place = Place::new();
    fs::create_dir(place.path("spool")).unwrap();
    fs::write(place.path("spool").join("lock"), b"farpoint spool\n").unwrap();
    // A device that is always full.
    std::os::unix::fs::symlink("/dev/full", place.path("spool").join("log")).unwrap();
    if !Path::new("/dev/full").exists() {
        println!("skipped: a full disk (no /dev/full)");
        return;
    }
    let job = place.job.clone().resume(true);
    let error = place.run(&job, usize::MAX).unwrap_err();
    assert!(matches!(error, Error::Spool { .. } | Error::Tiles(_)), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("log: ") && text.contains("written") && text.contains("full"), "{text}");
    assert!(!place.path("o.ply").exists());
}

#[test]
fn a_disk_without_room_is_refused_before_it_is_written_to() {
    let place = Place::new();
    let run = |free| {
        let mut job = place.job.clone();
        job.sizes.free = Some(free);
        place.run(&job, usize::MAX)
    };
    // An extent of 1 MiB for each of at least 4 tiles, and their points.
    let error = run(4 << 20).unwrap_err();
    unusable(&error, "spool", &["needs about ", " MiB here, 4 MiB are free", "`spool`"]);
    assert!(!place.path("spool").join("points").exists() && !place.path("o.ply").exists());
    let text = error.to_string();
    let needed =
        text.split_once("about ").unwrap().1.split_once(" MiB").unwrap().0.parse::<u64>().unwrap();
    let spooled = run(needed << 20).unwrap().spooled;
    assert!((4 << 20..needed << 20).contains(&spooled), "{spooled}");
}
