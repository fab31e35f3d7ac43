//! `report.html`: every figure with its table, the paper's numbers and what agrees. One file that
//! needs no other.

use super::clouds::Cloud;
use super::figure::{Context, Finding, Rows};
use super::published::{MACHINE, SOURCE};
use super::{Done, timed};
use anyhow::Result;
use farpoint_cli::output::count;
use std::fmt::Write;

const STYLE: &str = "\
body{font:16px/1.5 system-ui,sans-serif;color:#222;max-width:1240px;margin:2em auto;padding:0 1em}\
h1,h2{line-height:1.2}h2{margin-top:2.4em;border-top:1px solid #ccc;padding-top:.8em}\
svg{max-width:100%;height:auto}\
table{border-collapse:collapse;font-size:14px;margin:1em 0}\
th,td{padding:.25em .7em;border-bottom:1px solid #e2e2e2;text-align:right;vertical-align:top}\
th{border-bottom:2px solid #888}th:first-child,td:first-child{text-align:left}\
.words td,.words th{text-align:left}.wide{overflow-x:auto}\
.yes{color:#0a6b2d;font-weight:600}.no{color:#a33;font-weight:600}.open{color:#666}\
nav a{margin-right:1.2em}summary{cursor:pointer;color:#0060a0}";

/// The page. Writing into a string can't fail, hence the ignored results.
pub(super) fn page(context: &Context, clouds: &[Cloud], done: &[Done]) -> Result<String> {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>The RadiusFPS paper's figures, by farpoint</title>\n<style>{STYLE}</style>\n\
         <h1>The RadiusFPS paper's figures, measured by farpoint</h1>\n\
         <p>{}.</p>\n<p>Paper: {} (measured there on {MACHINE}). The numbers of the paper are shown \
         beside ours; as machines and clouds differ, compare ratios, not times. {}</p>\n",
        escaped(&context.machine),
        escaped(SOURCE),
        escaped(timed::COMPUTED)
    );
    page.push_str("<nav>");
    for Done { figure, .. } in done {
        let short = figure.title().split(':').next().unwrap_or_default();
        let _ = write!(page, "<a href=\"#{}\">{}</a>", figure.name(), escaped(short));
    }
    page.push_str("</nav>\n<h2 id=\"clouds\">Clouds</h2>\n");
    table(&mut page, &cloud_rows(clouds), "words");
    for done in done {
        section(&mut page, done)?;
    }
    page.push_str("</html>\n");
    Ok(page)
}

fn cloud_rows(clouds: &[Cloud]) -> Rows {
    let head = ["cloud", "points", "from"].map(str::to_owned).to_vec();
    let line = |cloud: &Cloud| {
        vec![cloud.name().to_owned(), count(cloud.points().len()), cloud.note.clone()]
    };
    std::iter::once(head).chain(clouds.iter().map(line)).collect()
}

fn section(page: &mut String, done: &Done) -> Result<()> {
    let Done { figure, table: numbers, foot, .. } = done;
    let name = figure.name();
    let _ = writeln!(
        page,
        "<h2 id=\"{name}\">{}</h2>\n<p>{}</p>\n{}",
        escaped(figure.title()),
        escaped(figure.about()),
        figure.plot(numbers, foot).svg()?
    );
    findings(page, &figure.findings(numbers));
    let published = figure.published();
    if !published.is_empty() {
        page.push_str("<p>The paper's own numbers:</p>\n");
        table(page, &published, "");
    }
    let _ =
        writeln!(page, "<details><summary>All numbers ({name}.csv holds them in full)</summary>");
    table(page, &figure.readable(numbers), "");
    page.push_str("</details>\n");
    Ok(())
}

/// Text as it must stand in HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A line for each statement.
fn findings(page: &mut String, findings: &[Finding]) {
    page.push_str(
        "<table class=\"words\"><tr><th>The paper says</th><th>Found here</th><th>Agrees</th>\
         <th>Why not, or what to know</th></tr>\n",
    );
    for Finding { paper, ours, agrees, why } in findings {
        let (class, word) = match agrees {
            Some(true) => ("yes", "yes"),
            Some(false) => ("no", "no"),
            None => ("open", "not comparable"),
        };
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td>{}</td><td class=\"{class}\">{word}</td><td>{}</td></tr>",
            escaped(paper),
            escaped(ours),
            escaped(why)
        );
    }
    page.push_str("</table>\n");
}

/// A table whose first row names the columns.
fn table(page: &mut String, rows: &Rows, class: &str) {
    let _ = write!(page, "<div class=\"wide\"><table class=\"{class}\">");
    for (k, row) in rows.iter().enumerate() {
        let kind = if k == 0 { "th" } else { "td" };
        page.push_str("<tr>");
        for cell in row {
            let _ = write!(page, "<{kind}>{}</{kind}>", escaped(cell));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table></div>\n");
}
