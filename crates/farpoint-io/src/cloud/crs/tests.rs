//! Coordinate systems as files state them.

use super::{Crs, keys::Keys};

const FOOT: f64 = 0.3048;
const SURVEY: f64 = 1200.0 / 3937.0;

/// Returns the unit of x and y, and that of heights; that of degrees is 0.
fn units(text: &str) -> [Option<f64>; 2] {
    let crs = Crs::from_wkt(text).unwrap();
    assert_eq!(crs.wkt.as_deref(), Some(text), "{text}");
    let degrees = crs.geographic.then_some(0.0);
    assert!(degrees.is_none() || crs.meters.is_none(), "{text}");
    [degrees.or(crs.meters), crs.heights]
}

const BASE: &str = r#"GEOGCS["b",DATUM["d",SPHEROID["s",6378137,298.25]],PRIMEM["p",0],UNIT["degree",0.0174532925]]"#;

#[test]
fn units_of_all_forms() {
    let grid = |unit: &str| {
        format!(
            r#"PROJCS["g (east) ]",{BASE},PROJECTION["m"],PARAMETER["false_easting",5],{unit}]"#
        )
    };
    let feet = grid(r#"UNIT["foot",0.3048]"#);
    let meters = grid(r#"UNIT["metre",1]"#);
    let heights = r#"VERT_CS["h",VERT_DATUM["d",2005],UNIT["foot",0.3048],AXIS["Up",UP]]"#;
    let newer = |cs: &str| {
        format!(
            r#"PROJCRS["g",BASEGEOGCRS["b",DATUM["d",ELLIPSOID["s",6378137,298.25,LENGTHUNIT["metre",1]]],PRIMEM["p",0,ANGLEUNIT["degree",0.01745]]],
            CONVERSION["c",METHOD["m"],PARAMETER["False easting",5,LENGTHUNIT["metre",1]]],{cs},USAGE[SCOPE["s"],AREA["a"],BBOX[1,2,3,4]],ID["EPSG",2992]]"#
        )
    };
    let axes = r#"CS[Cartesian,2],AXIS["(E)",east,ORDER[1],LENGTHUNIT["foot",0.3048]],AXIS["(N)",north,ORDER[2],LENGTHUNIT["foot",0.3048]]"#;
    let deep = r#"CS[Cartesian,3],AXIS["(E)",east,LENGTHUNIT["metre",1]],AXIS["(N)",north,LENGTHUNIT["metre",1]],AXIS["(h)",up,LENGTHUNIT["foot",0.3048]]"#;
    let (ft, m) = (Some(FOOT), Some(1.0));
    let cases: Vec<(String, [Option<f64>; 2])> = [
        (feet.clone(), [ft, None]),
        (feet.replace('[', " [ ").replace(',', " ,\n "), [ft, None]),
        (feet.replace('[', "(").replace(']', ")"), [ft, None]),
        (feet.to_lowercase(), [ft, None]),
        (grid(r#"UNIT["US survey foot",0.3048006096012192,AUTHORITY["EPSG","9003"]]"#), [Some(0.3048006096012192), None]),
        (grid(r#"UNIT["a ""foot"", or UNIT[",3.048E-1],AXIS["X",EAST],AUTHORITY["ESRI","1"]"#), [ft, None]),
        (feet.replace(r#""foot""#, "“foot”"), [ft, None]),
        (grid(r#"UNIT["foot"]"#), [None; 2]),
        (grid(r#"UNIT["foot",-1]"#), [None; 2]),
        (grid(r#"EXTENSION["a","b"]"#), [None; 2]),
        (format!(r#"COMPD_CS["c",{meters},{heights}]"#), [m, ft]),
        (format!(r#"compd_cs["c",{feet},{}]"#, heights.replace("0.3048", "1")), [ft, m]),
        (format!("{meters},{}", heights.replace("VERT_CS", "VERTCS")), [m, ft]),
        (format!(r#"COMPD_CS["c",{BASE},{heights}]"#), [Some(0.0), ft]),
        (format!(r#"COMPOUNDCRS["c",{},VERTCRS["h",VDATUM["d"],CS[vertical,1],AXIS["h",up],LENGTHUNIT["m",1]]]"#, newer(axes)), [ft, m]),
        (newer(axes), [ft, None]),
        (newer(r#"CS[Cartesian,2],AXIS["(E)",east],AXIS["(N)",north],LENGTHUNIT["foot",0.3048]"#), [ft, None]),
        (newer(r#"CS[Cartesian,2],AXIS["(E)",east],AXIS["(N)",north],UNIT["foot",0.3048]"#), [ft, None]),
        (newer(deep), [m, ft]),
        (format!("BOUNDCRS[SOURCECRS[{}],TARGETCRS[{BASE}],ABRIDGEDTRANSFORMATION[\"t\"]]", newer(axes)), [ft, None]),
        (format!("COORDINATEMETADATA[{},EPOCH[2021.5]]", newer(axes)), [ft, None]),
        (BASE.into(), [Some(0.0), None]),
        (format!(r#"{},LINUNIT["Foot",0.3048]]"#, &BASE[..BASE.len() - 1]), [Some(0.0), ft]),
        (grid(r#"UNIT["Meter",1.0],LINUNIT["Foot",0.3048]"#), [m, ft]),
        (r#"GEODCRS["w",DATUM["d"],CS[ellipsoidal,2],AXIS["lat",north],AXIS["lon",east],ANGLEUNIT["degree",0.01745]]"#.into(), [Some(0.0), None]),
        (r#"GEOGCRS["w",DATUM["d"],CS[ellipsoidal,3],AXIS["lat",north,ANGLEUNIT["degree",0.01745]],AXIS["lon",east,ANGLEUNIT["degree",0.01745]],AXIS["h",up,LENGTHUNIT["metre",1]]]"#.into(), [Some(0.0), m]),
        (r#"GEODCRS["w",DATUM["d"],CS[Cartesian,3],AXIS["(X)",geocentricX],AXIS["(Y)",geocentricY],AXIS["(Z)",geocentricZ],LENGTHUNIT["metre",1]]"#.into(), [m, m]),
        (r#"GEOCCS["w",DATUM["d",SPHEROID["s",1,2]],PRIMEM["p",0],UNIT["metre",1]]"#.into(), [m, None]),
        (r#"LOCAL_CS["site",LOCAL_DATUM["x",0],UNIT["foot",0.3048],AXIS["E",EAST],AXIS["N",NORTH]]"#.into(), [ft, None]),
        (r#"LOCAL_CS["site",LOCAL_DATUM["x",0],UNIT["Degree",0.0174]]"#.into(), [Some(0.0), None]),
        (r#"ENGCRS["site",EDATUM["x"],CS[Cartesian,3],AXIS["e",east],AXIS["n",north],AXIS["u",up],LENGTHUNIT["foot",0.3048]]"#.into(), [ft, ft]),
        (format!(r#"COMPD_CS["site",LOCAL_CS["g",LOCAL_DATUM["x",0],UNIT["metre",1]],{heights}]"#), [m, ft]),
        (heights.into(), [None, ft]),
        (r#"PARAMETRICCRS["p",PDATUM["d"],CS[parametric,1],AXIS["p",up],PARAMETRICUNIT["hPa",100]]"#.into(), [None; 2]),
    ]
    .into();
    for (text, expected) in cases {
        assert_eq!(units(&text), expected, "{text}");
    }
}

#[test]
fn names_and_codes_are_those_of_the_whole_system() {
    let named = |text: &str| {
        let crs = Crs::from_wkt(text).unwrap();
        (crs.name, crs.epsg)
    };
    let coded = |code: u32| (format!("EPSG:{code}"), Some(code));
    let plain = |name: &str| (name.to_owned(), None);
    assert_eq!(
        named(r#"PROJCS["g",GEOGCS["b",AUTHORITY["EPSG","4269"]],AUTHORITY["EPSG","2992"]]"#),
        coded(2992)
    );
    assert_eq!(
        named(r#"PROJCS["g",GEOGCS["b",AUTHORITY["EPSG","4269"]],AXIS["E",EAST,ID["EPSG",1]]]"#),
        plain("g")
    );
    assert_eq!(named(r#"projcrs ( "g" , id ( "epsg" , 2992 , "10.1" ) )"#), coded(2992));
    assert_eq!(named(r#"PROJCS["a ""b""",AUTHORITY["ESRI","2992"]]"#), plain(r#"a "b""#));
    assert_eq!(
        named(
            r#"BOUNDCRS[SOURCECRS[GEOGCRS["w",ID["EPSG",4326]]],TARGETCRS[GEOGCRS["x",ID["EPSG",1]]]]"#
        ),
        coded(4326)
    );
    assert_eq!(
        named(r#"PROJCS["g",AUTHORITY["EPSG","2992"]],VERTCS["h",AUTHORITY["EPSG","5703"]]"#),
        plain("g + h")
    );
    assert_eq!(
        named(r#"COMPD_CS["g and h",PROJCS["g",AUTHORITY["EPSG","2992"]],VERT_CS["h"]]"#),
        plain("g and h")
    );
    assert_eq!(named("PROJCS[\"g\"]\0garbage"), plain("g"));
}

#[test]
fn other_text_is_named() {
    for text in ["", " ", "\0\0", "\0PROJCS[\"g\"]"] {
        assert_eq!(Crs::from_wkt(text), None, "{text:?}");
    }
    let deep = format!("{}{}", "A[".repeat(100_000), "]".repeat(100_000));
    for text in [
        "somewhere",
        "+proj=utm +zone=32",
        "{\"type\": \"ProjectedCRS\"}",
        "PROJCS[\"g\"",
        "PROJCS[\"g]",
        "PROJCS[\"g\"]]",
        "[1]",
        "é[1]",
        "A[B[1]",
        "EPSG:1",
        &deep,
    ] {
        let crs = Crs::from_wkt(text).unwrap();
        assert!(crs.name.ends_with("which is not well-known text"), "{}", crs.name);
        assert_eq!((crs.wkt, crs.epsg, crs.meters), (None, None, None));
    }
    let crs = Crs::from_wkt("EPSG:2992").unwrap();
    assert_eq!((crs.epsg, crs.meters, crs.wkt), (Some(2992), Some(FOOT), None));
}

/// The system of keys with these places and values; of the doubles the second is 0.9.
fn keys(keys: &[[u16; 4]], ascii: &[u8]) -> Option<Crs> {
    let head = [[1, 1, 0, keys.len() as u16]];
    let directory: Vec<u8> =
        head.iter().chain(keys).flatten().flat_map(|n| n.to_le_bytes()).collect();
    let doubles: Vec<u8> = [1.0f64, 0.9].iter().flat_map(|n| n.to_le_bytes()).collect();
    Keys { directory: &directory, doubles: &doubles, ascii }.crs()
}

#[test]
fn keys_give_code_or_citation() {
    let crs = keys(&[[1024, 0, 1, 1], [3072, 0, 1, 2992]], b"").unwrap();
    assert_eq!((crs.name.as_str(), crs.geographic), ("EPSG:2992", false));
    // The base of a projected system is not the system.
    let custom = [
        [1024, 0, 1, 1],
        [2048, 0, 1, 4269],
        [3072, 0, 1, 32767],
        [3073, 34737, 8, 2],
        [3076, 0, 1, 9003],
    ];
    let crs = keys(&custom, b"a|My grid|").unwrap();
    assert_eq!((crs.name.as_str(), crs.epsg, crs.meters), ("My grid", None, Some(SURVEY)));
    let crs = keys(&[[2048, 0, 1, 4326]], b"").unwrap();
    assert_eq!((crs.epsg, crs.geographic, crs.meters), (Some(4326), true, None));
    let esri =
        br#"ESRI PE String = PROJCS["g",GEOGCS["b",UNIT["Degree",0.01]],UNIT["Foot",0.3048]]|"#;
    let crs =
        keys(&[[1024, 0, 1, 1], [3072, 0, 1, 32767], [3073, 34737, esri.len() as u16, 0]], esri)
            .unwrap();
    assert_eq!((crs.name.as_str(), crs.meters, crs.wkt.is_some()), ("g", Some(FOOT), true));
    assert_eq!(Keys { directory: &[1, 2, 3], doubles: b"", ascii: b"" }.crs(), None);
    for nothing in [
        &[][..],
        &[[3073, 34737, 90, 0]],
        &[[1024, 0, 1, 0]],
        &[[1025, 0, 1, 1]],
        &[[4099, 0, 1, 9001]],
    ] {
        assert_eq!(keys(nothing, b"cut"), None, "{nothing:?}");
    }
}

#[test]
fn keys_without_code_and_citation_are_named_and_keep_their_unit() {
    for (stated, name, meters) in [
        (
            &[[1024, 0, 1, 1], [3072, 0, 1, 32767], [3076, 0, 1, 9003]][..],
            "a projected system of its own",
            Some(SURVEY),
        ),
        (
            &[[1024, 0, 1, 1], [3072, 0, 1, 32767], [3076, 0, 1, 32767], [3077, 34736, 1, 1]],
            "a projected system of its own",
            Some(0.9),
        ),
        (
            &[[3072, 0, 1, 32767], [2048, 0, 1, 4269], [3077, 34736, 1, 1]],
            "a projected system of its own based on EPSG:4269",
            Some(0.9),
        ),
        (&[[1024, 0, 1, 1], [3076, 0, 1, 9002]], "a projected system of its own", Some(FOOT)),
        (&[[3076, 0, 1, 9096]], "a system of its own", Some(0.9144)),
        (&[[1024, 0, 1, 1]], "a projected system of its own", None),
        (
            &[[3072, 0, 1, 32767], [3076, 0, 1, 777]],
            "a projected system of its own in units of EPSG:777",
            None,
        ),
        (&[[3072, 0, 1, 2992], [3076, 0, 1, 777]], "EPSG:2992 in units of EPSG:777", None),
        (&[[1024, 0, 1, 2]], "a geographic system of its own", None),
        // Geocentric by its code, by that of its datum, and by neither.
        (&[[1024, 0, 1, 3], [2048, 0, 1, 4978]], "EPSG:4978", Some(1.0)),
        (&[[1024, 0, 1, 3], [2048, 0, 1, 4326]], "EPSG:4978", Some(1.0)),
        (
            &[[1024, 0, 1, 3], [2048, 0, 1, 32767], [2052, 0, 1, 9002]],
            "a geocentric system of its own",
            Some(FOOT),
        ),
        // Keys in each other's place.
        (&[[1024, 0, 1, 1], [2048, 0, 1, 2992]], "EPSG:2992", Some(FOOT)),
        (&[[1024, 0, 1, 2], [3072, 0, 1, 4326]], "EPSG:4326", None),
        (&[[4096, 0, 1, 5703]], "EPSG:5703", None),
        (&[[4098, 0, 1, 5703]], "EPSG:5703", None),
        (&[[4096, 0, 1, 5103]], "EPSG:5703", None),
    ] {
        let crs = keys(stated, b"").unwrap();
        assert_eq!((crs.name.as_str(), crs.meters), (name, meters), "{stated:?}");
        assert_eq!(crs.geographic, name.contains("geographic") || name == "EPSG:4326");
    }
}

#[test]
fn units_are_those_of_the_code_unless_the_keys_state_others() {
    let meters = |stated: &[[u16; 4]]| keys(stated, b"").unwrap().meters.unwrap();
    assert_eq!(meters(&[[3072, 0, 1, 2227]]), SURVEY);
    assert_eq!(meters(&[[3072, 0, 1, 2992]]), FOOT);
    assert_eq!(meters(&[[3072, 0, 1, 32632]]), 1.0);
    assert_eq!(meters(&[[3072, 0, 1, 29901], [3076, 0, 1, 9001]]), 1.0);
    // British yards; a unit of the file's own.
    assert_eq!(meters(&[[3072, 0, 1, 27291]]), 0.914_398_414_616_028_7);
    let own = keys(&[[3072, 0, 1, 26910], [3076, 0, 1, 32767], [3077, 34736, 1, 1]], b"");
    assert_eq!(own.map(|crs| (crs.meters, crs.epsg)), Some((Some(0.9), None)));
    let feet = keys(&[[3072, 0, 1, 26943], [3076, 0, 1, 9003]], b"").unwrap();
    assert_eq!((feet.epsg, feet.meters), (None, Some(SURVEY)));
    assert!(feet.name.starts_with("EPSG:26943 in units of 0.3048"), "{}", feet.name);
}

#[test]
fn heights_have_a_system_of_their_own() {
    let vertical = |stated: &[[u16; 4]]| {
        let all = [&[[3072, 0, 1, 2227]], stated].concat();
        let crs = keys(&all, b"NAVD88 - Geoid12B|").unwrap();
        assert_eq!(crs.epsg, Some(2227));
        (crs.vertical.map(|vertical| (vertical.name, vertical.epsg)), crs.heights)
    };
    let known = |code: u32, meters: f64| (Some((format!("EPSG:{code}"), Some(code))), Some(meters));
    assert_eq!(vertical(&[[4096, 0, 1, 5703]]), known(5703, 1.0));
    // The same datum in another unit, the datum by its number alone, and keys in each other's place.
    assert_eq!(vertical(&[[4096, 0, 1, 5703], [4099, 0, 1, 9003]]), known(6360, SURVEY));
    assert_eq!(vertical(&[[4096, 0, 1, 5703], [4099, 0, 1, 9002]]), known(8228, FOOT));
    assert_eq!(vertical(&[[4096, 0, 1, 5103]]), known(5703, 1.0));
    assert_eq!(vertical(&[[4098, 0, 1, 5103], [4099, 0, 1, 9003]]), known(6360, SURVEY));
    assert_eq!(vertical(&[[4098, 0, 1, 5703]]), known(5703, 1.0));
    assert_eq!(vertical(&[[4096, 0, 1, 5103], [4098, 0, 1, 5703]]), known(5703, 1.0));
    // Of one datum, depths are asked for by their own code only.
    assert_eq!(vertical(&[[4096, 0, 1, 5773]]), known(5773, 1.0));
    assert_eq!(vertical(&[[4098, 0, 1, 5105]]), known(5705, 1.0));
    assert_eq!(vertical(&[[4096, 0, 1, 6357], [4099, 0, 1, 9003]]), known(6358, SURVEY));
    // A unit says nothing of the origin.
    assert_eq!(vertical(&[[4099, 0, 1, 9001]]), (None, Some(1.0)));
    assert_eq!(vertical(&[[4096, 0, 1, 6]]), (Some(("EPSG:6".to_owned(), None)), None));
    let cited = vertical(&[[4096, 0, 1, 32767], [4097, 34737, 18, 0], [4099, 0, 1, 9003]]);
    assert_eq!(cited, (Some(("NAVD88 - Geoid12B".to_owned(), None)), Some(SURVEY)));
    let datum = vertical(&[[4098, 0, 1, 7]]);
    assert_eq!(datum, (Some(("heights of datum EPSG:7".to_owned(), None)), None));
}
