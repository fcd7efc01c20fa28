//! The program `budgets`; everything it does is in the library beside it.

fn main() -> anyhow::Result<()> {
    clockworker_budgets::commands::main()
}
