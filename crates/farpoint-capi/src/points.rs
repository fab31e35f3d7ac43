//! How C hands over coordinates.

use std::ffi::c_void;

/// A cloud: where its coordinates are. Nothing is copied, and nothing is kept after the call.
///
/// Coordinate `axis` of point `i` is the number at the address
/// `data + i * point_stride + axis * axis_stride`, or, with `axis_offsets`, at
/// `data + i * point_stride + axis_offsets[axis]`, all in bytes. Addresses need not be aligned.
/// farpoint_dense() describes an array without gaps. Other examples, for `float`:
///
/// | memory | point_stride | axis_stride | axis_offsets |
/// |---|---|---|---|
/// | `float xyz[n][3]` | 12 | 4 | NULL |
/// | `struct { float x, y, z, intensity; } points[n]` | 16 | 4 | NULL |
/// | `float x[n], y[n], z[n]` in one block | 4 | 4 * n | NULL |
/// | three arrays anywhere, `data` being the first | 4 | not used | the bytes from the first to each |
/// | from the last point to the first | negative | 4 | NULL |
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_points {
    /// The first coordinate of the first point. May be NULL if `count` is 0.
    pub data: *const c_void,
    /// Number of points.
    pub count: usize,
    /// Coordinates of a point, at least 1.
    pub dimensions: usize,
    /// Bytes from a point to the next. May be negative; not 0, unless there is one point.
    pub point_stride: isize,
    /// Bytes from a coordinate to the next. May be negative; not 0, unless there is one coordinate.
    /// Not looked at if there are `axis_offsets`.
    pub axis_stride: isize,
    /// `dimensions` numbers: where the coordinates of a point are, in bytes from the point. NULL if
    /// `axis_stride` tells.
    pub axis_offsets: *const isize,
    /// The memory in which all coordinates must lie, if the library is to check that they do; NULL
    /// if not.
    pub buffer: *const c_void,
    /// Bytes of `buffer`.
    pub buffer_size: usize,
    /// FARPOINT_FLOAT32 or FARPOINT_FLOAT64.
    pub scalar: i32,
    /// 0 or FARPOINT_BYTE_SWAPPED.
    pub flags: u32,
}

/// An array without gaps: coordinate `axis` of point `i` is number `i * dimensions + axis`.
///
/// @param data        the numbers, `count * dimensions` of them
/// @param count       number of points
/// @param dimensions  coordinates of a point
/// @param scalar      FARPOINT_FLOAT32 or FARPOINT_FLOAT64
/// @return the description of the array; what is wrong with it is an error where it is used
#[unsafe(no_mangle)]
pub extern "C" fn farpoint_dense(
    data: *const c_void,
    count: usize,
    dimensions: usize,
    scalar: i32,
) -> farpoint_points {
    let size = if scalar == crate::constants::FARPOINT_FLOAT64 { 8 } else { 4 };
    farpoint_points {
        data,
        count,
        dimensions,
        // Too many coordinates are refused where the points are used.
        point_stride: (size as isize).saturating_mul(dimensions.min(isize::MAX as usize) as isize),
        axis_stride: size,
        axis_offsets: std::ptr::null(),
        buffer: std::ptr::null(),
        buffer_size: 0,
        scalar,
        flags: 0,
    }
}
