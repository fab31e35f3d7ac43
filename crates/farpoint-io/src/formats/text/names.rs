//! The columns of x, y and z: by their names, or as the caller states.

use crate::error::ParseError;

/// The columns of x, y and z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axes {
    pub(super) columns: [usize; 3],
    /// True if x and y are named longitude and latitude.
    pub(super) degrees: bool,
}

impl Axes {
    pub(super) fn new(columns: [usize; 3]) -> Axes {
        Axes { columns, degrees: false }
    }
}

/// Advice if the columns cannot be found.
pub(super) const ADVICE: &str =
    "set the columns of x, y and z with `xyz=COL,COL,COL`, names or numbers from 1";

/// The same if names do not help.
pub(super) const ADVICE_NUMBERS: &str =
    "set the columns of x, y and z with `xyz=COL,COL,COL` as numbers from 1";

/// Words next to x, y or z in one name: `Point_X`, `x-coordinate`.
const AXIS_WORDS: [&str; 6] = ["coord", "coordinate", "koordinate", "point", "pos", "position"];
const EAST: [&str; 13] = [
    "e",
    "east",
    "easting",
    "eastings",
    "utme",
    "rechtswert",
    "rechts",
    "rw",
    "ost",
    "ostwert",
    "est",
    "este",
    "xeast",
];
const NORTH: [&str; 12] = [
    "n",
    "north",
    "northing",
    "northings",
    "utmn",
    "hochwert",
    "hoch",
    "hw",
    "nord",
    "nordwert",
    "norte",
    "ynorth",
];
const LONGITUDE: [&str; 7] =
    ["lon", "long", "lng", "longitude", "longitud", "longitudine", "laengengrad"];
const LATITUDE: [&str; 6] = ["lat", "latitude", "latitud", "latitudine", "breitengrad", "latdeg"];
/// `hhe` is the rest of `Höhe` in Latin-1.
const HEIGHT: [&str; 21] = [
    "h",
    "height",
    "elevation",
    "elev",
    "elv",
    "el",
    "altitude",
    "alt",
    "hoehe",
    "hohe",
    "hhe",
    "hauteur",
    "cota",
    "quota",
    "ht",
    "rl",
    "orthometricheight",
    "ellipsoidalheight",
    "hgt",
    "reducedlevel",
    "zheight",
];
const SURVEY_FOOT: f64 = 1200.0 / 3937.0;
/// Units at the end of a name, as in `X_m`, in meters; degrees in none.
const UNITS: [(&str, f64); 18] = [
    ("m", 1.0),
    ("meter", 1.0),
    ("meters", 1.0),
    ("metre", 1.0),
    ("metres", 1.0),
    ("km", 1000.0),
    ("cm", 0.01),
    ("mm", 0.001),
    ("ft", 0.3048),
    ("foot", 0.3048),
    ("feet", 0.3048),
    ("ift", 0.3048),
    ("usft", SURVEY_FOOT),
    ("ftus", SURVEY_FOOT),
    ("usfeet", SURVEY_FOOT),
    ("sft", SURVEY_FOOT),
    ("deg", f64::NAN),
    ("degrees", f64::NAN),
];

#[derive(Clone, Copy, PartialEq)]
enum Role {
    X,
    Y,
    Z,
    East,
    North,
    Longitude,
    Latitude,
    Height,
}

/// Returns a name without its unit, its separators and upper case: `Easting [m]` becomes `easting`.
fn plain(name: &str) -> String {
    let name = name.trim();
    let end = name.char_indices().find(|&(i, c)| i > 0 && matches!(c, '[' | '(')).map(|(i, _)| i);
    let name = name[..end.unwrap_or(name.len())].to_lowercase();
    let name = name.replace('ö', "oe").replace('ä', "ae").replace(['é', 'è'], "e");
    let mut words: Vec<&str> =
        name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.len() > 1 && words.last().is_some_and(|word| unit_of(word).is_some()) {
        words.pop();
    }
    words.concat()
}

fn unit_of(word: &str) -> Option<f64> {
    UNITS.iter().find(|(unit, _)| *unit == word).map(|(_, meters)| *meters)
}

