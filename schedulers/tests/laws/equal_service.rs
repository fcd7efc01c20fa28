//! The policies that forget, under the law of equal service.

use clockworker_schedulers::laws::EqualService;
use clockworker_schedulers::{Las, Qlas, Scheduler, Serpt};

/// What is stated of the policies that forget: from two half-lives on, the service of two groups that always have work differs by a
/// 64th of a half-life and a poll for each half-life of the stretch at most, and by one of these more.
#[test]
fn what_groups_did_before_is_forgotten_within_two_half_lives() {
    const HALF_LIFE_NS: u64 = 20_000_000;
    const POLL_NS: u64 = 100_000;
    fn law<S: Scheduler>(make: impl Fn() -> S + 'static) -> EqualService<'static, S> {
        // The stretches last for up to 2 half-lives and 1,000 polls, of which 5 half-lives are made.
        let bound_ns = (2 + 5 + 1) * (HALF_LIFE_NS / 64 + POLL_NS);
        let law = EqualService::new(make, bound_ns).longest_poll_ns(POLL_NS);
        law.settles_within_ns(2 * HALF_LIFE_NS).history_ns(10 * HALF_LIFE_NS)
    }
    fn holds<S: Scheduler + 'static>(name: &str, make: fn() -> S) {
        for others in [0, 4] {
            let report = law(make).others(others).check();
            report.unwrap_or_else(|unequal| panic!("{name} beside {others}: {unequal}"));
        }
    }
    holds("Las", || Las::new().with_half_life_ns(HALF_LIFE_NS));
    holds("Qlas", || Qlas::new().with_half_life_ns(HALF_LIFE_NS));
    holds("Serpt", || Serpt::new().with_half_life_ns(HALF_LIFE_NS));
    assert!(law(|| Las::new().without_half_life()).check().is_err());
    assert!(law(|| Qlas::new().without_half_life()).check().is_err());
    assert!(law(|| Serpt::new().without_half_life()).check().is_err());
    // A half-life that is longer than the histories is none.
    assert!(law(|| Las::new().with_half_life_ns(100 * HALF_LIFE_NS)).check().is_err());
}
