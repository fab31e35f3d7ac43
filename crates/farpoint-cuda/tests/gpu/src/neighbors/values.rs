//! One value per pair and its gradients, computed on the device: those of `farpoint::neighbors::reduce`, bit for bit,
//! by every method, for clouds of one leaf of the sum and of many.

use super::expected::{on_cpu, same_numbers};
use super::{METHODS, method};
use crate::clouds::Cloud;
use crate::guarded::Guarded;
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::Result;
use farpoint::backend::padded_rows;
use farpoint::neighbors::{Reduction, backward, reduce};
use farpoint::{Chamfer, Matcher, Nearest, Norm, Points};
use farpoint_cuda::neighbors::EXTREMES;
use farpoint_cuda::{
    Buffer, CudaScalar, DeviceGradients, DevicePairs, DeviceValues, Gpu, Stream, ValueGradient,
};
use farpoint_generate::Kind;

/// Options of a value.
#[derive(Debug, Clone, Copy)]
struct Spec {
    norm: Norm,
    plain: bool,
    reduction: Reduction,
    both: bool,
}

/// Every combination that differs in a kernel.
fn specs() -> Vec<Spec> {
    let mut specs = Vec::new();
    for reduction in Reduction::ALL {
        for (norm, plain) in [(Norm::Two, false), (Norm::Two, true), (Norm::One, false)] {
            for both in [true, false] {
                specs.push(Spec { norm, plain, reduction, both });
            }
        }
    }
    specs
}

pub(super) fn groups() -> Vec<Group> {
    let mut groups = small();
    let lengths = [vec![700, 1, 650, 33], vec![40, 900, 257, 1]];
    let leaves = [vec![4_096, 4_097, 9_000], vec![8_192, 100, 4_096]];
    groups.extend([
        group::<f32>("32 x 2,048", [vec![2_048; 32], vec![2_048; 32]]),
        group::<f64>("lengths", lengths),
        group::<f32>("leaves", leaves.clone()),
        group::<f64>("leaves", leaves),
        group::<f32>("150,000 and 3,000", [vec![150_000], vec![3_000]]),
        leaves_of_leaves(),
    ]);
    groups
}

/// For the sanitizer too.
pub(super) fn small() -> Vec<Group> {
    vec![group::<f32>("lengths", [vec![300, 256, 1, 33], vec![257, 40, 100, 1]])]
}

fn group<T: CudaScalar>(name: &str, lengths: [Vec<usize>; 2]) -> Group {
    Group::new(format!("chamfer values {}, {name}", T::SUFFIX), METHODS, move || {
        let batch = Batch::<T>::new(&lengths);
        let truths =
            specs().into_iter().map(|spec| batch.truth(spec)).collect::<Result<Vec<_>>>()?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            for truth in &truths {
                batch.compare(device, part, truth, tally)?;
            }
            Ok(())
        })
    })
}

/// Enough rows that the sums of their leaves fill more than one leaf.
fn leaves_of_leaves() -> Group {
    let group = Group::new("chamfer values f32, 17,000,000 and 10", &["auto"], || {
        let batch = Batch::<f32>::new(&[vec![17_000_000], vec![10]]);
        let plain = Spec { norm: Norm::Two, plain: true, reduction: Reduction::Mean, both: true };
        let truth = batch.truth(plain)?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            batch.compare(device, part, &truth, tally)
        })
    });
    group.heavy()
}

/// Clouds padded with values that would be noticed.
struct Batch<T> {
    clouds: [Vec<Cloud<T>>; 2],
    lengths: [Vec<usize>; 2],
    rows: [usize; 2],
    upstream: Vec<T>,
}

/// The CPU's results for a batch.
struct Truth<T> {
    spec: Spec,
    values: Vec<T>,
    extremes: Vec<T>,
    gradients: [Vec<T>; 2],
}

const DIMS: usize = 3;

impl<T: CudaScalar> Batch<T> {
    fn new(lengths: &[Vec<usize>; 2]) -> Self {
        let kinds = [Kind::Room, Kind::Lattice, Kind::Object, Kind::Duplicated];
        let side = |side: usize| -> Vec<Cloud<T>> {
            let cloud =
                |(k, &n): (usize, &usize)| Cloud::of(kinds[k % 4], n, (2 * k + side) as u64);
            lengths[side].iter().enumerate().map(cloud).collect()
        };
        let upstream = (0..lengths[0].len()).map(|pair| T::from_f64(0.3 + 0.7 * pair as f64));
        Self {
            clouds: [side(0), side(1)],
            rows: lengths
                .each_ref()
                .map(|side_lengths| side_lengths.iter().copied().max().unwrap_or(0)),
            lengths: lengths.clone(),
            upstream: upstream.collect(),
        }
    }

