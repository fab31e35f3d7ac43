//! A statement of the paper, its measurement, and the rule by which both are compared. The verdict
//! follows from rule and numbers in one place, [`Claim::verdict`]; none is written by hand. Notes
//! explain, and must hold whatever the verdict is.

use super::published::Workload;
use super::rule::{Rule, Unit};
use super::table::{Row, range};
use farpoint_cli::output::count;

/// One statement of the paper with its measurement.
pub(super) struct Claim {
    /// Section, table or figure of the paper.
    at: &'static str,
    /// The paper's statement, with its number if it prints one.
    statement: String,
    /// Name of the measured quantity, and its unit.
    quantity: &'static str,
    unit: Unit,
    cases: Vec<Found>,
    judge: Judge,
    /// Cases that the statement is about; `None`: all.
    scope: Option<Workload>,
    /// Note required to read the numbers.
    note: &'static str,
    /// Reason shown only with [`Verdict::Differs`].
    why: &'static str,
}

/// A measured value with its cloud.
#[derive(Clone)]
pub(super) struct Found {
    cloud: String,
    points: f64,
    /// Sample size or variant; may be empty.
    detail: String,
    value: f64,
}

/// Judgment of a claim.
enum Judge {
    By(Rule),
    /// Not judged, with the reason.
    Not(&'static str),
}

/// Verdict of a rule on the numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    Agrees,
    Differs,
    /// Not comparable, with the reason.
    Incomparable(String),
}

/// Maximum number of failing cases that are named.
const NAMED: usize = 3;

impl Claim {
    /// A claim that every case has to satisfy.
    pub(super) fn new(
        at: &'static str,
        statement: impl Into<String>,
        (quantity, unit): (&'static str, Unit),
        cases: Vec<Found>,
        rule: Rule,
    ) -> Self {
        let (statement, judge) = (statement.into(), Judge::By(rule));
        Self { at, statement, quantity, unit, cases, judge, scope: None, note: "", why: "" }
    }

    /// Creates a statement that no measurement here can be compared with.
    pub(super) fn incomparable(
        at: &'static str,
        statement: impl Into<String>,
        reason: &'static str,
    ) -> Self {
        let (judge, unit) = (Judge::Not(reason), Unit::Times);
        let (statement, cases) = (statement.into(), Vec::new());
        Self { at, statement, quantity: "", unit, cases, judge, scope: None, note: "", why: "" }
    }

    /// Judges by the clouds like this workload of the paper; the others are reported only.
    pub(super) fn on(self, workload: Workload) -> Self {
        Self { scope: Some(workload), ..self }
    }

    pub(super) fn note(self, note: &'static str) -> Self {
        Self { note, ..self }
    }

    pub(super) fn why(self, why: &'static str) -> Self {
        Self { why, ..self }
    }

    pub(super) fn at(&self) -> &'static str {
        self.at
    }

    pub(super) fn statement(&self) -> &str {
        &self.statement
    }

    /// Returns the verdict, from rule and numbers alone.
    pub(super) fn verdict(&self) -> Verdict {
        let rule = match self.judge {
            Judge::By(rule) => rule,
            Judge::Not(reason) => return Verdict::Incomparable(reason.into()),
        };
        let values: Vec<_> = self.within_scope().map(|case| case.value).collect();
        match (values.is_empty(), self.scope) {
            (true, Some(workload)) => Verdict::Incomparable(format!(
                "no cloud like the paper's {} was measured",
                workload.described()
            )),
            (true, None) => Verdict::Incomparable("nothing was measured for it".into()),
            (false, _) if values.iter().all(|value| rule.holds(*value)) => Verdict::Agrees,
            (false, _) => Verdict::Differs,
        }
    }

    /// Describes the rule.
    pub(super) fn rule(&self) -> String {
        let Judge::By(rule) = self.judge else { return "none".into() };
        let bound = rule.described(self.unit);
        match self.scope {
            Some(workload) => format!("{}: {bound}, on the {}", self.quantity, workload.name()),
            None => format!("{}: {bound}, in every case", self.quantity),
        }
    }

