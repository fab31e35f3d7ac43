//! Several samples of one cloud beside each other (`farpoint compare --view`): the chosen points of each,
//! and a byte per point for the distance to the nearest of them.

use super::encode::rising;
use super::places::Places;
use farpoint_io::Cloud;
use serde_json::{Value, json};

/// The samples shown beside each other.
#[derive(Default)]
pub(crate) struct Panes<'a> {
    /// Rows of the cloud available to all samplers, in their order.
    pub(crate) rows: &'a [usize],
    pub(crate) panes: Vec<Pane<'a>>,
}

/// One sampler's result.
pub(crate) struct Pane<'a> {
    pub(crate) title: String,
    /// Quality in words.
    pub(crate) note: String,
    pub(crate) exact: bool,
    pub(crate) chosen: Chosen<'a>,
    /// Distance of each row to the nearest sample.
    pub(crate) distances: &'a [f64],
}

/// Position of the samples.
pub(crate) enum Chosen<'a> {
    /// Indices into [`Panes::rows`].
    Rows(&'a [usize]),
    /// Coordinates that are not points of the cloud.
    Made(&'a [[f64; 3]]),
}

/// The samples of a pane, located in the page.
pub(super) struct LocatedSamples {
    /// Positions in the page's order, rising.
    within: Vec<usize>,
    /// Coordinates of samples that are not among the page's points.
    pub(super) beside: Vec<[f64; 3]>,
}

/// A pane as the page stores it.
pub(super) struct Stored {
    pub(super) json: Value,
    pub(super) samples: Vec<u8>,
    pub(super) beside: Vec<u8>,
    pub(super) distances: Vec<u8>,
}

/// Position of a row that the page does not hold.
const NOWHERE: u32 = u32::MAX;

/// Position of each row of the cloud in the page's order.
pub(super) struct Located(Vec<u32>);

impl Located {
    /// Locates the rows of a cloud; empty without panes.
    pub(super) fn of(order: &[usize], rows: usize, panes: &Panes<'_>) -> Self {
        if panes.panes.is_empty() {
            return Self(Vec::new());
        }
        let mut places = vec![NOWHERE; rows];
        for (place, &row) in order.iter().enumerate() {
            places[row] = place as u32;
        }
        Self(places)
    }

    fn place(&self, row: usize) -> Option<usize> {
        (self.0[row] != NOWHERE).then_some(self.0[row] as usize)
    }
}

impl Panes<'_> {
    /// Returns the located samples of each pane.
    pub(super) fn found(&self, cloud: &Cloud, located: &Located) -> Vec<LocatedSamples> {
        self.panes.iter().map(|pane| pane.found(self.rows, cloud, located)).collect()
    }

    /// Encodes all panes; the page holds `shown` points.
    pub(super) fn stored(
        &self,
        found: &[LocatedSamples],
        places: &Places,
        located: &Located,
        shown: usize,
    ) -> Vec<Stored> {
        let each = self.panes.iter().zip(found);
        each.map(|(pane, found)| pane.stored(self.rows, found, places, located, shown)).collect()
    }
}

impl Pane<'_> {
    fn found(&self, rows: &[usize], cloud: &Cloud, located: &Located) -> LocatedSamples {
        let samples = match self.chosen {
            Chosen::Made(places) => {
                return LocatedSamples { within: Vec::new(), beside: places.to_vec() };
            }
            Chosen::Rows(samples) => samples,
        };
        let (mut within, mut beside) = (Vec::with_capacity(samples.len()), Vec::new());
        for &sample in samples {
            match located.place(rows[sample]) {
                Some(place) => within.push(place),
                None => beside.push(cloud.coordinates().get(rows[sample])),
            }
        }
        within.sort_unstable();
        // Some samplers may choose a point twice, which is one dot.
        within.dedup();
        LocatedSamples { within, beside }
    }

    fn stored(
        &self,
        rows: &[usize],
        found: &LocatedSamples,
        places: &Places,
        located: &Located,
        shown: usize,
    ) -> Stored {
        let finite = self.distances.iter().copied().filter(|distance| distance.is_finite());
        let farthest = finite.fold(0.0, f64::max);
        let mut distances = vec![0; shown];
        for (&row, &distance) in rows.iter().zip(self.distances) {
            if let Some(place) = located.place(row) {
                distances[place] = byte(distance, farthest);
            }
        }
        let mut samples = Vec::with_capacity(2 * found.within.len());
        rising(found.within.iter().copied(), &mut samples);
        let json = json!({
            "title": self.title,
            "note": self.note,
            "exact": self.exact,
            "farthest": farthest,
            "beside": found.beside.len(),
        });
        Stored { json, samples, beside: places.steps(found.beside.iter().copied()), distances }
    }
}

/// Returns the root of the share of the farthest distance: small distances, which are most, keep their
/// digits where a few are very large.
fn byte(distance: f64, farthest: f64) -> u8 {
    if farthest > 0.0 { (255.0 * (distance / farthest).sqrt()).round() as u8 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use farpoint_io::Coordinates;

    #[test]
    fn small_distances_keep_their_digits() {
        assert_eq!([0.0, 10.0, 1e9, f64::INFINITY].map(|far| byte(far, 10.0)), [0, 255, 255, 255]);
        assert_eq!(byte(0.0, 0.0), 0);
        let back = |stored: u8| 10.0 * (f64::from(stored) / 255.0).powi(2);
        for distance in [0.01, 0.05, 0.1, 3.0] {
            let found = back(byte(distance, 10.0));
            assert!((found / distance - 1.0).abs() < 0.08, "{distance} {found}");
        }
    }

    /// The page holds the rows 4, 1 and 2 of five; the samplers were given rows 1 to 4.
    #[test]
    fn samples_are_found_in_the_page_or_stored_beside_it() {
        let rows: Vec<[f32; 3]> = (0..5).map(|k| [k as f32, 0.0, 0.0]).collect();
        let cloud = Cloud::new(Coordinates::F32(rows));
        let order = [4, 1, 2];
        let pane = |chosen| Pane {
            title: String::new(),
            note: String::new(),
            exact: true,
            chosen,
            distances: &[1.0, 0.0, 4.0, 0.25],
        };
        let made = [[2.5, 0.0, 0.0]];
        let panes = Panes {
            rows: &[1, 2, 3, 4],
            panes: vec![pane(Chosen::Rows(&[3, 2, 1, 3])), pane(Chosen::Made(&made))],
        };
        let located = Located::of(&order, 5, &panes);
        let found = panes.found(&cloud, &located);
        assert_eq!(
            (&found[0].within[..], &found[0].beside[..]),
            (&[0, 2][..], &[[3.0, 0.0, 0.0]][..])
        );
        assert_eq!((&found[1].within[..], &found[1].beside[..]), (&[][..], &made[..]));
        let beside: Vec<_> = found.iter().flat_map(|found| found.beside.iter().copied()).collect();
        let places = Places::of(&cloud, &order, &beside, 1.0);
        let stored = panes.stored(&found, &places, &located, 3);
        // Rows 4, 1 and 2 are 0.25, 1 and 0 away; the farthest is 4.
        assert_eq!(stored[0].distances, [64, 128, 0]);
        assert_eq!((&stored[0].samples[..], stored[0].beside.len()), (&[0, 1][..], 6));
        assert_eq!(stored[1].json["beside"], 1);
        let x = u16::from_le_bytes([stored[1].beside[0], stored[1].beside[1]]);
        assert!((places.origin[0] + f64::from(x) * places.step - 2.5).abs() <= places.step / 2.0);
    }
}
