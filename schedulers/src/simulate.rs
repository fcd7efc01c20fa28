//! The policies in virtual time.

mod duration;
mod service;

pub use duration::{DurationError, format_ns, parse_ns};
pub use service::{Service, ServiceError};
