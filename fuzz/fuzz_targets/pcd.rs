#![no_main]

use farpoint_fuzz::drive;
use farpoint_io::Format;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    drive(data, Format::Pcd);
});
