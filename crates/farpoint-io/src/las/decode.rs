//! Decompressing the points of LAZ files: what laz does, at half the time. Point formats 0 to 3 as
//! writers have stored them since LASzip 2; laz decompresses all others.
//!
//! Nothing here fails or panics on damaged bytes: they give other points, or run out.

mod arithmetic;
mod bytes;
mod color;
mod integer;
mod median;
mod point10;
mod time;

use arithmetic::Decoder;
use bytes::Bytes;
use color::Color;
use laz::{LazItem, LazItemType};
use point10::Point10;
use time::Time;

/// Which parts a record has after that of [`Point10`], in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    time: bool,
    color: bool,
    extra: usize,
}

impl Layout {
    /// That of these items, if they can be decoded here.
    pub(super) fn of(items: &[LazItem]) -> Option<Layout> {
        let mut layout = Layout { time: false, color: false, extra: 0 };
        let (first, rest) = items.split_first()?;
        let known = |item: &LazItem| item.version() == 2;
        if first.item_type() != LazItemType::Point10 || !items.iter().all(known) {
            return None;
        }
        for item in rest {
            // Extra bytes are the last item.
            match item.item_type() {
                _ if layout.extra > 0 => return None,
                LazItemType::GpsTime if !layout.time && !layout.color => layout.time = true,
                LazItemType::RGB12 if !layout.color => layout.color = true,
                LazItemType::Byte(count) if count > 0 => layout.extra = usize::from(count),
                _ => return None,
            }
        }
        Some(layout)
    }

    /// Bytes of a record.
    fn stride(self) -> usize {
        let time = if self.time { time::SIZE } else { 0 };
        let color = if self.color { color::SIZE } else { 0 };
        point10::SIZE + time + color + self.extra
    }

    /// Decompresses one chunk into `out`, whole records; `None` if it is cut short.
    pub(super) fn decompress(self, chunk: &[u8], out: &mut [u8]) -> Option<()> {
        let stride = self.stride();
        let (first, compressed) = chunk.split_at_checked(stride)?;
        let (stored, rest) = out.split_at_mut_checked(stride)?;
        stored.copy_from_slice(first);
        let mut fields = Fields::new(self, first)?;
        let mut decoder = Decoder::new(compressed);
        for record in rest.chunks_exact_mut(stride) {
            fields.next(&mut decoder, record)?;
        }
        // Of a single record nothing is compressed.
        (!decoder.overran() || rest.is_empty()).then_some(())
    }
}

/// The parts of a record.
struct Fields {
    point: Point10,
    time: Option<Time>,
    color: Option<Color>,
    extra: Bytes,
}

impl Fields {
    /// After the first record.
    fn new(layout: Layout, first: &[u8]) -> Option<Self> {
        let (point, mut rest) = first.split_first_chunk()?;
        let mut fields =
            Self { point: Point10::new(point), time: None, color: None, extra: Bytes::new(&[]) };
        if layout.time {
            let (time, more) = rest.split_first_chunk()?;
            (fields.time, rest) = (Some(Time::new(time)), more);
        }
        if layout.color {
            let (color, more) = rest.split_first_chunk()?;
            (fields.color, rest) = (Some(Color::new(color)), more);
        }
        fields.extra = Bytes::new(rest);
        Some(fields)
    }

    /// The next record.
    #[inline(always)]
    fn next(&mut self, decoder: &mut Decoder, record: &mut [u8]) -> Option<()> {
        let (out, mut rest) = record.split_first_chunk_mut()?;
        self.point.next(decoder, out);
        if let Some(time) = &mut self.time {
            let (out, more) = rest.split_first_chunk_mut()?;
            time.next(decoder, out);
            rest = more;
        }
        if let Some(color) = &mut self.color {
            let (out, more) = rest.split_first_chunk_mut()?;
            color.next(decoder, out);
            rest = more;
        }
        self.extra.next(decoder, rest);
        Some(())
    }
}

#[cfg(test)]
mod tests;
