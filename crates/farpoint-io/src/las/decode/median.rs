//! The median of the last steps, as LASzip estimates it.

/// Five steps in order. Of a new one the largest and the smallest go by turns.
#[derive(Clone, Copy)]
pub(super) struct Median {
    values: [i32; 5],
    /// 1 where the smallest goes next.
    first: usize,
}

impl Median {
    pub(super) fn new() -> Self {
        Self { values: [0; 5], first: 0 }
    }

    #[inline(always)]
    pub(super) fn get(&self) -> i32 {
        self.values[2]
    }

    /// Without a branch: which of them goes is hard to predict.
    #[inline(always)]
    pub(super) fn add(&mut self, step: i32) {
        let middle = self.values[2];
        let first = self.first & 1;
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| self.values[first + k]);
        self.values =
            [a.min(step), b.min(a.max(step)), c.min(b.max(step)), d.min(c.max(step)), d.max(step)];
        self.first = usize::from(step >= middle) & (1 - first) | usize::from(step > middle) & first;
    }
}
