//! Repeatable chance: the same seed throws the same dice.

/// A generator of numbers (splitmix64).
pub struct Dice(u64);

impl Dice {
    /// Neighbouring seeds throw unlike dice: the seed is mixed first, or the throws of one would be
    /// those of the next, one later.
    pub fn seeded(seed: u64) -> Dice {
        Dice(mixed(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)))
    }

    /// A number below `limit`, 0 if there is none.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        usize::try_from(mixed(self.0) % (limit.max(1) as u64)).unwrap()
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
