//! Checks of arguments from C: structures by their size, lists, texts, enumerations,
//! and outputs.

use crate::constants::Enumeration;
use crate::status::{Failure, invalid};
use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;

/// A structure of C with its size as the first member.
///
/// # Safety
/// It is `repr(C)`, its first member is a `usize`, and any bytes that C may write, zeros among
/// them, are valid values of its members.
pub(crate) unsafe trait Versioned: Copy {
    /// Its name in C.
    const NAME: &str;
    /// Its size in the first version of the library that had it.
    const FIRST: usize;
}

/// Upper bound of all sizes: a larger size was never set.
const LARGEST: usize = 1 << 12;

/// Reads a structure, with zeros for members that the caller's version does not have.
///
/// # Safety
/// `pointer` is NULL, or as many bytes can be read there as its first member says.
///
/// # Errors
/// If it is NULL, or the size is of no version, or members are set that this version does not know.
pub(crate) unsafe fn structure<S: Versioned>(pointer: *const S) -> Result<S, Failure> {
    let name = S::NAME;
    aligned(pointer, || name.to_owned())?;
    if pointer.is_null() {
        return Err(invalid(format!("a pointer to {name} is NULL; pass one with its `size` set")));
    }
    // SAFETY: not null, aligned, and the first member can be read by this function's contract.
    let size = unsafe { pointer.cast::<usize>().read() };
    if !(S::FIRST..=LARGEST).contains(&size) {
        return Err(invalid(format!(
            "{name} has the size {size}; set its first member to sizeof({name}), which is {} here",
            size_of::<S>()
        )));
    }
    let known = size.min(size_of::<S>());
    let mut read = MaybeUninit::<S>::zeroed();
    // SAFETY: `size` bytes can be read by this function's contract, and `known` fit into `read`, which
    // is elsewhere. `Versioned` structures may hold any such bytes.
    let read = unsafe {
        std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), read.as_mut_ptr().cast(), known);
        read.assume_init()
    };
    // SAFETY: as above; empty unless the structure is larger than ours.
    let rest = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>().add(known), size - known) };
    if rest.iter().any(|&byte| byte != 0) {
        return Err(invalid(format!(
            "{name} has {size} bytes and sets members that this version of the library does not know; it knows {}",
            size_of::<S>()
        )));
    }
    Ok(read)
}

/// Like `structure`; `None` for NULL.
///
/// # Safety
/// Same as `structure`.
///
/// # Errors
/// Same as `structure`, NULL excepted.
pub(crate) unsafe fn optional<S: Versioned>(pointer: *const S) -> Result<Option<S>, Failure> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: by this function's contract.
    unsafe { structure(pointer) }.map(Some)
}

/// Returns an array of C as a slice.
///
/// # Safety
/// `data` is NULL, or `count` values can be read there and nobody writes them for as long as `'a`.
///
/// # Errors
/// If it is NULL though there are some, or it is not aligned, or they fit in no memory.
pub(crate) unsafe fn list<'a, T>(
    data: *const T,
    count: usize,
    argument: &str,
) -> Result<&'a [T], Failure> {
    check_list(data, count, argument)?;
    match count {
        0 => Ok(&[]),
        // SAFETY: not null, aligned and not too long, as was checked; the rest is this function's contract.
        _ => Ok(unsafe { std::slice::from_raw_parts(data, count) }),
    }
}

/// Checks an array's address.
///
/// # Errors
/// Same as `list`.
pub(crate) fn check_list<T>(data: *const T, count: usize, argument: &str) -> Result<(), Failure> {
    if data.is_null() && count > 0 {
        return Err(invalid(match count {
            1 => format!("{argument} is NULL"),
            _ => format!("{argument} is NULL, but has {count} elements"),
        }));
    }
    aligned(data, || argument.to_owned())?;
    let bytes = count.checked_mul(size_of::<T>()).filter(|&bytes| bytes <= isize::MAX as usize);
    if bytes.is_none_or(|bytes| data.addr().checked_add(bytes).is_none()) {
        return Err(invalid(format!("{argument}: {count} elements do not fit in memory")));
    }
    Ok(())
}

fn aligned<T>(address: *const T, argument: impl Fn() -> String) -> Result<(), Failure> {
    if address.is_aligned() {
        return Ok(());
    }
    Err(invalid(format!(
        "{} at {:#x} is not aligned to {} bytes",
        argument(),
        address.addr(),
        align_of::<T>()
    )))
}

/// Returns the place for a result, or for `count` of them.
///
/// # Safety
/// `place` is NULL, or `count` values can be written there and nobody else uses them for as long as
/// `'a`.
///
/// # Errors
/// If it is NULL though there is to be one, or is not aligned.
pub(crate) unsafe fn places<'a, T>(
    place: *mut T,
    count: usize,
    argument: &str,
) -> Result<&'a mut [MaybeUninit<T>], Failure> {
    check_list(place.cast_const(), count, argument)?;
    match count {
        0 => Ok(&mut []),
        // SAFETY: not null, aligned and not too long, as was checked; the rest is this function's contract.
        _ => Ok(unsafe { std::slice::from_raw_parts_mut(place.cast(), count) }),
    }
}

