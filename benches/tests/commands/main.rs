//! The program from outside: runs it, and looks at what it says and writes.

mod micro;
mod priority;
mod programs;
mod run;
mod service;
mod support;
mod tail;
mod tenants;
