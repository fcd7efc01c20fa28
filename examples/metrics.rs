//! How do I show Prometheus what my executor does?
//!
//! The service answers `GET /metrics` itself, in a queue of its own: it passes the stats of that moment on to the recorder of the
//! crate `metrics`, and returns what that writes. All other requests are counted in the queue `requests`.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::cell::RefCell;
use std::convert::Infallible;
use std::error::Error;
use std::net::Ipv4Addr;
use std::rc::Rc;

use clockworker::{Executor, Handle, Queue};
use clockworker_http::serve;
use clockworker_observe::metrics::Exporter;
use clockworker_observe::{Observation, Observe, Observer};
use hyper::body::Incoming;
use hyper::{Request, Response};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio::net::TcpListener;
use tokio::runtime::Builder;

fn main() -> Result<(), Box<dyn Error>> {
    let rt = Builder::new_current_thread().enable_all().build()?;
    let ex = Executor::new();
    ex.observe(Observation::new().latency())?;
    let requests = ex.new_queue("requests").share(9).create()?;
    let admin = ex.new_queue("admin").create()?;
    let page = Rc::new(Page {
        executor: ex.handle(),
        observer: ex.observer(),
        exporter: RefCell::new(Exporter::new()),
        recorder: PrometheusBuilder::new().install_recorder()?,
    });
    rt.block_on(ex.run_until(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        println!("listening on http://{}", listener.local_addr()?);
        let queues = [requests.clone(), admin];
        let service = tower::service_fn(move |request| answer(request, queues.clone(), Rc::clone(&page)));
        let stop = async { drop(tokio::signal::ctrl_c().await) };
        serve(listener, service, &requests).with_graceful_shutdown(stop).await;
        Ok(())
    }))
}

async fn answer(
    request: Request<Incoming>,
    [requests, admin]: [Queue; 2],
    page: Rc<Page>,
) -> Result<Response<String>, Infallible> {
    let answer = if request.uri().path() == "/metrics" {
        admin.spawn(async move { page.write().await }).await
    } else {
        requests.spawn(async { String::from("hello\n") }).await
    };
    Ok(Response::new(answer.unwrap_or_else(|error| error.to_string())))
}

/// What Prometheus reads.
struct Page {
    executor: Handle,
    observer: Observer,
    exporter: RefCell<Exporter>,
    recorder: PrometheusHandle,
}

impl Page {
    async fn write(&self) -> String {
        if let Ok(stats) = self.executor.stats().await {
            self.exporter.borrow_mut().publish(&stats, &self.observer.observed());
        }
        self.recorder.render()
    }
}
