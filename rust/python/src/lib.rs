//! The border: `ssewire._core`, the compiled classes of the Python package.
//!
//! Everything here either frames (with `ssewire_core`) or hands on. What to make of an event that is not the common
//! one is decided by one Python method, see `chat.rs`.

// The way of a common event, from the framer to the follower, is inlined into one function, and whatever is not that is
// kept out of it. As several functions it cost up to a tenth more, and another share of it with each change of the code:
// the interpreter and msgspec fill the cache of instructions already.
#![allow(clippy::inline_always)]

mod alike;
mod awaited_reads;
mod awaiting;
mod buffer;
mod chat;
mod chunks;
mod driving;
mod errors;
mod event;
mod events;
mod follow;
mod found;
mod in_force;
mod luck;
mod member;
mod plan;
mod reads;
mod slots;
mod times;
mod told;
mod turn;
mod undecoded;
mod view;
mod waiting;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::awaited_reads::AwaitedReads;
    #[pymodule_export]
    use crate::awaiting::ReadyItems;
    #[pymodule_export]
    use crate::chunks::{ChunkBatches, ChunkDecoder, ChunkView};
    #[pymodule_export]
    use crate::event::{IgnoredLine, ServerSentEvent};
    #[pymodule_export]
    use crate::events::SSEDecoder;

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
