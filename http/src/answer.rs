//! A connection's service, and what becomes of requests that the queue does not take.

use std::cell::Cell;
use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use hyper::body::Incoming;
use hyper::service::Service as HyperService;
use hyper::{Request, Response};
use hyper_util::service::TowerToHyperService;
use pin_project_lite::pin_project;
use tokio::sync::oneshot;
use tower_service::Service;

/// What hyper takes for any error.
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// Refuses requests. What a server spawns holds it, so that it is gone when nothing of that is left.
#[derive(Debug)]
pub(crate) struct Refusal {
    refuses: Cell<bool>,
    /// Its receiver hears when this is dropped.
    _held: oneshot::Sender<Infallible>,
}

impl Refusal {
    pub(crate) fn new() -> (Rc<Self>, oneshot::Receiver<Infallible>) {
        let (held, let_go) = oneshot::channel();
        (Rc::new(Self { refuses: Cell::new(false), _held: held }), let_go)
    }

    /// Ends a request of HTTP/2 that was not begun: in one poll hyper hears of an error in place of an answer, and resets the stream.
    pub(crate) fn refuse(&self, stream: impl Future) {
        let mut stream = pin!(stream);
        self.refuses.set(true);
        let _ = stream.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        self.refuses.set(false);
    }
}

/// A service of tower's as one of hyper's, for the connection of one peer.
pub(crate) struct Answers<S, P> {
    service: TowerToHyperService<S>,
    peer: P,
    refusal: Rc<Refusal>,
}

impl<S, P> Answers<S, P> {
    pub(crate) fn new(service: S, peer: P, refusal: Rc<Refusal>) -> Self {
        Self { service: TowerToHyperService::new(service), peer, refusal }
    }
}

impl<S, P, B> HyperService<Request<Incoming>> for Answers<S, P>
where
    S: Service<Request<Incoming>, Response = Response<B>> + Clone,
    S::Error: Into<BoxError>,
    P: Clone + Send + Sync + 'static,
{
    type Response = Response<B>;
    type Error = BoxError;
    type Future = Answer<<TowerToHyperService<S> as HyperService<Request<Incoming>>>::Future>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(self.peer.clone());
        Answer { inner: self.service.call(request), refusal: Rc::clone(&self.refusal) }
    }
}

pin_project! {
    /// The answer to a request. The service is called in its first poll.
    pub(crate) struct Answer<F> {
        #[pin]
        inner: F,
        refusal: Rc<Refusal>,
    }
}

impl<F, T, E> Future for Answer<F>
where
    F: Future<Output = Result<T, E>>,
    E: Into<BoxError>,
{
    type Output = Result<T, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if this.refusal.refuses.get() {
            return Poll::Ready(Err(h2::Error::from(h2::Reason::REFUSED_STREAM).into()));
        }
        Poll::Ready(ready!(this.inner.poll(cx)).map_err(Into::into))
    }
}
