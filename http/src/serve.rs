//! [`serve`]: accepts connections, spawns each, and lets them finish.

use std::convert::Infallible;
use std::fmt;
use std::future::{Future, IntoFuture, pending};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::time::Duration;

use clockworker::{JoinSet, Queue};
use hyper::body::{Body, Incoming};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use tower_service::Service;

use crate::answer::{Answers, BoxError, Refusal};
use crate::executor::LocalExecutor;
use crate::listener::{Listener, accept};

/// Serves HTTP/1 and HTTP/2 in a queue, once it is awaited: each connection is a task of the queue, and so is each request of HTTP/2.
///
/// The service is cloned for each request. A request has its peer's address among its extensions, in axum
/// `Extension<SocketAddr>`. The [crate](crate) says what runs where, and what a full queue does.
///
/// # Panics
///
/// When awaited outside a tokio runtime, or in one without timers (`enable_time`).
///
/// # Example
///
/// A service that is not `Send`, and its client:
///
/// ```
/// use clockworker::Executor;
/// use clockworker_http::serve;
/// use hyper::{Request, Response, body::Incoming};
/// use std::{cell::Cell, convert::Infallible, rc::Rc};
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
/// use tokio::net::{TcpListener, TcpStream};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ex = Executor::new();
/// let requests = ex.new_queue("requests").create()?;
/// let visits = Rc::new(Cell::new(0));
/// let service = tower::service_fn(move |_: Request<Incoming>| {
///     let visits = Rc::clone(&visits);
///     async move {
///         visits.set(visits.get() + 1);
///         Ok::<_, Infallible>(Response::new(format!("visit {}", visits.get())))
///     }
/// });
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let address = listener.local_addr()?;
/// let (stop, stopped) = tokio::sync::oneshot::channel();
/// let server = serve(listener, service, &requests).with_graceful_shutdown(async { drop(stopped.await) });
/// let client = async {
///     let mut stream = TcpStream::connect(address).await?;
///     stream.write_all(b"GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n").await?;
///     let mut answer = String::new();
///     stream.read_to_string(&mut answer).await?;
///     let _ = stop.send(());
///     Ok::<_, std::io::Error>(answer)
/// };
/// let (aborted, answer) = ex.run_until(async { tokio::join!(server.into_future(), client) }).await;
/// assert!(answer?.ends_with("visit 1"));
/// assert_eq!(aborted, 0);
/// # Ok(())
/// # }
/// ```
pub fn serve<L, S, B>(listener: L, service: S, queue: &Queue) -> Serve<L, S>
where
    L: Listener,
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + 'static,
    S::Error: Into<BoxError>,
    B: Body + 'static,
    B::Error: Into<BoxError>,
{
    let (refusal, ended) = Refusal::new();
    let mut http = auto::Builder::new(LocalExecutor::refusing_by(Rc::clone(&refusal)));
    // For websockets over HTTP/2.
    http.http2().enable_connect_protocol();
    Serve {
        listener,
        service,
        queue: queue.clone(),
        http,
        refusal,
        ended,
        group_by: None,
        signal: Box::pin(pending()),
        drain_deadline: Duration::MAX,
    }
}

/// Gives a peer's group.
type GroupBy<P> = Box<dyn Fn(&P) -> u64>;

/// A server. From [`serve`].
///
/// Await it. After the [signal](Serve::with_graceful_shutdown), once all connections are gone, it gives how many were aborted at the
/// [deadline](Serve::drain_deadline). No error of the listener or of a connection ends it.
///
/// # Cancel safety
///
/// **Dropping it while it is awaited** closes the listener and aborts the connections.
#[must_use = "a server does nothing until it is awaited"]
pub struct Serve<L: Listener, S> {
    listener: L,
    service: S,
    queue: Queue,
    http: auto::Builder<LocalExecutor>,
    refusal: Rc<Refusal>,
    ended: oneshot::Receiver<Infallible>,
    group_by: Option<GroupBy<L::Peer>>,
    signal: Pin<Box<dyn Future<Output = ()>>>,
    drain_deadline: Duration,
}

impl<L: Listener, S> Serve<L, S> {
    /// Stops when `signal` is ready: closes the listener and idle connections, answers the requests under way, and ends.
    ///
    /// Clients of HTTP/2 are told by `GOAWAY`. Requests are given any time, and clients of HTTP/2 that do not react too, unless there
    /// is a [deadline](Serve::drain_deadline).
    pub fn with_graceful_shutdown(mut self, signal: impl Future<Output = ()> + 'static) -> Self {
        self.signal = Box::pin(signal);
        self
    }

