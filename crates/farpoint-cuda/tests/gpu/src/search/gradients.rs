//! Gradients of the distances of searches, compared with a textbook loop.

use super::batches::{CloudKind, Side, Spec};
use super::expected::{Expected, same};
use crate::clouds::Cloud;
use crate::guarded::Guarded;
use crate::neighbors::grads;
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::Result;
use farpoint::{Norm, Points, Searcher};
use farpoint_cuda::{Buffer, CudaScalar, DeviceSearchGradients, Error, Gpu, Stream};
use farpoint_generate::Kind;
use std::marker::PhantomData;

pub(super) fn groups() -> Vec<Group> {
    let specs = vec![
        Spec::of(CloudKind::Kind(Kind::Room), 2, [700, 900]),
        Spec::of(CloudKind::Kind(Kind::Equal), 1, [90, 40]),
        Spec::of(CloudKind::Kind(Kind::Lidar), 1, [9_000, 3_000]),
        Spec { dims: 5, ..Spec::of(CloudKind::Random, 3, [100, 200]) },
        Spec::lists([true, false]),
        Spec::lists([false, true]),
    ];
    vec![group::<f32>(specs.clone()), group::<f64>(specs)]
}

pub(super) fn small() -> Vec<Group> {
    vec![group::<f32>(vec![Spec::of(CloudKind::Tied, 2, [40, 130]), Spec::lists([true, false])])]
}

fn group<T: CudaScalar>(specs: Vec<Spec>) -> Group {
    Group::new(format!("search gradients {}", T::SUFFIX), &["backward"], move || {
        let mut cases = Vec::new();
        for spec in specs {
            for (norm, whole) in [(Norm::Two, false), (Norm::One, true)] {
                cases.push(Case::<T>::new(spec.clone(), norm, whole)?);
            }
        }
        Ok(move |device: &Gpu, _: &str, tally: &mut Tally| {
            cases.iter().try_for_each(|case| case.compare(device, tally))
        })
    })
}

/// Clouds, the results of a search in them, and the gradients of its distances.
pub(crate) struct Case<T> {
    spec: Spec,
    norm: Norm,
    whole: bool,
    clouds: [Vec<Cloud<T>>; 2],
    k: usize,
    found: Expected<T>,
    grads: Vec<T>,
    truth: [Vec<T>; 2],
}

impl<T: CudaScalar> Case<T> {
    fn new(spec: Spec, norm: Norm, whole: bool) -> Result<Self> {
        let k = 7;
        let clouds = [spec.clouds(0), spec.clouds(1)];
        let job = Searcher::nearest(k).norm(norm);
        let found = Expected::of(&spec, [&clouds[0], &clouds[1]], &job, whole)?;
        let grads = grads(found.indices.len(), 5);
        let mut case =
            Self { spec, norm, whole, clouds, k, found, grads, truth: [Vec::new(), Vec::new()] };
        case.truth = case.expected();
        Ok(case)
    }

    /// A room and another one.
    pub(crate) fn of_rooms(rows: [usize; 2]) -> Result<Self> {
        Self::new(Spec::of(CloudKind::Kind(Kind::Room), 1, rows), Norm::Two, false)
    }

    /// Computes the gradients by a textbook loop.
    fn expected(&self) -> [Vec<T>; 2] {
        let dims = self.spec.dims;
        let mut sums = [0, 1].map(|side| vec![T::ZERO; self.spec.all_rows(side) * dims]);
        let begins = [self.spec.begins(0), self.spec.begins(1)];
        for (cloud, (x, y)) in self.clouds[0].iter().zip(&self.clouds[1]).enumerate() {
            for row in 0..x.len() {
                let at = begins[0][cloud] + row;
                for place in at * self.k..(at + 1) * self.k {
                    let index = self.found.indices[place];
                    if index < 0 {
                        continue;
                    }
                    let base = if self.whole { begins[1][cloud] } else { 0 };
                    let other = index as usize - base;
                    for axis in 0..dims {
                        let (p, q) = (x.coordinate(row, axis), y.coordinate(other, axis));
                        let part = part(self.norm, self.grads[place], p, q);
                        let own_sum = &mut sums[0][at * dims + axis];
                        *own_sum = *own_sum + part;
                        let other_sum = &mut sums[1][(begins[1][cloud] + other) * dims + axis];
                        *other_sum = *other_sum - part;
                    }
                }
            }
        }
        sums
    }

