//! The description in the header of an NPY file, a Python literal: types of the values, order and shape (NumPy's NEP 1
//! and `numpy.lib.format`).

use std::fmt;
use std::str::FromStr;

/// Type of the values of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DType {
    Plain(TypeStr),
    /// An array within a field: its length and the type of its items.
    Array(u64, Box<DType>),
    Record(Vec<Field>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) dtype: DType,
}

/// Type of one value, such as `<f4`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TypeStr {
    text: String,
    /// `None` if the byte order does not matter.
    pub(crate) big_endian: Option<bool>,
    /// NumPy's letter: `b` bool, `i` integer, `u` unsigned, `f` float, and others.
    pub(crate) kind: u8,
    /// The number after the letter: bytes, or characters for `U`.
    pub(crate) size: usize,
}

impl TypeStr {
    /// Returns the bytes of a value; `None` for Python objects.
    pub(crate) fn bytes(&self) -> Option<usize> {
        match self.kind {
            b'O' => None,
            b'U' => self.size.checked_mul(4),
            _ => Some(self.size),
        }
    }
}

impl FromStr for TypeStr {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (&[order, kind], size) = text.as_bytes().split_first_chunk().ok_or(())?;
        let big_endian = match order {
            b'<' => Some(false),
            b'>' => Some(true),
            b'|' => None,
            _ => return Err(()),
        };
        // Dates have their unit in brackets.
        let size = std::str::from_utf8(size).map_err(drop)?.split('[').next().unwrap_or_default();
        let size = match kind {
            b'O' => 0,
            b'b' | b'i' | b'u' | b'f' | b'c' | b'm' | b'M' | b'S' | b'a' | b'U' | b'V' => {
                size.parse().map_err(drop)?
            }
            _ => return Err(()),
        };
        Ok(Self { text: text.to_owned(), big_endian, kind, size })
    }
}

impl fmt::Display for TypeStr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Formats as NumPy does in a header.
impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = match self {
            Self::Plain(kind) => return write!(f, "'{kind}'"),
            Self::Array(count, inner) => return write!(f, "{count} of {inner}"),
            Self::Record(fields) => fields,
        };
        f.write_str("[")?;
        for Field { name, dtype } in fields {
            let (mut inner, mut shape) = (dtype, String::new());
            while let Self::Array(count, item) = inner {
                shape.push_str(&format!("{count},"));
                inner = item;
            }
            write!(f, "('{}', {inner}", escaped(name))?;
            if !shape.is_empty() {
                write!(f, ", ({shape})")?;
            }
            f.write_str("), ")?;
        }
        f.write_str("]")
    }
}

fn escaped(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        match c {
            '\\' | '\'' => text.extend(['\\', c]),
            // Python takes no source text with NUL, or a line end in a name.
            '\0'..='\x1f' | '\x7f' => text.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => text.push(c),
        }
    }
    text
}

/// Content of a header.
#[derive(Debug, PartialEq)]
pub(crate) struct Description {
    pub(crate) dtype: DType,
    pub(crate) fortran_order: bool,
    pub(crate) shape: Vec<usize>,
}

impl Description {
    /// Parses a header's text; `None` if it describes no array.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parser = Parser { rest: text };
        let Value::Dict(entries) = parser.value(DEEPEST)? else { return None };
        parser.blanks();
        let entry = |name: &str| {
            let named = |(key, _): &&(String, Value)| key == name;
            entries.iter().find(named).map(|(_, value)| value)
        };
        let Value::Bool(fortran_order) = *entry("fortran_order")? else { return None };
        let shape = entry("shape")?.shape()?;
        let shape = shape.into_iter().map(|n| usize::try_from(n).ok()).collect::<Option<_>>()?;
        let description = Self { dtype: entry("descr")?.dtype()?, fortran_order, shape };
        parser.rest.is_empty().then_some(description)
    }
}

/// Largest depth of nested brackets; structures in structures need 4 to 8.
const DEEPEST: usize = 8;

/// A Python literal.
enum Value {
    Bool(bool),
    Number(u64),
    Text(String),
    /// A list or a tuple.
    Sequence(Vec<Value>),
    Dict(Vec<(String, Value)>),
}

impl Value {
    fn shape(&self) -> Option<Vec<u64>> {
        let Self::Sequence(sizes) = self else { return None };
        let size = |value: &Self| if let Self::Number(n) = value { Some(*n) } else { None };
        sizes.iter().map(size).collect()
    }

    fn dtype(&self) -> Option<DType> {
        match self {
            Self::Text(text) => text.parse().ok().map(DType::Plain),
            Self::Sequence(fields) => {
                fields.iter().map(Self::field).collect::<Option<_>>().map(DType::Record)
            }
            _ => None,
        }
    }

