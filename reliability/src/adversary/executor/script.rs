//! The main future: it makes the moves, and waits in between.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use clockworker::{JoinHandle, yield_now};

use super::scene::Scene;
use super::{Act, How, Where};

/// Makes the program's moves until it is over.
pub(super) async fn make_moves(scene: Rc<Scene>) {
    let moves = scene.program.moves.clone();
    while scene.next_cycle() {
        let mut next = 0;
        while let Some(&act) = moves.get(next) {
            next += 1;
            scene.count_move();
            match act {
                Act::Rest { polls, of, next: place } => {
                    let resumes = left_to_others(&moves, next, place);
                    scene.wait.begin(polls, of, next..resumes);
                    poll_fn(|cx| scene.wait.poll(cx)).await;
                    next = resumes;
                }
                Act::Spawn { queue, polls, drop, how: How::Await } => {
                    scene.wait.begin(u32::MAX, None, 0..0);
                    if let Some(task) = scene.spawn(queue, polls, drop, How::Await) {
                        join(&scene, task).await;
                    }
                }
                Act::Yield => yield_now().await,
                act => scene.act(act),
            }
        }
    }
}

/// Up to which move others make them.
fn left_to_others(moves: &[Act], from: usize, place: Where) -> usize {
    match place {
        Where::Main => from,
        Where::Poll => from + moves[from..].iter().take_while(|act| act.is_for_all()).count(),
    }
}

/// Awaits a task, as long as patience lasts.
async fn join(scene: &Scene, task: JoinHandle<()>) {
    let mut task = pin!(task);
    poll_fn(|cx| match task.as_mut().poll(cx) {
        Poll::Ready(_) => Poll::Ready(()),
        Poll::Pending => scene.wait.poll(cx),
    })
    .await;
    scene.wait.end();
}
