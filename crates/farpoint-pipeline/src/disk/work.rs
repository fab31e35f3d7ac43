//! What the stages of a run share.

use crate::disk::folder::Folder;
use crate::disk::job::Job;
use crate::disk::memory::Shares;
use farpoint_io::Scan;

/// A run with everything it works with.
pub(crate) struct Work<'a> {
    pub(crate) scan: &'a Scan,
    pub(crate) job: &'a Job,
    pub(crate) shares: Shares,
    pub(crate) folder: Folder,
}
