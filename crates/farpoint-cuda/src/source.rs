//! Parsing of kernel sources by tests.

/// Returns the names of the fields of a C++ structure, in order.
pub(crate) fn fields(source: &str, name: &str) -> String {
    let (_, rest) = source.split_once(&format!("struct {name} {{")).expect("the structure");
    let (body, _) = rest.split_once("};").expect("its end");
    let field = |line: &str| {
        let field = line.split("//").next()?.trim().strip_suffix(';')?;
        let field = field.rsplit([' ', '*']).next()?;
        Some(field.split('[').next()?.to_owned())
    };
    body.lines().filter_map(field).collect::<Vec<_>>().join(" ")
}
