//! Selects the points of a cloud that are used, with notes for the user.

use super::points::{finite, is_zero, zeros};
use crate::text::count;
use crate::{InputPoints, Points, RowSelection, Rows, Watch, each_precision};
use farpoint_io::{Cloud, Filter};
use std::borrow::Cow;

/// A larger share of rows that are exactly (0, 0, 0) causes a warning.
pub const MANY_ZEROS: f64 = 0.01;

/// Selects the points of a cloud by `rows`. `name` is that of the file, for the notes to `watch`.
///
/// # Errors
/// A text, if there are rows and none can be used.
pub fn prepare<'a>(
    cloud: &'a Cloud,
    name: &str,
    rows: Rows,
    watch: &dyn Watch,
) -> Result<Points<'a>, String> {
    let mut points = Points::of(cloud);
    let (all, bad, zeros) = (points.len(), points.unusable(), zeros(cloud));
    report_rows(name, rows.drop_zeros, [all, bad, zeros], watch);
    if rows.drop_zeros && zeros > 0 {
        each_precision!(&mut points, points => {
            let rows = points.to_mut().iter_mut().enumerate();
            rows.filter(|(row, _)| is_zero(cloud, *row)).for_each(|(_, at)| *at = unusable());
        });
    }
    if !points.is_empty() && points.first_usable().is_none() {
        return Err(none_usable(name, all));
    }
    if let (true, Points::F64(wide)) = (rows.single, &points) {
        let (corner, narrow) = narrowed(wide);
        report_narrowed(name, corner, watch);
        points = Points::F32(Cow::Owned(narrow));
    }
    Ok(points)
}

/// Reports the numbers of `bad` and `zeros` among `all` rows, and their treatment.
pub(crate) fn report_rows(
    name: &str,
    drop_zeros: bool,
    [all, bad, zeros]: [usize; 3],
    watch: &dyn Watch,
) {
    let many = zeros as f64 > MANY_ZEROS * all as f64;
    let (rows, zero_rows) = (all as u64, zeros as u64);
    let [all, unusable, empty] = [all, bad, zeros].map(count);
    if bad > 0 {
        watch.warn(&format!(
            "{name}: {unusable} of {all} rows hold NaN or infinity and are left out"
        ));
    }
    if drop_zeros && zeros > 0 {
        watch
            .note(&format!("{name}: {empty} of {all} rows are exactly (0, 0, 0) and are left out"));
    } else if many {
        watch.warn(&zeros_kept(name, zero_rows, rows));
    }
}

/// Returns the warning that `zeros` of `all` rows are kept.
pub fn zeros_kept(name: &str, zeros: u64, all: u64) -> String {
    let [zeros, all] = [zeros, all].map(count);
    format!(
        "{name}: {zeros} of {all} rows are exactly (0, 0, 0), which some sensors write for 'no return'; `drop_zeros=True` \
         leaves them out"
    )
}

/// Reports the offset that was subtracted before sampling in single precision.
pub(crate) fn report_narrowed(name: &str, [x, y, z]: [f64; 3], watch: &dyn Watch) {
    watch.note(&format!(
        "{name}: sampled in single precision, after subtracting the minimum corner ({x}, {y}, {z}); what is \
         written keeps its coordinates"
    ));
}

fn unusable<T: From<f32>>() -> [T; 3] {
    [f32::NAN; 3].map(T::from)
}

/// Returns the minimum corner, and the points relative to it in single precision.
pub fn narrowed(points: &[[f64; 3]]) -> ([f64; 3], Vec<[f32; 3]>) {
    narrowed_of(points, |_| true)
}

/// Like [`narrowed`], with the corner of the rows that are used.
pub(crate) fn narrowed_of(
    points: &[[f64; 3]],
    used: impl Fn(usize) -> bool,
) -> ([f64; 3], Vec<[f32; 3]>) {
    let mut corner = [f64::INFINITY; 3];
    let rows = points.iter().enumerate().filter(|(row, at)| used(*row) && finite(at));
    for (_, row) in rows {
        corner = std::array::from_fn(|axis| corner[axis].min(row[axis]));
    }
    let shift = |row: &[f64; 3]| std::array::from_fn(|axis| (row[axis] - corner[axis]) as f32);
    (corner, points.iter().map(shift).collect())
}

