//! A seeded random number generator with the same results on every platform: it draws 64-bit integers, and computes
//! reals only with operations that IEEE 754 defines exactly.

use fastrand::Rng;

/// A stream of random numbers.
pub struct SeededRng(Rng);

impl SeededRng {
    /// Creates the stream for a seed and a name. Different names have different streams for the same seed.
    pub fn new(seed: u64, name: &str) -> Self {
        let start = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0xcbf2_9ce4_8422_2325;
        let mixed = name.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        SeededRng(Rng::with_seed(mixed))
    }

    /// Draws an integer from 0 up to, not including, a bound; 0 if the bound is not positive.
    pub fn below(&mut self, bound: i64) -> i64 {
        if bound > 0 { self.0.i64(0..bound) } else { 0 }
    }

    /// Draws an integer from `from` up to, not including, `to`.
    pub fn between(&mut self, from: i64, to: i64) -> i64 {
        from + self.below(to - from)
    }

    /// Draws a real from 0 up to, not including, 1.
    pub fn fraction(&mut self) -> f64 {
        self.0.f64()
    }

    /// Draws a real between `from` and `to`.
    pub fn real(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.fraction()
    }

    /// Returns true with the probability `share`.
    pub fn with_probability(&mut self, share: f64) -> bool {
        self.fraction() < share
    }

    /// Draws one element. All elements have the same probability.
    pub fn choose<'t, T>(&mut self, several: &'t [T]) -> &'t T {
        &several[self.index_below(several.len())]
    }

    /// Draws one element with a probability in proportion to its weight. The weights need not sum to 1.
    pub fn choose_weighted<'t, T>(&mut self, table: &'t [(T, f64)]) -> &'t T {
        let mut left = self.fraction() * table.iter().map(|(_, weight)| weight).sum::<f64>();
        let chosen = table.iter().position(|(_, weight)| {
            left -= weight;
            left < 0.0
        });
        &table[chosen.unwrap_or(table.len() - 1)].0
    }

    /// Draws `count` different elements, in random order; all elements if there are fewer.
    pub fn sample<T: Clone>(&mut self, several: &[T], count: usize) -> Vec<T> {
        let mut places: Vec<usize> = (0..several.len()).collect();
        let count = count.min(several.len());
        for place in 0..count {
            let other = place + self.index_below(places.len() - place);
            places.swap(place, other);
        }
        places[..count].iter().map(|&place| several[place].clone()).collect()
    }

    /// Shuffles in place (Fisher-Yates).
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            things.swap(last, self.index_below(last + 1));
        }
    }

    fn index_below(&mut self, count: usize) -> usize {
        usize::try_from(self.below(i64::try_from(count).unwrap_or(i64::MAX))).unwrap_or(0)
    }
}

/// Rounds to a multiple of `1 / parts`.
pub fn round_to_parts(real: f64, parts: f64) -> f64 {
    (real * parts).round() / parts
}

/// A Zipf distribution over 0-based indexes.
pub struct Zipf {
    /// For each index, the sum of the weights up to this index.
    sums: Vec<f64>,
}

impl Zipf {
    /// Creates a distribution over `places` indexes. The n-th index, counted from 1, has the weight
    /// `n ^ -(tenths / 10)`.
    pub fn new(places: usize, tenths: usize) -> Self {
        let mut sum = 0.0;
        let weights = (1..=places).map(|place| {
            #[allow(clippy::cast_precision_loss)] // far fewer than 2^53 places
            let root = tenth_root(place as f64);
            sum += 1.0 / std::iter::repeat_n(root, tenths).product::<f64>();
            sum
        });
        Zipf { sums: weights.collect() }
    }

    /// Draws an index. Smaller indexes are drawn more often. The result is 0 if the distribution has no index.
    pub fn draw(&self, rng: &mut SeededRng) -> usize {
        let wanted = rng.fraction() * self.sums.last().copied().unwrap_or_default();
        self.sums.partition_point(|&sum| sum <= wanted).min(self.sums.len().saturating_sub(1))
    }
}

