//! The program from outside: runs it, and looks at what it says and writes.

mod micro;
mod programs;
mod run;
mod support;
mod tenants;