    /// Describes the measured numbers.
    pub(super) fn found(&self) -> String {
        let Judge::By(rule) = self.judge else { return "-".into() };
        let (inside, others): (Vec<_>, Vec<_>) =
            self.cases.iter().partition(|case| self.counts(case));
        let mut text = match inside.is_empty() {
            true => "-".to_owned(),
            false => self.described(rule, &inside) + &failing(rule, self.unit, &inside),
        };
        if !others.is_empty() {
            text += &format!(". Other clouds: {}", self.described(rule, &others));
        }
        text
    }

    /// Returns the note, and the reason of a difference if there is one.
    pub(super) fn remarks(&self) -> String {
        let mut parts = vec![self.note];
        match self.verdict() {
            Verdict::Agrees => {}
            Verdict::Differs => parts.push(self.why),
            Verdict::Incomparable(reason) => {
                let known = parts.join(" ");
                return [capital(&reason) + ".", known].join(" ").trim().to_owned();
            }
        }
        parts.retain(|part| !part.is_empty());
        parts.join(" ")
    }

    fn counts(&self, case: &Found) -> bool {
        self.scope.is_none_or(|workload| workload.is_like(&case.cloud, case.points))
    }

    fn within_scope(&self) -> impl Iterator<Item = &Found> {
        self.cases.iter().filter(|case| self.counts(case))
    }

    /// Describes the range of some cases, and the number that satisfy the rule.
    fn described(&self, rule: Rule, cases: &[&Found]) -> String {
        if let [case] = cases {
            return format!("{} ({})", self.unit.of(case.value), case.name());
        }
        let [low, high] = range(cases.iter().map(|case| case.value));
        let span = match low == high {
            true => self.unit.of(low),
            false => format!("{} to {}", self.unit.of(low), self.unit.of(high)),
        };
        let held = cases.iter().filter(|case| rule.holds(case.value)).count();
        match held == cases.len() {
            true => format!("{span}; holds in all {} cases", count(held)),
            false => format!("{span}; holds in {} of {} cases", count(held), count(cases.len())),
        }
    }
}

/// Describes the cases that don't satisfy the rule, the farthest from it first.
fn failing(rule: Rule, unit: Unit, cases: &[&Found]) -> String {
    let mut failing: Vec<_> = cases.iter().filter(|case| !rule.holds(case.value)).collect();
    if failing.is_empty() || cases.len() == 1 {
        return String::new();
    }
    failing.sort_by(|a, b| rule.distance(b.value).total_cmp(&rule.distance(a.value)));
    let named = failing.iter().take(NAMED);
    let named: Vec<_> =
        named.map(|case| format!("{} ({})", case.name(), unit.of(case.value))).collect();
    let more = match failing.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {} more", count(more)),
    };
    format!(", not for {}{more}", named.join(", "))
}

impl Found {
    /// Returns a value of this row's cloud.
    pub(super) fn of(row: &Row<'_>, detail: impl Into<String>, value: f64) -> Self {
        let cloud = row.text("cloud").to_owned();
        Self { cloud, points: row.number("points"), detail: detail.into(), value }
    }

    pub(super) fn is_of_same_cloud(&self, other: &Self) -> bool {
        self.cloud == other.cloud
    }

    fn name(&self) -> String {
        format!("{} {}", self.cloud, self.detail).trim().to_owned()
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}

#[cfg(test)]
mod tests {
    use super::Verdict::{Agrees, Differs, Incomparable};
    use super::*;

    fn case(cloud: &str, points: f64, value: f64) -> Found {
        Found { cloud: cloud.into(), points, detail: String::new(), value }
    }

    fn claim(rule: Rule, values: &[f64]) -> Claim {
        let cases = values.iter().map(|value| case("room-1000000", 1e6, *value)).collect();
        Claim::new("5.6.2", "says", ("speed-up", Unit::Times), cases, rule)
    }

    fn verdict(rule: Rule, values: &[f64]) -> Verdict {
        claim(rule, values).verdict()
    }

