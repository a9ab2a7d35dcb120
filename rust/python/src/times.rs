//! When a stream's first byte came, and its texts: told per read, since what came in one read came at once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::told::count;

/// Times since the start of the stream, in nanoseconds; 0 for what did not come so far. One thread writes them, any may
/// read.
#[derive(Default)]
pub(crate) struct Times {
    first_byte: AtomicU64,
    first_text: AtomicU64,
    last_text: AtomicU64,
    gaps: AtomicU64,
    longest_gap: AtomicU64,
}

/// Time to the first byte and to the first text; how many gaps there were between texts, the mean and the longest.
/// In seconds.
pub(crate) type Told = (Option<f64>, Option<f64>, u64, Option<f64>, Option<f64>);

impl Times {
    pub(crate) fn reset(&self) {
        for time in [&self.first_byte, &self.first_text, &self.last_text, &self.gaps, &self.longest_gap] {
            time.store(0, Ordering::Relaxed);
        }
    }

    /// The first byte came then.
    pub(crate) fn byte(&self, came: Duration) {
        self.first_byte.store(nanoseconds(came), Ordering::Relaxed);
    }

    /// A read with text in it came then.
    pub(crate) fn text(&self, came: Duration) {
        let came = nanoseconds(came);
        let last = self.last_text.load(Ordering::Relaxed);
        self.last_text.store(came, Ordering::Relaxed);
        if last == 0 {
            self.first_text.store(came, Ordering::Relaxed);
            return;
        }
        let longest = self.longest_gap.load(Ordering::Relaxed).max(came.saturating_sub(last));
        self.longest_gap.store(longest, Ordering::Relaxed);
        count(&self.gaps);
    }

    pub(crate) fn told(&self) -> Told {
        let [byte, first, last, gaps, longest] =
            [&self.first_byte, &self.first_text, &self.last_text, &self.gaps, &self.longest_gap]
                .map(|time| time.load(Ordering::Relaxed));
        let mean = (gaps > 0).then(|| Duration::from_nanos(last.saturating_sub(first)).as_secs_f64() / number(gaps));
        let longest = (gaps > 0).then(|| Duration::from_nanos(longest).as_secs_f64());
        (seconds(byte), seconds(first), gaps, mean, longest)
    }
}

/// At least one, since 0 stands for what did not come.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).max(1)
}

fn seconds(nanoseconds: u64) -> Option<f64> {
    (nanoseconds > 0).then(|| Duration::from_nanos(nanoseconds).as_secs_f64())
}

#[allow(clippy::cast_precision_loss)] // a stream has fewer than 2^53 texts
fn number(count: u64) -> f64 {
    count as f64
}
