//! Growing a table by index.

/// So many entries at most come with one that is asked for. More would touch pages that may never be needed.
const MORE: usize = 64;

/// Makes `table`, which ends before `index`, hold an entry for it, and up to 64 behind it for which there is room. Indices come one
/// by one in a burst of spawns, where a call for each takes some 40 instructions.
#[cold]
#[inline(never)]
pub(crate) fn grow<T>(table: &mut Vec<T>, index: usize, entry: impl FnMut() -> T) {
    table.reserve(index + 1 - table.len());
    table.resize_with(table.capacity().min(index + 1 + MORE), entry);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_calls_are_made_and_little_is_wasted() {
        let (mut table, mut calls) = (Vec::new(), 0);
        for index in 0..10_000 {
            if index >= table.len() {
                grow(&mut table, index, || 7);
                calls += 1;
            }
            assert!(table.len() <= table.capacity().min(index + 1 + MORE));
        }
        assert!(calls < 170 && table.iter().all(|&entry| entry == 7), "{calls}");
    }
}