    fn truth(&self, spec: Spec) -> Result<Truth<T>> {
        let (mut values, mut extremes) = (Vec::new(), Vec::new());
        let mut gradients = [Vec::new(), Vec::new()];
        for (pair, (a, b)) in self.clouds[0].iter().zip(&self.clouds[1]).enumerate() {
            let mut found = on_cpu(spec.norm, a.len(), b.len()).chamfer(a, b)?;
            if !spec.both {
                found.b_to_a.indices.fill(Nearest::<T>::NONE);
            }
            let second = Some(&found.b_to_a).filter(|_| spec.both);
            let reduced = reduce(&found.a_to_b, second, spec.reduction, spec.plain);
            values.push(T::from_f64(reduced.value));
            extremes.extend(reduced.largest.into_iter().chain(reduced.divisors).map(T::from_f64));
            let Chamfer { a_to_b, b_to_a } = &found;
            let upstream = self.upstream[pair];
            let grads = [reduced.grads(0, a_to_b, upstream), reduced.grads(1, b_to_a, upstream)];
            let gradients_of_pair = backward(&found, a, b, &grads[0], &grads[1])?;
            gradients[0].push(gradients_of_pair.a);
            gradients[1].push(gradients_of_pair.b);
        }
        let padded = |side: usize| padded_rows(&gradients[side], self.rows[side] * DIMS, T::ZERO);
        let gradients = [padded(0)?, padded(1)?];
        Ok(Truth { spec, values, extremes, gradients })
    }

    /// All clouds of a side, padded.
    fn data(&self, side: usize) -> Result<Vec<T>> {
        let clouds: Vec<_> = self.clouds[side].iter().map(|cloud| &cloud.data[..]).collect();
        Ok(padded_rows(&clouds, self.rows[side] * DIMS, T::from_f64(f64::NAN))?)
    }

    fn compare(&self, device: &Gpu, part: &str, truth: &Truth<T>, tally: &mut Tally) -> Result<()> {
        let (spec, stream, pairs) = (truth.spec, Stream::new(device)?, self.upstream.len());
        let label = format!("{part}, {spec:?}");
        let matcher = Matcher::new().method(method(part)).norm(spec.norm);
        let sides = [Side::new(&stream, self, 0)?, Side::new(&stream, self, 1)?];
        let upstream = Buffer::upload(&stream, &self.upstream, "gradients of values")?;
        let values = Guarded::<T>::new(&stream, pairs)?;
        let extremes = Guarded::<T>::new(&stream, EXTREMES * pairs)?;
        let device_pairs = self.device_pairs(&sides, spec.both);
        let request = DeviceValues {
            pairs: device_pairs,
            reduction: spec.reduction,
            plain: spec.plain,
            values: values.pointer(),
            extremes: Some(extremes.pointer()),
        };
        // SAFETY: the arrays have the sizes given and outlive the stream's work, which is waited for.
        let queued = unsafe { device.enqueue_values(&matcher, &stream, &request) };
        if tally.take(&label, queued).is_none() {
            return Ok(());
        }
        stream.synchronize()?;
        tally.check(&label, same_numbers("values", &values.read("values")?, &truth.values));
        let found_extremes = extremes.read("extremes")?;
        if spec.reduction == Reduction::Max {
            tally.check(&label, same_numbers("extremes", &found_extremes, &truth.extremes));
        }
        let value = ValueGradient {
            reduction: spec.reduction,
            plain: spec.plain,
            upstream: (upstream.pointer(), 1),
            extremes: Some(extremes.pointer()),
        };
        let targets = sides.each_ref().map(|side| side.gradients.pointer());
        // SAFETY: indices, distances and extremes are those of the search, and all arrays are as
        // large as given and outlive the stream's work, which is waited for.
        let queued = unsafe {
            let request = DeviceGradients::of_value(device_pairs, value, targets);
            device.enqueue_gradients(&matcher, &stream, &request)
        };
        if tally.take(format!("{label}, backward"), queued).is_some() {
            stream.synchronize()?;
            for (side, truth) in sides.iter().zip(&truth.gradients) {
                let found = side.gradients.read("gradients")?;
                tally.check(format!("{label}, backward"), same_numbers("gradients", &found, truth));
            }
        }
        Ok(())
    }

    fn device_pairs(&self, sides: &[Side<T>; 2], both: bool) -> DevicePairs<T> {
        let points = sides.each_ref().map(|side| side.points.pointer());
        let requested = |side: usize| side == 0 || both;
        let optional = |side: usize, address: u64| Some(address).filter(|_| requested(side));
        let has_lengths = |side: usize| self.lengths[side].iter().any(|&n| n != self.rows[side]);
        let lengths =
            |side: usize| Some(sides[side].lengths.pointer()).filter(|_| has_lengths(side));
        DevicePairs::padded(points, self.upstream.len(), self.rows, DIMS)
            .outputs(
                [0, 1].map(|side| optional(side, sides[side].distances.pointer())),
                [0, 1].map(|side| optional(side, sides[side].indices.pointer())),
            )
            .lengths([lengths(0), lengths(1)])
    }
}

/// One side in device memory.
struct Side<T> {
    points: Buffer<T>,
    lengths: Buffer<i64>,
    distances: Guarded<T>,
    indices: Guarded<i64>,
    gradients: Guarded<T>,
}

impl<T: CudaScalar> Side<T> {
    fn new(stream: &Stream, batch: &Batch<T>, side: usize) -> Result<Self> {
        let places = batch.upstream.len() * batch.rows[side];
        let lengths: Vec<i64> = batch.lengths[side].iter().map(|&n| n as i64).collect();
        Ok(Self {
            points: Buffer::upload(stream, &batch.data(side)?, "points")?,
            lengths: Buffer::upload(stream, &lengths, "lengths")?,
            distances: Guarded::new(stream, places)?,
            indices: Guarded::new(stream, places)?,
            gradients: Guarded::new(stream, places * DIMS)?,
        })
    }
}
