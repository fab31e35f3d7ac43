//! Hints for command lines that are not understood: what may be meant, and what is found elsewhere.

use clap::error::{ContextKind, ContextValue};
use farpoint::Algorithm;
use std::ffi::OsString;

/// Words of other software, and those of this one: commands, options and names of samplers and devices.
const MEANT: [(&str, &str); 10] = [
    ("decimate decimation downsample reduce subsample thin", "sample"),
    ("distance distances hausdorff", "chamfer"),
    ("knn", "neighbors"),
    ("sort", "order"),
    ("translate", "convert"),
    ("leaf-size voxel-size", "--cell"),
    ("distance radius", "--spacing"),
    ("number samples", "--count"),
    ("voxel voxelgrid", "grid"),
    ("gpu", "cuda"),
];

/// Options of other software to transform coordinates.
const REPROJECT: &str = "t_srs s_srs a_srs out-srs in-srs out_srs crs epsg reproject";

/// Options of numbers with a decimal point.
const DECIMAL: &str = "--ratio --spacing --cell --scale --threshold --radius --min-radius --memory --time-limit --box --box3";

/// Returns whether a list holds a word.
pub(crate) fn holds(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// Returns the end of a message about an unknown name: the known one that is most like it, if any is.
pub(crate) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let (word, known) = (word.to_ascii_lowercase(), known.into_iter().collect::<Vec<_>>());
    let synonym = MEANT.iter().find(|(others, own)| holds(others, &word) && known.contains(own));
    let likeness = |name: &&str| (1000.0 * strsim::jaro_winkler(name, &word)) as u32;
    let like = || known.into_iter().filter(|name| likeness(name) > 850).max_by_key(likeness);
    let meant = synonym.map(|(_, own)| *own).or_else(like);
    meant.map_or(String::new(), |name| format!("; did you mean '{name}'?"))
}

/// Returns the error of the parser as a sentence, with its hints and those of this module; `text` is the parser's.
pub(crate) fn sentence(error: &clap::Error, text: &str, arguments: &[OsString]) -> String {
    let lines = text
        .lines()
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"))
        .map(|line| line.trim().trim_start_matches("error: "))
        .filter(|line| !line.is_empty());
    let (tips, message): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with("tip: "));
    let hint = own_hint(error, arguments).or_else(|| tips.into_iter().find_map(of_tip));
    let sentence = message.join(" ") + &hint.map_or(String::new(), |hint| format!("; {hint}"));
    if sentence.ends_with('?') { sentence } else { sentence + ";" }
}

/// Returns a tip of the parser as a part of a sentence, unless it tells how to pass options as values.
fn of_tip(tip: &str) -> Option<String> {
    let tip = tip.trim_start_matches("tip: ");
    let similar = tip.split_once(": ").filter(|(what, _)| what.contains("similar"));
    match similar.map(|(_, names)| names).or(tip.strip_suffix(" exists")) {
        Some(names) => Some(format!("did you mean {}?", names.replace(", ", " or "))),
        None => (!tip.starts_with("to pass")).then(|| tip.to_owned()),
    }
}

fn own_hint(error: &clap::Error, arguments: &[OsString]) -> Option<String> {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let argument = context(ContextKind::InvalidArg).unwrap_or_default();
    if let Some(value) = context(ContextKind::InvalidValue) {
        let option = argument.split(' ').next().unwrap_or_default();
        let number = with_point(value).filter(|_| holds(DECIMAL, option));
        return number.map(|number| format!("the decimal separator is a point: {number}"));
    }
    let word = context(ContextKind::InvalidSubcommand).unwrap_or(argument);
    let name = word.trim_start_matches("--");
    let meant = |(others, own): &&(&str, &str)| {
        holds(others, name) && own.starts_with("--") == word.starts_with("--")
    };
    if let Some((_, own)) = MEANT.iter().find(meant) {
        return Some(format!("did you mean '{own}'?"));
    }
    if let Some(text) = of_algorithm(name) {
        return Some(format!("options of algorithms are text: {text}"));
    }
    // GDAL's -t_srs is -t to the parser.
    let options = arguments.iter().filter_map(|argument| argument.to_str()?.strip_prefix('-'));
    let mut names = options.filter_map(|option| option.trim_start_matches('-').split('=').next());
    let reproject = argument.starts_with('-') && names.any(|name| holds(REPROJECT, name));
    let advice = "coordinates are written as they are read; reproject the file first, for instance with \
                  filters.reprojection of PDAL";
    reproject.then(|| advice.to_owned())
}

/// Returns how an option of an algorithm is written that earlier versions had as an argument.
fn of_algorithm(name: &str) -> Option<String> {
    let name = name.split('=').next()?;
    let known = Algorithm::OPTIONS.into_iter().flatten();
    let plain = name.trim_start_matches("no-");
    let option = known.into_iter().find(|option| option.name.replace('_', "-") == plain)?;
    let value = if plain == name { option.value } else { "off" };
    Some(format!("--algorithm {}:{plain}={value}", option.algorithm))
}

/// Returns a number with a decimal comma, and perhaps a unit, with a point in its place.
fn with_point(value: &str) -> Option<String> {
    let (whole, rest) = value.split_once(',')?;
    let digits = rest.trim_end_matches(|c: char| c.is_alphabetic() || "% -".contains(c));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let fits = is_number(whole.trim_start_matches(['-', '+'])) && is_number(digits);
    fits.then(|| format!("{whole}.{rest}"))
}
