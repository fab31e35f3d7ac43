//! Errors about files, with messages that name the problem, its place, and what to do.
//!
//! Readers return a [`ParseError`] with the place inside the file; the crate's entry points add the file's
//! name and format.

pub(crate) mod untrusted;

use crate::Format;
use crate::error::untrusted::printable;
use std::{fmt, io};

/// Replaces the options in a message, `` `name` `` or `` `name=value` ``, by how a program spells them.
///
/// ```
/// let as_command = |name: &str, value: &str| format!("--{name} {value}").trim_end().to_owned();
/// assert_eq!(farpoint_io::spelled("set `columns=5`, or `xyz`", as_command), "set --columns 5, or --xyz");
/// ```
pub fn spelled(text: &str, spell: impl Fn(&str, &str) -> String) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once('`') {
        out.push_str(before);
        let option = after.split_once('`').map(|(option, rest)| (option, "", rest));
        let option = option.map(|(option, none, rest)| {
            option.split_once('=').map_or((option, none, rest), |(name, value)| (name, value, rest))
        });
        let is_name = |name: &str| name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        rest = match option {
            Some((name, value, rest)) if is_name(name) && !name.is_empty() => {
                out.push_str(&spell(name, value));
                rest
            }
            _ => {
                out.push('`');
                after
            }
        };
    }
    out + rest
}

/// A place inside a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// A line of text, the first is 1.
    Line(usize),
    /// A byte, the first is 0.
    Byte(usize),
    /// A point, the first is 0.
    Point(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(n) => write!(f, "line {n}"),
            Place::Byte(n) => write!(f, "byte {n}"),
            Place::Point(n) => write!(f, "point {n}"),
        }
    }
}

/// Error of reading or writing a cloud.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused to read.
    #[error("{}: {}", printable(.name), read_message(.name, .source))]
    Read {
        /// The file, as the user named it.
        name: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The operating system refused to write.
    #[error(
        "{}: cannot be written: {source}; {}",
        printable(.name), remedy(.source).unwrap_or("check the folder, its permissions and free space")
    )]
    Write {
        /// The file, as the user named it.
        name: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The content breaks the rules of its format.
    #[error("{}: {}{}", printable(.name), at_place(.format, .at), advised(.what, .fix))]
    Malformed {
        /// The file, as the user named it.
        name: String,
        /// The format it was read as.
        format: Format,
        /// Place in the file.
        at: Option<Place>,
        /// Description of the problem.
        what: String,
        /// Advice to the user.
        fix: String,
    },
    /// Neither the name nor the content belongs to a format that can be read.
    #[error("{}: {}", printable(.name), advised(.what, .fix))]
    UnknownFormat {
        /// The file, as the user named it.
        name: String,
        /// Description of the problem.
        what: String,
        /// Advice to the user.
        fix: String,
    },
    /// The output cannot be written to that place, or not in that format.
    #[error("{}: {}", printable(.name), advised(.what, .fix))]
    Output {
        /// The file, as the user named it.
        name: String,
        /// Description of the problem.
        what: String,
        /// Advice to the user.
        fix: String,
    },
    /// Less memory is free than the work needs.
    #[error(
        "{}: needs about {} of memory, {} are free; split the file, or use a machine with more",
        printable(.name), size(*needed), size(*free)
    )]
    TooLarge {
        /// The file, as the user named it.
        name: String,
        /// Bytes needed at least.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// The file would have to be read whole, and is too large for the memory limit.
    #[error(
        "{}: {format} of this kind is read whole, which takes about {}, and {} are allowed; \
         convert it to binary PLY, LAS or LAZ, or allow more",
        printable(.name), size(*needed), size(*limit)
    )]
    NotInParts {
        /// The file, as the user named it.
        name: String,
        /// The format it was read as.
        format: Format,
        /// Bytes needed at least.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// Files that can't be one cloud.
    #[error("{}: {}", printable(.name), advised(.what, .fix))]
    Merge {
        /// One of the files, as the user named it.
        name: String,
        /// Description of the problem, with the other file.
        what: String,
        /// Advice to the user.
        fix: String,
    },
    /// A requested field is not in the file, or holds no numbers.
    #[error("{}: {}", printable(.name), no_field(.field, .fields))]
    Field {
        /// The file, as the user named it.
        name: String,
        /// Name of the requested field.
        field: String,
        /// Names of the fields of the file.
        fields: Vec<String>,
    },
    /// A row to be written is not in the cloud.
    #[error("row {row} is not in the cloud of {len} points; give rows below {len}")]
    RowOutOfRange {
        /// The requested row.
        row: usize,
        /// Number of rows of the cloud.
        len: usize,
    },
}

impl Error {
    /// The same error, with the name by which the user knows the file.
    pub(crate) fn renamed(mut self, user_name: &str) -> Error {
        if let Error::Malformed { name, .. }
        | Error::UnknownFormat { name, .. }
        | Error::TooLarge { name, .. } = &mut self
        {
            *name = user_name.to_owned();
        }
        self
    }

    pub(crate) fn merge(name: &str, what: &str, fix: &str) -> Error {
        Error::Merge { name: name.to_owned(), what: what.to_owned(), fix: fix.to_owned() }
    }
}

/// Text of the problem and its remedy, on one line.
fn advised(what: &str, fix: &str) -> String {
    format!("{}; {}", printable(what), printable(fix))
}