/// Returns the rows of a cloud that are written when it is converted: those with NaN and infinity too.
///
/// # Errors
/// A text, if a field of the filter does not exist.
pub(crate) fn converted(
    cloud: &Cloud,
    name: &str,
    drop_zeros: bool,
    filter: &Filter,
    watch: &dyn Watch,
) -> Result<Vec<usize>, String> {
    if filter.is_empty() && !drop_zeros {
        return Ok((0..cloud.len()).collect());
    }
    let mut mask = filter.mask(cloud, name).map_err(|error| error.to_string())?;
    if drop_zeros {
        mask.iter_mut().enumerate().for_each(|(row, used)| *used &= !is_zero(cloud, row));
    }
    let rows: Vec<usize> = (0..cloud.len()).filter(|&row| mask[row]).collect();
    report_filtered(name, [cloud.len(), rows.len()], watch);
    warn_of_none(name, [cloud.len(), rows.len()], watch);
    Ok(rows)
}

/// Reports the number of rows that a filter uses.
pub(crate) fn report_filtered(name: &str, [all, used]: [usize; 2], watch: &dyn Watch) {
    watch.note(&format!("{name}: {} of {} rows are used", count(used), count(all)));
}

/// Warns if a filter leaves none of the rows of a file.
pub(crate) fn warn_of_none(name: &str, [all, usable]: [usize; 2], watch: &dyn Watch) {
    if all > 0 && usable == 0 {
        watch.warn(&format!(
            "{name}: the filters leave no row with a position of {}; check their values",
            count(all)
        ));
    }
}

/// Returns the error that none of the rows of a file, of which no filter leaves any out, can be used.
pub(crate) fn none_usable(name: &str, rows: usize) -> String {
    format!("{name}: none of the {} rows can be used; check the file", count(rows))
}

/// Selects the points of a cloud by `rows` and `filter`. `name` is that of the file, for the notes to `watch`.
///
/// # Errors
/// A text, if a field of the filter does not exist, or if there is no filter and no row can be used.
pub(crate) fn choose<'a>(
    cloud: &'a Cloud,
    name: &str,
    rows: Rows,
    filter: &Filter,
    watch: &dyn Watch,
) -> Result<InputPoints<'a>, String> {
    if filter.is_empty() && !rows.drop_zeros {
        return prepare(cloud, name, rows, watch).map(|points| InputPoints {
            of: points.len(),
            points,
            used: None,
        });
    }
    let points = Points::of(cloud);
    let mut mask = filter.mask(cloud, name).map_err(|error| error.to_string())?;
    let kept = mask.iter().filter(|used| **used).count();
    if !filter.is_empty() {
        report_filtered(name, [points.len(), kept], watch);
    }
    let bad = each_precision!(&points, points => {
        points.iter().zip(&mask).filter(|(row, used)| **used && !finite(row)).count()
    });
    let zeros = (0..mask.len()).filter(|&row| mask[row] && is_zero(cloud, row)).count();
    report_rows(name, rows.drop_zeros, [kept, bad, zeros], watch);
    if rows.drop_zeros && zeros > 0 {
        mask.iter_mut().enumerate().for_each(|(row, used)| *used &= !is_zero(cloud, row));
    }
    let left_out = bad + if rows.drop_zeros { zeros } else { 0 };
    if filter.is_empty() && kept > 0 && kept == left_out {
        return Err(none_usable(name, kept));
    }
    warn_of_none(name, [points.len(), kept - left_out], watch);
    let points = match points {
        Points::F64(wide) if rows.single => {
            let used = |row: usize| mask[row];
            let (corner, narrow) = narrowed_of(&wide, used);
            report_narrowed(name, corner, watch);
            Points::F32(Cow::Owned(narrow))
        }
        points => points,
    };
    Ok(InputPoints { points, of: mask.len(), used: Some(RowSelection::Mask(mask)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use farpoint_io::Coordinates;

    #[test]
    fn narrowing_subtracts_first() {
        let rows = [[637_000.015_625, -2.0, 5.0], [637_000.0, 2.0, 5.25], [f64::NAN, 0.0, 0.0]];
        let (corner, narrow) = narrowed(&rows);
        assert_eq!(corner, [637_000.0, -2.0, 5.0]);
        assert_eq!(narrow[..2], [[0.015_625, 0.0, 0.0], [0.0, 4.0, 0.25]]);
        assert!(narrow[2][0].is_nan());
    }

    #[test]
    fn zeros_have_any_sign() {
        let cloud = Cloud::new(Coordinates::F32(vec![[0.0, -0.0, 0.0], [0.0, 0.0, 1.0]]));
        assert_eq!([0, 1].map(|row| is_zero(&cloud, row)), [true, false]);
    }
}
