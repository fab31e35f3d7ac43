//! Searches of clouds in host memory, alone and in batches.

use super::{METHODS, method};
use crate::clouds::Cloud;
use crate::runner::Group;
use crate::tally::Tally;
use farpoint::{NonFinite, Order, Searcher};
use farpoint_cuda::{CudaScalar, Gpu, Gpus};
use farpoint_generate::Kind;

pub(super) fn groups() -> Vec<Group> {
    vec![group::<f32>(), group::<f64>()]
}

fn jobs() -> Vec<Searcher> {
    let ball = Searcher::ball(0.5, 20);
    vec![
        Searcher::nearest(5),
        Searcher::nearest(40).exclude_self(true),
        ball.clone(),
        ball.order(Order::Nearest).min_radius(0.1),
    ]
}

/// Pairs of clouds, some without queries; some rows of one are non-finite.
fn pairs<T: CudaScalar>() -> [Vec<Cloud<T>>; 2] {
    let side = |side: u64, sizes: [usize; 5]| {
        let cloud = |(seed, n): (u64, usize)| Cloud::of(Kind::Room, n, 2 * seed + side);
        (0..).zip(sizes).map(cloud).collect::<Vec<_>>()
    };
    let [x, mut y] = [side(0, [500, 33, 1, 0, 0]), side(1, [900, 1_200, 4, 5, 0])];
    y[0].data[7] = T::from_f64(f64::NAN);
    y[0].data[300] = T::from_f64(f64::INFINITY);
    [x, y]
}

fn group<T: CudaScalar>() -> Group {
    Group::new(format!("search host memory {}", T::SUFFIX), METHODS, || {
        let [x, y] = pairs::<T>();
        let jobs = jobs().into_iter().map(|job| job.non_finite(NonFinite::Skip));
        let jobs = jobs
            .map(|job| {
                let within = job.ball.map(|_| job.within_batch(&x, &y)).transpose()?;
                Ok((job.search_batch(&x, &y)?, within, job))
            })
            .collect::<anyhow::Result<Vec<_>>>()?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            for (truth, within, job) in &jobs {
                let (job, label) = (job.clone().method(method(part)), format!("{job:?}"));
                let differs = |same: bool| if same { Ok(()) } else { Err("differs".to_owned()) };
                if let Some(found) = tally.take(&label, job.on(device).search_batch(&x, &y)) {
                    tally.check(&label, differs(found == *truth));
                }
                for [x, y] in [[&y[0], &y[0]], [&x[3], &y[3]], [&x[4], &y[4]]] {
                    if let Some(found) = tally.take(&label, job.on(device).search(x, y)) {
                        let expected = job.clone().method(farpoint::Method::Auto).search(x, y)?;
                        tally.check(&label, differs(found == expected));
                    }
                }
                let Some(within) = within else { continue };
                let twice = Gpus::new(vec![device.clone(), device.clone()])?;
                if let Some(found) = tally.take(&label, job.on(&twice).within_batch(&x, &y)) {
                    tally.check(&label, differs(found == *within));
                }
            }
            Ok(())
        })
    })
}
