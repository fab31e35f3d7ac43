//! The state from which a run is resumed, besides the stores.

use super::floor::FloorRule;
use super::{Conductor, Outcome, Plan, TileSummary};
use crate::wire::{Reader, Writer};
use crate::{Bytes, Error, Transport};
use farpoint::{Amount, Scalar};

const MANIFEST: u8 = 193;

/// Epochs that a run may use before it must be resumed.
const EPOCHS: u64 = 1 << 32;

impl<T: Scalar> Conductor<T> {
    /// Encodes the state after the last band. Write it beside the old one and rename it.
    pub fn manifest(&self) -> Bytes {
        let out = Writer::new(MANIFEST).u8(size_of::<T>() as u8).u64(fingerprint(&self.plan));
        let out = out.u64(self.epoch).u64(self.finished).u64(self.samples);
        let FloorRule { last, slope, thinning } = self.rule;
        let out = [last.0, last.1, slope, thinning].iter().fold(out, |out, &x| out.number(x));
        let out = out.u8(u8::from(self.forward)).u64(self.tiles.len() as u64);
        let out = self.tiles.iter().fold(out, |out, tile| {
            out.u64(tile.points).corners(&tile.corners).number(tile.largest)
        });
        match self.outcome {
            None => out.u8(0).end(),
            Some(Outcome { samples, squared_covering_radius, bands }) => {
                out.u8(1).u64(samples).number(squared_covering_radius).u64(bands).end()
            }
        }
    }

    /// Resumes a run from a manifest with the same plan; tiles forget what they have decided since.
    ///
    /// # Errors
    /// If the manifest is damaged or belongs to another job, if tiles do not match it, and if they do not
    /// answer or fail.
    pub fn resume(
        plan: Plan<T>,
        manifest: &[u8],
        transport: &mut dyn Transport<T>,
    ) -> Result<Self, Error> {
        let (kind, mut from) = Reader::new(manifest, "a manifest")?;
        if kind != MANIFEST || usize::from(from.u8()?) != size_of::<T>() {
            return Err(from.error("wrong kind of message or precision"));
        }
        if from.u64()? != fingerprint(&plan) {
            let text = "the manifest belongs to another job: amount, starts or precision differ";
            return Err(Error::Mismatch(text.into()));
        }
        let (epoch, finished, samples) = (from.u64()?, from.u64()?, from.u64()?);
        let mut number = || from.number::<f64>();
        let (last, slope, thinning) = ((number()?, number()?), number()?, number()?);
        let forward = from.u8()? != 0;
        let count = from.count(8 + 7 * size_of::<T>())?;
        let mut tiles = Vec::with_capacity(count);
        for _ in 0..count {
            let (points, corners) = (from.u64()?, from.corners()?);
            tiles.push(TileSummary { points, corners, largest: from.number()? });
        }
        let mut conductor = Self::with(plan, tiles, epoch + EPOCHS);
        if from.u8()? != 0 {
            let (samples, squared_covering_radius) = (from.u64()?, from.number()?);
            conductor.outcome =
                Some(Outcome { samples, squared_covering_radius, bands: from.u64()? });
        }
        from.end()?;
        (conductor.finished, conductor.samples, conductor.forward) = (finished, samples, forward);
        conductor.rule = FloorRule { last, slope, thinning };
        conductor.check()?;
        conductor.begin_tiles(transport)?;
        Ok(conductor)
    }
}

/// Returns a number that differs between plans of different samples.
fn fingerprint<T: Scalar>(plan: &Plan<T>) -> u64 {
    let (kind, amount) = match plan.amount {
        Amount::Count(count) => (1, count as u64),
        Amount::Ratio(ratio) => (2, ratio.to_bits()),
        Amount::Spacing(spacing) => (3, spacing.to_bits()),
        Amount::Cell(cell) => (4, cell.to_bits()),
        _ => (5, 0),
    };
    let bytes = Writer::new(kind).u64(amount).entries(&plan.starts).end();
    u64::from_le_bytes(*bytes.last_chunk().expect("a checksum"))
}
