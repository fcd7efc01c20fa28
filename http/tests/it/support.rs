//! An executor inside tokio, servers, clients over both versions, and a service that waits to be told to answer.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::rc::Rc;

use clockworker::{Executor, JoinHandle, Queue, spawn_local};
use clockworker_http::{LocalExecutor, Serve, serve};
use http_body_util::{BodyExt, Empty};
use hyper::body::{Body, Bytes, Incoming};
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response, Version};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::{Notify, oneshot};
use tower::Service;

/// Runs `test` as the main future of an executor inside `current_thread`, whose clock is paused.
pub(crate) fn run<T>(test: impl AsyncFnOnce(&Executor) -> T) -> T {
    let rt = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let ex = Executor::new();
    rt.block_on(ex.run_until(test(&ex)))
}

/// A server in a task of the default queue.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    stop: oneshot::Sender<()>,
    pub(crate) served: JoinHandle<usize>,
}

impl Server {
    pub(crate) async fn start<S, B>(queue: &Queue, service: S) -> Self
    where
        S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Clone + 'static,
        B: Body<Data: 'static, Error = Infallible> + 'static,
    {
        Self::start_with(queue, service, |server| server).await
    }

    pub(crate) async fn start_with<S, B>(
        queue: &Queue,
        service: S,
        with: impl FnOnce(Serve<TcpListener, S>) -> Serve<TcpListener, S>,
    ) -> Self
    where
        S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Clone + 'static,
        B: Body<Data: 'static, Error = Infallible> + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let server =
            with(serve(listener, service, queue)).with_graceful_shutdown(async { drop(stopped.await) });
        Self { address, stop, served: spawn_local(server.into_future()) }
    }

    /// Gives the signal. How many connections were aborted, at the end.
    pub(crate) fn stop(self) -> JoinHandle<usize> {
        self.stop.send(()).unwrap();
        self.served
    }
}

/// A client's connection, which is a task of the default queue.
pub(crate) struct Client {
    sender: Sender,
    /// Gives how it ended.
    pub(crate) connection: JoinHandle<hyper::Result<()>>,
    pub(crate) local: SocketAddr,
}

enum Sender {
    Http1(http1::SendRequest<Empty<Bytes>>),
    Http2(http2::SendRequest<Empty<Bytes>>),
}

/// The body of an answer, or the error.
pub(crate) type Answer = hyper::Result<String>;

impl Client {
    pub(crate) async fn connect(address: SocketAddr, version: Version) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        let local = stream.local_addr().unwrap();
        let io = TokioIo::new(stream);
        let (sender, connection) = if version == Version::HTTP_2 {
            let (sender, connection) = http2::handshake(LocalExecutor::new(), io).await.unwrap();
            (Sender::Http2(sender), spawn_local(connection))
        } else {
            let (sender, connection) = http1::handshake(io).await.unwrap();
            (Sender::Http1(sender), spawn_local(connection))
        };
        Self { sender, connection, local }
    }

    /// Sends `GET path`, in a task that gives the answer.
    pub(crate) fn ask(&mut self, path: &str) -> JoinHandle<Answer> {
        let request = Request::get(format!("http://test{path}")).body(Empty::new()).unwrap();
        match &mut self.sender {
            Sender::Http1(sender) => spawn_local(text(sender.send_request(request))),
            Sender::Http2(sender) => spawn_local(text(sender.send_request(request))),
        }
    }

    /// The answer to `GET path`.
    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.ask(path).await.unwrap()
    }

    /// How its connection ends.
    pub(crate) async fn closed(self) -> hyper::Result<()> {
        self.connection.await.unwrap()
    }
}

async fn text(answer: impl Future<Output = hyper::Result<Response<Incoming>>>) -> Answer {
    let body = answer.await?.into_body().collect().await?;
    Ok(String::from_utf8(body.to_bytes().into()).unwrap())
}

pub(crate) const VERSIONS: [Version; 2] = [Version::HTTP_11, Version::HTTP_2];

/// What requests do: not `Send`.
#[derive(Default)]
pub(crate) struct World {
    /// Requests for `/wait` begun, and futures of theirs dropped.
    pub(crate) begun: Cell<u32>,
    pub(crate) dropped: Cell<u32>,
    changed: Notify,
    released: Notify,
    /// The paths that were asked for.
    pub(crate) paths: RefCell<Vec<String>>,
}

impl World {
    /// Answers `/wait` when it is [released](World::release), panics for `/panic`, and answers the rest with the path.
    pub(crate) fn service(
        self: &Rc<Self>,
    ) -> impl Service<
        Request<Incoming>,
        Response = Response<String>,
        Error = Infallible,
        Future = impl Future<Output = Result<Response<String>, Infallible>>,
    > + Clone
    + 'static {
        let world = Rc::clone(self);
        tower::service_fn(move |request: Request<Incoming>| {
            let world = Rc::clone(&world);
            async move { Ok(Response::new(world.answer(request.uri().path()).await)) }
        })
    }

    async fn answer(&self, path: &str) -> String {
        self.paths.borrow_mut().push(path.to_owned());
        match path {
            "/panic" => panic!("on purpose"),
            "/wait" => {
                let _dropped = OnDrop(|| {
                    self.dropped.set(self.dropped.get() + 1);
                    self.changed.notify_waiters();
                });
                self.begun.set(self.begun.get() + 1);
                self.changed.notify_waiters();
                self.released.notified().await;
            }
            _ => {}
        }
        path.to_owned()
    }

    /// Waits until so many requests for `/wait` have begun.
    pub(crate) async fn until_begun(&self, count: u32) {
        while self.begun.get() < count {
            self.changed.notified().await;
        }
    }

    /// Waits until so many of them are gone.
    pub(crate) async fn until_dropped(&self, count: u32) {
        while self.dropped.get() < count {
            self.changed.notified().await;
        }
    }

    /// Lets one of them go on.
    pub(crate) fn release(&self) {
        self.released.notify_one();
    }
}

pub(crate) struct OnDrop<F: FnMut()>(pub(crate) F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
