//! What the policies by attained service have in common for their users.

/// Makes a policy of a `struct $policy(ByAttained<_>)`: the calls that are the same for all, and [`Scheduler`](crate::Scheduler). It has a
/// method `$finest` for the attained service that it tells apart.
macro_rules! policy_by_attained {
    ($policy:ident, $finest:ident) => {
        impl $policy {
            /// Sets the part of the time that fair turns have. With [`FairTurns::NEVER`](crate::FairTurns::NEVER) the order is kept
            /// strictly, and old groups starve under a stream of new ones.
            #[must_use]
            pub fn with_fair_turns(self, fair_turns: crate::FairTurns) -> Self {
                Self(self.0.with_fair_turns(fair_turns))
            }

            #[doc = concat!("Sets the half-life of what groups have attained ([Forgetting](", stringify!($policy), "#forgetting)),")]
            /// in nanoseconds of the queue's service: from 2²⁰ (1 ms) to 2⁶⁰, and rounded to these.
            #[must_use]
            pub fn with_half_life_ns(self, ns: u64) -> Self {
                Self(self.0.with_half_life(crate::policies::by_attained::half_life::HalfLife::of_ns(ns)))
            }

            /// Lets groups keep what they have attained for as long as they are open, and forgets them when they close.
            #[must_use]
            pub fn without_half_life(self) -> Self {
                Self(self.0.with_half_life(crate::policies::by_attained::half_life::HalfLife::NEVER))
            }

            /// The half-life of what groups have attained, in nanoseconds of the queue's service; `None` if they keep it.
            pub const fn half_life_ns(&self) -> Option<u64> {
                self.0.half_life().ns()
            }

            /// The service that `group` has attained and that is not forgotten, in nanoseconds.
            pub fn attained_ns(&self, group: crate::GroupId) -> u64 {
                self.0.attained_ns(group)
            }
        }

        impl Default for $policy {
            fn default() -> Self {
                Self::new()
            }
        }

        impl core::fmt::Debug for $policy {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($policy))
                    .field(stringify!($finest), &self.$finest())
                    .field("ready", &self.0.ready)
                    .field("half_life_ns", &self.half_life_ns())
                    .field("fair_turns", self.0.fair_turns())
                    .finish_non_exhaustive()
            }
        }

        impl crate::Scheduler for $policy {
            #[inline]
            fn push(&mut self, task: crate::Task, why: crate::Ready) {
                self.0.push(task, why);
            }

            #[inline]
            fn pop(&mut self) -> Option<crate::TaskId> {
                self.0.pop()
            }

            #[inline]
            fn push_pop(&mut self, task: crate::Task) -> Option<crate::TaskId> {
                self.0.push_pop(task)
            }

            #[inline]
            fn peek(&self, ahead: usize) -> Option<crate::TaskId> {
                self.0.peek(ahead)
            }

            #[inline(always)] // what was served then goes about in registers
            fn served(&mut self, served: crate::Served, _now_ns: u64) {
                if let crate::Served::Task { task, ns, .. } = served {
                    self.0.serve(task.group, ns);
                }
            }

            fn said(&mut self, of: crate::Subject, _attributes: &crate::Attributes) {
                if let crate::Subject::NewGroup { group, key } = of {
                    self.0.open(group, key);
                }
            }

            #[inline]
            fn gone(&mut self, gone: crate::Gone) {
                match gone {
                    crate::Gone::Task(_) => {}
                    crate::Gone::Group(group) => self.0.close(group),
                    crate::Gone::Backlog => self.0.drained(),
                }
            }
        }
    };
}

pub(super) use policy_by_attained;
