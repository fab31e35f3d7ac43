//! Calls whose kernels wait for each other, each with its input in device memory and the CPU's result
//! beside it.

use crate::clouds::Cloud;
use crate::neighbors;
use crate::resident::{Expected, Resident};
use crate::search::gradients;
use crate::variants;
use anyhow::Result;
use farpoint::{Algorithm, Matcher, Method, PeakOptions, Sampler};
use farpoint_cuda::{Error, Gpu, Stream};
use farpoint_generate::Kind;

/// Kernels that wait: two of sampling, two of matching, one of searches.
pub(crate) const WAITING: &[&str] = &["peak", "persistent", "tree", "backward", "search_backward"];

/// Returns the algorithm of this name, in a way in which blocks wait for each other: in `peak` those of a team do, and
/// those of a cluster do not.
pub(crate) fn algorithm(name: &str) -> Algorithm {
    match name {
        "peak" => Algorithm::Peak(PeakOptions::default().team(40)),
        _ => variants::algorithm(name),
    }
}

/// Input of a kind of call.
pub(crate) enum Work {
    Sample { rows: usize, samples: usize, expected: Expected<f32>, cloud: Cloud<f32> },
    Match { rows: [usize; 2], expected: neighbors::ExpectedPairs },
    Search { case: gradients::Case<f32> },
}

impl Work {
    /// Creates the input of a call of this name, of about `rows` rows.
    pub(crate) fn new(name: &str, rows: usize, seed: u64) -> Result<Self> {
        if matches!(name, "tree" | "backward") {
            let rows = [rows, rows - rows / 4];
            return Ok(Self::Match {
                rows,
                expected: neighbors::ExpectedPairs::new((1, rows), seed as usize)?,
            });
        }
        if name == "search_backward" {
            return Ok(Self::Search { case: gradients::Case::of_rooms([rows, rows - rows / 4])? });
        }
        // `persistent` reads all points for each sample: fewer samples.
        let samples = if name == "persistent" { 300 } else { rows / 4 };
        let cloud = Cloud::of(Kind::Room, rows, seed);
        let expected = Expected::new(std::slice::from_ref(&cloud), samples)?;
        Ok(Self::Sample { rows, samples, expected, cloud })
    }
}

/// A call that can be queued repeatedly.
pub(crate) enum Call<'a> {
    Sample {
        batch: Resident<f32>,
        sampler: Sampler,
        expected: &'a Expected<f32>,
    },
    Match {
        batch: neighbors::Resident<f32>,
        matcher: Matcher,
        expected: &'a neighbors::ExpectedPairs,
    },
    Backward {
        batch: neighbors::Resident<f32>,
        matcher: Matcher,
        expected: &'a neighbors::ExpectedPairs,
    },
    SearchBackward {
        batch: gradients::Resident<f32>,
        case: &'a gradients::Case<f32>,
    },
}

impl<'a> Call<'a> {
    /// Creates the call of this name, on a stream on which nothing else is queued.
    pub(crate) fn new(name: &str, stream: &Stream, work: &'a Work) -> Result<Self, Error> {
        match work {
            Work::Sample { rows, samples, expected, .. } => {
                let sampler = Sampler::count(*samples).algorithm(algorithm(name));
                let mut batch = Resident::new(stream, [1, *rows, 3], *samples, Some(&sampler))?;
                batch.write(&expected.data)?;
                Ok(Self::Sample { batch, sampler, expected })
            }
            Work::Match { rows, expected } => {
                let matcher = Matcher::new().method(Method::Tree);
                let mut batch = neighbors::Resident::new(stream, 1, *rows, 3, Some(&matcher))?;
                expected.write(&mut batch)?;
                if name == "tree" {
                    return Ok(Self::Match { batch, matcher, expected });
                }
                // Gradients are of a search's results.
                batch.enqueue(stream, &matcher)?;
                stream.synchronize()?;
                Ok(Self::Backward { batch, matcher, expected })
            }
            Work::Search { case } => {
                Ok(Self::SearchBackward { batch: gradients::Resident::new(stream, case)?, case })
            }
        }
    }

    pub(crate) fn enqueue(&self, device: &Gpu, stream: &Stream) -> Result<(), Error> {
        match self {
            Self::Sample { batch, sampler, .. } => batch.enqueue(device, stream, sampler),
            Self::Match { batch, matcher, .. } => batch.enqueue(stream, matcher),
            Self::Backward { batch, matcher, .. } => batch.enqueue_backward(stream, matcher),
            Self::SearchBackward { batch, case } => batch.enqueue(stream, case),
        }
    }

    /// Synchronizes, and compares with the CPU.
    pub(crate) fn compare(&self) -> Result<Result<(), String>, Error> {
        match self {
            Self::Sample { batch, expected, .. } => batch.compare(expected),
            Self::Match { batch, expected, .. } => batch.compare(&expected.truth),
            Self::Backward { batch, expected, .. } => batch.compare_gradients(&expected.truth),
            Self::SearchBackward { batch, case } => batch.compare(case),
        }
    }

    /// Returns whether the result is filled with values that no run returns.
    pub(crate) fn is_void(&self) -> Result<bool, Error> {
        match self {
            Self::Sample { batch, .. } => batch.is_void(),
            Self::Match { batch, .. } => batch.is_void(),
            Self::Backward { batch, .. } => batch.gradients_are_void(),
            Self::SearchBackward { batch, .. } => batch.is_void(),
        }
    }
}
