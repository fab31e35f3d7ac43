#![no_main]

use farpoint_fuzz::drive;
use farpoint_io::Format;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let archive = data.starts_with(b"PK");
    drive(data, if archive { Format::Npz } else { Format::Npy });
});
