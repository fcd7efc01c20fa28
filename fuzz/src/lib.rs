//! What the fuzz targets run: each takes bytes, makes a scene of them, and panics if a promise is broken.

pub mod eevdf;
pub mod hostile;
pub mod quiet;
