//! LZF, the compression inside PCD's `binary_compressed`.
//!
//! pcd-rs keeps its own LZF private and reads it into one heap-allocated value a field, so the
//! format's 60 lines are written here once more.

/// Decompresses exactly `length` bytes; `None` if the data is damaged.
pub(crate) fn decompress(input: &[u8], length: usize) -> Option<Vec<u8>> {
    // Three bytes never stand for more than 264, so a longer declared size is refused unallocated.
    if length / 264 > input.len() {
        return None;
    }
    let mut out = Vec::with_capacity(length);
    let mut rest = input;
    while let Some((&control, tail)) = rest.split_first() {
        rest = tail;
        if control < 32 {
            let (literal, tail) = rest.split_at_checked(usize::from(control) + 1)?;
            out.extend_from_slice(literal);
            rest = tail;
        } else {
            let mut count = usize::from(control >> 5);
            if count == 7 {
                let (&more, tail) = rest.split_first()?;
                count += usize::from(more);
                rest = tail;
            }
            let (&low, tail) = rest.split_first()?;
            rest = tail;
            let back = (usize::from(control & 0x1f) << 8) + usize::from(low) + 1;
            let start = out.len().checked_sub(back)?;
            // The source may run into the output of this very copy.
            for i in 0..count + 2 {
                out.push(out[start + i]);
            }
        }
        if out.len() > length {
            return None;
        }
    }
    (out.len() == length).then_some(out)
}

const WINDOW: usize = 1 << 13;
const LONGEST: usize = 264;

/// Compresses `input`; incompressible bytes grow by one in 32.
pub(crate) fn compress(input: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(input.len() / 2 + 16);
    let mut seen = vec![usize::MAX; 1 << 15];
    let mut literals = 0;
    let mut at = 0;
    while at + 3 <= input.len() {
        let three = u32::from_le_bytes([input[at], input[at + 1], input[at + 2], 0]);
        let slot = (three.wrapping_mul(0x9E37_79B1) >> 17) as usize;
        let before = std::mem::replace(&mut seen[slot], at);
        let near = before != usize::MAX && at - before <= WINDOW;
        if !near || input[before..before + 3] != input[at..at + 3] {
            at += 1;
            continue;
        }
        let limit = LONGEST.min(input.len() - at);
        let same = (3..limit).find(|&i| input[before + i] != input[at + i]).unwrap_or(limit);
        push_literals(&input[literals..at], &mut out);
        push_match(at - before - 1, same - 2, &mut out);
        at += same;
        literals = at;
    }
    push_literals(&input[literals..], &mut out);
    out
}

fn push_literals(bytes: &[u8], out: &mut Vec<u8>) {
    for run in bytes.chunks(32) {
        out.push((run.len() - 1) as u8);
        out.extend_from_slice(run);
    }
}

fn push_match(back: usize, count: usize, out: &mut Vec<u8>) {
    let high = (back >> 8) as u8;
    if count < 7 {
        out.push(((count as u8) << 5) | high);
    } else {
        out.push((7 << 5) | high);
        out.push((count - 7) as u8);
    }
    out.push(back as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn comes_back(bytes in prop::collection::vec(0u8..4, 0..3000)) {
            prop_assert_eq!(decompress(&compress(&bytes), bytes.len()), Some(bytes));
        }

        #[test]
        fn survives_anything(bytes in prop::collection::vec(any::<u8>(), 0..300), n in 0usize..1000) {
            let _ = decompress(&bytes, n);
        }
    }
}
