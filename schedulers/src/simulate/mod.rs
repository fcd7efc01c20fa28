//! The policies in virtual time: what response times and slowdowns would be, without measuring anything.
//!
//! A [`Simulation`] is a thread with some [`Queue`]s. It takes [`Job`]s, which come at given times and need given
//! amounts of CPU time, cuts them into polls, and runs them with the very schedulers and the very
//! [`Eevdf`](crate::Eevdf) that the executor runs, by the protocol that the executor has. (A test of the executor holds
//! the two to the same nanosecond.) Jobs come from a trace, or at random ([`Arrivals`]) with sizes of some distribution
//! ([`Service`]). What becomes of them is gathered in an [`Outcome`], by size if wanted.
//!
//! The same jobs always give the same results, and the same seed the same jobs. (On one kind of machine: logarithms may
//! differ in the last digit between platforms.)
//!
//! # How far to believe it
//!
//! [`theory`] has what is known in closed form of one queue with Poisson arrivals. `clockworker-simulate --theory`
//! holds the simulator to it.
//!
//! Not simulated: the host, I/O, tasks that wait for anything but the CPU, and what the executor's own work costs, unless
//! it is given as [`overhead`](Simulation::overhead_ns) per poll.
//!
//! # Example
//!
//! How long do short jobs wait where one job in 200 takes a thousand times as long, at 70 % load?
//!
//! ```
//! use clockworker_schedulers::simulate::{Arrivals, Classes, Outcome, Policy, Queue, Service, Simulation, Stream};
//!
//! let service: Service = "bimodal:short=10us,long=10ms,part=0.005".parse().unwrap();
//! let mean_of_short = |policy: &str| {
//!     let queue = Queue::new("all", Policy::named(policy).unwrap().make()).quantum_ns(20_000);
//!     let jobs = Arrivals::new(&[Stream::new(service.clone(), 0.7)], 20_000, 1).unwrap();
//!     let mut outcome = Outcome::new(Classes::of(&service));
//!     Simulation::new([queue]).run(jobs, |done| outcome.add(done)).unwrap();
//!     outcome.class(0).response.mean()
//! };
//! assert!(mean_of_short("fifo") > 2.0 * mean_of_short("qlas"));
//! ```

mod arrivals;
mod classes;
mod duration;
mod error;
mod groups;
mod outcome;
mod policy;
mod queue;
mod service;
mod simulation;
mod strata;
pub mod theory;

pub use arrivals::{Arrivals, ArrivalsError, Job, Stream};
pub use classes::Classes;
pub use duration::{DurationError, format_ns, parse_ns};
pub use error::SimulationError;
pub use outcome::{Figures, Outcome, Spread};
pub use policy::{Boxed, POLICIES, Policy};
pub use queue::Queue;
pub use service::{Service, ServiceError};
pub use simulation::{Done, Pause, QueueTotals, Simulation, Totals};
