//! Which queue and which group requests are in, and whose they are.

use std::cell::RefCell;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use axum::extract::Extension;
use axum::{Router, routing::get};
use clockworker::{Executor, Group, Queue};
use clockworker_http::{LocalExecutor, QueueExecutor};
use hyper::body::Incoming;
use hyper::rt::Executor as _;
use hyper::{Request, Response};
use tower::Service;

use crate::support::{Client, Server, VERSIONS, run};

/// Answers with the queue, the group's key and the peer's port. What it holds is not `Send`.
fn place() -> impl Service<
    Request<Incoming>,
    Response = Response<String>,
    Error = Infallible,
    Future = impl Future<Output = Result<Response<String>, Infallible>>,
> + Clone
+ 'static {
    let not_send = Rc::new(());
    tower::service_fn(move |request: Request<Incoming>| {
        let not_send = Rc::clone(&not_send);
        async move {
            let queue = Queue::current().map(|queue| queue.name());
            let group = Group::current().map(|group| group.key());
            let peer = request.extensions().get::<SocketAddr>().map(|peer| peer.port());
            drop(not_send);
            Ok(Response::new(format!("{queue:?} {group:?} {peer:?}")))
        }
    })
}

#[test]
fn each_server_has_its_queue() {
    run(async |ex| {
        let public = ex.new_queue("public").create().unwrap();
        let admin = public.new_queue("admin").create().unwrap();
        for queue in [public, admin] {
            let server = Server::start(&queue, place()).await;
            for version in VERSIONS {
                let mut client = Client::connect(server.address, version).await;
                let port = client.local.port();
                assert_eq!(
                    client.get("/").await.unwrap(),
                    format!("{:?} None {:?}", Some(queue.name()), Some(port))
                );
            }
            assert_eq!(server.stop().await.unwrap(), 0);
        }
    });
}

#[test]
fn connections_and_their_requests_are_in_their_peers_group() {
    run(async |ex| {
        let queue = ex.new_queue("public").create().unwrap();
        let server =
            Server::start_with(&queue, place(), |server| server.group_by(|peer| peer.port().into())).await;
        for version in VERSIONS {
            let mut client = Client::connect(server.address, version).await;
            let port = client.local.port();
            assert_eq!(
                client.get("/").await.unwrap(),
                format!("Some(\"public\") {:?} {:?}", Some(port), Some(port))
            );
            assert!(queue.find_group(port.into()).is_some());
        }
        assert_eq!(server.stop().await.unwrap(), 0);
    });
}

/// By what is `Send`: a handle, or a name.
#[test]
fn a_handler_of_axums_spawns_into_the_background() {
    run(async |ex| {
        let queue = ex.new_queue("public").create().unwrap();
        let background = ex.new_queue("background").create().unwrap();
        let handle = Arc::new(background.handle());
        let name = async || Queue::current().unwrap().name();
        let router = Router::new()
            .route("/handle", get(move || async move { handle.spawn(name).await.unwrap() }))
            .route(
                "/name",
                get(async move || {
                    Queue::find("background").map(|queue| queue.spawn(name())).unwrap().await.unwrap()
                }),
            )
            .route("/peer", get(async |Extension(peer): Extension<SocketAddr>| peer.to_string()));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let served = ex.spawn(clockworker_http::serve(listener, router, &queue).into_future());
        for version in VERSIONS {
            let mut client = Client::connect(address, version).await;
            for path in ["/handle", "/name"] {
                assert_eq!(client.get(path).await.unwrap(), "background");
            }
            assert_eq!(client.get("/peer").await.unwrap(), client.local.to_string());
        }
        served.abort();
    });
}

/// As for a connection that was accepted by hand.
#[test]
fn local_executor_spawns_where_the_task_is_that_calls_it() {
    let ex = Executor::new();
    let queue = ex.new_queue("requests").create().unwrap();
    let here = Rc::new(RefCell::new(Vec::new()));
    let tell = |here: &Rc<RefCell<Vec<_>>>| {
        let here = Rc::clone(here);
        let place = || (Queue::current().unwrap().name(), Group::current().map(|group| group.key()));
        async move { here.borrow_mut().push(place()) }
    };
    let call = |told| async move { LocalExecutor::new().execute(told) };
    queue.group(7).spawn(call(tell(&here)));
    ex.block_on(ex.drained());
    queue.spawn(call(tell(&here)));
    ex.block_on(ex.drained());
    // In no task.
    ex.block_on(async { LocalExecutor::new().execute(tell(&here)) });
    ex.block_on(ex.drained());
    let [requests, default] = ["requests", "default"].map(String::from);
    assert_eq!(*here.borrow(), [(requests.clone(), Some(7)), (requests, None), (default, None)]);
    // What is refused is dropped.
    queue.set_max_live(Some(1)).unwrap();
    queue.spawn(call(tell(&here)));
    ex.block_on(ex.drained());
    assert_eq!((here.borrow().len(), Rc::strong_count(&here), queue.stats().refused), (3, 1, 1));
}

#[test]
fn clients_executor_spawns_on_its_queue_from_any_thread() {
    let ex = Executor::new();
    let queue = ex.new_queue("calls").create().unwrap();
    let executor = QueueExecutor::new(queue.handle());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| executor.execute(async {}));
        }
    });
    ex.block_on(ex.drained());
    assert_eq!(queue.stats().completed, 4);
    queue.close();
    let (held, let_go) = std::sync::mpsc::channel::<()>();
    executor.execute(async move { drop(held) });
    ex.block_on(ex.drained());
    assert!(let_go.recv().is_err());
}
