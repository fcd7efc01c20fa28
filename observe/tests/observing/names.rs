//! Names of tasks and groups, wherever they are shown.

use std::future::pending;
use std::sync::Arc;

use clockworker::{Executor, new_task};

#[test]
fn a_task_shows_its_name_or_none() {
    let ex = Executor::new();
    let task = ex.default_queue().new_task().name("upload").spawn(async {});
    let abort = task.abort_handle();
    assert_eq!((task.name(), abort.name()), (Some("upload"), Some("upload")));
    for shown in [format!("{task:?}"), format!("{abort:?}")] {
        assert!(shown.contains("finished: false, name: \"upload\", location: "), "{shown}");
    }
    ex.block_on(task).unwrap();
    // The cell is there for as long as a handle is.
    assert_eq!(abort.name(), Some("upload"));

    let task = ex.spawn(async {});
    assert_eq!(task.name(), None);
    assert!(!format!("{task:?}").contains("name: "));
    task.abort();
    let (id, error) = (task.id(), ex.block_on(task).unwrap_err());
    assert_eq!(error.name(), None);
    assert_eq!(error.to_string(), format!("task {id} was aborted"));
}

#[test]
fn errors_name_their_task_and_its_location() {
    let ex = Executor::new();
    let (line, aborted) = (line!(), ex.default_queue().new_task().name("upload").spawn(pending::<()>()));
    aborted.abort();
    let (id, error) = (aborted.id(), ex.block_on(aborted).unwrap_err());
    assert_eq!((error.name(), error.location().line()), (Some("upload"), line));
    assert_eq!(error.to_string(), format!("task {id} \"upload\" was aborted"));
    assert_eq!(format!("{error:?}"), format!("JoinError::Cancelled({id:?} \"upload\", Aborted)"));

    let bad = ex.default_queue().new_task().name("bad \"one\"").spawn(async { panic!("as planned") });
    let (id, error) = (bad.id(), ex.block_on(bad).unwrap_err());
    let shown = format!("task {id} \"bad \\\"one\\\"\" panicked with message \"as planned\"");
    assert_eq!(error.to_string(), shown);
    assert!(error.try_into_panic().is_ok());

    let queue = ex.new_queue("closed").create().unwrap();
    queue.close();
    let error = ex.block_on(queue.new_task().name("late").spawn(async {})).unwrap_err();
    assert!(error.is_refused());
    assert_eq!(error.name(), Some("late"));
}

#[test]
fn a_task_from_another_thread_has_a_name() {
    let handle = Executor::new().handle();
    let plain = handle.new_task().name(Arc::<str>::from("plain")).spawn(|| async {});
    let placed = handle.new_task().name("placed".to_owned()).group(7).spawn(|| async {});
    let refused = handle.new_task().name("refused").queue("nowhere").spawn(|| async {});
    let names = [plain.name(), placed.name(), refused.name()];
    assert_eq!(names, [Some("plain"), Some("placed"), Some("refused")]);
}

#[test]
fn a_name_is_not_inherited_and_a_builder_may_be_used_again() {
    let ex = Executor::new();
    let builder = ex.default_queue().new_task().name("parent");
    for task in [(); 2].map(|()| builder.clone().spawn(async { new_task().spawn(async {}).name().is_none() }))
    {
        assert_eq!(task.name(), Some("parent"));
        assert!(ex.block_on(task).unwrap(), "the child has none");
    }
}

#[test]
fn a_group_has_a_name_until_it_closes() {
    let ex = Executor::new();
    let queue = ex.default_queue();
    let group = queue.new_group(7).name("Acme").open().unwrap();
    assert_eq!(group.name().as_deref(), Some("Acme"));
    assert!(format!("{group:?}").contains("name: \"Acme\""));
    assert_eq!(group.stats().name.as_deref(), Some("Acme"));
    // Opened again without a name it keeps its own; with one it is renamed.
    assert_eq!(queue.new_group(7).open().unwrap().name().as_deref(), Some("Acme"));
    assert_eq!(queue.group(7).name().as_deref(), Some("Acme"));
    drop(queue.new_group(7).name("Acme Ltd").open().unwrap());
    assert_eq!(group.name().as_deref(), Some("Acme Ltd"));
    drop(group);
    // Closed, and opened anew in the same slot.
    assert_eq!(queue.group(7).name(), None);
}
