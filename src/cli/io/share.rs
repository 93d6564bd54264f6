//! A share of the work of a command that needs all of its input: each run reads all of it, and does a slice of the work.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One of several slices of the work: `2/5` is the second of five.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkShare {
    /// 1-based number of the share.
    pub number: usize,
    /// Number of all shares.
    pub count: usize,
}

impl fmt::Display for WorkShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl FromStr for WorkShare {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers =
            text.split_once('/').and_then(|(number, count)| Some((number.parse().ok()?, count.parse().ok()?)));
        match numbers {
            Some((number, count)) if 1 <= number && number <= count => Ok(WorkShare { number, count }),
            _ => Err("a share is K/N, such as 2/5 for the second of five shares".to_owned()),
        }
    }
}

impl WorkShare {
    /// Returns the share's slice of `total` pieces of work. Slices differ in length by 1 at most.
    pub fn slice(self, total: usize) -> Range<usize> {
        let cut = |number: usize| {
            let pieces = total as u128 * number as u128 / self.count as u128;
            usize::try_from(pieces).unwrap_or(total)
        };
        cut(self.number - 1)..cut(self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::WorkShare;

    #[test]
    fn slices_tile_the_work() {
        for total in [0, 1, 2, 7, 100] {
            for count in 1..=9 {
                let slices = (1..=count).map(|number| WorkShare { number, count }.slice(total));
                let mut next = 0;
                for slice in slices {
                    assert_eq!(slice.start, next);
                    assert!(slice.len() <= total / count + 1);
                    next = slice.end;
                }
                assert_eq!(next, total);
            }
        }
    }

    #[test]
    fn a_share_is_two_numbers() {
        assert_eq!("2/5".parse(), Ok(WorkShare { number: 2, count: 5 }));
        for text in ["", "2", "0/5", "6/5", "2/", "/5", "-1/5", "a/b", "2/5/7", "99999999999999999999/5"] {
            assert!(text.parse::<WorkShare>().is_err(), "{text}");
        }
    }
}
