//! Clouds in device memory: every layout and list that a batch can have, with and without scratch
//! memory, nothing written outside the arrays.

use crate::clouds::Cloud;
use crate::guarded::Guarded;
use crate::runner::Group;
use crate::tally::Tally;
use crate::truth::{first_difference, on_cpu};
use crate::variants::{self, ALL};
use anyhow::{Result, ensure};
use farpoint::{Points, Sampler, Start};
use farpoint_cuda::{Buffer, CudaScalar, DeviceBatch, Gpu, Stream, find_non_finite};
use farpoint_generate::Kind;

/// Layout of rows in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RowLayout {
    Rows,
    /// Two numbers after each row that are not coordinates.
    Gaps,
    Axes,
}

/// A batch of clouds and its requested results, with lists in device memory or without.
#[derive(Clone)]
pub(crate) struct Spec {
    pub(crate) name: &'static str,
    pub(crate) layout: RowLayout,
    /// Rows of each cloud; padded to the largest number, or one after another.
    pub(crate) lengths: Vec<usize>,
    pub(crate) ragged: bool,
    /// Samples per cloud, and of each if they differ.
    pub(crate) max_samples: usize,
    pub(crate) samples: Option<Vec<usize>>,
    /// Starts per cloud.
    pub(crate) starts: Option<usize>,
    pub(crate) provides_scratch: bool,
    /// Set for all results, else indices alone.
    pub(crate) all_outputs: bool,
}

impl Spec {
    /// Padded rows and no options.
    pub(crate) fn plain(
        name: &'static str,
        clouds: usize,
        rows: usize,
        max_samples: usize,
    ) -> Self {
        Self {
            name,
            layout: RowLayout::Rows,
            lengths: vec![rows; clouds],
            ragged: false,
            max_samples,
            samples: None,
            starts: None,
            provides_scratch: true,
            all_outputs: true,
        }
    }

    fn rows(&self) -> usize {
        self.lengths.iter().copied().max().unwrap_or(0)
    }

    /// Number of slots of the result, and the first one of each cloud.
    fn slots(&self) -> (usize, Vec<usize>) {
        let b = self.lengths.len();
        match &self.samples {
            None => (b * self.max_samples, (0..b).map(|cloud| cloud * self.max_samples).collect()),
            // From the last cloud to the first, to be different.
            Some(samples) => {
                let slots = (0..b).map(|cloud| samples[cloud + 1..].iter().sum()).collect();
                (samples.iter().sum(), slots)
            }
        }
    }

    fn samples_of(&self, cloud: usize) -> usize {
        self.samples.as_ref().map_or(self.max_samples, |samples| samples[cloud])
    }
}

pub(crate) fn groups() -> Vec<Group> {
    vec![group::<f32>(specs()), group::<f64>(specs()), non_finite()]
}

fn specs() -> Vec<Spec> {
    let some = vec![700, 0, 1, 650, 33, 700];
    let plain = Spec::plain("rows", 6, 700, 120);
    vec![
        Spec { all_outputs: false, ..Spec::plain("indices alone", 6, 700, 120) },
        Spec {
            layout: RowLayout::Gaps,
            provides_scratch: false,
            ..Spec::plain("gaps", 3, 3_000, 200)
        },
        Spec {
            layout: RowLayout::Axes,
            lengths: some.clone(),
            ..Spec { name: "lengths", ..plain.clone() }
        },
        Spec {
            name: "ragged, samples and starts",
            lengths: some.clone(),
            ragged: true,
            max_samples: 700,
            samples: Some(vec![100, 0, 1, 650, 40, 3]),
            starts: Some(1),
            ..plain.clone()
        },
        Spec {
            name: "ragged axes, pool",
            layout: RowLayout::Axes,
            lengths: some,
            ragged: true,
            provides_scratch: false,
            ..plain.clone()
        },
        Spec { starts: Some(3), ..Spec::plain("three starts", 4, 900, 250) },
        Spec::plain("no samples", 3, 500, 0),
        Spec::plain("one large", 1, 20_000, 5_000),
        plain,
    ]
}

