//! Formatting of figures.

/// Formats a time with three digits.
pub(super) fn milliseconds(seconds: f64) -> String {
    match seconds * 1e3 {
        ms @ 100.0.. => format!("{ms:.0} ms"),
        ms @ 10.0.. => format!("{ms:.1} ms"),
        ms @ 1.0.. => format!("{ms:.2} ms"),
        ms => format!("{ms:.3} ms"),
    }
}

/// Describes whether a target was reached.
pub(super) fn reached(found: f64, target: f64) -> String {
    if found <= target { "yes".into() } else { format!("**no**, {:.2} times", found / target) }
}