/// Computes the tenth root by Newton's method, because the last bits of `powf` differ between platforms.
fn tenth_root(number: f64) -> f64 {
    // The first value is above the root. Every step makes it smaller, until rounding stops the decrease.
    let mut root = 1.0 + (number - 1.0) / 10.0;
    loop {
        let square = root * root;
        let fourth = square * square;
        let next = (9.0 * root + number / (fourth * fourth * root)) / 10.0;
        if next >= root {
            return root;
        }
        root = next;
    }
}

#[cfg(test)]
mod tests {
    use super::{SeededRng, Zipf, round_to_parts, tenth_root};

    #[test]
    fn streams_differ_by_name_and_by_seed() {
        let first = |seed, name| SeededRng::new(seed, name).below(i64::MAX);
        assert_eq!(first(1, "a"), first(1, "a"));
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_ne!(first(1, "a"), first(2, "a"));
    }

    #[test]
    fn the_same_on_every_platform() {
        let mut rng = SeededRng::new(1, "a");
        let drawn: Vec<i64> = (0..6).map(|_| rng.below(1000)).collect();
        assert_eq!(drawn, [345, 756, 112, 441, 760, 249]);
        assert_eq!(rng.fraction().to_bits(), 4_605_393_228_057_318_466);
    }

    #[test]
    fn what_is_drawn_is_within_its_bounds() {
        let mut rng = SeededRng::new(1, "bounds");
        for (bound, expected) in [(-1, vec![0]), (0, vec![0]), (1, vec![0]), (2, vec![0, 1]), (3, vec![0, 1, 2])] {
            let mut drawn: Vec<i64> = (0..100).map(|_| rng.below(bound)).collect();
            drawn.sort_unstable();
            drawn.dedup();
            assert_eq!(drawn, expected, "{bound}");
            let mut between: Vec<i64> = (0..100).map(|_| rng.between(5, 5 + bound) - 5).collect();
            between.sort_unstable();
            between.dedup();
            assert_eq!(between, expected, "{bound}");
        }
        assert!((0..100).all(|_| (2.0..3.0).contains(&rng.real(2.0, 3.0)) && rng.with_probability(1.0)));
        assert!((0..100).all(|_| !rng.with_probability(0.0)));
        assert_eq!((*rng.choose(&[7]), *rng.choose_weighted(&[(7, 0.0)])), (7, 7));
        assert_eq!(rng.sample(&[7], 0), [0; 0]);
        for (real, parts, expected) in [(0.24, 10.0, 0.2), (0.25, 10.0, 0.3), (1.0, 1e6, 1.0), (-0.26, 10.0, -0.3)] {
            assert_eq!(round_to_parts(real, parts).to_bits(), f64::to_bits(expected), "{real}");
        }
    }

    #[test]
    fn weights_need_not_sum_to_one() {
        let mut rng = SeededRng::new(1, "weights");
        let mut counts = [0_usize; 3];
        for _ in 0..10_000 {
            counts[*rng.choose_weighted(&[(0, 3.0), (1, 0.0), (2, 1.0)])] += 1;
        }
        assert_eq!(counts[1], 0);
        assert!((7300..7700).contains(&counts[0]), "{counts:?}");
    }

    #[test]
    fn some_are_none_twice() {
        let mut rng = SeededRng::new(1, "some");
        for count in 0..12 {
            let mut some = rng.sample(&[1, 2, 3, 4, 5, 6, 7, 8], count);
            some.sort_unstable();
            some.dedup();
            assert_eq!(some.len(), count.min(8));
        }
        let mut all: Vec<i32> = (0..100).collect();
        rng.shuffle(&mut all);
        assert!(all.windows(2).any(|pair| pair[0] > pair[1]));
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn the_second_place_has_its_share_of_the_first() {
        for number in [1.0, 2.0, 1024.0, 1e6_f64] {
            assert!((tenth_root(number).powi(10) / number - 1.0).abs() < 1e-12);
        }
        let (zipf, mut rng) = (Zipf::new(50, 10), SeededRng::new(1, "zipf"));
        let mut counts = [0_u32; 50];
        for _ in 0..20_000 {
            counts[zipf.draw(&mut rng)] += 1;
        }
        let ratio = f64::from(counts[0]) / f64::from(counts[1]);
        assert!((1.8..2.2).contains(&ratio), "{counts:?}");
        assert!(counts[49] > 0);
        assert_eq!(Zipf::new(0, 9).draw(&mut rng), 0);
    }
}
