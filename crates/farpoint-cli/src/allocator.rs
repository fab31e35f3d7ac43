//! The system's allocator. When memory runs out, one line reports it and the process ends with the
//! status of bad input; without this it would abort.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The system's allocator, ending the process on failure.
pub(crate) struct OrExit;

// SAFETY: every request goes unchanged to the system's allocator, which meets the trait's contract, and
// what it returns goes back unchanged unless it is null; then nothing is returned at all.
unsafe impl GlobalAlloc for OrExit {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`, which is the system's.
        there(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc_zeroed`, which is the system's.
        there(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller passes what one of the other functions returned, which is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as for `dealloc`; the caller passes a size that the contract of `realloc` allows.
        there(unsafe { System.realloc(pointer, layout, size) }, size)
    }
}

/// Makes the C library return freed memory to the system. Its threshold for a separate mapping rises to 32 MiB as
/// lists are freed, and pieces of these stay: 20 million points sampled through the disk with 256 MiB took 329 MiB.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn give_back() {
    const M_TRIM_THRESHOLD: i32 = -1;
    const M_MMAP_THRESHOLD: i32 = -3;
    const M_ARENA_MAX: i32 = -8;
    const SIZE: i32 = 1 << 18;
    // A refused setting stays as it is: more memory is taken, nothing else.
    for (what, value) in [(M_MMAP_THRESHOLD, SIZE), (M_TRIM_THRESHOLD, SIZE), (M_ARENA_MAX, 2)] {
        mallopt(what, value);
    }
}

/// Does nothing: no allocator of another system was measured.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn give_back() {}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
unsafe extern "C" {
    /// Sets a parameter of the GNU C library's allocator. It takes the allocator's lock, and refuses
    /// unknown parameters.
    safe fn mallopt(what: i32, value: i32) -> i32;
}

/// Returns the pointer, or ends the process if it is null.
fn there(pointer: *mut u8, bytes: usize) -> *mut u8 {
    if pointer.is_null() { out_of_memory(bytes) } else { pointer }
}

/// Prints that memory has run out, removes temporary files, and ends the process. Must not allocate before the
/// line is written.
#[cold]
fn out_of_memory(bytes: usize) -> ! {
    thread_local!(static HERE: Cell<bool> = const { Cell::new(false) });
    static SAID: AtomicBool = AtomicBool::new(false);
    if HERE.replace(true) {
        // There is not even memory for tidying up, which is then left to the next run.
        _exit(i32::from(farpoint_cli::BAD_INPUT))
    }
    if SAID.swap(true, Ordering::SeqCst) {
        // Another thread is already here, and one line is enough.
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    let mut text = Text { bytes: [0; 200], length: 0 };
    let mebibytes = bytes.div_ceil(1 << 20);
    // A text that is truncated is better than none.
    let _ = writeln!(
        text,
        "farpoint: error: out of memory, where {mebibytes} MiB more were needed; split the file, or \
         use a machine with more"
    );
    let _ = std::io::stderr().write_all(&text.bytes[..text.length]);
    // Most often it was one large request, and there is memory for this.
    farpoint_io::temporary::remove_temporaries();
    // Handlers of a usual exit may allocate.
    _exit(i32::from(farpoint_cli::BAD_INPUT))
}

unsafe extern "C" {
    /// Ends the process at once (C library). It has no preconditions.
    safe fn _exit(status: i32) -> !;
}

/// A line on the stack, so that it is written with one call.
struct Text {
    bytes: [u8; 200],
    length: usize,
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let room = (&mut self.bytes[self.length..]).write(bytes)?;
        self.length += room;
        Ok(room)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
