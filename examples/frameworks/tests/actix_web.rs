//! `HttpServer` has threads of its own, whose tasks are a `LocalSet`'s. A handler may ask a queue by a `Handle`; or an accept
//! loop of one's own serves the same application in a queue.

#![forbid(unsafe_code)]

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::thread::{self, ThreadId};

use actix_http::HttpService;
use actix_rt::System;
use actix_service::{Service, ServiceFactory, map_config};
use actix_web::dev::AppConfig;
use actix_web::{App, HttpServer, web};
use clockworker::{Executor, Handle};
use clockworker_frameworks::{Host, get, place};

fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Answers where it runs, and on which thread.
async fn here() -> String {
    format!("{} on {:?}", place(), thread::current().id())
}

fn answer(place: &str, thread: ThreadId) -> String {
    format!("{place} on {thread:?}")
}

/// Answers where a task runs that it has spawned on the queue.
async fn asks_a_queue(handle: web::Data<Handle>) -> String {
    let task = handle.spawn_on("requests", here);
    task.await.unwrap_or_else(|error| error.to_string())
}

#[test]
fn its_server_runs_handlers_outside_and_on_threads_of_its_own() {
    let (listener, address) = listen();
    let answered = System::new().block_on(async {
        let app = || App::new().route("/", web::get().to(here));
        let server = HttpServer::new(app).workers(1).disable_signals().listen(listener).unwrap().run();
        let handle = server.handle();
        actix_rt::spawn(server);
        let answered = get(address).await.unwrap();
        handle.stop(false).await;
        answered
    });
    assert!(answered.starts_with("outside on "), "{answered}");
    assert_ne!(answered, answer("outside", thread::current().id()));
}

#[test]
fn a_handler_asks_a_queue_by_a_handle() {
    let (listener, address) = listen();
    let ex = Executor::new();
    let host = Host::of(&ex);
    let run = ex.run_until(async {
        let handle = web::Data::new(host.handle.clone());
        let app = move || App::new().app_data(handle.clone()).route("/", web::get().to(asks_a_queue));
        let server = HttpServer::new(app).workers(1).disable_signals().listen(listener).unwrap().run();
        let handle = server.handle();
        actix_rt::spawn(server);
        let answered = get(address).await.unwrap();
        handle.stop(false).await;
        answered
    });
    assert_eq!(System::new().block_on(run), answer("in the queue requests", thread::current().id()));
}

/// Over HTTP/1. (Over HTTP/2 actix spawns each request by tokio's `spawn_local`.)
#[test]
fn an_accept_loop_of_ones_own_runs_them_in_its_queue() {
    let (listener, address) = listen();
    listener.set_nonblocking(true).unwrap();
    let ex = Executor::new();
    let host = Host::of(&ex);
    host.requests.spawn(async move {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let app = App::new().route("/", web::get().to(here));
        let http = HttpService::build().h1(map_config(app, |_| AppConfig::default())).tcp();
        let service = http.new_service(()).await.unwrap();
        while let Ok((stream, _)) = listener.accept().await {
            clockworker::spawn_local(service.call(stream));
        }
    });
    // A task that keeps the date, which is no connection's, is the system's.
    let answered = System::new().block_on(ex.run_until(get(address))).unwrap();
    assert_eq!(answered, answer("in the queue requests", thread::current().id()));
}
