//! [`Slab`]: values that stay where they were put.

/// Values by the index at which they were put; those that were taken out leave theirs to later ones.
#[derive(Clone, Debug)]
pub(crate) struct Slab<T> {
    values: Vec<T>,
    /// Indices in `values` of what was taken out.
    free: Vec<u32>,
}

impl<T: Copy> Slab<T> {
    pub(crate) const fn new() -> Self {
        Self { values: Vec::new(), free: Vec::new() }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.values.len() - self.free.len()
    }

    /// What was put at `index`.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> &T {
        &self.values[index as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, index: u32) -> &mut T {
        &mut self.values[index as usize]
    }

    /// Puts it somewhere: at which index.
    #[inline]
    pub(crate) fn put(&mut self, value: T) -> u32 {
        if let Some(index) = self.free.pop() {
            self.values[index as usize] = value;
            return index;
        }
        self.values.push(value);
        self.values.len() as u32 - 1
    }

    /// Takes out what was put at `index`.
    #[inline]
    pub(crate) fn take(&mut self, index: u32) -> T {
        self.free.push(index);
        self.values[index as usize]
    }

    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.values.capacity().max(self.free.capacity())
    }

    /// Gives memory back, but that for so many, where nothing is left.
    pub(crate) fn shrink_to(&mut self, kept: usize) {
        if self.values.capacity() > kept && self.len() == 0 {
            self.values.clear();
            self.free.clear();
            self.values.shrink_to(kept);
            self.free.shrink_to(kept);
        }
    }
}
