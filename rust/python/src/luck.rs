//! How much time looking for likeness in a stream is still worth.

/// Each hit earns one. When none is left, only one event in so many is looked at, fewer and fewer as long as there is no
/// hit, so that streams in which no two events are alike lose next to nothing.
pub(crate) struct Luck {
    left: u32,
    resting: u32,
    next_rest: u32,
}

/// What a look at an event takes that no template matches, and what learning from it does: the unit is about what a hit
/// saves. Measured by `python -m benches.hostile --save hostile`, in `benches/results/hostile.json`.
pub(crate) const A_LOOK: u32 = 3;
pub(crate) const A_LESSON: u32 = 10;

impl Luck {
    /// Enough for the lessons that the recorded streams begin with; where there is nothing to learn, this is what is lost,
    /// about as much time as opening a stream takes.
    const FIRST: u32 = 48;
    const MOST: u32 = 64;
    const AFTER_REST: u32 = 4;
    const SHORTEST_REST: u32 = 32;
    const LONGEST_REST: u32 = 4096;

    pub(crate) fn hit(&mut self) {
        self.left = (self.left + 1).min(Self::MOST);
        self.next_rest = Self::SHORTEST_REST;
    }

    pub(crate) fn spend(&mut self, cost: u32) {
        self.left = self.left.saturating_sub(cost);
        if self.left == 0 {
            self.resting = self.next_rest;
            self.next_rest = (self.next_rest * 2).min(Self::LONGEST_REST);
            self.left = Self::AFTER_REST;
        }
    }

    pub(crate) fn rests(&mut self) -> bool {
        let rests = self.resting > 0;
        self.resting -= u32::from(rests);
        rests
    }
}

impl Default for Luck {
    fn default() -> Self {
        Self { left: Self::FIRST, resting: 0, next_rest: Self::SHORTEST_REST }
    }
}
