#![no_main]

use farpoint_fuzz::{drive_with, rewrite};
use farpoint_io::{Format, ReadOptions};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    drive_with(data, &ReadOptions::default().format(Format::Mcap).message(0));
    rewrite(data);
});
