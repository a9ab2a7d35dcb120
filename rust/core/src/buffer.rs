//! What the framer keeps bytes in between two reads: a `Vec` that stays small.

/// A buffer above this many bytes is given back once its event was handed out, so that an idle stream stays small
/// although one of its events was large. Below it, keeping the buffer saves an allocation an event.
const KEEP_CAPACITY: usize = 64 * 1024;

/// Empty a buffer for what comes next, and give it back where it has grown large.
pub(crate) fn empty(buffer: &mut Vec<u8>) {
    buffer.clear();
    if buffer.capacity() > KEEP_CAPACITY {
        *buffer = Vec::new();
    }
}

/// Append with the capacity doubling as usual, but never beyond the limit: a buffer close to a limit of 32 MiB must not
/// take 64.
#[inline]
pub(crate) fn append(buffer: &mut Vec<u8>, bytes: &[u8], limit: usize) {
    let needed = buffer.len() + bytes.len();
    if needed > buffer.capacity() {
        grow(buffer, needed, limit);
    }
    buffer.extend_from_slice(bytes);
}

#[cold]
fn grow(buffer: &mut Vec<u8>, needed: usize, limit: usize) {
    let doubled = (buffer.capacity() * 2).max(256).min(limit.max(needed));
    buffer.reserve_exact(doubled.max(needed) - buffer.len());
}