/// Lists names, at most [`LISTED`] of them.
pub(crate) fn listed(names: impl IntoIterator<Item = impl fmt::Display>) -> String {
    let mut names = names.into_iter();
    let some: Vec<String> = names.by_ref().take(LISTED).map(|name| name.to_string()).collect();
    let others = match names.count() {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    some.join(", ") + &others
}

/// Largest number of names in a message.
const LISTED: usize = 40;

fn no_field(field: &str, fields: &[String]) -> String {
    let what = match fields.iter().any(|name| name == field) {
        true => format!("the field '{field}' holds lists or words, not a number in each point"),
        false => format!("there is no field '{field}'"),
    };
    printable(&format!("{what}; the fields are {}", listed(fields))).into_owned()
}

/// Reason why a file was not read, with advice.
/// Returns whether a name is that of a file on another machine, such as `https://..` or `s3://..`.
pub fn is_url(name: &str) -> bool {
    let scheme = name.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|s| s.len() > 1 && s.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

fn read_message(name: &str, source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::NotFound if is_url(name) => {
            "is a URL; download the file first, and use its path".into()
        }
        io::ErrorKind::UnexpectedEof => {
            "became shorter while it was read; read it again when nothing writes to it".into()
        }
        _ => {
            let fix = remedy(source).unwrap_or("check the path and its permissions");
            format!("cannot be read: {source}; {fix}")
        }
    }
}

/// Returns advice for an error of the operating system that is not about the path of a file.
pub fn remedy(error: &io::Error) -> Option<&'static str> {
    #[cfg(unix)]
    match error.raw_os_error() {
        // EMFILE, ENFILE: std has no kind for them.
        Some(23 | 24) => {
            return Some("too many files are open: raise the limit ('ulimit -n'), or close some");
        }
        // EIO
        Some(5) => return Some("the disk or its connection fails; copy the file elsewhere first"),
        _ => {}
    }
    Some(match error.kind() {
        io::ErrorKind::ReadOnlyFilesystem => "its file system is read-only; write elsewhere",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free space, or write elsewhere"
        }
        io::ErrorKind::FileTooLarge => {
            "the size of files is limited: raise the limit ('ulimit -f'), or free space on the disk"
        }
        io::ErrorKind::OutOfMemory => "free memory, or use a machine with more",
        io::ErrorKind::IsADirectory => "use the name of a file",
        io::ErrorKind::StaleNetworkFileHandle | io::ErrorKind::TimedOut => {
            "the network file system does not answer; try again"
        }
        _ => return None,
    })
}

fn at_place(format: &Format, at: &Option<Place>) -> String {
    match at {
        Some(place) => format!("{format}, {place}: "),
        None => format!("{format}: "),
    }
}

/// Less memory than is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shortage {
    pub(crate) needed: u64,
    pub(crate) free: u64,
}

impl Shortage {
    pub(crate) fn named(self, name: &str) -> Error {
        Error::TooLarge { name: name.to_owned(), needed: self.needed, free: self.free }
    }
}

/// `12.3 GiB`.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = if value < 10.0 { 1 } else { 0 };
    format!("{value:.digits$} {}", UNITS[unit])
}

/// A problem inside one file, before the file's name is known.
#[derive(Debug)]
pub(crate) struct ParseError {
    pub(crate) at: Option<Place>,
    pub(crate) what: String,
    pub(crate) fix: String,
    /// Missing memory; the other fields mean nothing then.
    pub(crate) shortage: Option<Shortage>,
    /// System error while an output was written.
    pub(crate) io: Option<io::Error>,
}

impl From<Shortage> for ParseError {
    fn from(shortage: Shortage) -> ParseError {
        ParseError { shortage: Some(shortage), ..ParseError::new("too large") }
    }
}

impl ParseError {
    pub(crate) fn new(what: impl Into<String>) -> ParseError {
        ParseError {
            at: None,
            what: what.into(),
            fix: "the file is damaged or not of this format".into(),
            shortage: None,
            io: None,
        }
    }

    pub(crate) fn truncated(what: impl Into<String>) -> ParseError {
        ParseError::new(what).fix("the file is truncated: download or export it again")
    }

    /// Returns the error of a file with `more` rows than it declares, or with fewer.
    pub(crate) fn miscounted(what: impl Into<String>, more: bool) -> ParseError {
        match more {
            true => ParseError::new(what).fix("correct the number that is declared"),
            false => ParseError::truncated(what),
        }
    }

    /// Returns the error of a file that the system does not read.
    pub(crate) fn unread(error: &io::Error) -> ParseError {
        let fix = remedy(error).unwrap_or("check the disk, and try again");
        ParseError::new(format!("cannot be read: {error}")).fix(fix)
    }

    pub(crate) fn at(mut self, place: Place) -> ParseError {
        self.at = Some(place);
        self
    }

    /// Shifts the place of a point by the rows before it in the file.
    pub(crate) fn after(mut self, rows: u64) -> ParseError {
        if let Some(Place::Point(point)) = &mut self.at {
            *point += rows as usize;
        }
        self
    }

    pub(crate) fn fix(mut self, fix: impl Into<String>) -> ParseError {
        self.fix = fix.into();
        self
    }

    pub(crate) fn named(self, name: &str, format: Format) -> Error {
        if let Some(shortage) = self.shortage {
            return shortage.named(name);
        }
        Error::Malformed {
            name: name.to_owned(),
            format,
            at: self.at,
            what: self.what,
            fix: self.fix,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_read_well() {
        assert_eq!(size(0), "0.0 KiB");
        assert_eq!(size(12 << 30), "12 GiB");
        assert_eq!(size((3 << 30) / 2), "1.5 GiB");
        assert_eq!(size(u64::MAX), "16384 PiB");
    }
}
