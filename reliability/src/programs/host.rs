//! The hosts that programs are run in.

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::io;

use clockworker::Executor;

/// A host. A program's runs are each given to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// None: `Executor::block_on`.
    Alone,
    /// tokio's `current_thread` runtime.
    Tokio,
    /// monoio, with its driver for old kernels.
    #[cfg(target_os = "linux")]
    Monoio,
    /// smol.
    Smol,
}

impl Host {
    /// All hosts that there are here.
    pub const ALL: &'static [Host] = &[
        Host::Alone,
        Host::Tokio,
        #[cfg(target_os = "linux")]
        Host::Monoio,
        Host::Smol,
    ];
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Host::Alone => "alone",
            Host::Tokio => "tokio",
            #[cfg(target_os = "linux")]
            Host::Monoio => "monoio",
            Host::Smol => "smol",
        })
    }
}

/// A host that is ready to run something. One does for many programs.
pub(super) enum Running {
    Alone,
    Tokio(tokio::runtime::Runtime),
    #[cfg(target_os = "linux")]
    Monoio(RefCell<monoio::Runtime<monoio::LegacyDriver>>),
    Smol,
}

impl Running {
    pub(super) fn start(host: Host) -> io::Result<Self> {
        Ok(match host {
            Host::Alone => Running::Alone,
            Host::Tokio => Running::Tokio(tokio::runtime::Builder::new_current_thread().build()?),
            #[cfg(target_os = "linux")]
            Host::Monoio => {
                Running::Monoio(RefCell::new(monoio::RuntimeBuilder::<monoio::LegacyDriver>::new().build()?))
            }
            Host::Smol => Running::Smol,
        })
    }

    /// Runs the executor until `main` is done.
    pub(super) fn run(&self, ex: &Executor, main: impl Future<Output = ()>) {
        match self {
            Running::Alone => ex.block_on(main),
            Running::Tokio(runtime) => runtime.block_on(ex.run_until(main)),
            #[cfg(target_os = "linux")]
            Running::Monoio(runtime) => runtime.borrow_mut().block_on(ex.run_until(main)),
            Running::Smol => smol::block_on(ex.run_until(main)),
        }
    }
}
