//! Colors shared by all pictures.

/// Red, green, blue, 0 to 1.
pub(super) type Color = [f32; 3];

/// Background of the picture, background of a cloud, and color of text.
pub(super) const PAPER: Color = [0.055, 0.065, 0.085];
pub(super) const GROUND: Color = [0.02, 0.025, 0.035];
pub(super) const INK: Color = [0.95, 0.96, 0.98];
pub(super) const FAINT: Color = [0.76, 0.79, 0.83];

/// Dots of exact samples, and of others.
pub(super) const EXACT: Color = [0.33, 0.83, 0.95];
pub(super) const OTHER: Color = [1.0, 0.68, 0.3];

/// Mixes `share` of `b` with the rest of `a`.
pub(super) fn mix(a: Color, b: Color, share: f32) -> Color {
    std::array::from_fn(|k| a[k] + (b[k] - a[k]) * share)
}
