//! All neighbors in balls, of clouds in device memory.

use super::batches::{CloudKind, Side, Spec};
use super::expected::{filled, same, same_indices};
use super::method;
use crate::clouds::Cloud;
use crate::guarded::Guarded;
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::Result;
use farpoint::{NonFinite, Order, Points, Searcher};
use farpoint_cuda::{Buffer, CudaScalar, DeviceSearch, DeviceWithin, Gpu, Stream};
use farpoint_generate::Kind;

const METHODS: &[&str] = &["brute", "tree", "auto"];

pub(super) fn groups() -> Vec<Group> {
    let specs = vec![
        Spec::of(CloudKind::Kind(Kind::Room), 2, [300, 1_500]),
        Spec::of(CloudKind::Kind(Kind::Lattice), 1, [100, 900]),
        Spec::of(CloudKind::Kind(Kind::Equal), 1, [40, 300]),
        Spec::of(CloudKind::Bad, 2, [0, 600]).self_search(),
        Spec { dims: 5, ..Spec::of(CloudKind::Random, 1, [100, 700]) },
        Spec::lists([true, false]),
        Spec::lists([false, true]),
    ];
    vec![group::<f32>(specs.clone()), group::<f64>(specs)]
}

pub(super) fn small() -> Vec<Group> {
    vec![group::<f32>(vec![Spec::lists([true, false]), Spec::of(CloudKind::Tied, 1, [50, 200])])]
}

fn jobs() -> Vec<Searcher> {
    let ball = |radius: f64| Searcher::ball(radius, 1);
    vec![
        ball(0.3),
        ball(0.7).order(Order::Nearest),
        ball(0.6).exclude_self(true).min_radius(0.2),
        ball(0.0),
        ball(f64::INFINITY).inclusive(true),
    ]
}

fn group<T: CudaScalar>(specs: Vec<Spec>) -> Group {
    Group::new(format!("search within {}", T::SUFFIX), METHODS, move || {
        let cases = specs.into_iter().map(Case::<T>::new).collect::<Result<Vec<_>>>()?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            for case in &cases {
                for (job, truth) in jobs().into_iter().zip(&case.truth) {
                    let job = job.method(method(part));
                    let label = format!("{:?}, {}", job.ball, case.spec.name);
                    tally.check(&label, case.compare(device, &job, truth)?);
                }
            }
            Ok(())
        })
    })
}

/// Offsets of the rows' neighbors, indices and distances.
struct Neighborhoods<T> {
    offsets: Vec<i64>,
    indices: Vec<i64>,
    distances: Vec<T>,
}

struct Case<T> {
    spec: Spec,
    clouds: [Vec<Cloud<T>>; 2],
    truth: Vec<Neighborhoods<T>>,
}

impl<T: CudaScalar> Case<T> {
    fn new(spec: Spec) -> Result<Self> {
        let clouds = [spec.clouds(0), spec.clouds(1)];
        let truth =
            jobs().iter().map(|job| expected(&spec, &clouds, job)).collect::<Result<_>>()?;
        Ok(Self { spec, clouds, truth })
    }

    fn compare(
        &self,
        device: &Gpu,
        job: &Searcher,
        truth: &Neighborhoods<T>,
    ) -> Result<Result<(), String>> {
        let stream = Stream::new(device)?;
        let mut x = Side::new(&stream, &self.spec, 0, &self.clouds[0])?;
        let y = Side::new(&stream, &self.spec, 1, &self.clouds[1])?;
        if self.spec.self_search {
            x.clouds = y.clouds;
        }
        let rows = self.spec.all_rows(0);
        let counts = Guarded::<i64>::new(&stream, rows)?;
        let (clouds, dims) = (self.spec.lengths[0].len(), self.spec.dims);
        let search = DeviceSearch::<T>::new(x.clouds, y.clouds, clouds, dims);
        let counted = search.outputs(None, None, Some(counts.pointer()));
        // SAFETY: the arrays have the sizes given and outlive the stream's work.
        unsafe { device.enqueue_search_counts(job, &stream, &counted)? };
        let counts = counts.read("counts")?;
        let sums: Vec<i64> = (0..=rows).map(|end| counts[..end].iter().sum()).collect();
        if let Err(error) = same_indices(&sums, &truth.offsets, 1) {
            return Ok(Err(format!("counts: {error}")));
        }
        let offsets = Buffer::upload(&stream, &sums, "offsets")?;
        let distances = Guarded::<T>::new(&stream, truth.distances.len())?;
        let indices = Guarded::<i64>::new(&stream, truth.indices.len())?;
        let search = search.outputs(Some(distances.pointer()), Some(indices.pointer()), None);
        let within = DeviceWithin { search, offsets: offsets.pointer() };
        // SAFETY: as above.
        unsafe { device.enqueue_search_fill(job, &stream, &within)? };
        let found = same_indices(&indices.read("indices")?, &truth.indices, 1);
        let numbers = same(&distances.read("distances")?, &truth.distances, 1);
        anyhow::ensure!(x.points.len() + y.points.len() + x.lists() > 0, "kept until here");
        Ok(found.and(numbers))
    }
}

/// The CPU's results.
fn expected<T: CudaScalar>(
    spec: &Spec,
    [xs, ys]: &[Vec<Cloud<T>>; 2],
    job: &Searcher,
) -> Result<Neighborhoods<T>> {
    let job = job.clone().non_finite(NonFinite::Skip);
    let mut all = Neighborhoods { offsets: vec![0], indices: Vec::new(), distances: Vec::new() };
    for (x, y) in xs.iter().zip(ys) {
        let found = if filled(x) && filled(y) { Some(job.within(x, y)?) } else { None };
        let rows = if spec.ragged[0] { x.len() } else { spec.rows()[0] };
        for row in 0..rows {
            let valid = found.as_ref().filter(|_| row < x.len());
            let places = valid.map_or(0..0, |found| found.row(row));
            if let Some(found) = valid {
                all.indices.extend(found.indices[places.clone()].iter().map(|&i| i64::from(i)));
                all.distances.extend_from_slice(&found.raw_distances[places]);
            }
            all.offsets.push(all.indices.len() as i64);
        }
    }
    Ok(all)
}
