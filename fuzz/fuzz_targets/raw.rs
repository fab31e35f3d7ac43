#![no_main]

use farpoint_fuzz::drive_with;
use farpoint_io::{Format, ReadOptions};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    // The first byte is the number of columns.
    let Some((&columns, data)) = data.split_first() else { return };
    let options = ReadOptions::default().format(Format::Raw).columns(usize::from(columns));
    drive_with(data, &options);
});