/// Returns a text; `None` for NULL.
///
/// # Safety
/// `text` is NULL, or a string that ends with a zero, which nobody writes for as long as `'a`.
///
/// # Errors
/// If it is not UTF-8.
pub(crate) unsafe fn text<'a>(
    text: *const c_char,
    argument: &str,
) -> Result<Option<&'a str>, Failure> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: not null; the rest is this function's contract.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(Some).map_err(|_| invalid(format!("{argument} is not text in UTF-8")))
}

/// Returns the number that C wrote.
pub(crate) fn number<E: Enumeration>(value: MaybeUninit<E>) -> i32 {
    // SAFETY: `Enumeration` is of the size of the number, and C hands over values that it has set.
    unsafe { value.as_ptr().cast::<i32>().read() }
}

/// Looks up a number in a table of names and meanings.
///
/// # Errors
/// If it is not in the table.
pub(crate) fn lookup<E: Enumeration, T: Copy>(
    value: MaybeUninit<E>,
    member: &str,
    table: &[(E, T)],
) -> Result<T, Failure> {
    let value_of = |name: E| number(MaybeUninit::new(name));
    let value = number(value);
    if let Some((_, meaning)) = table.iter().find(|(name, _)| value_of(*name) == value) {
        return Ok(*meaning);
    }
    let names: Vec<_> =
        table.iter().map(|(name, _)| format!("{name:?} ({})", value_of(*name))).collect();
    Err(invalid(format!("{member} is {value}; use {}", names.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constants::{FARPOINT_CPU, FARPOINT_CUDA};

    #[derive(Debug, Clone, Copy, PartialEq)]
    #[repr(C)]
    struct Old {
        size: usize,
        a: i32,
        b: i32,
    }

    #[derive(Debug, Clone, Copy, PartialEq)]
    #[repr(C)]
    struct New {
        size: usize,
        a: i32,
        b: i32,
        c: f64,
    }

    // SAFETY: numbers only, in C's layout, the size first.
    unsafe impl Versioned for Old {
        const NAME: &str = "old";
        const FIRST: usize = size_of::<Old>();
    }

    // SAFETY: as above.
    unsafe impl Versioned for New {
        const NAME: &str = "new";
        const FIRST: usize = size_of::<Old>();
    }

    #[test]
    fn structures_of_other_versions() {
        let old = Old { size: size_of::<Old>(), a: 1, b: 2 };
        // SAFETY: it has as many bytes as it says.
        let read = unsafe { structure((&raw const old).cast::<New>()) };
        assert_eq!(read.unwrap(), New { size: 16, a: 1, b: 2, c: 0.0 });
        let mut new = New { size: size_of::<New>(), a: 1, b: 2, c: 0.0 };
        // SAFETY: as above.
        let read = unsafe { structure((&raw const new).cast::<Old>()) };
        assert_eq!(read.unwrap(), Old { size: 24, a: 1, b: 2 });
        new.c = 0.5;
        // SAFETY: as above.
        let error = unsafe { structure((&raw const new).cast::<Old>()) }.unwrap_err().text;
        assert!(error.contains("does not know; it knows 16"), "{error}");
    }

    #[test]
    fn sizes_of_no_version() {
        for size in [0, 1, 15, LARGEST + 1, usize::MAX] {
            let invalid_structure = Old { size, a: 0, b: 0 };
            // SAFETY: no more than the first member is read of structures of such sizes.
            let error = unsafe { structure(&raw const invalid_structure) }.unwrap_err().text;
            assert!(error.contains("sizeof(old), which is 16"), "{error}");
        }
        // SAFETY: NULL is allowed, and an address that is not aligned is not read.
        unsafe {
            assert!(structure(std::ptr::null::<Old>()).unwrap_err().text.contains("is NULL"));
            assert!(optional(std::ptr::null::<Old>()).unwrap().is_none());
            let odd = std::ptr::without_provenance::<Old>(4099);
            assert!(structure(odd).unwrap_err().text.contains("not aligned to 8"));
        }
    }

    #[test]
    fn lists() {
        let numbers = [1usize, 2, 3];
        // SAFETY: three numbers are there; addresses that are refused are not read.
        unsafe {
            assert_eq!(list(numbers.as_ptr(), 3, "rows").unwrap(), numbers);
            assert_eq!(list(std::ptr::null::<usize>(), 0, "rows").unwrap(), []);
            let error = |data, count| list::<usize>(data, count, "rows").unwrap_err().text;
            assert_eq!(error(std::ptr::null(), 3), "rows is NULL, but has 3 elements");
            assert!(error(numbers.as_ptr(), usize::MAX / 4).contains("do not fit in memory"));
            assert!(
                error(std::ptr::without_provenance(usize::MAX - 15), 2)
                    .contains("not fit in memory")
            );
            assert!(error(std::ptr::without_provenance(9), 2).contains("not aligned"));
        }
    }

    #[test]
    fn names() {
        let table = [(FARPOINT_CPU, 'a'), (FARPOINT_CUDA, 'b')];
        assert_eq!(lookup(MaybeUninit::new(FARPOINT_CUDA), "member", &table).unwrap(), 'b');
        let mut other = MaybeUninit::new(FARPOINT_CPU);
        // SAFETY: as large as an `i32`, and aligned.
        unsafe { other.as_mut_ptr().cast::<i32>().write(-3) };
        let error = lookup(other, "member", &table).unwrap_err().text;
        assert_eq!(error, "member is -3; use FARPOINT_CPU (0), FARPOINT_CUDA (1)");
    }
}
