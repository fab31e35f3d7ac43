//! A job and the device that does it.

/// A job on a device, made by [`Sampler::on`](crate::Sampler::on) and
/// [`Matcher::on`](crate::Matcher::on).
#[derive(Debug)]
pub struct On<'a, J, D: ?Sized> {
    pub(crate) job: &'a J,
    pub(crate) device: &'a D,
}