/// Returns the meters of the unit in a name: `Easting [ft]`, `x (US survey feet)`, `Y_m`.
fn meters(name: &str) -> Option<f64> {
    let name = name.trim().to_lowercase();
    let words: Vec<&str> =
        name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let (last, before) = words.split_last()?;
    let meters = unit_of(last).filter(|meters| meters.is_finite() && !before.is_empty())?;
    let survey = before.iter().any(|word| ["us", "survey"].contains(word));
    Some(if survey && meters == 0.3048 { SURVEY_FOOT } else { meters })
}

/// Returns the meters of the units that the names of x, y and z state; none beside degrees.
pub(super) fn units(names: &[String], axes: &Axes) -> [Option<f64>; 3] {
    axes.columns.map(|column| meters(names.get(column)?).filter(|_| !axes.degrees))
}

fn role(name: &str) -> Option<Role> {
    let name = plain(name);
    let name = name.as_str();
    let is = |axis: &str| {
        let rest = name.strip_prefix(axis).or_else(|| name.strip_suffix(axis));
        rest.is_some_and(|rest| rest.is_empty() || AXIS_WORDS.contains(&rest))
    };
    Some(match name {
        _ if is("x") => Role::X,
        _ if is("y") => Role::Y,
        _ if is("z") => Role::Z,
        _ if EAST.contains(&name) => Role::East,
        _ if NORTH.contains(&name) => Role::North,
        _ if LONGITUDE.contains(&name) => Role::Longitude,
        _ if LATITUDE.contains(&name) => Role::Latitude,
        _ if HEIGHT.contains(&name) => Role::Height,
        _ => return None,
    })
}

/// Returns the columns found by the names: x, y and z themselves; or else those with a unit or in surveyors' terms,
/// if there is just one column for each axis.
pub(super) fn recognized(names: &[String]) -> Option<Axes> {
    let exact = |axis: &str| names.iter().position(|n| n.trim().eq_ignore_ascii_case(axis));
    if let (Some(x), Some(y), Some(z)) = (exact("x"), exact("y"), exact("z")) {
        return Some(Axes::new([x, y, z]));
    }
    let roles: Vec<Option<Role>> = names.iter().map(|name| role(name)).collect();
    let only = |target: Role| {
        let mut places = roles.iter().enumerate().filter(|(_, r)| **r == Some(target));
        places.next().map(|(i, _)| i).filter(|_| places.next().is_none())
    };
    let z = only(Role::Z).or_else(|| only(Role::Height))?;
    let pairs = [(Role::X, Role::Y), (Role::East, Role::North), (Role::Longitude, Role::Latitude)];
    pairs.into_iter().find_map(|(x, y)| {
        Some(Axes { columns: [only(x)?, only(y)?, z], degrees: x == Role::Longitude })
    })
}

/// Returns the columns found by the names, or an error that lists the names.
pub(super) fn named(names: &[String]) -> Result<Axes, ParseError> {
    recognized(names).ok_or_else(|| {
        let what = format!("the header has no x, y and z, only {}", listed(names));
        ParseError::new(what).fix(format!("{ADVICE}; put '#' before a line that is not a header"))
    })
}

/// Returns the columns that the options name, in a file of `columns` columns with these names.
pub(super) fn requested(
    xyz: &[String; 3],
    names: Option<&[String]>,
    columns: usize,
) -> Result<Axes, ParseError> {
    let x = column(&xyz[0], names, columns)?;
    let y = column(&xyz[1], names, columns)?;
    let z = column(&xyz[2], names, columns)?;
    if x == y || y == z || x == z {
        let what = format!("'{}' names a column twice", xyz.join(","));
        return Err(ParseError::new(what).fix(ADVICE));
    }
    let degrees = names.and_then(recognized).is_some_and(|a| a.degrees && a.columns == [x, y, z]);
    Ok(Axes { columns: [x, y, z], degrees })
}

