//! Samples a file through the disk: `through_the_disk IN OUT RATIO MEBIBYTES`.

use farpoint::Amount;
use farpoint_io::{ReadOptions, Reader, WriteOptions};
use farpoint_pipeline::disk::{Event, Job, Outputs, sample};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, input, output, ratio, mebibytes] = &arguments[..] else {
        return Err("pass an input, an output, a ratio and a number of MiB".into());
    };
    let job = Job::new(Amount::Ratio(ratio.parse()?), mebibytes.parse::<u64>()? << 20);
    let reader = Reader::open(Path::new(input), &ReadOptions::default(), Some(job.memory))?;
    let options = WriteOptions::default();
    let outputs = Outputs { points: Some((Path::new(output), &options)), indices: None };
    let sampled = sample(&reader, &job, &outputs, &mut |event| {
        if let Event::Band { number, samples, .. } = event {
            eprintln!("band {number}: {samples}");
        }
        true
    })?;
    println!("{sampled:?}");
    Ok(())
}
