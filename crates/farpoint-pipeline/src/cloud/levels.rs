//! The levels of COPC and the column of an order, from the selection distances of a sample.

use super::points::finite;
use crate::{InputPoints, Points, RowSelection};
use farpoint_io::{Cloud, Coordinates, Copc};

/// Name of the column of selection distances.
pub(crate) const SPACING: &str = "spacing";
/// Share of a cloud's extent by which float32 may change a distance, after the minimum corner was
/// subtracted: coordinates are rounded by 2^-25 of it, and so are sums and roots.
const ROUNDED: f64 = 1.0 / (1 << 21) as f64;

/// Returns the options with these distances, whose error is `error`.
pub(crate) fn levels(options: &Copc, distances: &[f64], error: f64) -> Copc {
    let copc = Copc::new(distances).error(error);
    copc.node_points(options.node_points).wkt(options.wkt.clone())
}

/// Returns the error of distances between doubles that became float32, in a box with these corners.
pub(crate) fn rounding([low, high]: [[f64; 3]; 2]) -> f64 {
    (0..3).map(|axis| high[axis] - low[axis]).fold(0.0, f64::max) * ROUNDED
}

/// Returns the error of the distances between the points that are used of a cloud.
pub(crate) fn rounding_of(cloud: &Cloud, input: &InputPoints<'_>) -> f64 {
    let (Coordinates::F64(rows), Points::F32(_)) = (cloud.coordinates(), &input.points) else {
        return 0.0;
    };
    let used = |row: usize| match &input.used {
        Some(RowSelection::Mask(mask)) => mask[row],
        _ => true,
    };
    let mut corners = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    for (_, at) in rows.iter().enumerate().filter(|(row, at)| finite(at) && used(*row)) {
        corners[0] = std::array::from_fn(|axis| corners[0][axis].min(at[axis]));
        corners[1] = std::array::from_fn(|axis| corners[1][axis].max(at[axis]));
    }
    rounding(corners)
}
