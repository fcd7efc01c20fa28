//! What the fuzz targets run that the crate `testing` does not have: it takes bytes, makes a scene of them, and panics if a
//! promise is broken.

pub mod eevdf;
