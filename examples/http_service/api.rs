//! What the service answers.

use std::cell::RefCell;
use std::rc::Rc;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

use crate::counters::Counters;
use crate::store::Store;

/// The longest key, and the largest value, in bytes.
const MAX_KEY: usize = 256;
const MAX_VALUE: usize = 64 * 1024;

type Answer = Response<Full<Bytes>>;

/// The service: `GET /KEY`, `PUT /KEY` and `GET /stats`. It is not `Send`, nor are its futures.
#[derive(Debug)]
pub(crate) struct Api {
    store: Rc<RefCell<Store>>,
    pub(crate) counters: Rc<Counters>,
}

impl Api {
    pub(crate) fn new(store: Rc<RefCell<Store>>, counters: Rc<Counters>) -> Self {
        Self { store, counters }
    }

    pub(crate) async fn answer(&self, request: Request<Incoming>) -> Answer {
        let answer = self.route(request).await;
        self.counters.requests.add(1);
        let failed = answer.status().is_client_error() || answer.status().is_server_error();
        self.counters.errors.add(u64::from(failed));
        answer
    }

    async fn route(&self, request: Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        let path = head.uri.path().strip_prefix('/').unwrap_or_default();
        match (&head.method, path) {
            (&Method::GET, "stats") => self.stats(),
            (_, "stats") => not_allowed("GET"),
            (_, key) if !is_key(key) => text(StatusCode::BAD_REQUEST, "this is not a key"),
            (&Method::GET, key) => self.get(key),
            (&Method::PUT, key) => self.put(key, body).await,
            _ => not_allowed("GET, PUT"),
        }
    }

    fn stats(&self) -> Answer {
        let mut answer = text(StatusCode::OK, self.counters.json());
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        answer
    }

    fn get(&self, key: &str) -> Answer {
        match self.store.borrow().get(key) {
            Some(value) => text(StatusCode::OK, value),
            None => text(StatusCode::NOT_FOUND, "no such key"),
        }
    }

    /// The store is borrowed when the value is there, not while it is awaited.
    async fn put(&self, key: &str, body: Incoming) -> Answer {
        match Limited::new(body, MAX_VALUE).collect().await {
            Ok(value) => self.store.borrow_mut().put(key, value.to_bytes()),
            Err(error) if error.is::<LengthLimitError>() => {
                return text(StatusCode::PAYLOAD_TOO_LARGE, "this value is too large");
            }
            Err(_) => return text(StatusCode::BAD_REQUEST, "this value did not come to its end"),
        }
        text(StatusCode::NO_CONTENT, "")
    }
}

/// Letters, digits, `-`, `_` and `.`, so that no decoding is needed.
fn is_key(key: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=MAX_KEY).contains(&key.len()) && key.bytes().all(allowed)
}

fn not_allowed(methods: &'static str) -> Answer {
    let mut answer = text(StatusCode::METHOD_NOT_ALLOWED, "not this method");
    answer.headers_mut().insert(ALLOW, HeaderValue::from_static(methods));
    answer
}

fn text(code: StatusCode, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()));
    *answer.status_mut() = code;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    answer
}
