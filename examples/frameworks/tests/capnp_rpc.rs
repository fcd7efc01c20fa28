//! An `RpcSystem` is a future, and the methods of its objects run where it is polled.
//!
//! The interface is written by hand, so that no `capnp` compiler is needed: one method, whose result is text.

#![forbid(unsafe_code)]

use std::ops::Deref;
use std::rc::Rc;

use capnp::any_pointer;
use capnp::capability::{
    Client, DispatchCallResult, FromClientHook, FromServer, Params, Promise, Results, Server,
};
use capnp::private::capability::ClientHook;
use capnp_rpc::rpc_twoparty_capnp::Side;
use capnp_rpc::{RpcSystem, new_client, twoparty};
use clockworker_frameworks::{place, run};
use tokio::io::DuplexStream;
use tokio::task::LocalSet;
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

const PLACES: u64 = 0xdead_beef_0000_0001;
const WHERE: u16 = 0;

/// The object: says where its method runs.
struct Places;

/// What the compiler would generate: the client's side …
struct PlacesClient(Client);

impl FromClientHook for PlacesClient {
    fn new(hook: Box<dyn ClientHook>) -> Self {
        Self(Client::new(hook))
    }

    fn into_client_hook(self) -> Box<dyn ClientHook> {
        self.0.hook
    }

    fn as_client_hook(&self) -> &dyn ClientHook {
        &*self.0.hook
    }
}

impl FromServer<Places> for PlacesClient {
    type Dispatch = Dispatch;

    fn from_server(server: Rc<Places>) -> Dispatch {
        Dispatch(server)
    }
}

impl PlacesClient {
    async fn ask(&self) -> capnp::Result<String> {
        let call = self.0.new_call::<any_pointer::Owned, any_pointer::Owned>(PLACES, WHERE, None);
        let answer = call.send().promise.await?;
        Ok(answer.get()?.get_as::<capnp::text::Reader<'_>>()?.to_string()?)
    }
}

/// … and the server's.
#[derive(Clone)]
struct Dispatch(Rc<Places>);

impl Deref for Dispatch {
    type Target = Places;

    fn deref(&self) -> &Places {
        &self.0
    }
}

impl Server for Dispatch {
    fn dispatch_call(
        self,
        interface_id: u64,
        method_id: u16,
        _: Params<any_pointer::Owned>,
        mut results: Results<any_pointer::Owned>,
    ) -> DispatchCallResult {
        assert_eq!((interface_id, method_id), (PLACES, WHERE));
        let promise = Promise::from_future(async move {
            let here = place().to_string();
            results.get().set_as::<capnp::text::Owned>(here.as_str())
        });
        DispatchCallResult::new(promise, false)
    }

    fn as_ptr(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }
}

/// One end of a connection.
fn system(stream: DuplexStream, side: Side, object: Option<Client>) -> RpcSystem<Side> {
    let (read, write) = tokio::io::split(stream);
    let network = twoparty::VatNetwork::new(read.compat(), write.compat_write(), side, Default::default());
    RpcSystem::new(Box::new(network), object)
}

/// The server's end, and a client whose end is polled by the future that comes with it.
fn pair() -> (RpcSystem<Side>, RpcSystem<Side>, PlacesClient) {
    let (here, there) = tokio::io::duplex(4096);
    let object: PlacesClient = new_client(Places);
    let server = system(there, Side::Server, Some(object.0));
    let mut asks = system(here, Side::Client, None);
    let client = asks.bootstrap(Side::Server);
    (server, asks, client)
}

#[test]
fn spawned_on_a_queue_it_runs_methods_there() {
    run(async |host| {
        let (server, asks, client) = pair();
        host.requests.spawn(server);
        host.requests.spawn(asks);
        assert_eq!(client.ask().await.unwrap(), "in the queue requests");
    });
}

#[test]
fn spawned_on_tokio_as_its_examples_do_it_runs_them_outside() {
    run(async |_| {
        let local = LocalSet::new();
        let asked = local.run_until(async {
            let (server, asks, client) = pair();
            tokio::task::spawn_local(server);
            tokio::task::spawn_local(asks);
            client.ask().await
        });
        assert_eq!(asked.await.unwrap(), "outside");
    });
}
