//! Starts the command line of [`farpoint_cli`].

fn main() -> std::process::ExitCode {
    farpoint_cli::main()
}