fn column(name: &str, names: Option<&[String]>, columns: usize) -> Result<usize, ParseError> {
    let name = name.trim();
    if let Ok(number) = name.parse::<usize>() {
        return match (1..=columns).contains(&number) {
            true => Ok(number - 1),
            false => {
                Err(ParseError::new(format!("there is no column {number} of {columns}"))
                    .fix(ADVICE))
            }
        };
    }
    let Some(names) = names else {
        let what = format!("there is no header that could name a column '{name}'");
        return Err(ParseError::new(what).fix(ADVICE_NUMBERS));
    };
    let exact = names.iter().position(|n| n.trim().eq_ignore_ascii_case(name));
    let equivalent = || names.iter().position(|n| plain(n) == plain(name));
    exact.or_else(equivalent).ok_or_else(|| {
        let what = format!("there is no column '{name}' among {}", listed(names));
        ParseError::new(what).fix(ADVICE)
    })
}

/// Lists the names with their numbers: `1 'ID', 2 'East'`.
fn listed(names: &[String]) -> String {
    let shown = |(i, name): (usize, &String)| {
        let name: String = name.chars().take(24).collect();
        format!("{} '{}'", i + 1, name)
    };
    let mut list: Vec<String> = names.iter().enumerate().take(12).map(shown).collect();
    if names.len() > list.len() {
        list.push(format!("{} more", names.len() - list.len()));
    }
    list.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(header: &str) -> Option<([usize; 3], bool)> {
        let names: Vec<String> = header.split(',').map(str::to_owned).collect();
        recognized(&names).map(|a| (a.columns, a.degrees))
    }

    #[test]
    fn usual_names_are_recognized() {
        for (header, columns) in [
            ("x,y,z", [0, 1, 2]),
            ("Z,i,X,Y", [2, 3, 0]),
            ("X[m],Y[m],Z[m]", [0, 1, 2]),
            ("x (m),y (m),z (m)", [0, 1, 2]),
            ("POINT_X,POINT_Y,POINT_Z", [0, 1, 2]),
            ("id,x_coord,y_coord,elevation", [1, 2, 3]),
            ("ID,Easting,Northing,Height", [1, 2, 3]),
            ("E,N,H", [0, 1, 2]),
            ("Point,North,East,Elev,Code", [2, 1, 3]),
            ("Punkt,Rechtswert,Hochwert,Höhe", [1, 2, 3]),
            ("Nr,Ost,Nord,H\u{fffd}he", [1, 2, 3]),
            ("est,nord,altitude", [0, 1, 2]),
            ("lat,lon,Easting_m,Northing_m,Elevation_m", [2, 3, 4]),
            // Of z and heights, z.
            ("e,n,z,height", [0, 1, 2]),
        ] {
            assert_eq!(axes(header), Some((columns, false)), "{header}");
        }
        assert_eq!(axes("latitude,longitude,elevation"), Some(([1, 0, 2], true)));
        assert_eq!(axes("Longitude [deg],Latitude [deg],Alt [m]"), Some(([0, 1, 2], true)));
    }

    #[test]
    fn names_state_units() {
        let (feet, survey) = (Some(0.3048), Some(SURVEY_FOOT));
        for (header, expected) in [
            ("X_ft,Y_ft,Z_ft", [feet; 3]),
            ("Easting [usft],Northing [usft],Elevation", [survey, survey, None]),
            ("x (US survey feet),y (US survey feet),z (m)", [survey, survey, Some(1.0)]),
            ("X[mm],Y[mm],Z[mm]", [Some(0.001); 3]),
            ("Easting (m),Northing (m),H", [Some(1.0), Some(1.0), None]),
            ("X_ft,Y_m,Z", [feet, Some(1.0), None]),
            ("m,x,y,z", [None; 3]),
            ("x,y,z_ft", [None, None, feet]),
            ("lon_deg,lat_deg,alt_ft", [None; 3]),
        ] {
            let names: Vec<String> = header.split(',').map(str::to_owned).collect();
            let axes = recognized(&names).unwrap();
            assert_eq!(units(&names, &axes), expected, "{header}");
        }
    }

    #[test]
    fn other_names_are_not_guessed() {
        for header in [
            "a,b,c",
            "id,row,column,value",
            "x,y,intensity",
            // Which height, which pair?
            "easting,northing,height,elevation",
            "east,easting,north,height",
            "nx,ny,nz",
            "x1,y1,z1",
            "range,azimuth,elevation",
        ] {
            assert_eq!(axes(header), None, "{header}");
        }
    }
}
