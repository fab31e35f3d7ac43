//! `farpoint completions` and `farpoint man`: the program's arguments for shells and as manual pages.

use crate::args::{self, Args};
use crate::output;
use anyhow::{Context, Result};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::fs;

/// Writes a completion script to stdout.
pub(crate) fn completions(args: &args::Completions) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "farpoint", &mut script);
    output::print_bytes(&script)
}

/// Writes the page of the program to stdout, or a page of each command into a folder.
pub(crate) fn man(args: &args::Man) -> Result<()> {
    let mut command = Args::command().disable_help_subcommand(true);
    let Some(folder) = &args.folder else { return output::print_bytes(&page(command)?) };
    let made = fs::create_dir_all(folder);
    made.with_context(|| format!("{}: no folder can be made there", folder.display()))?;
    // Gives commands the options of the program.
    command.build();
    let mut pages = vec![("farpoint.1".to_owned(), page(command.clone())?)];
    for each in command.get_subcommands() {
        let name = format!("farpoint-{}", each.get_name());
        let words = each.get_bin_name().unwrap_or(&name).to_owned();
        pages.push((format!("{name}.1"), page(each.clone().name(name).bin_name(words))?));
    }
    pages.iter().try_for_each(|(name, page)| output::write_file(&folder.join(name), page))
}

fn page(command: Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    Ok(page)
}