    /// Aborts the connections that are left so long after the [signal](Serve::with_graceful_shutdown), with their requests. The queue
    /// drops them in its next slices, and the server ends after that.
    pub fn drain_deadline(mut self, deadline: Duration) -> Self {
        self.drain_deadline = deadline;
        self
    }

    /// Puts each connection, with its requests, into the [group](Queue::group) of the key that `key` gives for its peer.
    ///
    /// Under schedulers such as [`FairGroups`](clockworker::schedulers::FairGroups) a client with many connections then gets no more than
    /// others. [`group_key`](clockworker::group_key) makes a key of anything.
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn example(ex: clockworker::Executor, router: axum::Router) -> Result<(), Box<dyn std::error::Error>> {
    /// use clockworker::{group_key, schedulers::FairGroups};
    /// use clockworker_http::serve;
    ///
    /// let requests = ex.new_queue("requests").scheduler(FairGroups::new()).create()?;
    /// let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    /// serve(listener, router, &requests).group_by(|peer| group_key(&peer.ip())).await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn group_by(mut self, key: impl Fn(&L::Peer) -> u64 + 'static) -> Self {
        self.group_by = Some(Box::new(key));
        self
    }

    /// Changes what hyper does with connections: timeouts, limits, windows.
    ///
    /// # Example
    ///
    /// Clients are to send a request's head within ten seconds:
    ///
    /// ```no_run
    /// # async fn example(listener: tokio::net::TcpListener, router: axum::Router, requests: clockworker::Queue) {
    /// use hyper_util::rt::TokioTimer;
    ///
    /// let server = clockworker_http::serve(listener, router, &requests).configure(|http| {
    ///     http.http1().timer(TokioTimer::new()).header_read_timeout(std::time::Duration::from_secs(10));
    /// });
    /// # server.await;
    /// # }
    /// ```
    pub fn configure(mut self, change: impl FnOnce(&mut auto::Builder<LocalExecutor>)) -> Self {
        change(&mut self.http);
        self
    }
}

impl<L, S, B> IntoFuture for Serve<L, S>
where
    L: Listener,
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + 'static,
    S::Error: Into<BoxError>,
    B: Body + 'static,
    B::Error: Into<BoxError>,
{
    type Output = usize;
    type IntoFuture = Pin<Box<dyn Future<Output = usize>>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<L: Listener, S> Serve<L, S> {
    async fn run<B>(self) -> usize
    where
        S: Service<Request<Incoming>, Response = Response<B>> + Clone + 'static,
        S::Error: Into<BoxError>,
        B: Body + 'static,
        B::Error: Into<BoxError>,
    {
        let Self { mut listener, service, queue, http, refusal, ended, group_by, mut signal, drain_deadline } =
            self;
        // It panics in a runtime without timers: now, and not when file descriptors run out.
        drop(sleep(Duration::ZERO));
        let graceful = GracefulShutdown::new();
        let mut connections = JoinSet::new();
        loop {
            let (io, peer) = tokio::select! {
                biased;
                () = &mut signal => break,
                Some(_) = connections.join_next(), if !connections.is_empty() => continue,
                accepted = accept(&mut listener) => accepted,
            };
            let group = group_by.as_ref().map(|key| queue.group(key(&peer)));
            let answers = Answers::new(service.clone(), peer, Rc::clone(&refusal));
            let connection = http.serve_connection_with_upgrades(TokioIo::new(io), answers).into_owned();
            let connection = graceful.watch(connection);
            let spawned = match group {
                Some(group) => group.try_spawn(connection),
                None => queue.try_spawn(connection),
            };
            spawned.into_iter().for_each(|connection| drop(connections.insert(connection)));
        }
        drop((listener, service, http, refusal));
        let mut drained = pin!(async {
            graceful.shutdown().await;
            // What connections spawned ends after them.
            let _ = ended.await;
        });
        if timeout(drain_deadline, &mut drained).await.is_ok() {
            return 0;
        }
        while connections.try_join_next().is_some() {}
        let aborted = connections.len();
        connections.abort_all();
        drained.await;
        aborted
    }
}

impl<L: Listener + fmt::Debug, S> fmt::Debug for Serve<L, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve")
            .field("listener", &self.listener)
            .field("queue", &self.queue)
            .field("drain_deadline", &self.drain_deadline)
            .finish_non_exhaustive()
    }
}
