//! Chance with a seed, the same on every platform: only whole numbers of 64 bits are drawn, and reals are
//! made with operations that IEEE 754 defines to the last bit.

use fastrand::Rng;

/// A stream of chance.
pub struct Chance(Rng);

impl Chance {
    /// The stream of this name; other names and other seeds have others.
    pub fn new(seed: u64, name: &str) -> Self {
        let start = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0xcbf2_9ce4_8422_2325;
        let mixed = name.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Chance(Rng::with_seed(mixed))
    }

    /// A whole number from zero up to, not including, a bound; zero if the bound is not above it.
    pub fn below(&mut self, bound: i64) -> i64 {
        if bound > 0 { self.0.i64(0..bound) } else { 0 }
    }

    /// A whole number from the first up to, not including, the second.
    pub fn between(&mut self, from: i64, to: i64) -> i64 {
        from + self.below(to - from)
    }

    /// A real from zero up to, not including, one.
    pub fn fraction(&mut self) -> f64 {
        self.0.f64()
    }

    /// A real from the first up to the second.
    pub fn real(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.fraction()
    }

    /// A real from zero up to a bound, a whole number of parts of which so many are one.
    pub fn rounded(&mut self, bound: f64, parts: f64) -> f64 {
        round(self.fraction() * bound, parts)
    }

    /// True so often.
    pub fn is(&mut self, share: f64) -> bool {
        self.fraction() < share
    }

    /// One of several.
    pub fn one<'t, T>(&mut self, several: &'t [T]) -> &'t T {
        &several[self.place(several.len())]
    }

    /// One of several by their weights, whatever these sum to.
    pub fn weighted<'t, T>(&mut self, table: &'t [(T, f64)]) -> &'t T {
        let mut left = self.fraction() * table.iter().map(|(_, weight)| weight).sum::<f64>();
        let chosen = table.iter().position(|(_, weight)| {
            left -= weight;
            left < 0.0
        });
        &table[chosen.unwrap_or(table.len() - 1)].0
    }

    /// So many of several, none of them twice; all of them if there are not so many.
    pub fn some<T: Clone>(&mut self, several: &[T], count: usize) -> Vec<T> {
        let mut places: Vec<usize> = (0..several.len()).collect();
        let count = count.min(several.len());
        for place in 0..count {
            let other = place + self.place(places.len() - place);
            places.swap(place, other);
        }
        places[..count].iter().map(|&place| several[place].clone()).collect()
    }

    /// The same things in another order.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            things.swap(last, self.place(last + 1));
        }
    }

    fn place(&mut self, count: usize) -> usize {
        usize::try_from(self.below(i64::try_from(count).unwrap_or(i64::MAX))).unwrap_or(0)
    }
}

/// The nearest whole number of parts of which so many are one.
pub fn round(real: f64, parts: f64) -> f64 {
    (real * parts).round() / parts
}

/// Places whose weights fall with a power of their number (Zipf's law).
pub struct Zipf {
    /// The sum of the weights up to each place.
    sums: Vec<f64>,
}

impl Zipf {
    /// So many places, the weight of the n-th being n to the power of minus so many tenths.
    pub fn new(places: usize, tenths: usize) -> Self {
        let mut sum = 0.0;
        let weights = (1..=places).map(|place| {
            #[allow(clippy::cast_precision_loss)] // there are not so many places
            let root = tenth_root(place as f64);
            sum += 1.0 / std::iter::repeat_n(root, tenths).product::<f64>();
            sum
        });
        Zipf { sums: weights.collect() }
    }

    /// A place by its weight; the first is 0.
    pub fn draw(&self, chance: &mut Chance) -> usize {
        let wanted = chance.fraction() * self.sums.last().copied().unwrap_or_default();
        self.sums.partition_point(|&sum| sum <= wanted).min(self.sums.len().saturating_sub(1))
    }
}

/// By Newton's method: the powers of the system's library differ in their last bits.
fn tenth_root(number: f64) -> f64 {
    // Above the root, from where every step leads down to it.
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
    use super::{Chance, Zipf, tenth_root};

    #[test]
    fn streams_differ_by_name_and_by_seed() {
        let first = |seed, name| Chance::new(seed, name).below(i64::MAX);
        assert_eq!(first(1, "a"), first(1, "a"));
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_ne!(first(1, "a"), first(2, "a"));
    }

    #[test]
    fn the_same_on_every_platform() {
        let mut chance = Chance::new(1, "a");
        let drawn: Vec<i64> = (0..6).map(|_| chance.below(1000)).collect();
        assert_eq!(drawn, [345, 756, 112, 441, 760, 249]);
        assert_eq!(chance.fraction().to_bits(), 4_605_393_228_057_318_466);
    }

    #[test]
    fn weights_need_not_sum_to_one() {
        let mut chance = Chance::new(1, "weights");
        let mut counts = [0_usize; 3];
        for _ in 0..10_000 {
            counts[*chance.weighted(&[(0, 3.0), (1, 0.0), (2, 1.0)])] += 1;
        }
        assert_eq!(counts[1], 0);
        assert!((7300..7700).contains(&counts[0]), "{counts:?}");
    }

    #[test]
    fn some_are_none_twice() {
        let mut chance = Chance::new(1, "some");
        for count in 0..12 {
            let mut some = chance.some(&[1, 2, 3, 4, 5, 6, 7, 8], count);
            some.sort_unstable();
            some.dedup();
            assert_eq!(some.len(), count.min(8));
        }
        let mut all: Vec<i32> = (0..100).collect();
        chance.shuffle(&mut all);
        assert!(all.windows(2).any(|pair| pair[0] > pair[1]));
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn the_second_place_has_its_share_of_the_first() {
        for number in [1.0, 2.0, 1024.0, 1e6_f64] {
            assert!((tenth_root(number).powi(10) / number - 1.0).abs() < 1e-12);
        }
        let (zipf, mut chance) = (Zipf::new(50, 10), Chance::new(1, "zipf"));
        let mut counts = [0_u32; 50];
        for _ in 0..20_000 {
            counts[zipf.draw(&mut chance)] += 1;
        }
        let ratio = f64::from(counts[0]) / f64::from(counts[1]);
        assert!((1.8..2.2).contains(&ratio), "{counts:?}");
        assert!(counts[49] > 0);
        assert_eq!(Zipf::new(0, 9).draw(&mut chance), 0);
    }
}