/// For the sanitizer.
pub(crate) fn small() -> Vec<Group> {
    let lengths = vec![300, 0, 1, 33];
    let plain = Spec { lengths, ..Spec::plain("lengths", 4, 300, 60) };
    let ragged = Spec { name: "ragged", ragged: true, starts: Some(1), ..plain.clone() };
    vec![group::<f32>(vec![plain.clone(), ragged]), group::<f64>(vec![plain])]
}

/// A batch in the layout under test, and the CPU's result.
struct Case<T> {
    spec: Spec,
    data: Vec<T>,
    strides: [i64; 2],
    starts: Vec<i64>,
    /// Indices, squared distances and squared covering radius of each cloud.
    truth: Vec<(Vec<usize>, Vec<T>, T)>,
}

impl<T: CudaScalar> Case<T> {
    fn new(spec: Spec) -> Result<Self> {
        let kinds = [Kind::Room, Kind::Lattice, Kind::Object, Kind::Duplicated];
        let clouds: Vec<Cloud<T>> = (0..spec.lengths.len())
            .map(|k| Cloud::of(kinds[k % 4], spec.lengths[k], k as u64))
            .collect();
        let padded = (!spec.ragged).then_some(spec.rows());
        let (data, strides) = laid_out(spec.layout, padded, &clouds);
        let mut starts = Vec::new();
        let mut truth = Vec::new();
        for (k, cloud) in clouds.iter().enumerate() {
            let n = cloud.len();
            let m = spec.samples_of(k).min(n);
            let start_rows: Vec<usize> = match spec.starts {
                Some(count) => (0..count).map(|s| (n * (s + 1) / (count + 1)) % n.max(1)).collect(),
                None => vec![0],
            };
            starts.extend(start_rows.iter().map(|&row| row as i64));
            truth.push(if m == 0 {
                (vec![], vec![], if n > 0 { T::INFINITY } else { T::ZERO })
            } else {
                let job = Sampler::count(m).start(Start::Indices(start_rows));
                let sample = on_cpu(job, n).sample(cloud)?;
                (sample.indices, sample.squared_distances, sample.squared_covering_radius)
            });
        }
        Ok(Self { spec, data, strides, starts, truth })
    }

    fn compare(&self, device: &Gpu, sampler: &Sampler) -> Result<()> {
        let stream = Stream::new(device)?;
        let (spec, b) = (&self.spec, self.spec.lengths.len());
        let (slots, firsts) = spec.slots();
        let points = Buffer::upload(&stream, &self.data, "points")?;
        let list = |numbers: Vec<usize>| -> Result<Buffer<i64>> {
            let numbers: Vec<i64> = numbers.into_iter().map(|n| n as i64).collect();
            Ok(Buffer::upload(&stream, &numbers, "a list")?)
        };
        let offsets = list((0..=b).map(|end| spec.lengths[..end].iter().sum()).collect())?;
        let lengths = list(spec.lengths.clone())?;
        let samples = list(spec.samples.clone().unwrap_or_default())?;
        let first_slots = list(firsts.clone())?;
        let starts = Buffer::upload(&stream, &self.starts, "starts")?;
        let (indices, values) =
            (Guarded::<i64>::new(&stream, slots)?, Guarded::<T>::new(&stream, slots)?);
        let (covering, chosen) = (Guarded::<T>::new(&stream, b)?, Guarded::<i64>::new(&stream, b)?);
        let bytes = device.sample_scratch_bytes::<T>(sampler, b, spec.rows(), 3, spec.max_samples);
        let scratch = Guarded::<u8>::new(&stream, if spec.provides_scratch { bytes } else { 0 })?;
        let all = |pointer: u64| spec.all_outputs.then_some(pointer);
        let differ = spec.lengths.iter().any(|&n| n != spec.rows());
        let batch = DeviceBatch {
            strides: self.strides,
            offsets: spec.ragged.then_some(offsets.pointer()),
            lengths: (differ && !spec.ragged).then_some(lengths.pointer()),
            samples: spec.samples.as_ref().map(|_| samples.pointer()),
            slots: spec.samples.as_ref().map(|_| first_slots.pointer()),
            starts: spec.starts.map(|count| (starts.pointer(), count)),
            values: all(values.pointer()),
            covering: all(covering.pointer()),
            chosen: all(chosen.pointer()),
            scratch: spec.provides_scratch.then_some((scratch.pointer(), bytes)),
            ..DeviceBatch::<T>::padded(points.pointer(), [b, spec.rows(), 3], indices.pointer())
        };
        // SAFETY: the arrays have the sizes given and outlive the stream's work.
        unsafe { device.enqueue_sample(sampler, &stream, &batch)? };
        stream.synchronize()?;
        scratch.read("scratch memory")?;
        let output = (indices.read("indices")?, values.read("values")?);
        let ends = (covering.read("covering radii")?, chosen.read("counts")?);
        if !spec.all_outputs {
            let untouched = [values.untouched(), covering.untouched()];
            let touched = output.1.iter().any(|x| *x != untouched[0]);
            ensure!(
                !touched && ends.0.iter().all(|x| *x == untouched[1]),
                "written without request"
            );
        }
        (0..b).try_for_each(|cloud| self.cloud(cloud, firsts[cloud], &output, &ends))
    }

