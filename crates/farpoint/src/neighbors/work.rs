//! Counts of the steps of a search, for tests.

#[cfg(test)]
thread_local! {
    /// Steps of this thread: a query compared with a block of points, or a box with the queries or its siblings.
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Adds steps to those of this thread.
#[inline(always)]
pub(super) fn add(steps: u32) {
    #[cfg(test)]
    STEPS.with(|all| all.set(all.get() + u64::from(steps)));
    #[cfg(not(test))]
    let _ = steps;
}

#[cfg(test)]
mod tests {
    use super::STEPS;
    use crate::{Cpu, Index, Matcher, Method, Order, Searcher};
    use farpoint_generate::{cube, equal, lattice, line, sphere};

    type Cloud = Vec<[f32; 3]>;

    const POINTS: usize = 6000;

    /// Returns the steps per point of each search of `y` for the points of `x`.
    fn steps(x: &Cloud, y: &Cloud) -> Vec<(String, f64)> {
        let cpu = Cpu::new().threads(1);
        let count = |name: String, search: &dyn Fn()| {
            STEPS.set(0);
            search();
            (name, STEPS.get() as f64 / x.len() as f64)
        };
        let matcher = Matcher::new().method(Method::Tree);
        let nearest = || drop(matcher.on(&cpu).nearest(x, y).unwrap());
        let back = || drop(matcher.on(&cpu).chamfer(y, x).unwrap());
        let mut all = vec![count("nearest".into(), &nearest), count("both ways".into(), &back)];
        let ball = Searcher::ball(0.08, 16);
        let several = [1, 4, 16, 64].map(Searcher::nearest);
        for searcher in several.into_iter().chain([ball.clone(), ball.order(Order::Nearest)]) {
            let searcher = searcher.method(Method::Tree);
            let others = searcher.clone().exclude_self(true);
            let index = Index::new(y).unwrap();
            let search = || drop(searcher.on(&cpu).search(x, y).unwrap());
            all.push(count(format!("{searcher:?}"), &search));
            all.push(count(format!("{others:?}"), &|| drop(others.on(&cpu).search(x, y).unwrap())));
            let indexed = || drop(searcher.on(&cpu).search(x, &index).unwrap());
            all.push(count(format!("{searcher:?} of an index"), &indexed));
        }
        all
    }

    /// Returns a cloud of which `percent` percent lie at `places` places.
    fn crowded(percent: usize, places: usize) -> Cloud {
        let (mut cloud, places) = (cube(POINTS, 1), cube(places, 2));
        for (k, row) in (0..POINTS).map(|k| (k, k * 7919 % POINTS)) {
            if row % 100 < percent {
                cloud[k] = places[row % places.len()];
            }
        }
        cloud
    }

    /// Points that coincide make no search more than twice as long per point.
    #[test]
    fn ties_take_at_most_twice_the_steps() {
        let check = |name: &str, plain: &[(String, f64)], x: &Cloud, y: &Cloud| {
            for ((search, expected), (_, steps)) in plain.iter().zip(steps(x, y)) {
                let message =
                    format!("{name}, {search}: {steps:.1} steps a point, {expected:.1} in a cube");
                println!("{message}");
                assert!(steps <= 2.0 * expected, "{message}");
            }
        };
        let plain = steps(&cube(POINTS, 1), &cube(POINTS, 1));
        let check_self = |name: &str, cloud: Cloud| check(name, &plain, &cloud, &cloud);
        check_self("equal", equal(POINTS));
        for (percent, places) in [(40, 1), (99, 1), (100, 8), (40, 100), (100, 100), (100, 3000)] {
            check_self(&format!("{percent} % at {places} places"), crowded(percent, places));
        }
        check_self("line", line(POINTS));
        check_self("lattice", lattice(POINTS));
        let other = steps(&cube(POINTS, 1), &cube(POINTS, 3));
        check("around one place", &other, &sphere(POINTS, 1), &vec![[0.0; 3]; POINTS]);
        check("around 8 places", &other, &cube(POINTS, 1), &crowded(100, 8));
    }
}
