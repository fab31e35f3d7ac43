//! Rules by which claims are judged, and formatting of their numbers.

use farpoint_cli::output::number;

/// Condition for measured numbers to agree with the statement. Every case in scope has to satisfy it.
#[derive(Clone, Copy)]
pub(super) enum Rule {
    /// Within a factor of the paper's number, or of its range.
    Within {
        factor: f64,
        paper: [f64; 2],
    },
    AtMost(f64),
    AtLeast(f64),
    Above(f64),
    Below(f64),
}

/// Unit and format of a value.
#[derive(Clone, Copy)]
pub(super) enum Unit {
    Times,
    Percent,
    Megabytes,
    Voxels,
}

impl Rule {
    /// Returns the rule "within a factor of one number".
    pub(super) fn within(factor: f64, paper: f64) -> Self {
        Self::Within { factor, paper: [paper; 2] }
    }

    /// Returns whether a value satisfies the rule. NaN never does.
    pub(super) fn holds(self, value: f64) -> bool {
        match self {
            Self::Within { factor, paper: [low, high] } => {
                (low / factor..=high * factor).contains(&value)
            }
            Self::AtMost(bound) => value <= bound,
            Self::AtLeast(bound) => value >= bound,
            Self::Above(bound) => value > bound,
            Self::Below(bound) => value < bound,
        }
    }

    /// Returns the distance of a value from the rule's bound, as a logarithm; infinite for NaN.
    pub(super) fn distance(self, value: f64) -> f64 {
        let bound = match self {
            Self::Within { paper: [low, high], .. } => (low * high).sqrt(),
            Self::AtMost(bound)
            | Self::AtLeast(bound)
            | Self::Above(bound)
            | Self::Below(bound) => bound,
        };
        match (value / bound).ln().abs() {
            off if off.is_nan() => f64::INFINITY,
            off => off,
        }
    }

    pub(super) fn described(self, unit: Unit) -> String {
        let of = |value| unit.with(exact(value));
        match self {
            Self::Within { factor, paper: [low, high] } => {
                let paper = match low == high {
                    true => of(low),
                    false => format!("{} to {}", of(low), of(high)),
                };
                let [least, most] = [of(low / factor), of(high * factor)];
                format!("within a factor of {factor} of {paper} ({least} to {most})")
            }
            Self::AtMost(bound) => format!("at most {}", of(bound)),
            Self::AtLeast(bound) => format!("at least {}", of(bound)),
            Self::Above(bound) => format!("above {}", of(bound)),
            Self::Below(bound) => format!("below {}", of(bound)),
        }
    }
}

impl Unit {
    /// Formats a measured value with three digits.
    pub(super) fn of(self, value: f64) -> String {
        let size = value.abs();
        let text = match size {
            _ if size == 0.0 || size >= 100.0 => format!("{value:.0}"),
            _ if (0.001..100.0).contains(&size) => {
                // 99.98 percent must not become 100.
                let digits = if matches!(self, Self::Percent) { 4 } else { 3 };
                let places = digits - 1 - size.log10().floor() as i32;
                trimmed(&format!("{value:.*}", places.max(0) as usize))
            }
            _ => trimmed(&number(value)),
        };
        self.with(text)
    }

    fn with(self, text: String) -> String {
        match self {
            Self::Times => format!("{text}x"),
            Self::Percent => format!("{text} %"),
            Self::Megabytes => format!("{text} MB"),
            Self::Voxels => format!("{text} voxels"),
        }
    }
}

/// Formats the number of a rule: that of the paper, to two places.
fn exact(value: f64) -> String {
    trimmed(&format!("{value:.2}"))
}

fn trimmed(text: &str) -> String {
    match text.contains('.') && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    }
}
