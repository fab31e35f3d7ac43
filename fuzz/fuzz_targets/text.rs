#![no_main]

use farpoint_fuzz::drive;
use farpoint_io::{Format, ReadOptions};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    drive(data, Format::Text);
    drive(data, Format::Ptx);
    let options =
        ReadOptions::default().format(Format::Text).xyz(["3", "1", "y"].map(String::from));
    let _ = farpoint_io::read_bytes(data, "given.pts", &options);
    // Any bytes at all must find a format or be refused.
    let _ = farpoint_io::read_bytes(data, "unknown", &ReadOptions::default());
});
