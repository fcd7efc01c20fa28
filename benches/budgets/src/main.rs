//! The program `budgets`; everything it does is in the library beside it.

fn main() -> std::process::ExitCode {
    clockworker_budgets::commands::main()
}
