//! Large futures are boxed in the first function that they come to: each call after it that is not inlined would copy them, and
//! without optimisation a stack of 2 MiB does not hold many copies.

/// Bytes of a future above which it is boxed, as tokio does it.
const LARGE: usize = if cfg!(debug_assertions) { 2 << 10 } else { 16 << 10 };

/// Whether values of this type are boxed.
pub(crate) const fn is_large<T>() -> bool {
    size_of::<T>() > LARGE
}

/// `$spawn`, with the future of that name and type boxed if it is large; or with what makes one, boxed and boxing if either is
/// large.
///
/// The question is a constant, so that the other arm takes no stack even without optimisation.
macro_rules! boxed_if_large {
    ($future:ident: $F:ty, $spawn:expr) => {
        match const { $crate::large::is_large::<$F>() } {
            true => {
                let $future = ::std::boxed::Box::pin($future);
                $spawn
            }
            false => $spawn,
        }
    };
    ($make:ident: $M:ty => $F:ty, $spawn:expr) => {
        match const { $crate::large::is_large::<$M>() || $crate::large::is_large::<$F>() } {
            true => {
                let $make = ::std::boxed::Box::new($make);
                let $make = move || ::std::boxed::Box::pin($make());
                $spawn
            }
            false => $spawn,
        }
    };
}
pub(crate) use boxed_if_large;
