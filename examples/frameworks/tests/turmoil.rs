//! turmoil simulates a network of hosts, each with a tokio runtime whose time stands still. An executor inside one is on that time.

#![forbid(unsafe_code)]

use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use clockworker::{Cap, Executor, TokioClock, yield_now};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep, timeout};
use turmoil::net::{TcpListener, TcpStream};

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Says how many milliseconds it runs, and how many polls of one its capped queue has had by then.
async fn server() -> turmoil::Result {
    let began = Instant::now();
    let ex = Executor::builder().clock(TokioClock::new()?.poll_charge(ms(1))).build()?;
    let reports = ex.new_queue("reports").cap(Cap::new(ms(20), ms(100))?).create()?;
    let polls = Rc::new(Cell::new(0));
    reports.spawn({
        let polls = Rc::clone(&polls);
        async move {
            loop {
                polls.set(polls.get() + 1);
                yield_now().await;
            }
        }
    });
    let requests = ex.new_queue("requests").share(9).create()?;
    let serves = requests.spawn(async move {
        let listener = TcpListener::bind("0.0.0.0:80").await?;
        loop {
            let (mut stream, _) = listener.accept().await?;
            let now = u64::try_from(began.elapsed().as_millis()).map_err(io::Error::other)?;
            stream.write_u64(now).await?;
            stream.write_u64(polls.get()).await?;
        }
        #[expect(unreachable_code, reason = "it names the error")]
        Ok::<(), io::Error>(())
    });
    ex.run_until(serves).await??;
    Ok(())
}

async fn ask() -> io::Result<(u64, u64)> {
    let mut stream = TcpStream::connect("server:80").await?;
    Ok((stream.read_u64().await?, stream.read_u64().await?))
}

/// In each period of the simulated time the cap lets so many polls through, also after the host has crashed and begun anew.
#[test]
fn a_cap_is_exact_on_the_simulated_time() {
    let mut builder = turmoil::Builder::new();
    // Each message takes the same time, so no question comes in the instant in which a period begins.
    builder
        .min_message_latency(ms(1))
        .max_message_latency(ms(1))
        .simulation_duration(Duration::from_secs(60));
    let mut sim = builder.build();
    sim.host("server", server);
    for client in ["before", "after"] {
        sim.client(client, async {
            for _ in 0..20 {
                // No timeout of tokio's comes early beside it.
                let (now, polls) = timeout(Duration::from_secs(5), ask()).await??;
                assert_ne!(now % 100, 0);
                assert_eq!(polls, 20 * (now / 100 + 1), "after {now} ms");
                sleep(ms(37)).await;
            }
            Ok(())
        });
        sim.run().unwrap();
        sim.bounce("server");
    }
}
