//! Areas of the plane of x and y: polygons with holes, and the text that describes them (WKT).

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Corners of a line that ends where it starts.
type Ring = Vec<[f64; 2]>;

/// Polygons in the plane of x and y. A point on an edge, of a hole as well, belongs to the area.
///
/// ```
/// use farpoint_io::Area;
/// let area: Area = "POLYGON ((0 0, 9 0, 9 9, 0 9, 0 0), (3 3, 6 3, 6 6, 3 6, 3 3))".parse()?;
/// assert!(area.contains([1.0, 1.0]) && area.contains([3.0, 4.0]) && area.contains([9.0, 9.0]));
/// assert!(!area.contains([4.0, 4.0]) && !area.contains([9.1, 1.0]));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Area {
    /// For each polygon the ring around it, then those of its holes.
    polygons: Vec<Vec<Ring>>,
    /// Lowest and highest x and y.
    pub(super) bounds: [[f64; 2]; 2],
    bands: Bands,
}

/// Edges by bands of y, so that a point is compared with few of them.
#[derive(Clone, Debug, PartialEq)]
struct Bands {
    /// Lower ends of the bands, in ascending order.
    limits: Vec<f64>,
    /// The edges that reach into each band, in the order of their polygons.
    edges: Vec<Vec<Edge>>,
}

/// Number of a polygon, and an edge of it from its lower end, so that both polygons beside it round alike.
type Edge = (usize, [[f64; 2]; 2]);

/// Most bands that an edge reaches into, on average.
const REACH: usize = 8;

impl Area {
    /// Creates an area of polygons: for each the ring around it, then those of its holes.
    ///
    /// # Errors
    /// A text, if there is no polygon, or a ring has fewer than three corners or one that is not finite.
    pub fn new(polygons: Vec<Vec<Vec<[f64; 2]>>>) -> Result<Area, String> {
        if polygons.is_empty() || polygons.iter().any(Vec::is_empty) {
            return Err("there is no polygon, or one without a ring".into());
        }
        for ring in polygons.iter().flatten() {
            if ring.len() < 3 {
                return Err(format!("a ring has {} corners; it needs at least 3", ring.len()));
            }
            if let Some([x, y]) = ring.iter().find(|[x, y]| !(x.is_finite() && y.is_finite())) {
                return Err(format!("the corner ({x}, {y}) is not finite"));
            }
        }
        let mut bounds = [[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]];
        for corner in polygons.iter().flatten().flatten() {
            for axis in 0..2 {
                bounds[0][axis] = bounds[0][axis].min(corner[axis]);
                bounds[1][axis] = bounds[1][axis].max(corner[axis]);
            }
        }
        Ok(Area { bands: Bands::of(&polygons), polygons, bounds })
    }

    /// Returns whether a point is in one of the polygons, and not within one of its holes.
    pub fn contains(&self, point: [f64; 2]) -> bool {
        let [low, high] = self.bounds;
        let near = (0..2).all(|axis| low[axis] <= point[axis] && point[axis] <= high[axis]);
        near && self.bands.contain(point)
    }
}

impl Bands {
    fn of(polygons: &[Vec<Ring>]) -> Bands {
        let mut edges: Vec<Edge> = Vec::new();
        for (polygon, ring) in
            polygons.iter().enumerate().flat_map(|(k, p)| p.iter().map(move |r| (k, r)))
        {
            let from = ring.iter().cycle().skip(ring.len() - 1);
            edges.extend(from.zip(ring).map(|(&from, &to)| {
                (polygon, if from[1] <= to[1] { [from, to] } else { [to, from] })
            }));
        }
        let mut limits: Vec<f64> = edges.iter().map(|(_, [low, _])| low[1]).collect();
        limits.sort_by(f64::total_cmp);
        limits.dedup();
        let reached = |limits: &[f64]| -> usize {
            edges.iter().map(|(_, edge)| reach(limits, edge).count()).sum()
        };
        while reached(&limits) > REACH * edges.len() {
            limits = limits.into_iter().step_by(2).collect();
        }
        let mut bands = vec![Vec::new(); limits.len()];
        for edge in edges {
            bands[reach(&limits, &edge.1)].iter_mut().for_each(|band| band.push(edge));
        }
        Bands { limits, edges: bands }
    }

    /// Returns whether a line from the point to the right crosses a polygon an odd number of times, or it is on an edge.
    fn contain(&self, [x, y]: [f64; 2]) -> bool {
        let (mut polygon, mut inside) = (0, false);
        for &(of, [a, b]) in &self.edges[band(&self.limits, y)] {
            if of != polygon && inside {
                break;
            }
            polygon = of;
            if !(a[1] <= y && y <= b[1]) {
                continue;
            }
            let side = (b[0] - a[0]) * (y - a[1]) - (x - a[0]) * (b[1] - a[1]);
            if side == 0.0 && a[0].min(b[0]) <= x && x <= a[0].max(b[0]) {
                return true;
            }
            // An end belongs to the edge above it: a corner is crossed once, or twice.
            inside ^= side > 0.0 && y < b[1];
        }
        inside
    }
}

