#![no_main]

use farpoint_fuzz::drive;
use farpoint_io::{Format, ReadOptions};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    drive(data, Format::Text);
    // Any bytes at all must find a format or be refused.
    let _ = farpoint_io::read_bytes(data, "unknown", &ReadOptions::default());
});
