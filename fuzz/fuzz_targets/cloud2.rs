#![no_main]

use farpoint_fuzz::message;
use farpoint_io::bag::Encoding;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    message(Encoding::Cdr, data);
    message(Encoding::Ros1, data);
});
