//! The part of a stream that is in memory.

use std::io::{self, Read};
use std::ops::Deref;

/// How much is read at once, in bytes.
pub(super) const PIECE: usize = 128 * 1024;

/// How much is read first: enough to tell what it is.
const FIRST: usize = 4096;

/// What has been read of a stream and not been taken out.
#[derive(Default)]
pub(super) struct Window {
    /// Memory that has been written to: to read into it again it need not be cleared.
    memory: Vec<u8>,
    /// How much of it has been read.
    length: usize,
}

impl Window {
    /// Reads once; how many bytes that gave.
    pub(super) fn fill(&mut self, reader: &mut dyn Read) -> io::Result<usize> {
        let enough = self.length + if self.memory.is_empty() { FIRST } else { PIECE };
        // It is not moved while it grows to what it mostly comes to.
        self.memory.reserve_exact((2 * PIECE).saturating_sub(self.memory.len()));
        if self.memory.len() < enough {
            self.memory.resize(enough, 0);
        }
        let count = loop {
            match reader.read(&mut self.memory[self.length..enough]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                count => break count?,
            }
        };
        self.length += count;
        Ok(count)
    }

    /// Takes the beginning out.  What is behind it goes into other memory, that of a text that is done with.
    pub(super) fn cut(&mut self, length: usize, mut other: Vec<u8>) -> Vec<u8> {
        let rest = &self[length..];
        let left = rest.len();
        if let Some(memory) = other.get_mut(..left) {
            memory.copy_from_slice(rest);
        } else {
            other.clear();
            other.extend_from_slice(rest);
        }
        let mut text = std::mem::replace(&mut self.memory, other);
        self.length = left;
        text.truncate(length);
        text
    }

    /// Leaves the beginning out.
    pub(super) fn drop(&mut self, length: usize) {
        self.memory.copy_within(length..self.length, 0);
        self.length -= length;
    }

    /// Takes all of it out.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.cut(self.length, Vec::new())
    }
}

impl Deref for Window {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[..self.length]
    }
}
