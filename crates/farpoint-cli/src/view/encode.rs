//! Numbers as bytes, and bytes as text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write;

/// Largest compressed share of the bytes that pays: unpacking takes the browser longer than reading.
const PAYS: f64 = 0.9;

/// Level 1 is much worse, higher ones take longer for nothing.
const LEVEL: Compression = Compression::new(3);

/// Compressor for one part after another: creating one for each of thousands of parts takes longer than compressing.
pub(super) type Packer = ZlibEncoder<Vec<u8>>;

pub(super) fn packer() -> Packer {
    Packer::new(Vec::new(), LEVEL)
}

/// Data of a page.
pub(super) struct Part<'a> {
    pub(super) id: String,
    pub(super) bytes: &'a [u8],
    /// Bytes per value.
    pub(super) each: usize,
    /// Bytes of a number, if numbers are near those of the value before, so that differences compress better.
    pub(super) near: Option<usize>,
}

/// Returns a script tag with inert bytes.
pub(super) fn tag(packer: &mut Packer, part: &Part<'_>) -> String {
    let Part { id, bytes, each, near } = part;
    let packed = match near {
        Some(width) => packed(packer, &differences(bytes, *each, *width), *each),
        None => packed(packer, bytes, *each),
    };
    let max_len = PAYS * bytes.len() as f64;
    let (mut kind, mut stored) = (String::new(), *bytes);
    if let Some(packed) = packed.as_deref().filter(|packed| packed.len() as f64 <= max_len) {
        kind = format!(" data-packed=\"{each}\"");
        kind.extend(near.map(|width| format!(" data-near=\"{width}\"")));
        stored = packed;
    }
    let mut text = format!("<script type=\"application/octet-stream\" id=\"{id}\"{kind}>");
    STANDARD.encode_string(stored, &mut text);
    text.push_str("</script>\n");
    text
}

/// Compresses the first bytes of all values, then their second bytes, ...
fn packed(packer: &mut Packer, bytes: &[u8], each: usize) -> Option<Vec<u8>> {
    let planes = (0..each).flat_map(|k| bytes[k.min(bytes.len())..].iter().step_by(each).copied());
    let planes: Vec<u8> = planes.collect();
    packer.write_all(&planes).ok()?;
    packer.reset(Vec::new()).ok()
}

/// Returns numbers of `width` bytes as differences from those of the value before, in the same bytes.
fn differences(bytes: &[u8], each: usize, width: usize) -> Vec<u8> {
    let number =
        |at: usize| bytes[at..at + width].iter().rev().fold(0, |n, &b| n << 8 | u32::from(b));
    let mut made = bytes.to_vec();
    for at in (each..bytes.len()).step_by(width) {
        let difference = number(at).wrapping_sub(number(at - each)).to_le_bytes();
        made[at..at + width].copy_from_slice(&difference[..width]);
    }
    made
}

/// Converts red and blue to their differences from green, which are mostly small.
pub(super) fn relative_to_green(rgb: &mut [u8]) {
    for color in rgb.chunks_exact_mut(3) {
        color[0] = color[0].wrapping_sub(color[1]);
        color[2] = color[2].wrapping_sub(color[1]);
    }
}

/// Encodes rising numbers as differences, 7 bits a byte, lowest first; the top bit marks a following byte.
pub(super) fn rising(numbers: impl Iterator<Item = usize>, into: &mut Vec<u8>) {
    let mut next = 0;
    for number in numbers {
        let mut remaining = number - next;
        next = number + 1;
        while remaining >= 128 {
            into.push(remaining as u8 | 128);
            remaining >>= 7;
        }
        into.push(remaining as u8);
    }
}

/// Returns JSON that is safe inside a script tag: without any '<'.
pub(super) fn json(value: &serde_json::Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

/// Escapes text for HTML.
pub(super) fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_all_sizes() {
        let mut bytes = Vec::new();
        rising([0, 1, 129, 130, 20_000].into_iter(), &mut bytes);
        assert_eq!(bytes, [0, 0, 127, 0, 0x9d, 0x9b, 0x01]);
    }

    /// Bytes round-trip, packed where it pays, of values of several bytes.
    #[test]
    fn bytes_come_back() {
        let mut state = 1_u32;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            (state >> 11) as u8
        };
        let noise: Vec<u8> = (0..3000).map(|_| random()).collect();
        let part = |bytes, each, near| Part { id: "a".to_owned(), bytes, each, near };
        assert!(!tag(&mut packer(), &part(&noise, 3, None)).contains("packed"));
        assert!(tag(&mut packer(), &part(&[], 2, Some(2))).contains("id=\"a\"></script>"));
        let values: Vec<u8> = (0..1000_u16).flat_map(|k| (k % 7 * 300).to_le_bytes()).collect();
        let text = tag(&mut packer(), &part(&values, 2, None));
        let (_, text) = text.split_once("id=\"a\" data-packed=\"2\">").expect("packed");
        let (text, _) = text.split_once("</script>").expect("an end");
        let bytes = STANDARD.decode(text).expect("base64");
        assert!(text.len() < values.len() / 4);
        let mut planes = Vec::new();
        let mut decoder = flate2::read::ZlibDecoder::new(&bytes[..]);
        std::io::Read::read_to_end(&mut decoder, &mut planes).expect("zlib");
        let back: Vec<u8> = (0..1000).flat_map(|k| [planes[k], planes[1000 + k]]).collect();
        assert_eq!(back, values);
    }

    #[test]
    fn differences_wrap_around() {
        let bytes = [1, 0, 255, 255, 3, 0, 0, 1, 2, 2, 0, 1];
        assert_eq!(differences(&bytes, 4, 2), [1, 0, 255, 255, 2, 0, 1, 1, 255, 1, 0, 0]);
        assert_eq!(differences(&[1, 0, 0, 0, 0, 1], 3, 3), [1, 0, 0, 255, 255, 0]);
        let mut rgb = [200, 100, 50];
        relative_to_green(&mut rgb);
        assert_eq!(rgb, [100, 100, 206]);
    }

    #[test]
    fn names_cannot_end_their_tag() {
        let value = serde_json::json!({ "name": "</script><b>" });
        assert_eq!(json(&value), r#"{"name":"\u003c/script>\u003cb>"}"#);
        assert_eq!(html("a<b & \"c\">"), "a&lt;b &amp; &quot;c&quot;&gt;");
    }
}
