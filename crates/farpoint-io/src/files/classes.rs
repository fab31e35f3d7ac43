//! Names of classes and returns.

use crate::conversion::key;

/// The names of LAS 1.4, by class.
const CLASSES: [&str; 23] = [
    "never classified",
    "unclassified",
    "ground",
    "low vegetation",
    "medium vegetation",
    "high vegetation",
    "building",
    "low noise",
    "model key point",
    "water",
    "rail",
    "road surface",
    "overlap",
    "wire, guard",
    "wire, conductor",
    "transmission tower",
    "wire connector",
    "bridge deck",
    "high noise",
    "overhead structure",
    "ignored ground",
    "snow",
    "temporal exclusion",
];

/// Returns the name of a class, as ASPRS defines it for LAS 1.4.
pub fn class_name(class: u64) -> &'static str {
    match usize::try_from(class) {
        Ok(class) if class < CLASSES.len() => CLASSES[class],
        Ok(64..) => "user defined",
        _ => "reserved",
    }
}

/// Returns the class of a name, in any case and with `_` or spaces: `low_vegetation`.
pub(super) fn class_of(name: &str) -> Option<f64> {
    let same = |class: &&str| key(class).replace(',', "") == key(name);
    CLASSES.iter().position(same).map(|class| class as f64)
}

/// Returns the names of the classes that a part of their names stands for: `low_noise` and `high_noise` for `noise`.
pub(super) fn classes_like(part: &str) -> Vec<String> {
    let part = key(part);
    let like = CLASSES.iter().filter(|class| part.len() > 2 && key(class).contains(&part));
    like.map(|class| class.replace(", ", "_").replace(' ', "_")).collect()
}

/// Kinds of returns of a pulse. The only one is the first and the last, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Return {
    First,
    Intermediate,
    Last,
    Single,
}

impl Return {
    pub(super) fn of_name(name: &str) -> Option<Return> {
        Some(match name.to_ascii_lowercase().as_str() {
            "first" => Return::First,
            "intermediate" => Return::Intermediate,
            "last" => Return::Last,
            "single" => Return::Single,
            _ => return None,
        })
    }

    /// Returns whether return `number` of `count` is one.
    pub(super) fn is(self, number: f64, count: f64) -> bool {
        match self {
            Return::First => number == 1.0,
            Return::Intermediate => 1.0 < number && number < count,
            Return::Last => number == count && number > 0.0,
            Return::Single => number == 1.0 && count == 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_names() {
        assert_eq!(class_name(2), "ground");
        assert_eq!(class_name(22), "temporal exclusion");
        assert_eq!(class_name(23), "reserved");
        assert_eq!(class_name(200), "user defined");
        assert_eq!(class_of("Low_Vegetation"), Some(3.0));
        assert_eq!(class_of("wire_guard"), Some(13.0));
        assert_eq!(class_of("trees"), None);
        assert!(
            (0..23)
                .all(|class| class_of(&class_name(class).replace(',', "")) == Some(class as f64))
        );
    }
}