    #[test]
    fn numbers_far_from_the_papers_differ() {
        // FPS + NPDU at most 5.8 times as fast as FPS; found: 0.7 to 134.
        assert_eq!(verdict(Rule::AtMost(5.8), &[0.7, 3.2, 134.0]), Differs);
        // 186.56 times as fast; found: 1,074 over the plain loop and 83 over the vectorized one.
        assert_eq!(verdict(Rule::within(2.0, 186.56), &[1074.0]), Differs);
        assert_eq!(verdict(Rule::within(2.0, 186.56), &[83.0]), Differs);
        assert_eq!(verdict(Rule::within(2.0, 186.56), &[102.0]), Agrees);
    }

    #[test]
    fn each_rule_has_its_bounds() {
        let range = Rule::Within { factor: 2.0, paper: [50.0, 52.4] };
        for (rule, inside, outside) in [
            (Rule::within(2.0, 10.0), [5.0, 20.0], [4.99, 20.01]),
            (range, [25.0, 104.8], [24.9, 104.9]),
            (Rule::AtMost(5.8), [-1.0, 5.8], [5.81, f64::INFINITY]),
            (Rule::AtLeast(5.8), [5.8, f64::INFINITY], [5.79, 0.0]),
            (Rule::Above(1.0), [1.01, f64::INFINITY], [1.0, 0.99]),
            (Rule::Below(1.0), [0.99, 0.0], [1.0, 1.01]),
        ] {
            assert_eq!(verdict(rule, &inside), Agrees);
            for value in outside {
                // One case outside is enough.
                assert_eq!(verdict(rule, &[inside[0], value]), Differs, "{value}");
            }
            assert_eq!(verdict(rule, &[inside[0], f64::NAN]), Differs, "a lost measurement");
        }
    }

    #[test]
    fn nothing_measured_is_no_agreement() {
        assert!(matches!(verdict(Rule::AtMost(5.8), &[]), Incomparable(_)));
        let claim = claim(Rule::AtMost(5.8), &[1.0]).on(Workload::Dragon);
        assert!(matches!(claim.verdict(), Incomparable(why) if why.contains("dragon")));
        let reason = Claim::incomparable("5.2", "says", "no network is trained here");
        assert_eq!(reason.verdict(), Incomparable("no network is trained here".into()));
        assert_eq!(reason.remarks(), "No network is trained here.");
    }

    #[test]
    fn a_workload_is_judged_by_clouds_like_it() {
        let cases = || vec![case("room-1000000", 1e6, 150.0), case("stanford/dragon_0", 41e3, 3.0)];
        let speed = ("speed-up", Unit::Times);
        let rule = Rule::within(2.0, 186.56);
        let claim = |cases| Claim::new("5.6.2", "says", speed, cases, rule).on(Workload::Room);
        assert_eq!(claim(cases()).verdict(), Agrees);
        assert_eq!(
            claim(cases()).found(),
            "150x (room-1000000). Other clouds: 3x (stanford/dragon_0)"
        );
        // Too small to be the paper's room.
        let small = vec![case("room-40000", 4e4, 150.0)];
        assert!(matches!(claim(small).verdict(), Incomparable(_)));
    }

    #[test]
    fn words_follow_the_numbers() {
        let claim = |values: &[f64]| {
            super::tests::claim(Rule::AtMost(5.8), values).note("Note.").why("Because.")
        };
        let differs = claim(&[0.7234, 9.0, 134.3]);
        assert_eq!(differs.rule(), "speed-up: at most 5.8x, in every case");
        assert_eq!(
            differs.found(),
            "0.723x to 134x; holds in 1 of 3 cases, not for room-1000000 (134x), room-1000000 (9x)"
        );
        assert_eq!(differs.remarks(), "Note. Because.");
        let agrees = claim(&[0.7]);
        assert_eq!(
            (agrees.found().as_str(), agrees.remarks().as_str()),
            ("0.7x (room-1000000)", "Note.")
        );
        assert_eq!(Unit::Percent.of(99.978), "99.98 %");
        assert!(
            Rule::within(2.0, 186.56)
                .described(Unit::Times)
                .contains("186.56x (93.28x to 373.12x)")
        );
    }
}