    fn field(&self) -> Option<Field> {
        let Self::Sequence(parts) = self else { return None };
        let (Self::Text(name), kind, shape) = (match &parts[..] {
            [name, kind] => (name, kind, Vec::new()),
            [name, kind, shape] => (name, kind, shape.shape()?),
            _ => return None,
        }) else {
            return None;
        };
        let nested = |inner, count| DType::Array(count, Box::new(inner));
        let dtype = shape.into_iter().rev().fold(kind.dtype()?, nested);
        Some(Field { name: name.clone(), dtype })
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Takes the token if it comes next.
    fn take(&mut self, token: &str) -> bool {
        self.blanks();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self, deepest: usize) -> Option<Value> {
        let deepest = deepest.checked_sub(1)?;
        self.blanks();
        match self.rest.bytes().next()? {
            quote @ (b'\'' | b'"') => self.text(char::from(quote)).map(Value::Text),
            b'0'..=b'9' => self.number().map(Value::Number),
            b'T' => self.take("True").then_some(Value::Bool(true)),
            b'F' => self.take("False").then_some(Value::Bool(false)),
            b'{' => self
                .listed("{", "}", |parser| {
                    let Value::Text(key) = parser.value(deepest)? else { return None };
                    let value = parser.take(":").then(|| parser.value(deepest))??;
                    Some((key, value))
                })
                .map(Value::Dict),
            b'[' => self.listed("[", "]", |parser| parser.value(deepest)).map(Value::Sequence),
            b'(' => self.listed("(", ")", |parser| parser.value(deepest)).map(Value::Sequence),
            _ => None,
        }
    }

    /// Items between brackets, with commas between them and perhaps behind the last.
    fn listed<T>(
        &mut self,
        open: &str,
        close: &str,
        item: impl Fn(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut items = Vec::new();
        let mut more = self.take(open);
        while !self.take(close) {
            items.push(more.then(|| item(self))??);
            more = self.take(",");
        }
        Some(items)
    }

    fn number(&mut self) -> Option<u64> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        // Python 2 marks some integers as long.
        self.rest = rest.strip_prefix('L').unwrap_or(rest);
        digits.parse().ok()
    }

    fn text(&mut self, quote: char) -> Option<String> {
        let mut text = String::new();
        let mut chars = self.rest.chars();
        chars.next();
        loop {
            match chars.next()? {
                c if c == quote => break,
                '\\' => text.push(match chars.next()? {
                    c @ ('\\' | '\'' | '"') => c,
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    'x' => code(&mut chars, 2)?,
                    'u' => code(&mut chars, 4)?,
                    'U' => code(&mut chars, 8)?,
                    _ => return None,
                }),
                c => text.push(c),
            }
        }
        self.rest = chars.as_str();
        Some(text)
    }
}

/// The character whose code is the next `digits` hexadecimal digits.
fn code(chars: &mut std::str::Chars<'_>, digits: usize) -> Option<char> {
    let code = chars.by_ref().take(digits).try_fold(0, |code, c| Some(code * 16 + c.to_digit(16)?));
    char::from_u32(code?)
}

#[cfg(test)]
mod tests {
    use super::{DType, Description};

    fn parsed(descr: &str) -> Option<Description> {
        let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (3L, 4), }}  \n");
        Description::parse(&text)
    }

    #[test]
    fn types_are_written_as_they_were_read() {
        for descr in [
            "'<f4'",
            "'|V12'",
            "'<M8[ns]'",
            "[('x', '<f8'), ('it\\'s \\\\ \u{e9}', '|u1', (2,3,)), ('in', [('a', '>i2'), ]), ]",
        ] {
            let Description { dtype, fortran_order, shape } = parsed(descr).unwrap();
            assert_eq!((dtype.to_string().as_str(), fortran_order), (descr, false));
            assert_eq!(shape, [3, 4]);
        }
        let DType::Record(fields) = parsed(r#"[["\x41\u00e9", "<f4"]]"#).unwrap().dtype else {
            panic!("fields are a record");
        };
        assert_eq!(fields[0].name, "A\u{e9}");
    }

    #[test]
    fn other_texts_describe_no_array() {
        for descr in
            ["'f4'", "'<q4'", "'<f'", "1", "['<f4']", "[('x',)]", "'<f4' '<f4'", "(((((((((", "'"]
        {
            assert_eq!(parsed(descr), None, "{descr}");
        }
        for text in ["", "{}", "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "'\\"] {
            assert_eq!(Description::parse(text), None, "{text}");
        }
        assert!(
            Description::parse("{'descr': '<f4', 'fortran_order': True, 'shape': (1,)} x")
                .is_none()
        );
    }
}
