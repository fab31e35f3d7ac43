//! Maximum of many values that change a few at a time.

use farpoint::Scalar;

/// Values by position, and for each block the position of its largest: blocks of blocks, up to
/// one. Reading the largest of all takes O(1), changing `w` of them O(w + log).
pub(crate) struct Maxima<T> {
    /// Changed through `change` or `set`; -1 for values that must not be found again.
    values: Vec<T>,
    /// Among equal values, the one of lowest label is the largest.
    labels: Vec<u32>,
    /// Position of the largest value of each block, by level; the last level has one block.
    best: Vec<Vec<u32>>,
}

/// Values, or blocks, per block.
const FAN: usize = 32;

impl<T: Scalar> Maxima<T> {
    /// Creates the tree of at least one value, with a label for each.
    pub(crate) fn new(values: Vec<T>, labels: Vec<u32>) -> Self {
        let mut maxima = Self { values, labels, best: Vec::new() };
        let mut len = maxima.values.len();
        loop {
            len = len.div_ceil(FAN);
            maxima.best.push(vec![0; len]);
            let level = maxima.best.len() - 1;
            (0..len).for_each(|block| maxima.correct(level, block));
            if len <= 1 {
                return maxima;
            }
        }
    }

    /// Returns the position of the largest value.
    pub(crate) fn largest(&self) -> usize {
        self.best.last().map_or(0, |top| top[0] as usize)
    }

    pub(crate) fn value(&self, position: usize) -> T {
        self.values[position]
    }

    pub(crate) fn label(&self, position: usize) -> u32 {
        self.labels[position]
    }

    /// Changes the values of a range, then brings its blocks up to date.
    pub(crate) fn change(&mut self, range: std::ops::Range<usize>, change: impl FnOnce(&mut [T])) {
        if range.is_empty() {
            return;
        }
        change(&mut self.values[range.clone()]);
        let (mut first, mut last) = (range.start, range.end - 1);
        for level in 0..self.best.len() {
            (first, last) = (first / FAN, last / FAN);
            (first..=last).for_each(|block| self.correct(level, block));
        }
    }

    /// Sets one value without bringing its blocks up to date: `touch` its position after.
    pub(crate) fn set(&mut self, position: usize, value: T) {
        self.values[position] = value;
    }

    /// Brings the blocks of these positions up to date; they are sorted for that.
    pub(crate) fn touch(&mut self, positions: &mut Vec<u32>) {
        positions.sort_unstable();
        for level in 0..self.best.len() {
            positions.iter_mut().for_each(|position| *position /= FAN as u32);
            positions.dedup();
            positions.iter().for_each(|&block| self.correct(level, block as usize));
        }
    }

    fn correct(&mut self, level: usize, block: usize) {
        let len = if level == 0 { self.values.len() } else { self.best[level - 1].len() };
        let range = block * FAN..((block + 1) * FAN).min(len);
        let position = |entry: usize| match level {
            0 => entry as u32,
            _ => self.best[level - 1][entry],
        };
        let best = range.map(position).reduce(|a, b| if self.larger(b, a) { b } else { a });
        self.best[level][block] = best.expect("blocks are not empty");
    }

    /// Returns whether the value at `a` ranks before that at `b`.
    #[inline(always)]
    fn larger(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a as usize, b as usize);
        let (x, y) = (self.values[a], self.values[b]);
        x > y || (x == y && self.labels[a] < self.labels[b])
    }
}

#[cfg(test)]
mod tests {
    use super::Maxima;
    use farpoint::backend::SplitMix64;

    #[test]
    fn largest_matches_a_linear_search() {
        let mut random = SplitMix64::new(1);
        for n in [1usize, 2, 31, 32, 33, 1024, 1025, 3000] {
            let mut values: Vec<f32> = (0..n).map(|_| random.below(9) as f32).collect();
            let labels: Vec<u32> = (0..n as u32).map(|k| (k * 7) % n as u32).collect();
            let mut maxima = Maxima::new(values.clone(), labels.clone());
            for turn in 0..200 {
                let key = |&k: &usize| (values[k] as i64, -i64::from(labels[k]));
                let expected = (0..n).max_by_key(key).unwrap();
                assert_eq!(maxima.value(maxima.largest()), values[expected]);
                assert_eq!(maxima.label(maxima.largest()), labels[expected]);
                let start = random.below(n as u64) as usize;
                let end = (start + random.below(70) as usize).min(n);
                let new = random.below(9) as f32;
                values[start..end].fill(new);
                if turn % 2 == 0 {
                    maxima.change(start..end, |values| values.fill(new));
                } else {
                    (start..end).for_each(|k| maxima.set(k, new));
                    maxima.touch(&mut (start as u32..end as u32).rev().collect());
                }
            }
        }
    }
}
