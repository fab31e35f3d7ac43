//! An array of whole numbers with one axis.

use super::{
    Cow, Dimension, ParseError, Parsed, Store, Table, parse, payload, scalar, shape_words,
};
use crate::cloud::column::Column;
use crate::cloud::dtype::DType;

/// Reads the numbers of an array `(n,)` of integers or bool.
pub(crate) fn numbers(bytes: &[u8]) -> Result<Vec<i64>, ParseError> {
    let Parsed { dtype, shape, start, .. } = parse(bytes)?;
    let wrong =
        |what: String| ParseError::new(what).fix("save an array of shape (n,) of integers or bool");
    let &[count] = &shape[..] else {
        return Err(wrong(format!("an array of shape {} is not a list", shape_words(&shape))));
    };
    let kind = match dtype {
        DType::Plain(kind) if kind.kind != b'f' => kind,
        other => {
            return Err(wrong(format!("values of type {other} are not row numbers")));
        }
    };
    let words = || format!("values of type {kind} are not row numbers");
    let number = scalar(&kind).ok_or_else(|| wrong(words()))?;
    let stride = number.size();
    if let Some(rest @ 1..) = (bytes.len() - start).checked_sub(count.saturating_mul(stride)) {
        return Err(wrong(format!("{rest} bytes follow the {count} numbers of the array")));
    }
    let bytes = payload(Cow::Borrowed(bytes), start, count, stride)?;
    let big_endian = kind.big_endian == Some(true);
    let (dimensions, store) =
        (vec![Dimension::new("row", number, 0)], Store::Records { bytes, stride });
    let table = Table { dimensions, store, big_endian, xyz: [0; 3] };
    let rows: Vec<usize> = (0..count).collect();
    match table.column(0, 0, &rows).ok_or_else(|| wrong(words()))? {
        Column::I8(v) => Ok(v.into_iter().map(i64::from).collect()),
        Column::U8(v) => Ok(v.into_iter().map(i64::from).collect()),
        Column::I16(v) => Ok(v.into_iter().map(i64::from).collect()),
        Column::U16(v) => Ok(v.into_iter().map(i64::from).collect()),
        Column::I32(v) => Ok(v.into_iter().map(i64::from).collect()),
        Column::U32(v) => Ok(v.into_iter().map(i64::from).collect()),
        Column::I64(v) => Ok(v),
        Column::U64(v) => {
            let number =
                |x| i64::try_from(x).map_err(|_| wrong(format!("{x} is not a row number")));
            v.into_iter().map(number).collect()
        }
        Column::F32(_) | Column::F64(_) => Err(wrong(words())),
    }
}
