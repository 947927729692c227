//! SplitMix64: a seeded generator small enough to be repeated in any language, so that an interval can be checked
//! elsewhere to the last digit.

/// Steele, Lea, Flood: Fast splittable pseudorandom number generators (OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in `0..n`. The bias of multiply-and-shift is below `n / 2^64`.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }

    /// Uniform in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A seed for one named part of a run: the same whatever else the run contains, and in whatever order.
pub fn seed_for(seed: u64, name: &str) -> u64 {
    // FNV-1a, then one round of the generator to spread it.
    let hash = name.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    SplitMix64::new(seed ^ hash).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_splitmix64_as_published() {
        // The reference implementation's first outputs for seed 1234567.
        let mut random = SplitMix64::new(1_234_567);
        assert_eq!(random.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(random.next_u64(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn a_part_keeps_its_seed_and_parts_differ() {
        assert_eq!(seed_for(7, "a"), seed_for(7, "a"));
        assert_ne!(seed_for(7, "a"), seed_for(7, "b"));
        assert_ne!(seed_for(7, "a"), seed_for(8, "a"));
    }
}
