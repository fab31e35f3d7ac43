//! Starts the command line of [`farpoint_cli`].

mod allocator;
mod limits;

#[global_allocator]
static MEMORY: allocator::OrExit = allocator::OrExit;

fn main() -> std::process::ExitCode {
    limits::as_errors();
    farpoint_cli::before_large(allocator::give_back);
    farpoint_cli::main()
}