    fn compare(&self, device: &Gpu, tally: &mut Tally) -> Result<()> {
        let stream = Stream::new(device)?;
        let resident = Resident::new(&stream, self)?;
        let mut request = resident.request(self);
        let rows = self.spec.all_rows(0);
        let sums: Vec<i64> = (0..=rows as i64).map(|row| row * self.k as i64).collect();
        let sums = Buffer::upload(&stream, &sums, "offsets")?;
        for ragged in [false, true] {
            request.offsets = ragged.then(|| (sums.pointer(), self.spec.rows()[0] * self.k));
            let bytes = device.search_gradients_scratch_bytes(&request);
            let scratch = Guarded::<u8>::new(&stream, bytes)?;
            request.scratch = ragged.then(|| (scratch.pointer(), bytes));
            // SAFETY: the arrays have the sizes given and outlive the stream's work.
            let queued = unsafe { device.enqueue_search_gradients(&stream, &request) };
            let label = format!("{}, {:?}, ragged {ragged}", self.spec.name, self.norm);
            if tally.take(&label, queued).is_none() {
                continue;
            }
            stream.synchronize()?;
            scratch.read("scratch memory")?;
            for (side, (found, truth)) in resident.gradients.iter().zip(&self.truth).enumerate() {
                let same = same(&found.read("gradients")?, truth, self.spec.dims);
                tally.check(format!("{label}, side {side}"), same);
            }
        }
        Ok(())
    }
}

/// A case in device memory.
pub(crate) struct Resident<T> {
    sides: [Side<T>; 2],
    indices: Buffer<i64>,
    grads: Buffer<T>,
    gradients: [Guarded<T>; 2],
}

impl<T: CudaScalar> Resident<T> {
    pub(crate) fn new(stream: &Stream, case: &Case<T>) -> Result<Self, Error> {
        let side = |side: usize| Side::new(stream, &case.spec, side, &case.clouds[side]);
        let numbers = |side: usize| Guarded::new(stream, case.truth[side].len());
        Ok(Self {
            sides: [side(0)?, side(1)?],
            indices: Buffer::upload(stream, &case.found.indices, "indices")?,
            grads: Buffer::upload(stream, &case.grads, "gradients of distances")?,
            gradients: [numbers(0)?, numbers(1)?],
        })
    }

    /// Requests all gradients, with scratch memory from the pool.
    fn request(&self, case: &Case<T>) -> DeviceSearchGradients<T> {
        DeviceSearchGradients {
            x: self.sides[0].clouds,
            y: self.sides[1].clouds,
            dims: case.spec.dims,
            clouds: case.spec.lengths[0].len(),
            k: case.k,
            offsets: None,
            indices: self.indices.pointer(),
            narrow: false,
            whole: case.whole,
            norm: case.norm,
            grads: self.grads.pointer(),
            gradients: self.gradients.each_ref().map(|side| Some(side.pointer())),
            scratch: None,
            precision: PhantomData,
        }
    }

    pub(crate) fn enqueue(&self, stream: &Stream, case: &Case<T>) -> Result<(), Error> {
        // SAFETY: the arrays have the sizes given, and are freed in the order of their stream, which every
        // caller waits for.
        unsafe { stream.gpu().enqueue_search_gradients(stream, &self.request(case)) }
    }

    /// Synchronizes the buffers' stream, and compares with the CPU.
    pub(crate) fn compare(&self, case: &Case<T>) -> Result<Result<(), String>, Error> {
        for (side, truth) in self.gradients.iter().zip(&case.truth) {
            if let Err(reason) = same(&side.numbers()?, truth, case.spec.dims) {
                return Ok(Err(reason));
            }
        }
        Ok(Ok(()))
    }

    /// Returns whether all gradients that blocks compute together are NaN: those of `y`.
    pub(crate) fn is_void(&self) -> Result<bool, Error> {
        Ok(self.gradients[1].numbers()?.iter().all(|number| number.to_f64().is_nan()))
    }
}

/// The gradient of the distance of `p` and `q` along an axis, times `g`.
fn part<T: CudaScalar>(norm: Norm, g: T, p: T, q: T) -> T {
    match norm {
        Norm::Two => (g + g) * (p - q),
        _ if p > q => g,
        _ if p < q => T::ZERO - g,
        _ => T::ZERO,
    }
}
