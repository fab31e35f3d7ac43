//! Well-known text as a tree, in either version: `WORD["text", 1, OTHER[..]]`, with brackets of either kind.

/// Levels of brackets that are read; coordinate systems have about ten.
const DEEPEST: usize = 64;

/// A word and what its brackets hold; the whole text is a node without a word.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// In upper case.
    pub(super) word: String,
    /// Texts without their quotes, numbers, and words without brackets.
    pub(super) values: Vec<String>,
    pub(super) nodes: Vec<Node>,
}

/// Parses text of one node, or of several after commas, as Esri writes a system and its heights. `None` if it is not
/// well-known text.
pub(super) fn parse(text: &str) -> Option<Node> {
    let mut parser = Parser { rest: text };
    let mut whole = Node::default();
    parser.list(&mut whole, 0)?;
    let complete = parser.rest.is_empty() && whole.values.is_empty();
    complete.then_some(whole)
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    /// Skips spaces, and one of these characters if it follows.
    fn skip(&mut self, one_of: &[char]) -> bool {
        let start = self.rest.trim_start();
        let after = start.strip_prefix(one_of);
        self.rest = after.unwrap_or(start);
        after.is_some()
    }

    /// Reads what stands between commas, until something else follows.
    fn list(&mut self, into: &mut Node, depth: usize) -> Option<()> {
        loop {
            self.item(into, depth)?;
            if !self.skip(&[',']) {
                return Some(());
            }
        }
    }

    fn item(&mut self, into: &mut Node, depth: usize) -> Option<()> {
        for (open, close) in [('"', '"'), ('“', '”')] {
            if self.skip(&[open]) {
                into.values.push(self.quoted(close)?);
                return Some(());
            }
        }
        let is_of_word = |c: char| !"[](),\"".contains(c);
        let end = self.rest.find(|c| !is_of_word(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        let word = word.trim_end();
        self.rest = rest;
        if !self.skip(&['[', '(']) {
            into.values.push(word.to_owned());
            return Some(());
        }
        let valid = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if depth == DEEPEST || word.is_empty() || !word.chars().all(valid) {
            return None;
        }
        let mut node = Node { word: word.to_ascii_uppercase(), ..Node::default() };
        self.list(&mut node, depth + 1)?;
        into.nodes.push(node);
        self.skip(&[']', ')']).then_some(())
    }

    /// Returns the text up to its closing quote; two quotes stand for one.
    fn quoted(&mut self, close: char) -> Option<String> {
        let mut text = String::new();
        loop {
            let (before, after) = self.rest.split_once(close)?;
            text += before;
            self.rest = after;
            match after.strip_prefix(close) {
                Some(more) => self.rest = more,
                None => return Some(text),
            }
            text.push(close);
        }
    }
}

impl Node {
    fn children<'a>(&'a self, words: &'a [&str]) -> impl Iterator<Item = &'a Node> {
        self.nodes.iter().filter(move |node| words.contains(&&*node.word))
    }

    /// Returns the node of the system itself, without what wraps it.
    fn unwrapped(&self) -> &Node {
        match (&*self.word, &self.nodes[..]) {
            ("", [only]) | ("BOUNDCRS" | "SOURCECRS" | "COORDINATEMETADATA", [only, ..]) => {
                only.unwrapped()
            }
            _ => self,
        }
    }

    /// Returns the name, or the names of several systems.
    pub(super) fn name(&self) -> String {
        let system = self.unwrapped();
        let parts =
            if system.word.is_empty() { &system.nodes[..] } else { std::slice::from_ref(system) };
        let names = parts.iter().filter_map(|part| part.values.first());
        names.map(String::as_str).collect::<Vec<_>>().join(" + ")
    }

    /// Returns the EPSG code of the system.
    pub(super) fn epsg(&self) -> Option<u32> {
        let mut ids = self.unwrapped().children(&["AUTHORITY", "ID"]);
        ids.find_map(|id| match &id.values[..] {
            [authority, code, ..] if authority.eq_ignore_ascii_case("EPSG") => code.parse().ok(),
            _ => None,
        })
    }

    /// Returns the EPSG code of the first part with this word.
    pub(super) fn code_of(&self, word: &str) -> Option<u32> {
        self.children(&[word]).next().and_then(Node::epsg)
    }

    /// Returns the systems of x and y, and of heights, that a compound one consists of.
    pub(super) fn systems(&self) -> Vec<&Node> {
        const COMPOUND: [&str; 5] =
            ["", "COMPD_CS", "COMPOUNDCRS", "FITTED_CS", "COORDINATEMETADATA"];
        let system = self.unwrapped();
        match COMPOUND.contains(&&*system.word) {
            true => system.nodes.iter().flat_map(Node::systems).collect(),
            false if system.is_vertical() || system.is_horizontal() => vec![system],
            false => Vec::new(),
        }
    }

    pub(super) fn is_vertical(&self) -> bool {
        ["VERT_CS", "VERTCS", "VERTCRS", "VERTICALCRS"].contains(&&*self.word)
    }

    pub(super) fn is_depth(&self) -> bool {
        let direction = self.children(&["AXIS"]).next().and_then(|axis| axis.values.get(1));
        direction.is_some_and(|direction| direction.eq_ignore_ascii_case("down"))
    }

    fn is_horizontal(&self) -> bool {
        let projected = ["PROJCS", "PROJCRS", "PROJECTEDCRS", "DERIVEDPROJCRS"];
        let local = ["GEOCCS", "LOCAL_CS", "ENGCRS", "ENGINEERINGCRS"];
        self.is_geodetic() || projected.contains(&&*self.word) || local.contains(&&*self.word)
    }

    fn is_geodetic(&self) -> bool {
        let words = ["GEOGCS", "GEOGCRS", "GEOGRAPHICCRS", "GEODCRS", "GEODETICCRS"];
        words.contains(&&*self.word)
    }

    /// Returns whether coordinates are angles.
    pub(super) fn is_geographic(&self) -> bool {
        let kind = self.children(&["CS"]).next().and_then(|cs| cs.values.first());
        match self.is_geodetic() {
            true => !kind.is_some_and(|kind| kind.eq_ignore_ascii_case("Cartesian")),
            false => self.unit(0).is_some_and(Node::is_angle),
        }
    }

    /// Returns the meters of the unit of an axis.
    pub(super) fn meters(&self, axis: usize) -> Option<f64> {
        self.unit(axis)?.size()
    }

    /// Returns the meters of the unit of heights, if the system has them; Esri's have it in a node of its own.
    pub(super) fn heights(&self) -> Option<f64> {
        match self.children(&["LINUNIT"]).next() {
            Some(unit) => unit.size(),
            None if self.is_vertical() => self.meters(0),
            None => self.children(&["AXIS"]).nth(2).and_then(|_| self.meters(2)),
        }
    }

    /// Returns the meters of a unit of length.
    fn size(&self) -> Option<f64> {
        let meters = self.values.get(1).filter(|_| !self.is_angle())?.parse().ok();
        meters.filter(|meters: &f64| meters.is_finite() && *meters > 0.0)
    }

    /// Returns the unit of an axis: its own, or that of the system. Others belong to parameters and inner systems.
    fn unit(&self, axis: usize) -> Option<&Node> {
        let own = |node: &Node| {
            node.nodes
                .iter()
                .rposition(|part| part.word.ends_with("UNIT") && part.word != "LINUNIT")
        };
        let axis =
            self.children(&["AXIS"]).nth(axis).and_then(|axis| Some(&axis.nodes[own(axis)?]));
        axis.or_else(|| Some(&self.nodes[own(self)?]))
    }

    fn is_angle(&self) -> bool {
        let name = self.values.first().map(|name| name.to_lowercase()).unwrap_or_default();
        self.word == "ANGLEUNIT" || name.starts_with("deg")
    }
}
