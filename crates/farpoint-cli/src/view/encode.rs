//! Numbers as bytes, and bytes as text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write;

/// Largest compressed share of the bytes that pays: unpacking takes the browser longer than reading.
const PAYS: f64 = 0.8;

/// Level 1 is much worse, higher ones take longer for nothing.
const LEVEL: Compression = Compression::new(3);

/// Compressor for one part after another: creating one for each of thousands of parts takes longer than compressing.
pub(super) type Packer = ZlibEncoder<Vec<u8>>;

pub(super) fn packer() -> Packer {
    Packer::new(Vec::new(), LEVEL)
}

/// Returns a script tag with inert bytes; a value takes `each` of them.
pub(super) fn tag(packer: &mut Packer, id: &str, bytes: &[u8], each: usize) -> String {
    let packed = packed(packer, bytes, each);
    let max_len = PAYS * bytes.len() as f64;
    let (kind, bytes) = match packed.as_deref().filter(|packed| packed.len() as f64 <= max_len) {
        Some(packed) => (format!(" data-packed=\"{each}\""), packed),
        None => (String::new(), bytes),
    };
    let mut text = format!("<script type=\"application/octet-stream\" id=\"{id}\"{kind}>");
    STANDARD.encode_string(bytes, &mut text);
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
        assert!(!tag(&mut packer(), "a", &noise, 3).contains("packed"));
        assert!(tag(&mut packer(), "a", &[], 2).contains("id=\"a\"></script>"));
        let values: Vec<u8> = (0..1000_u16).flat_map(|k| (k % 7 * 300).to_le_bytes()).collect();
        let text = tag(&mut packer(), "a", &values, 2);
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
    fn names_cannot_end_their_tag() {
        let value = serde_json::json!({ "name": "</script><b>" });
        assert_eq!(json(&value), r#"{"name":"\u003c/script>\u003cb>"}"#);
        assert_eq!(html("a<b & \"c\">"), "a&lt;b &amp; &quot;c&quot;&gt;");
    }
}
