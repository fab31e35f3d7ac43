//! Rows with the extreme values of all chosen ones: any test of bounds, of fractions, of NaN or of decimals finds in
//! these what it finds in all rows.

use crate::cloud::Cloud;
use crate::cloud::column::Column;
use crate::cloud::resolution::decimals;
use std::collections::BTreeMap;

/// Kind of an extreme value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Extreme {
    Lowest,
    Highest,
    Fraction,
    NotFinite,
    NotANumber,
    Decimals,
}

type Key = (usize, usize, Extreme);

/// The rows found so far.
#[derive(Default)]
pub(super) struct Extremes(BTreeMap<Key, (f64, Vec<u8>)>);

impl Extremes {
    /// Searches more rows.
    pub(super) fn look(&mut self, cloud: &Cloud) {
        let rows: Vec<usize> = (0..cloud.len()).collect();
        let Some(table) = &cloud.table else { return };
        for axis in 0..3 {
            self.values((usize::MAX, axis), &cloud.coordinates.axis(axis, &rows), cloud);
            self.decimals(axis, cloud, &rows);
        }
        for (place, dimension) in
            table.dimensions.iter().enumerate().filter(|(_, s)| s.list.is_none())
        {
            for k in 0..dimension.count {
                match table.column(place, k, &rows) {
                    Some(column) => self.values((place, k), &column, cloud),
                    None if self.0.contains_key(&(place, k, Extreme::NotANumber)) => {}
                    None => {
                        let is_none = |row: &&usize| table.column(place, k, &[**row]).is_none();
                        if let Some(&row) = rows.iter().find(is_none) {
                            self.offer((place, k, Extreme::NotANumber), 1.0, row, cloud);
                        }
                    }
                }
            }
        }
    }

    fn values(&mut self, (place, k): (usize, usize), column: &Column, cloud: &Cloud) {
        let (mut low, mut high) = (None, None);
        let (mut fraction, mut odd) = (None, None);
        for row in 0..column.len() {
            let value = column.get(row);
            if !value.is_finite() {
                odd = odd.or(Some(row));
            } else if value.fract() != 0.0 {
                fraction = fraction.or(Some(row));
            }
            if low.is_none_or(|(min, _)| value < min) && !value.is_nan() {
                low = Some((value, row));
            }
            if high.is_none_or(|(max, _)| value > max) && !value.is_nan() {
                high = Some((value, row));
            }
        }
        let found = [
            (Extreme::Lowest, low.map(|(value, row)| (-value, row))),
            (Extreme::Highest, high),
            (Extreme::Fraction, fraction.map(|row| (1.0, row))),
            (Extreme::NotFinite, odd.map(|row| (1.0, row))),
        ];
        for (extreme, found) in found {
            if let Some((value, row)) = found {
                self.offer((place, k, extreme), value, row, cloud);
            }
        }
    }

    fn decimals(&mut self, axis: usize, cloud: &Cloud, rows: &[usize]) {
        let digits =
            |rows: &[usize]| decimals(&cloud.coordinates, axis, rows).map_or(1e3, f64::from);
        let max_digits = digits(rows);
        let key = (usize::MAX, axis, Extreme::Decimals);
        if self.0.get(&key).is_some_and(|(known, _)| *known >= max_digits) {
            return;
        }
        if let Some(&row) = rows.iter().find(|row| digits(&[**row]) >= max_digits) {
            self.offer(key, max_digits, row, cloud);
        }
    }

    fn offer(&mut self, key: Key, value: f64, row: usize, cloud: &Cloud) {
        if self.0.get(&key).is_none_or(|(known, _)| value > *known) {
            let stored = cloud.table.as_ref().map_or(&[][..], |table| table.row(row));
            self.0.insert(key, (value, stored.to_vec()));
        }
    }

    /// Returns the rows one after another, with line feeds if they are lines.
    pub(super) fn stored(&self, lines: bool) -> Vec<u8> {
        let mut all = Vec::new();
        for (_, row) in self.0.values() {
            all.extend_from_slice(row);
            if lines {
                all.push(b'\n');
            }
        }
        all
    }
}
