//! Numbers as bytes, and bytes as text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// A script tag of bytes that no browser runs.
pub(super) fn tag(id: &str, bytes: &[u8]) -> String {
    let mut text = format!("<script type=\"application/octet-stream\" id=\"{id}\">");
    STANDARD.encode_string(bytes, &mut text);
    text.push_str("</script>\n");
    text
}

/// Rising numbers as differences, 7 bits a byte, lowest first; the top bit says that more follow.
pub(super) fn rising(numbers: impl Iterator<Item = usize>, into: &mut Vec<u8>) {
    let mut next = 0;
    for number in numbers {
        let mut left = number - next;
        next = number + 1;
        while left >= 128 {
            into.push(left as u8 | 128);
            left >>= 7;
        }
        into.push(left as u8);
    }
}

/// Text that is safe inside a script tag: JSON without any '<'.
pub(super) fn json(value: &serde_json::Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

/// Text that is safe in HTML.
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

    #[test]
    fn names_cannot_end_their_tag() {
        let value = serde_json::json!({ "name": "</script><b>" });
        assert_eq!(json(&value), r#"{"name":"\u003c/script>\u003cb>"}"#);
        assert_eq!(html("a<b & \"c\">"), "a&lt;b &amp; &quot;c&quot;&gt;");
    }
}
