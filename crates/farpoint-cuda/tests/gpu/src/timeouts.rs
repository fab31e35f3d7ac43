//! Kernels whose blocks wait for one that never arrives give up: in time, with an error, without a
//! result that could pass for a valid one; and the next call is right.

use crate::calls::{self, Call, WAITING, Work};
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::Result;
use farpoint::{Matcher, Method, Sampler};
use farpoint_cuda::{Error, Gpu, Stream};
use std::time::{Duration, Instant};

/// Patience of the kernels here, and deadline of the error: a wait may follow another, and a machine be
/// busy.
const PATIENCE: Duration = Duration::from_millis(300);
const DEADLINE: Duration = Duration::from_secs(10);

/// `enum Stage` of `kernels/common/guard.cuh`: stage at which a block leaves, and the kernels that reach it.
const STAGES: [(u32, &str, &[&str]); 3] = [
    (0, "at once", WAITING),
    (1, "before the samples one by one", &["peak"]),
    (2, "in a band", &["peak"]),
];

pub(crate) fn groups() -> Vec<Group> {
    vec![
        // A cluster, if supported, and the grid.
        group("gives up, 20,000 points", 20_000),
        group("gives up, 100,000 points", 100_000),
    ]
}

/// A device on which a block of each team is missing.
struct MissingBlock<'a>(&'a Gpu, Duration);

impl<'a> MissingBlock<'a> {
    fn new(device: &'a Gpu, stage: u32) -> Self {
        let before = device.patience();
        device.set_patience(PATIENCE);
        device.set_absent(Some(stage));
        Self(device, before)
    }
}

impl Drop for MissingBlock<'_> {
    fn drop(&mut self) {
        self.0.set_absent(None);
        self.0.set_patience(self.1);
    }
}

fn group(name: &'static str, rows: usize) -> Group {
    Group::new(name, WAITING, move || {
        let works =
            WAITING.iter().map(|name| Work::new(name, rows, 3)).collect::<Result<Vec<_>>>()?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            let index = WAITING.iter().position(|name| *name == part).expect("a kernel that waits");
            for (stage, when, kernels) in STAGES {
                if kernels.contains(&part) {
                    queued_call(device, part, &works[index], (stage, when), tally)?;
                    host_call(device, part, &works[index], (stage, when), tally)?;
                }
            }
            Ok(())
        })
    })
}

/// Checks that a call gave up, and in time.
fn check_gave_up<V>(tally: &mut Tally, label: &str, begin: Instant, result: Result<V, Error>) {
    let seconds = begin.elapsed();
    let result = match result {
        Err(Error::GaveUp { .. }) if seconds <= DEADLINE => Ok(()),
        Err(Error::GaveUp { .. }) => Err(format!("it took {:.1} s", seconds.as_secs_f64())),
        Err(error) => Err(format!("another error: {error}")),
        Ok(_) => Err("it did not give up".into()),
    };
    tally.check(label, result);
}

/// A call that is queued.
fn queued_call(
    device: &Gpu,
    part: &str,
    work: &Work,
    (stage, when): (u32, &str),
    tally: &mut Tally,
) -> Result<()> {
    let stream = Stream::new(device)?;
    let call = Call::new(part, &stream, work)?;
    let begin = Instant::now();
    {
        let _guard = MissingBlock::new(device, stage);
        call.enqueue(device, &stream)?;
    }
    let result = stream.synchronize();
    if let Err(Error::GaveUp { kernel, waited_for, .. }) = &result {
        tally.is(format!("{when}: {kernel} is named"), *kernel == part);
        tally.note(format!("{when}: {waited_for}"));
    }
    check_gave_up(tally, &format!("queued, {when}"), begin, result);
    tally.is(format!("{when}: reported once"), stream.check().is_ok());
    tally.is(format!("{when}: the result is void"), call.is_void()?);
    for time in 0..2 {
        call.enqueue(device, &stream)?;
        tally.check(format!("{when}: call {time} after it"), call.compare()?);
    }
    borrowed_stream(device, &call, &stream, (stage, when), tally)
}

/// On a stream of another library, synchronized by other means: found by its handle.
fn borrowed_stream(
    device: &Gpu,
    call: &Call,
    stream: &Stream,
    (stage, when): (u32, &str),
    tally: &mut Tally,
) -> Result<()> {
    // SAFETY: the stream outlives all that is borrowed of it here.
    let foreign = || unsafe { Stream::borrowed(device, stream.raw()) };
    let begin = Instant::now();
    {
        let _guard = MissingBlock::new(device, stage);
        call.enqueue(device, &foreign())?;
    }
    stream.synchronize()?;
    check_gave_up(tally, &format!("borrowed, {when}"), begin, foreign().check());
    tally.is(format!("{when}: reported once to a borrowed stream"), foreign().check().is_ok());
    call.enqueue(device, &foreign())?;
    tally.check(format!("{when}: the call after it on a borrowed stream"), call.compare()?);
    Ok(())
}

/// A call on clouds in host memory.
fn host_call(
    device: &Gpu,
    part: &str,
    work: &Work,
    (stage, when): (u32, &str),
    tally: &mut Tally,
) -> Result<()> {
    let begin = Instant::now();
    let label = format!("host memory, {when}");
    match work {
        Work::Sample { samples, cloud, .. } => {
            let sampler = Sampler::count(*samples).algorithm(calls::algorithm(part));
            let result = {
                let _guard = MissingBlock::new(device, stage);
                sampler.on(device).sample(cloud)
            };
            check_gave_up(tally, &label, begin, result);
            let truth = Sampler::count(*samples).sample(cloud)?;
            tally.sample(
                format!("{label}, the next call"),
                sampler.on(device).sample(cloud),
                &truth,
            );
        }
        Work::Match { expected, .. } if part == "tree" => {
            let matcher = Matcher::new().method(Method::Tree);
            let [a, b] = expected.clouds();
            let result = {
                let _guard = MissingBlock::new(device, stage);
                matcher.on(device).chamfer(&a, &b)
            };
            check_gave_up(tally, &label, begin, result);
            let found =
                tally.take(format!("{label}, the next call"), matcher.on(device).chamfer(&a, &b));
            tally.is(&label, found == Some(farpoint::chamfer(&a, &b)?));
        }
        Work::Match { expected, .. } => {
            let [a, b] = expected.clouds();
            let chamfer = farpoint::chamfer(&a, &b)?;
            let grads = expected.truth.each_ref().map(|side| side.grads.as_slice());
            let backward =
                || Matcher::new().on(device).backward(&chamfer, &a, &b, grads[0], grads[1]);
            let result = {
                let _guard = MissingBlock::new(device, stage);
                backward()
            };
            check_gave_up(tally, &label, begin, result);
            let truth = farpoint::neighbors::backward(&chamfer, &a, &b, grads[0], grads[1])?;
            let found = tally.take(format!("{label}, the next call"), backward());
            tally.is(&label, found.is_some_and(|found| found.a == truth.a && found.b == truth.b));
        }
        // There are none of clouds in host memory.
        Work::Search { .. } => {}
    }
    Ok(())
}
