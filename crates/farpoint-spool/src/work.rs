//! What the stages of a run share.

use crate::folder::Folder;
use crate::job::Job;
use crate::memory::Shares;
use farpoint_io::Scan;

/// A run with everything it works with.
pub(crate) struct Work<'a> {
    pub(crate) scan: &'a Scan,
    pub(crate) job: &'a Job,
    pub(crate) shares: Shares,
    pub(crate) folder: Folder,
}
