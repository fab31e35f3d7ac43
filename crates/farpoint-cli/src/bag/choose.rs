//! Sampling of one message: chooses the kept points among its usable rows, on the calling thread.

use crate::input::narrowed;
use farpoint::{Amount, Cpu, RawLayout, RawPoints, Scalar, Selected};
use farpoint_io::Coordinates;
use farpoint_io::bag::{Kept, PointCloud2};
use farpoint_pipeline::{Chosen, Job, Method, Request};
use std::sync::atomic::{AtomicU64, Ordering};

/// Samples messages by a request.
pub(super) struct Chooser<'a> {
    pub(super) request: &'a Request,
    cpu: Cpu,
    /// Messages with fewer usable points than requested.
    pub(super) short: AtomicU64,
    /// Rows that are exactly (0, 0, 0).
    pub(super) zeros: AtomicU64,
}

impl<'a> Chooser<'a> {
    pub(super) fn new(request: &'a Request) -> Self {
        let cpu = request.place.as_cpu().threads(1);
        Self { request, cpu, short: AtomicU64::new(0), zeros: AtomicU64::new(0) }
    }

    /// Returns the points of a message to keep.
    pub(super) fn choose(&self, message: &PointCloud2<'_>) -> Result<Kept, String> {
        let drop_zeros = self.request.rows.drop_zeros;
        let (rows, [bad, zeros]) = message.usable(drop_zeros);
        self.zeros.fetch_add(zeros as u64, Ordering::Relaxed);
        let dropped = if drop_zeros { bad + zeros } else { bad };
        // Messages of ROS are in meters.
        let amount = match self.request.size.amount(1.0) {
            Amount::Count(count) if count > rows.len() => {
                self.short.fetch_add(1, Ordering::Relaxed);
                Amount::Count(rows.len())
            }
            amount => amount,
        };
        if rows.is_empty() {
            return Ok(Kept::new(Vec::new(), dropped));
        }
        let chosen = self.sample(message, &rows, &self.job(amount));
        Ok(match chosen.map_err(|error| error.to_string())? {
            Chosen::Rows(rows) => Kept::new(rows, dropped),
            Chosen::Means(groups, centers) => Kept::means(groups, centers, dropped),
        })
    }

    fn job(&self, amount: Amount) -> Job {
        if let Some(grid) = self.request.grid(1.0) {
            return Job::Voxels(grid);
        }
        let Request { method, start, .. } = self.request;
        // Without a start, the first usable row, as of files.
        let exact = matches!(method, Method::Exact(_));
        let start = start.clone().or_else(|| exact.then_some(farpoint::Start::First));
        Job::new(*method, amount, start)
    }

    /// Samples the records in place, unless they have to be changed first.
    fn sample(
        &self,
        message: &PointCloud2<'_>,
        rows: &[u32],
        job: &Job,
    ) -> Result<Chosen, farpoint::Error> {
        use farpoint_io::NumberType::{F32, F64};
        let single = self.request.rows.single;
        let even = message.even();
        let even = even.map(|(data, places, kind)| (data, places.map(|at| at as isize), kind));
        match &even {
            Some((data, places, F32)) => {
                job.choose(&Selected::rows(raw::<f32>(message, data, places)?, rows)?, &self.cpu)
            }
            Some((data, places, F64)) if !single => {
                job.choose(&Selected::rows(raw::<f64>(message, data, places)?, rows)?, &self.cpu)
            }
            _ => match message.coordinates() {
                Coordinates::F32(points) => {
                    job.choose(&Selected::rows(&points[..], rows)?, &self.cpu)
                }
                Coordinates::F64(points) if single => {
                    let (_, points) = narrowed(&points);
                    job.choose(&Selected::rows(&points[..], rows)?, &self.cpu)
                }
                Coordinates::F64(points) => {
                    job.choose(&Selected::rows(&points[..], rows)?, &self.cpu)
                }
            },
        }
    }
}

/// Returns the points of a message in place.
fn raw<'a, T: Scalar>(
    message: &PointCloud2<'_>,
    data: &'a [u8],
    places: &'a [isize; 3],
) -> Result<RawPoints<'a, T>, farpoint::Error> {
    let layout = RawLayout::dense(message.len(), 3)
        .point_stride(message.point_step() as isize)
        .axis_offsets(places)
        .byte_swapped(message.big_endian() != cfg!(target_endian = "big"));
    RawPoints::new(data, layout)
}
