//! What a [`Framer`](crate::Framer) finds in the bytes. All of it borrows: from the read where it lies whole in it,
//! else from the framer.

/// The outcome of one call of [`Framer::next`](crate::Framer::next).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// The read is used up; the next one goes on where it stopped.
    NeedMore,
    /// A block with at least one data line was ended by its blank line.
    Event(Event<'a>),
    /// A line without effect on any event; only where the framer was told to show these.
    Ignored(Ignored<'a>),
    /// A block outgrew the limit. The rest of it, up to its blank line, will be dropped; then framing goes on.
    TooLarge(TooLarge),
}

/// One server-sent event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// The values of its data lines, joined by LF.
    pub data: &'a [u8],
    /// The value of its last `event` line; empty where there was none, which means "message".
    pub name: &'a [u8],
    /// The last event id of the stream at this event; empty where none was sent so far.
    pub id: &'a [u8],
    /// The reconnection time in milliseconds, where this block carried one.
    pub retry: Option<u64>,
    /// Where its first data line begins: bytes from the start of the stream.
    pub offset: u64,
}

impl Event<'_> {
    /// Whether this event is the sentinel that ends an OpenAI-compatible stream. See [`is_done`].
    #[must_use]
    #[inline]
    pub fn is_done(&self) -> bool {
        is_done(self.data)
    }
}

/// The sentinel that ends an OpenAI-compatible stream.
pub const DONE: &[u8] = b"[DONE]";

/// Whether an event's whole data, ASCII white space around it aside, is [`DONE`].
#[must_use]
#[inline]
pub fn is_done(data: &[u8]) -> bool {
    data.trim_ascii() == DONE
}

/// A line that the standard ignores: a comment, or one whose field name is none of the four.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ignored<'a> {
    /// The whole line, without its end.
    pub line: &'a [u8],
    /// Whether it begins with a colon, as a comment does.
    pub comment: bool,
    /// Whether it stands in a block that has a data line before it, so inside an event that is not complete yet.
    pub in_event: bool,
    /// Where it begins: bytes from the start of the stream.
    pub offset: u64,
}

/// A block that outgrew the framer's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge {
    /// The limit, in bytes.
    pub limit: usize,
    /// Where the line that went beyond it begins: bytes from the start of the stream.
    pub offset: u64,
}
