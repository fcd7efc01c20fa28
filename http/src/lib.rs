//! HTTP/1 and HTTP/2 in a queue of a [`clockworker`] executor: [`serve`] is `axum::serve` whose connections are tasks of a [`Queue`].
//!
//! It takes any tower service: axum's `Router`, tonic's `Routes`, or a closure by `tower::service_fn`. The service, its futures and its
//! bodies need not be `Send`.
//!
//! ```no_run
//! use axum::{Router, routing::get};
//! use clockworker::Executor;
//! use clockworker_http::serve;
//! use std::time::Duration;
//! use tokio::net::TcpListener;
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let ex = Executor::new();
//!     let requests = ex.new_queue("requests").share(9).create()?;
//!     let background = ex.new_queue("background").share(1).create()?.handle();
//!
//!     let router = Router::new().route("/", get(async || "hello")).route(
//!         "/report",
//!         get(move || async move {
//!             // It has a tenth of the thread while there are requests.
//!             drop(background.spawn(async || { /* write the report */ }));
//!             "begun"
//!         }),
//!     );
//!     let listener = TcpListener::bind("127.0.0.1:3000").await?;
//!     let server = serve(listener, router, &requests)
//!         .with_graceful_shutdown(async { drop(tokio::signal::ctrl_c().await) })
//!         .drain_deadline(Duration::from_secs(10));
//!     let aborted = ex.run_until(async { server.await }).await;
//!     println!("{aborted} connections were not done in time");
//!     let report = ex.drain(tokio::time::sleep(Duration::from_secs(10))).await; // the background work
//!     println!("{report}");
//!     Ok(())
//! }
//! ```
//!
//! # What runs where
//!
//! | | Task |
//! |---|---|
//! | accepting | the caller's, which awaits [`serve`] |
//! | a connection, and the requests of HTTP/1 | one of the queue, in the group that [`group_by`](Serve::group_by) says |
//! | a request of HTTP/2 | one of the queue, in the group of its connection |
//!
//! To serve urgent requests in a queue of their own, give them a listener of their own, and call [`serve`] for each. A handler that panics ends its
//! connection over HTTP/1, and its request over HTTP/2. A connection of HTTP/1 that was upgraded belongs to the handler that upgraded it. An upgraded
//! request of HTTP/2 is under way until it ends.
//!
//! # A full queue
//!
//! A queue that is [full], or closed, refuses. A connection that it refuses is closed. A request of HTTP/2 is reset with
//! `REFUSED_STREAM`, which tells the client that it may be sent again: the service has not seen it. Connections that wait for
//! requests count. To limit requests, spawn each on a queue of their own and answer 503 for those that it refuses: the
//! example `http_overload` does so.
//!
//! # Handlers that spawn
//!
//! axum's handlers are to be `Send`, although they stay on the thread here. A [`Queue`] is not, so a closure that captures one is no
//! `Handler`, and the compiler does not say that `Send` is what it lacks. (`#[axum::debug_handler]` does, for functions.) Capture
//! [`Queue::handle`], as above.
//!
//! # Beside `serve`
//!
//! A server that accepts connections itself gives hyper's and hyper-util's builders a [`LocalExecutor`]. Clients that want an executor that is `Send`
//! (hyper-util's `legacy::Client`, tonic's `Endpoint::executor`) take a [`QueueExecutor`].
//!
//! [`Queue`]: clockworker::Queue
//! [full]: clockworker::Queue::set_max_live
//! [`Queue::handle`]: clockworker::Queue::handle

#![forbid(unsafe_code)]

mod answer;
mod executor;
mod listener;
mod serve;

pub use executor::{LocalExecutor, QueueExecutor};
pub use listener::Listener;
pub use serve::{Serve, serve};
