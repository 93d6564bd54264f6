//! Buffer between a reader and a stream of ads.

use std::io::{self, Read};
use std::ops::Deref;

/// Number of bytes that each read requests, except for the first.
pub(super) const READ_BYTES: usize = 128 * 1024;

/// Number of bytes that the first read requests. They are enough to detect the format.
const FIRST_READ_BYTES: usize = 4096;

/// The bytes that have been read from a stream and have not been removed yet. Dereferences to these bytes.
#[derive(Default)]
pub(super) struct ReadBuffer {
    /// Initialized memory, usually longer than the data. It stays initialized, so that it need not be cleared before
    /// each read.
    memory: Vec<u8>,
    /// Number of bytes at the beginning of `memory` that are data.
    length: usize,
}

impl ReadBuffer {
    /// Appends the bytes of one read. Repeats the read if it is interrupted. Returns the number of bytes read; 0 at the
    /// end.
    pub(super) fn fill(&mut self, reader: &mut dyn Read) -> io::Result<usize> {
        let enough = self.length + if self.memory.is_empty() { FIRST_READ_BYTES } else { READ_BYTES };
        // Reserves the usual final size at once. Growing later would move the data.
        self.memory.reserve_exact((2 * READ_BYTES).saturating_sub(self.memory.len()));
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

    /// Removes and returns the first `length` bytes, without copying them. The remaining bytes are copied into `other`,
    /// which is memory that is no longer in use.
    pub(super) fn split_off_front(&mut self, length: usize, mut other: Vec<u8>) -> Vec<u8> {
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

    /// Creates a buffer of a text.
    pub(super) fn of_text(text: Vec<u8>) -> Self {
        ReadBuffer { length: text.len(), memory: text }
    }

    /// Removes the first `length` bytes.
    pub(super) fn discard_front(&mut self, length: usize) {
        self.memory.copy_within(length..self.length, 0);
        self.length -= length;
    }
}

impl Deref for ReadBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[..self.length]
    }
}