/// Returns the band of a y that is not below the first one.
fn band(limits: &[f64], y: f64) -> usize {
    limits.partition_point(|low| *low <= y).saturating_sub(1)
}

/// Returns the bands that an edge reaches into.
fn reach(limits: &[f64], [low, high]: &[[f64; 2]; 2]) -> RangeInclusive<usize> {
    band(limits, low[1])..=band(limits, high[1])
}

impl FromStr for Area {
    type Err = String;

    /// Parses well-known text: `POLYGON ((0 0, 9 0, 9 9, 0 0))` or `MULTIPOLYGON`; z and m are not used.
    fn from_str(text: &str) -> Result<Area, String> {
        let advice = "use POLYGON ((x y, x y, x y, x y)) or MULTIPOLYGON (((x y, ...)), ...)";
        let text = match text.trim().split_once(';') {
            Some((srid, rest)) if srid.to_ascii_uppercase().starts_with("SRID=") => rest,
            _ => text,
        };
        let start = text.find('(').ok_or(advice)?;
        let (kind, body) = text.split_at(start);
        let kind = kind.to_ascii_uppercase();
        let polygons = match kind.split_ascii_whitespace().next() {
            Some("POLYGON" | "POLYGONZ" | "POLYGONM" | "POLYGONZM") => vec![body],
            Some("MULTIPOLYGON" | "MULTIPOLYGONZ" | "MULTIPOLYGONM" | "MULTIPOLYGONZM") => {
                parts(body).ok_or(advice)?
            }
            _ => return Err(advice.into()),
        };
        let polygon = |text: &str| parts(text)?.into_iter().map(ring).collect();
        let polygons: Option<Vec<Vec<Ring>>> = polygons.into_iter().map(polygon).collect();
        Area::new(polygons.ok_or(advice)?)
    }
}

/// Returns the parts between commas inside a pair of parentheses around the text.
fn parts(text: &str) -> Option<Vec<&str>> {
    let inner = text.trim().strip_prefix('(')?.strip_suffix(')')?;
    let (mut depth, mut start, mut parts) = (0i32, 0, Vec::new());
    for (at, c) in inner.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        if depth < 0 {
            return None;
        }
    }
    parts.push(&inner[start..]);
    (depth == 0).then_some(parts)
}

fn ring(text: &str) -> Option<Ring> {
    let corner = |text: &str| {
        let mut numbers = text.split_ascii_whitespace().map(|word| word.parse::<f64>().ok());
        let corner = [numbers.next()??, numbers.next()??];
        numbers.all(|other| other.is_some()).then_some(corner)
    };
    parts(text)?.into_iter().map(corner).collect()
}