    /// Compares one cloud's slots.
    fn cloud(
        &self,
        cloud: usize,
        first: usize,
        (indices, values): &(Vec<i64>, Vec<T>),
        (covering, chosen): &(Vec<T>, Vec<i64>),
    ) -> Result<()> {
        let (rows, distances, radius) = &self.truth[cloud];
        let m = rows.len();
        let slots = first..first + self.spec.samples_of(cloud);
        let (found, remaining) = indices[slots.clone()].split_at(m);
        let found: Vec<usize> = found.iter().map(|&row| row as usize).collect();
        let values = &values[slots];
        let distances_found = if self.spec.all_outputs { &values[..m] } else { &distances[..] };
        first_difference(&found, rows, distances_found, distances)
            .map_err(|reason| anyhow::anyhow!("cloud {cloud}: {reason}"))?;
        ensure!(
            remaining.iter().all(|&row| row == -1),
            "cloud {cloud}: a slot left over is not -1"
        );
        if self.spec.all_outputs {
            let zeros = values[m..].iter().all(|&value| value == T::ZERO);
            ensure!(zeros, "cloud {cloud}: a distance left over is not 0");
            let (covering, chosen) = (covering[cloud], chosen[cloud]);
            ensure!(covering == *radius, "cloud {cloud}: covering {covering}, not {radius}");
            ensure!(chosen == m as i64, "cloud {cloud}: {chosen} chosen, not {m}");
        }
        Ok(())
    }
}

/// Lays out the clouds' coordinates, each cloud padded to `padded` rows or one after another; numbers
/// outside the clouds are infinite.
pub(crate) fn laid_out<T: CudaScalar>(
    layout: RowLayout,
    padded: Option<usize>,
    clouds: &[Cloud<T>],
) -> (Vec<T>, [i64; 2]) {
    let dims = clouds.first().map_or(1, |cloud| cloud.dims);
    let slots = |cloud: &Cloud<T>| padded.unwrap_or(cloud.len());
    let rows: usize = clouds.iter().map(slots).sum();
    let (size, strides) = match layout {
        RowLayout::Rows => (rows * dims, [dims as i64, 1]),
        RowLayout::Gaps => (rows * (dims + 2), [dims as i64 + 2, 1]),
        RowLayout::Axes => (rows * dims, [1, rows as i64]),
    };
    let mut data = vec![T::INFINITY; size];
    let mut first = 0;
    for cloud in clouds {
        for (row, point) in (first as i64..).zip(cloud.data.chunks_exact(dims)) {
            for (axis, &x) in point.iter().enumerate() {
                data[(row * strides[0] + axis as i64 * strides[1]) as usize] = x;
            }
        }
        first += slots(cloud);
    }
    (data, strides)
}

