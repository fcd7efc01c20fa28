//! What Clockworker's programs share on the command line: the [program] itself, [failures](failure) in one line with an exit
//! status, [files](whole_file) that are whole or not there, [numbers] as people read them, and [tables](table) of them.

#![forbid(unsafe_code)]

pub mod failure;
pub mod numbers;
pub mod program;
pub mod table;
pub mod whole_file;
