//! Nothing leaks: the card's free memory and the process's own before and after many runs.

use crate::clouds::Cloud;
use crate::resident::{Answer, Resident};
use crate::runner::Group;
use crate::tally::Tally;
use crate::variants::{self, ALL};
use anyhow::Result;
use farpoint_cuda::{Device, Sampler, Stream};
use farpoint_generate::Kind;

/// Runs that are watched, and those before, after which pools have their size.
const RUNS: usize = 200;
const WARM: usize = 30;

/// Bytes that may be missing: a tenth of what runs that lost their points would lose.
const SLACK: usize = 16 << 20;

pub(crate) fn groups() -> Vec<Group> {
    vec![leaks()]
}

/// A cloud of 70,000: 840 KB of points, some MB of scratch memory a run.
fn leaks() -> Group {
    const N: usize = 70_000;
    Group::new(format!("memory after {RUNS} runs"), ALL, || {
        let cloud = Cloud::<f32>::of(Kind::Room, N, 1);
        let answer = Answer::new(std::slice::from_ref(&cloud), 200)?;
        let wrong = farpoint::Sampler::count(200).start(farpoint::Start::Index(N));
        Ok(move |device: &Device, part: &str, tally: &mut Tally| {
            let algorithm = variants::algorithm(part);
            let sampler = Sampler::count(200).algorithm(algorithm);
            let refused = sampler.clone().start(farpoint::Start::Index(N));
            let run = |tally: &mut Tally| -> Result<()> {
                // All ways in, with an error between them.
                sampler.sample(device, &cloud)?;
                let stream = Stream::new(device)?;
                let mut batch = Resident::new(&stream, [1, N, 3], 200, None)?;
                batch.write(&answer.data)?;
                batch.enqueue(device, &stream, &sampler)?;
                tally.check("a run", batch.compare(&answer)?);
                let error = refused.sample(device, &cloud).err().map(|error| error.to_string());
                let expected = wrong.sample(&cloud).err().map(|error| error.to_string());
                tally.is("the CPU's error", error == expected);
                Ok(())
            };
            for _ in 0..WARM {
                run(tally)?;
            }
            let (free, host) = (device.memory()?.0, resident_bytes());
            for _ in 0..RUNS {
                run(tally)?;
            }
            let lost = free.saturating_sub(device.memory()?.0);
            let grown = resident_bytes().saturating_sub(host);
            tally.note(format!("lost on the card {lost} bytes, on the host {grown}"));
            tally.is(format!("{lost} bytes of the card lost"), lost <= SLACK);
            tally.is(format!("{grown} bytes of the host lost"), grown <= 4 * SLACK);
            Ok(())
        })
    })
}

/// Bytes of this process that are in memory, as Linux counts them.
fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}
