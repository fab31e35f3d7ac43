//! Overhead of a call through the C interface over the Rust call: 512 of 1,024 points, and one sample of few points,
//! where next to nothing is computed. The shared library is opened as a program would; calls take turns, and
//! processor time of the calling thread is measured.
//!
//! `cargo run --release -p farpoint-capi --example overhead -- target/release/libfarpoint_capi.so`
//!
//! Without an argument the same functions are called where they are linked into this program.

use farpoint::Sampler;
use farpoint_capi::calls::sample::{
    farpoint_sample, farpoint_sample_result, farpoint_sample_result_free,
};
use farpoint_capi::constants::{FARPOINT_FLOAT32, FARPOINT_OK, farpoint_status};
use farpoint_capi::options::farpoint_sample_options;
use farpoint_capi::points::{farpoint_dense, farpoint_points};
use std::ffi::{CStr, CString, c_void};
use std::hint::black_box;
use std::mem::{MaybeUninit, transmute, zeroed};

type SampleFunction = unsafe extern "C" fn(
    farpoint_points,
    *const farpoint_sample_options,
    *mut *mut farpoint_sample_result,
) -> farpoint_status;
type FreeFunction = unsafe extern "C" fn(*mut farpoint_sample_result);

const TURNS: usize = 4000;

/// Functions of the library, as the loader finds them.
struct Library {
    sample: SampleFunction,
    free: FreeFunction,
}

impl Library {
    fn linked() -> Self {
        Self { sample: farpoint_sample, free: farpoint_sample_result_free }
    }

    fn open(path: &str) -> Self {
        let path = CString::new(path).expect("a path without zeros");
        // SAFETY: the library's initializers are those of Rust's standard library; the symbols have these types,
        // by its header.
        unsafe {
            let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
            assert!(!library.is_null(), "{path:?} can't be opened");
            let symbol = |name: &CStr| {
                let symbol = libc::dlsym(library, name.as_ptr());
                assert!(!symbol.is_null(), "no {name:?}");
                symbol
            };
            Self {
                sample: transmute::<*mut c_void, SampleFunction>(symbol(c"farpoint_sample")),
                free: transmute::<*mut c_void, FreeFunction>(symbol(
                    c"farpoint_sample_result_free",
                )),
            }
        }
    }

    fn call(&self, cloud: &[[f32; 3]], count: usize) {
        // SAFETY: numbers, addresses that may be NULL, and a function that may be none.
        let options: farpoint_sample_options = unsafe { zeroed() };
        let size = size_of::<farpoint_sample_options>();
        let options = farpoint_sample_options { size, count, ..options };
        let scalar = MaybeUninit::new(FARPOINT_FLOAT32);
        let points = farpoint_dense(cloud.as_ptr().cast(), cloud.len(), 3, scalar);
        let mut result = std::ptr::null_mut();
        // SAFETY: the points are there; the result is freed once.
        unsafe {
            assert_eq!((self.sample)(points, &options, &raw mut result), FARPOINT_OK);
            (self.free)(black_box(result));
        }
    }
}

/// Returns the processor time of this thread in nanoseconds.
fn now() -> f64 {
    // SAFETY: the structure is filled in.
    unsafe {
        let mut time: libc::timespec = zeroed();
        assert_eq!(libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time), 0);
        time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
    }
}

fn timed(work: impl FnOnce()) -> f64 {
    let begin = now();
    work();
    now() - begin
}

/// Returns the quartiles of the times.
fn quartiles(mut times: Vec<f64>) -> [f64; 3] {
    times.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| times[times.len() * quarter / 4] / 1e3)
}

fn main() {
    let library = match std::env::args().nth(1) {
        Some(path) => Library::open(&path),
        None => Library::linked(),
    };
    println!(
        "points -> samples   Rust us (25 %, median, 75 %)   C us (25 %, median, 75 %)   median of the differences us"
    );
    for (points, count) in [(1024, 512), (64, 16), (16, 1)] {
        let cloud: Vec<[f32; 3]> = farpoint_generate::room(points, 1);
        let (mut rust, mut c, mut differences) = (Vec::new(), Vec::new(), Vec::new());
        for turn in 0..TURNS {
            let one = || timed(|| drop(black_box(Sampler::count(count).sample(&cloud))));
            let other = || timed(|| library.call(&cloud, count));
            // Neither always comes second.
            let (one, other) = if turn % 2 == 0 {
                let one = one();
                (one, other())
            } else {
                let other = other();
                (one(), other)
            };
            rust.push(one);
            c.push(other);
            differences.push(other - one);
        }
        let [[a, b, d], [e, f, g]] = [quartiles(rust), quartiles(c)];
        let difference = quartiles(differences)[1];
        println!(
            "{points:>6} -> {count:<6}   {a:8.2} {b:8.2} {d:8.2}   {e:8.2} {f:8.2} {g:8.2}   {difference:+8.2}"
        );
    }
}
