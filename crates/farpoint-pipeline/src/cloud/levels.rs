//! The levels of COPC, from the selection distances of a sample.

use farpoint_io::{Cloud, Coordinates, Copc};

/// Share of a cloud's extent by which float32 may change a distance, after the minimum corner was
/// subtracted: coordinates are rounded by 2^-25 of it, and so are sums and roots.
const ROUNDED: f64 = 1.0 / (1 << 21) as f64;

/// Returns the levels requested by `given`, from distances that were computed in single precision or not.
pub(crate) fn levels(
    options: Option<&Copc>,
    distances: &[f64],
    cloud: &Cloud,
    single: bool,
) -> Copc {
    let error = match cloud.coordinates() {
        Coordinates::F64(points) if single => extent(points) * ROUNDED,
        _ => 0.0,
    };
    let options = options.cloned().unwrap_or_else(|| Copc::new([]));
    let copc = Copc::new(distances).error(error);
    copc.node_points(options.node_points).wkt(options.wkt)
}

/// Returns the longest side of the box around all points.
fn extent(points: &[[f64; 3]]) -> f64 {
    let side = |axis: usize| {
        let values = points.iter().map(|point| point[axis]).filter(|value| value.is_finite());
        let empty = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = values.fold(empty, |(low, high), v| (low.min(v), high.max(v)));
        high - low
    };
    (0..3).map(side).fold(0.0, f64::max)
}
