//! Names and numbers for people.

use std::path::Path;

/// Returns the name of a path for messages.
pub fn name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// Returns a path as text, with `\xFF` for a byte that is no Unicode: different names stay different.
pub fn escaped(path: &Path) -> String {
    let chunks = path.as_os_str().as_encoded_bytes().utf8_chunks();
    let escape =
        |bytes: &[u8]| bytes.iter().map(|byte| format!("\\x{byte:02X}")).collect::<String>();
    chunks.map(|chunk| chunk.valid().to_owned() + &escape(chunk.invalid())).collect()
}

/// Formats `1234567` as `1,234,567`.
pub fn count(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or(u64::MAX).to_string();
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a measured number with four significant digits, without an exponent if possible.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let size = value.abs();
    if size != 0.0 && !(1e-6..1e9).contains(&size) {
        return format!("{value:.3e}");
    }
    let whole = if size == 0.0 { 1 } else { size.log10().floor() as i32 + 1 };
    format!("{value:.*}", (4 - whole).clamp(0, 9) as usize)
}

/// Formats an amount of memory for people.
pub fn bytes(size: u64) -> String {
    match size >> 30 {
        0 => format!("{} MiB", size >> 20),
        1..10 => format!("{:.1} GiB", size as f64 / f64::from(1u32 << 30)),
        large => format!("{large} GiB"),
    }
}
