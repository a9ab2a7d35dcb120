//! All parsers in all scenarios under criterion; what comes out of them is compared before any timing.

use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ssewire_benches::peers::{PEERS, Peer};
use ssewire_benches::scenarios;

/// Whoever takes longer for one pass would keep all others waiting for minutes: it is named, and left out.
const LONGEST_PASS: Duration = Duration::from_millis(200);

fn peers(criterion: &mut Criterion) {
    for scenario in scenarios::all() {
        for cut in scenario.reads {
            let reads = cut.cut(&scenario.body);
            let name = format!("{}/{}", scenario.name, cut.name());
            let outputs: Vec<_> = PEERS.iter().map(|peer| (peer.check)(&reads)).collect();
            let mut group = criterion.benchmark_group(&name);
            group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1)).sample_size(20);
            group.throughput(Throughput::Bytes(scenario.body.len() as u64));
            for (Peer { name: peer, run, .. }, output) in PEERS.iter().zip(&outputs) {
                assert!(outputs.first() == Some(output), "{name}: {peer} finds other events");
                let pass = Instant::now();
                run(&reads);
                if pass.elapsed() > LONGEST_PASS {
                    eprintln!("{name}/{peer} is left out: one pass takes {:?}", pass.elapsed());
                    continue;
                }
                group.bench_function(*peer, |bencher| bencher.iter(|| run(&reads)));
            }
            group.finish();
        }
    }
}

criterion_group!(benches, peers);
criterion_main!(benches);
