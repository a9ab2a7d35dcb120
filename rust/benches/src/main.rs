//! A worker: writes the streams to the folder that it is given, then answers a question a line, until there are none.
//!
//! | question | answer |
//! |---|---|
//! | `scenarios` | for each scenario and its reads `NAME/READS/BLOCKS` |
//! | `peers` | their names |
//! | `check SCENARIO READS PEER` | how many events it found, and their digest ([`Output`]) |
//! | `time SCENARIO READS PEER MILLISECONDS` | the nanoseconds that a pass over the stream takes the processor: the median of so many as take that long |
//!
//! Whatever goes wrong with a question is its answer, behind the word `failed`.

use std::fs;
use std::io::{self, BufRead, Write};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use cpu_time::ThreadTime;
use ssewire_benches::peers::{Output, PEERS, Peer};
use ssewire_benches::scenarios::{self, Reads};

fn main() -> io::Result<()> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or_else(|| io::Error::other("say which folder the streams are to be written to"))?;
    for scenario in scenarios::all() {
        fs::write(folder.join(scenario.name), &scenario.body)?;
    }
    for question in io::stdin().lock().lines() {
        let answer = answer(&folder, &question?).unwrap_or_else(|reason| format!("failed: {reason}"));
        writeln!(io::stdout(), "{answer}")?;
    }
    Ok(())
}

fn answer(folder: &Path, question: &str) -> Result<String, String> {
    match *question.split(' ').collect::<Vec<_>>() {
        ["scenarios"] => Ok(scenarios()),
        ["peers"] => Ok(PEERS.iter().map(|peer| peer.name).collect::<Vec<_>>().join(" ")),
        ["check", scenario, reads, peer] => {
            let (peer, reads) = (named(peer)?, read(folder, scenario, reads)?);
            let Output { events, digest } = catch_unwind(|| (peer.check)(&reads)).map_err(|_| "it panicked")?;
            Ok(format!("{events} {digest}"))
        }
        ["time", scenario, reads, peer, milliseconds] => {
            let (peer, reads) = (named(peer)?, read(folder, scenario, reads)?);
            let milliseconds = milliseconds.parse().map_err(|error| format!("{milliseconds}: {error}"))?;
            Ok(time(peer, &reads, Duration::from_millis(milliseconds)).as_nanos().to_string())
        }
        _ => Err(format!("{question}: no such question")),
    }
}

fn scenarios() -> String {
    let names = scenarios::all().into_iter().flat_map(|scenario| {
        scenario.reads.iter().map(move |reads| format!("{}/{}/{}", scenario.name, reads.name(), scenario.blocks))
    });
    names.collect::<Vec<_>>().join(" ")
}

fn named(name: &str) -> Result<&'static Peer, String> {
    PEERS.iter().find(|peer| peer.name == name).ok_or_else(|| format!("{name}: no such peer"))
}

/// Read a stream from its file, as the workers in other languages do.
fn read(folder: &Path, scenario: &str, reads: &str) -> Result<Vec<Bytes>, String> {
    let body = fs::read(folder.join(scenario)).map_err(|error| format!("{scenario}: {error}"))?;
    let reads = Reads::named(reads).ok_or_else(|| format!("{reads}: no such reads"))?;
    Ok(reads.cut(&Bytes::from(body)))
}

fn time(peer: &Peer, reads: &[Bytes], enough: Duration) -> Duration {
    let mut passes = Vec::new();
    let start = ThreadTime::now();
    while passes.is_empty() || start.elapsed() < enough {
        let pass = ThreadTime::now();
        (peer.run)(reads);
        passes.push(pass.elapsed());
    }
    passes.sort_unstable();
    passes.get(passes.len() / 2).copied().unwrap_or_default()
}
