//! A job bound to a device, with an observer of its progress.

use crate::Observer;
use std::fmt;

/// One run of a job on a device, made by [`Sampler::on`](crate::Sampler::on) and its like.
///
/// ```
/// use farpoint::{Cpu, Error, Progress, Sampler};
/// use std::ops::ControlFlow;
///
/// let line: Vec<[f32; 1]> = (0..10_000).map(|i| [i as f32]).collect();
/// let mut observer = |progress: Progress| match progress.samples < 2000 {
///     true => ControlFlow::Continue(()),
///     false => ControlFlow::Break(()),
/// };
/// let sample = Sampler::count(5000).on(&Cpu::new()).observe(&mut observer).sample(&line);
/// assert!(matches!(sample, Err(Error::Cancelled(samples)) if samples >= 2000));
/// ```
pub struct On<'a, J, D: ?Sized> {
    pub(crate) job: &'a J,
    pub(crate) device: &'a D,
    pub(crate) observer: Option<Observer<'a>>,
}

impl<'a, J, D: ?Sized> On<'a, J, D> {
    pub(crate) fn new(job: &'a J, device: &'a D) -> Self {
        Self { job, device, observer: None }
    }

    /// Reports the progress of the run to `observer`; for a batch, that of all its clouds together.
    ///
    /// If the observer cancels the run, a sampler returns
    /// [`Error::Cancelled`](crate::Error::Cancelled), a search or a measure
    /// [`Error::SearchCancelled`](crate::Error::SearchCancelled). The covering radius is known to
    /// samplers of one cloud only; else it is infinite. Gradients report nothing.
    pub fn observe<'b>(self, observer: Observer<'b>) -> On<'b, J, D>
    where
        'a: 'b,
    {
        On { job: self.job, device: self.device, observer: Some(observer) }
    }
}

impl<J: fmt::Debug, D: fmt::Debug + ?Sized> fmt::Debug for On<'_, J, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut on = f.debug_struct("On");
        on.field("job", &self.job).field("device", &self.device).finish_non_exhaustive()
    }
}
