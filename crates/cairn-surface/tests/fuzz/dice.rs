//! Chance by a seed: the same seed makes the same choices.

/// The dice (SplitMix64).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one; 0 below 0.
    pub fn below(&mut self, most: usize) -> usize {
        (self.next() >> 16) as usize % most.max(1)
    }

    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// A size, as often between 8 and 16 as between 64 Ki and 128 Ki.
    pub fn size(&mut self, most_bits: usize) -> usize {
        let bits = 3 + self.below(most_bits - 3);
        (1 << bits) + self.below(1 << bits)
    }
}
