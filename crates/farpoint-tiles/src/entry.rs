//! Points with a value, and the order in which they are chosen.

use farpoint::Scalar;

/// Number of a tile, from 0.
pub type TileId = u32;

/// A point and a squared distance.
///
/// Of a *fact*, a point that is chosen, the value is its selection distance; of a *candidate*, an upper
/// bound of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry<T> {
    /// Coordinates; missing axes are zero.
    pub at: [T; 3],
    /// Squared distance.
    pub value: T,
    /// Row of the input, below `2^40`.
    pub index: u64,
    /// Tile that holds the point.
    pub tile: TileId,
}

impl<T: Scalar> Entry<T> {
    /// Returns the place in the order of choice.
    #[inline(always)]
    pub fn key(&self) -> Key {
        Key::new(self.value, self.index)
    }
}

/// A place in the order of choice: larger values come first, among equals lower indices. Earlier points have
/// lower keys.
///
/// A key is also a *floor*: the band above it is all that comes before it. `Key::new(beta, 0)` is the floor
/// of all points whose value is above `beta`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(u128);

impl Key {
    /// After all points.
    pub const LAST: Self = Self(u128::MAX);
    /// Before all points.
    pub const FIRST: Self = Self(0);

    /// Creates the key of a value, which must not be negative or NaN, and an index.
    #[inline(always)]
    pub fn new<T: Scalar>(value: T, index: u64) -> Self {
        Self((u128::from(!value.sorting_bits()) << 64) | u128::from(index))
    }

    /// Returns the value; NaN for [`Key::FIRST`].
    #[inline(always)]
    pub fn value<T: Scalar>(self) -> T {
        T::from_sorting_bits(!((self.0 >> 64) as u64))
    }

    /// Returns the index.
    #[inline(always)]
    pub fn index(self) -> u64 {
        self.0 as u64
    }

    /// Returns a number that sorts as keys do.
    pub fn bits(self) -> u128 {
        self.0
    }

    /// Creates a key from the number that [`Key::bits`] returned.
    pub fn from_bits(bits: u128) -> Self {
        Self(bits)
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Key({:#x}, {})", !((self.0 >> 64) as u64), self.index())
    }
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn keys_sort_as_choices_do() {
        let keys = [(f32::INFINITY, 9), (2.0, 0), (2.0, 1 << 39), (1.0, 5), (0.0, 0), (0.0, 7)];
        let keys = keys.map(|(value, index)| Key::new(value, index));
        assert!(keys.is_sorted());
        assert!(Key::FIRST < keys[0] && keys[5] < Key::LAST);
        assert_eq!((keys[2].value::<f32>(), keys[2].index()), (2.0, 1 << 39));
        assert_eq!(Key::new(-0.0f64, 3), Key::new(0.0f64, 3));
        assert_eq!(Key::from_bits(keys[3].bits()), keys[3]);
    }
}