fn group<T: CudaScalar>(specs: Vec<Spec>) -> Group {
    Group::new(format!("device pointers {}", T::SUFFIX), ALL, move || {
        let cases = specs.into_iter().map(Case::<T>::new).collect::<Result<Vec<_>>>()?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            for (variant, case) in
                variants::all(part).iter().flat_map(|v| cases.iter().map(move |c| (v, c)))
            {
                let sampler = variant.of(Sampler::count(case.spec.max_samples));
                let label = format!("{}, {}", variant.name, case.spec.name);
                match case.compare(device, &sampler) {
                    Ok(()) => tally.check(label, Ok(())),
                    Err(error) => match error.downcast::<farpoint_cuda::Error>() {
                        Ok(error) => drop(tally.take::<()>(label, Err(error))),
                        Err(error) => tally.check(label, Err(format!("{error:#}"))),
                    },
                }
            }
            Ok(())
        })
    })
}

/// `find_non_finite` counts non-finite rows and finds the first.
fn non_finite() -> Group {
    Group::new("find_non_finite f32", &[""], || {
        Ok(|device: &Gpu, _: &str, tally: &mut Tally| {
            let stream = Stream::new(device)?;
            let mut data = vec![0.5f32; 3 * 100_000 * 2];
            data[200_000 + 17] = f32::NAN;
            data[200_000 + 199_999] = f32::INFINITY;
            data[400_000] = f32::NEG_INFINITY;
            let points = Buffer::upload(&stream, &data, "points")?;
            let counts = Buffer::<i64>::new(&stream, 3, "counts")?;
            let firsts = Buffer::<i64>::new(&stream, 3, "firsts")?;
            let batch = DeviceBatch::<f32>::padded(points.pointer(), [3, 100_000, 2], 0);
            // SAFETY: the arrays have the sizes given and outlive the stream's work.
            unsafe { find_non_finite(&stream, &batch, counts.pointer(), firsts.pointer())? };
            tally.is("counts 0, 2, 1", counts.download(3)? == [0, 2, 1]);
            tally.is("firsts -1, 8, 0", firsts.download(3)? == [-1, 8, 0]);
            Ok(())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use farpoint::Strided;

    /// The kernels' interpretation of a batch (`kernels/common/batch.cuh`), on the CPU.
    #[test]
    fn expected_results_follow_the_definition_of_a_batch() {
        for spec in specs() {
            let case = Case::<f32>::new(spec.clone()).unwrap();
            let (slots, firsts) = spec.slots();
            let b = spec.lengths.len();
            let mut output = (vec![i64::MIN; slots], vec![f32::NAN; slots]);
            let mut ends = (vec![f32::NAN; b], vec![i64::MIN; b]);
            for (cloud, &slot) in firsts.iter().enumerate() {
                let first: usize = match spec.ragged {
                    true => spec.lengths[..cloud].iter().sum(),
                    false => cloud * spec.rows(),
                };
                let shape = [spec.lengths[cloud], 3];
                let strides = case.strides.map(|stride| stride as isize);
                let offset = first as isize * strides[0];
                let view = Strided::new(&case.data, shape, offset, strides).unwrap();
                let m = spec.samples_of(cloud).min(shape[0]);
                let count = spec.starts.unwrap_or(1);
                let start_rows = &case.starts[cloud * count..][..count];
                let start_rows =
                    Start::Indices(start_rows.iter().map(|&row| row as usize).collect());
                let job = if m == 0 { Start::Index(0) } else { start_rows };
                let sample = Sampler::count(m).start(job).sample(&view).unwrap();
                for k in 0..spec.samples_of(cloud) {
                    output.0[slot + k] = sample.indices.get(k).map_or(-1, |&row| row as i64);
                    output.1[slot + k] = sample.squared_distances.get(k).copied().unwrap_or(0.0);
                }
                ends.0[cloud] = sample.squared_covering_radius;
                ends.1[cloud] = m as i64;
            }
            for (cloud, &first) in firsts.iter().enumerate() {
                let same = case.cloud(cloud, first, &output, &ends);
                assert!(same.is_ok(), "{}: {same:?}", spec.name);
            }
            assert!(output.0.iter().all(|&row| row != i64::MIN), "{}: slots overlap", spec.name);
        }
    }
}
