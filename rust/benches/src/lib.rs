//! The framer beside the other parsers of event streams in Rust: the streams, and each parser behind one adapter.
//!
//! `cargo bench` compares them under criterion, the binary is a worker that `python -m benches.core` asks in turn with
//! a parser in another language. A crate of its own, so that neither the package nor its tests depend on any peer.

pub mod peers;
pub mod scenarios;
