//! Pages in Markdown of a command's help.

use std::fmt::Write;

/// Returns the names under `Commands:`.
pub(super) fn commands(help: &str) -> Vec<&str> {
    rows(section(help, "Commands:")).map(|(name, _)| name).filter(|name| *name != "help").collect()
}

/// Returns the page that lists the commands.
pub(super) fn index(help: &str) -> String {
    let mut page = String::from("# Command line reference\n\n");
    page.push_str(
        "```text\nfarpoint COMMAND [OPTIONS] ...\n```\n\n| command | what it does |\n|---|---|\n",
    );
    for (name, what) in rows(section(help, "Commands:")).filter(|(name, _)| *name != "help") {
        writeln!(page, "| [`{name}`]({name}.md) | {} |", escape(what)).expect("a string takes all");
    }
    if let Some((_, examples)) = help.split_once("\nExamples:\n") {
        let (lines, rest) = examples.split_once("\n\n").unwrap_or((examples, ""));
        write!(page, "\n## Examples\n\n{}\n{}\n", code(lines), escape(rest.trim()))
            .expect("a string takes all");
    }
    page
}

/// Returns the page of a command: its description, its usage, and a section for each list of its help.
pub(super) fn page(title: &str, help: &str) -> String {
    let mut page = format!("# {title}\n\n");
    let mut lines = help.lines().peekable();
    while let Some(line) = lines.next() {
        let mut body = Vec::new();
        if let Some(usage) = line.strip_prefix("Usage: ") {
            body.push(usage);
        }
        let heading = line.strip_suffix(':').filter(|name| !name.starts_with(' '));
        if heading.is_some() || !body.is_empty() {
            while let Some(next) = lines.next_if(|next| next.is_empty() || next.starts_with(' ')) {
                body.push(next);
            }
        }
        let text = match heading {
            Some("Examples") => format!("## Examples\n\n{}", code(&body.join("\n"))),
            Some(name) => format!("## {name}\n\n{}", definitions(&body)),
            None if body.is_empty() => format!("{}\n", escape(line)),
            None => code(&body.join("\n")),
        };
        page.push_str(&text);
    }
    page
}

/// Returns the choices in the message of a refused value: `[possible values: a, b]`, or
/// `choose one of a, b (remark) or c; ...`.
pub(super) fn choices(message: &str) -> Vec<String> {
    let text = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let marks = ["possible values: ", "one of "];
    let found = marks.iter().find_map(|mark| text.split_once(mark)).unwrap_or_default().1;
    let found = found.split([']', ';']).next().unwrap_or_default();
    let outside = |part: &str| part.rsplit(')').next().unwrap_or_default().to_owned();
    let names = found.split('(').map(outside).collect::<Vec<_>>().join(",");
    let mut names: Vec<String> = names
        .replace(" and ", ",")
        .replace(" or ", ",")
        .split(',')
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Returns the indented lines after this one.
fn section<'a>(help: &'a str, title: &str) -> impl Iterator<Item = &'a str> {
    let lines = help.lines().skip_while(move |line| *line != title).skip(1);
    lines.take_while(|line| line.starts_with(' '))
}

/// Parses `name   what it does`, of which the second part may go on in further lines; only the first
/// matters here.
fn rows<'a>(lines: impl Iterator<Item = &'a str>) -> impl Iterator<Item = (&'a str, &'a str)> {
    lines.filter_map(|line| line.trim().split_once("  ")).map(|(name, what)| (name, what.trim()))
}

/// Formats arguments or options as a list of definitions. An item begins with less indentation than its
/// text, which follows on the same line or below.
fn definitions(lines: &[&str]) -> String {
    let mut items: Vec<(String, Vec<String>)> = Vec::new();
    for line in lines {
        let indent = line.len() - line.trim_start().len();
        let text = line.trim();
        if indent <= 6 && (text.starts_with('-') || text.starts_with('<') || text.starts_with('['))
        {
            let (name, what) = text.split_once("  ").unwrap_or((text, ""));
            items.push((name.to_owned(), vec![what.trim().to_owned()]));
        } else if let Some((_, texts)) = items.last_mut() {
            texts.push(text.to_owned());
        }
    }
    let mut list = String::new();
    for (name, texts) in items {
        let text = texts.join("\n");
        let paragraphs: Vec<_> = text
            .split("\n\n")
            .map(|part| escape(&part.split_whitespace().collect::<Vec<_>>().join(" ")))
            .filter(|part| !part.is_empty())
            .collect();
        let text = paragraphs.join("\n\n    ");
        write!(list, "`{name}`\n:   {text}\n\n").expect("a string takes all");
    }
    list
}

fn code(text: &str) -> String {
    format!("```text\n{}\n```\n\n", unindented(text.trim_end()))
}

fn unindented(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
    lines.join("\n")
}

/// Escapes text for Markdown; text between backquotes is code there, too.
fn escape(text: &str) -> String {
    let paired = text.matches('`').count().is_multiple_of(2);
    let mut code = false;
    let mut escaped = String::new();
    for letter in text.chars() {
        code ^= letter == '`' && paired;
        let special =
            matches!(letter, '<' | '>' | '*' | '_' | '[' | ']' | '|') || letter == '`' && !paired;
        if special && !code {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{choices, commands, escape, page};

    #[test]
    fn help_becomes_a_page() {
        let help = "Choose points\n\nUsage: farpoint sample [OPTIONS] <IN>\n\nArguments:\n  <IN>  \
                    The cloud\n\nOptions:\n  -o, --output <FILE>  Write here,\n                      \
                     all\n      --json\n          Print one object\n\n          [default: no]\n\n\
                    Examples:\n  farpoint sample a\n";
        let page = page("farpoint sample", help);
        for part in [
            "# farpoint sample\n",
            "```text\nfarpoint sample [OPTIONS] <IN>\n```",
            "## Options\n",
            "`<IN>`\n:   The cloud\n",
            "`-o, --output <FILE>`\n:   Write here, all\n",
            "`--json`\n:   Print one object\n\n    \\[default: no\\]\n",
            "## Examples\n\n```text\nfarpoint sample a\n```",
        ] {
            assert!(page.contains(part), "no '{part}' in\n{page}");
        }
    }

    #[test]
    fn names_are_found() {
        assert_eq!(
            commands("X\n\nCommands:\n  sample  Do\n  help    Help\n\nOptions:\n"),
            ["sample"]
        );
        let message =
            "error: choose one of auto, peak (exact), auto\nor grid (other); see --help\n";
        assert_eq!(choices(message), ["auto", "grid", "peak"]);
        assert_eq!(choices("[possible values: a, b]"), ["a", "b"]);
        assert_eq!(escape("a_b of `n_vox`"), "a\\_b of `n_vox`");
    }
}
