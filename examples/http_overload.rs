//! How do I answer 503 when more requests come than can be answered in time?
//!
//! Connections are tasks of one queue, and each request of theirs is a task of another, in the group of its tenant. That queue has a limit,
//! which finds out by itself how much is too much. What the queue refuses is answered with 503 over HTTP/1. Over HTTP/2 it is reset with
//! `REFUSED_STREAM`, by which a client knows that nothing was done and that it may ask again: hyper resets a stream with the reason of an
//! `h2::Error` that the service returns.

#![forbid(unsafe_code)]

use std::error::Error;
use std::rc::Rc;
use std::time::Duration;

use clockworker::schedulers::FairGroups;
use clockworker::{JoinSet, Queue, group_key};
use clockworker_examples::adaptive_limit::AdaptiveLimit;
use clockworker_examples::web;
use clockworker_http::serve;
use h2::Reason;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode, Version};
use tokio::time::Instant;

const TARGET: Duration = Duration::from_millis(10);

type Answer = Result<Response<String>, Box<dyn Error + Send + Sync>>;

fn main() -> Result<(), Box<dyn Error>> {
    web::serve(|ex, listener, connections| {
        let work = ex.new_queue("work").share(9).scheduler(FairGroups::new()).create()?;
        let limit = Rc::new(AdaptiveLimit::new(work.clone(), TARGET)?);
        let service = tower::service_fn(move |request| answer(request, work.clone(), Rc::clone(&limit)));
        Ok(serve(listener, service, connections).with_graceful_shutdown(web::stop()))
    })
}

async fn answer(request: Request<Incoming>, work: Queue, limit: Rc<AdaptiveLimit>) -> Answer {
    let (came, version) = (Instant::now(), request.version());
    let tenant = work.group(group_key(&request.headers().get("tenant")));
    match tenant.try_spawn(echo(request)) {
        Ok(task) => {
            // Aborts the task if the client goes away.
            let mut task = JoinSet::from_iter([task]);
            let body = task.join_next().await.ok_or("it is in the set")???;
            limit.answered(came.elapsed());
            Ok(Response::new(body))
        }
        Err(_) if version == Version::HTTP_2 => Err(h2::Error::from(Reason::REFUSED_STREAM).into()),
        Err(_) => {
            let mut refused = Response::new(String::from("too many requests\n"));
            *refused.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            Ok(refused)
        }
    }
}

async fn echo(request: Request<Incoming>) -> Result<String, hyper::Error> {
    let body = request.into_body().collect().await?;
    Ok(String::from_utf8_lossy(&body.to_bytes()).into_owned())
}