impl fmt::Display for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "area {:?}", self.polygons)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(text: &str) -> Area {
        text.parse().unwrap()
    }

    #[test]
    fn edges_and_corners_belong_to_the_area() {
        // A star with corners at equal heights, open and closed.
        for text in [
            "POLYGON((0 0, 4 2, 8 0, 6 4, 8 8, 4 6, 0 8, 2 4))",
            "srid=25832; Polygon Z ((0 0 1, 4 2 1, 8 0 1, 6 4 1, 8 8 1, 4 6 1, 0 8 1, 2 4 1, 0 0 1))",
        ] {
            let star = area(text);
            for inside in
                [[4.0, 4.0], [0.0, 0.0], [2.0, 1.0], [6.0, 4.0], [7.0, 2.0], [8.0, 8.0], [3.0, 2.0]]
            {
                assert!(star.contains(inside), "{inside:?}");
            }
            for outside in [
                [4.0, 1.9],
                [0.0, 4.0],
                [1.9, 4.0],
                [4.0, 8.0],
                [-1.0, 0.0],
                [9.0, 8.0],
                [4.0, 0.0],
            ] {
                assert!(!star.contains(outside), "{outside:?}");
            }
            assert!(!star.contains([f64::NAN, 4.0]) && !star.contains([4.0, f64::INFINITY]));
        }
    }

    #[test]
    fn holes_and_islands() {
        let text =
            "MULTIPOLYGON (((0 0, 9 0, 9 9, 0 9), (2 2, 7 2, 7 7, 2 7)), ((4 4, 5 4, 5 5, 4 5)))";
        let lake = area(text);
        let inside = |x, y| lake.contains([x, y]);
        assert!(inside(1.0, 5.0) && inside(4.5, 4.5) && inside(2.0, 5.0) && inside(7.0, 7.0));
        assert!(!inside(3.0, 3.0) && !inside(5.5, 4.5) && !inside(6.9, 6.9));
        assert_eq!(lake.bounds, [[0.0; 2], [9.0; 2]]);
    }

    /// The definition: each edge of each polygon for each point.
    fn is_within(rings: &[Ring], [x, y]: [f64; 2]) -> bool {
        let mut inside = false;
        for ring in rings {
            let mut from = ring[ring.len() - 1];
            for &to in ring {
                let (a, b) = if from[1] <= to[1] { (from, to) } else { (to, from) };
                from = to;
                if !(a[1] <= y && y <= b[1]) {
                    continue;
                }
                let side = (b[0] - a[0]) * (y - a[1]) - (x - a[0]) * (b[1] - a[1]);
                if side == 0.0 && a[0].min(b[0]) <= x && x <= a[0].max(b[0]) {
                    return true;
                }
                inside ^= side > 0.0 && y < b[1];
            }
        }
        inside
    }

    /// Random polygons with holes: few heights, so that edges are horizontal and corners lie on points, or many; at
    /// the origin, far from it, and at the ends of the numbers.
    #[test]
    fn bands_change_no_result() {
        let mut state = 1u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for case in 0..400 {
            let steps = [3, 8, 1 << 20][case % 3];
            let (scale, offset) =
                [(1.0, 0.0), (0.1, 5e6), (1e300, -1e305), (1e-310, 0.0)][case / 3 % 4];
            let mut place = || [next(steps), next(steps)].map(|k| k as f64 * scale + offset);
            let polygons: Vec<Vec<Ring>> = (0..1 + case % 3)
                .map(|k| {
                    let ring = |corners| (0..corners).map(|_| place()).collect();
                    [3 + case % 40, 3, 7][..1 + (case + k) % 3].iter().copied().map(ring).collect()
                })
                .collect();
            let area = Area::new(polygons.clone()).unwrap();
            let corners: Vec<[f64; 2]> = polygons.iter().flatten().flatten().copied().collect();
            let middles =
                corners.windows(2).map(|c| [0, 1].map(|axis| (c[0][axis] + c[1][axis]) / 2.0));
            let others: Vec<[f64; 2]> = middles.chain((0..300).map(|_| place())).collect();
            for point in corners.into_iter().chain(others) {
                let [low, high] = area.bounds;
                let near = (0..2).all(|axis| low[axis] <= point[axis] && point[axis] <= high[axis]);
                let expected = near && polygons.iter().any(|rings| is_within(rings, point));
                assert_eq!(area.contains(point), expected, "{case} {point:?}");
            }
        }
    }

    /// A point meets few of many edges, and edges that all reach far are not kept for each band.
    #[test]
    fn bands_are_short() {
        let corners = 30_000;
        let angle = |k: usize| std::f64::consts::TAU * k as f64 / corners as f64;
        let circle = (0..corners).map(|k| [angle(k).cos(), angle(k).sin()]).collect();
        let comb = (0..corners).map(|k| [k as f64, (k % 2 * corners + k) as f64]).collect();
        for (ring, longest) in [(circle, 20), (comb, corners)] {
            let bands = Area::new(vec![vec![ring]]).unwrap().bands.edges;
            let kept: usize = bands.iter().map(Vec::len).sum();
            assert!(
                bands.iter().all(|band| band.len() <= longest) && kept <= REACH * corners,
                "{kept}"
            );
        }
    }

    /// Neighbors that share edges leave no point between them.
    #[test]
    fn neighbors_cover_the_plane() {
        let left = area("POLYGON ((0 0, 0.7 0.1, 0.3 0.9, 0.1 1, 0 1))");
        let right = area("POLYGON ((0.1 1, 0.3 0.9, 0.7 0.1, 0 0, 1 0, 1 1))");
        for i in 0..=300 {
            for j in 0..=300 {
                let at = [f64::from(i) / 300.0, f64::from(j) / 300.0];
                assert!(left.contains(at) || right.contains(at), "{at:?}");
            }
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "POLYGON",
            "POLYGON EMPTY",
            "POLYGON (0 0, 1 1, 1 0)",
            "POLYGON ((0 0, 1 1))",
            "POLYGON ((0 0, 1 1, 1 a))",
            "POLYGON ((0 0, 1 1, 1 0)",
            "POLYGON ((0 0, 1 1, 1 0)))",
            "POLYGON ((0 0, 1 1, 1 inf))",
            "POLYGON ()",
            "LINESTRING (0 0, 1 1, 1 0)",
            "MULTIPOLYGON ((0 0, 1 1, 1 0))",
        ] {
            assert!(text.parse::<Area>().is_err(), "{text}");
        }
    }
}
