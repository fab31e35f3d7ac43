//! A pointer for several threads.

/// A pointer that several threads write through, each to places of its own.
pub(crate) struct Shared<T>(*mut T);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Shared<T> {}

impl<T> Shared<T> {
    pub(crate) fn new(pointer: *mut T) -> Self {
        Self(pointer)
    }

    pub(crate) fn get(&self) -> *mut T {
        self.0
    }
}

// SAFETY: using the pointer is unsafe; who does so keeps threads apart.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<T> {}
