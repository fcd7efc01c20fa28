//! The two executors, each with a service and its compactors, which yield by the executor's own means.

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::io;
use std::net::{self, TcpListener};
use std::rc::Rc;
use std::time::Duration;

use clockworker::{Executor, Queue, QueueError};
use tokio::net::TcpStream;
use tokio::runtime::{self, Runtime};
use tokio::sync::watch;
use tokio::task::LocalSet;

use crate::clients::{CONNECTIONS, Clients, now};
use crate::history::Summary;
use crate::service::{compactor, connection};
use crate::store::{SHARDS, Store};

/// What runs a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    LocalSet,
    Clockworker,
}

impl Side {
    pub(crate) const BOTH: [Side; 2] = [Side::LocalSet, Side::Clockworker];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Side::LocalSet => "tokio LocalSet",
            Side::Clockworker => "Clockworker",
        }
    }
}

/// See the [module docs](self).
pub(crate) struct Sides {
    clients: Clients,
    executor: Executor,
    requests: Queue,
    background: Queue,
    local_set: LocalSet,
    compacts: watch::Sender<bool>,
    /// Rows compacted so far, of each side.
    rows: [Rc<Cell<u64>>; 2],
    runtime: Runtime,
}

impl Sides {
    /// Both services, and their compactors, which are switched off.
    pub(crate) fn new(share: u32) -> Result<Self, Box<dyn Error>> {
        let runtime = runtime::Builder::new_current_thread().enable_io().build()?;
        let (compacts, is_on) = watch::channel(false);
        let rows = <[Rc<Cell<u64>>; 2]>::default();
        let ends = connections().map_err(|error| format!("no connections over 127.0.0.1: {error}"))?;
        let (servers, clients): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
        let origin = now();
        let inside = runtime.enter();

        let local_set = LocalSet::new();
        let stores = [(); 2].map(|()| Rc::new(RefCell::new(Store::new())));
        for shard in 0..SHARDS as usize {
            let (store, rows) = (stores[0].clone(), rows[0].clone());
            local_set.spawn_local(compactor(store, shard, is_on.clone(), rows, tokio::task::yield_now));
        }

        let executor = Executor::new();
        // The small request lets requests in soon when some have come, after the compactor's poll under way.
        let requests = executor.new_queue("requests").request(Duration::from_micros(100)).create()?;
        let background = executor.new_queue("background").create()?;
        for shard in 0..SHARDS as usize {
            let (store, rows) = (stores[1].clone(), rows[1].clone());
            background.spawn(compactor(store, shard, is_on.clone(), rows, clockworker::yield_now));
        }

        for [to_local_set, to_clockworker] in servers {
            local_set.spawn_local(connection(asynchronous(to_local_set)?, stores[0].clone(), origin));
            requests.spawn(connection(asynchronous(to_clockworker)?, stores[1].clone(), origin));
        }
        let clients = Clients::start(clients, origin)?;
        drop(inside);
        let sides = Self { clients, executor, requests, background, local_set, compacts, rows, runtime };
        sides.set_share(share)?;
        Ok(sides)
    }

    pub(crate) fn set_compacts(&self, compacts: bool) {
        self.compacts.send_replace(compacts);
    }

    /// Gives the background so many percent of the thread, where both queues want more than they get.
    pub(crate) fn set_share(&self, percent: u32) -> Result<(), QueueError> {
        self.background.set_share(percent)?;
        self.requests.set_share(100 - percent)
    }

    /// Runs one side while requests come to it, and until they are answered.
    pub(crate) fn window(&mut self, side: Side, seed: u64) -> io::Result<Summary> {
        let (rows, before) = (&self.rows[side as usize], now());
        let rows_before = rows.get();
        let requests = self.clients.window(side, seed);
        let seen = match side {
            Side::LocalSet => self.runtime.block_on(self.local_set.run_until(requests)),
            Side::Clockworker => self.runtime.block_on(self.executor.run_until(requests)),
        }?;
        Ok(Summary::new(seen, rows.get() - rows_before, before.elapsed()))
    }
}

fn asynchronous(stream: net::TcpStream) -> io::Result<TcpStream> {
    stream.set_nonblocking(true)?;
    stream.set_nodelay(true)?;
    TcpStream::from_std(stream)
}

type Ends = [net::TcpStream; 2];

/// For each connection its ends at both services, and those at its client.
fn connections() -> io::Result<Vec<(Ends, Ends)>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let connect = || -> io::Result<_> {
        let client = net::TcpStream::connect(listener.local_addr()?)?;
        Ok((listener.accept()?.0, client))
    };
    let both = |_| -> io::Result<_> {
        let [(a, to_a), (b, to_b)] = [connect()?, connect()?];
        Ok(([a, b], [to_a, to_b]))
    };
    (0..CONNECTIONS).map(both).collect()
}
