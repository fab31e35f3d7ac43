//! Times of messages, compared with the period of the sensor.

use farpoint_io::bag::Cut;

/// Statistics of messages: at most eight bytes for each, whatever the length of the bag.
#[derive(Default)]
pub(super) struct Pace {
    /// Milliseconds of each message that was read.
    times: Vec<f32>,
    /// Log time of the first and the last message, in nanoseconds.
    span: Option<[u64; 2]>,
    /// Numbers of points read, kept, and left out.
    pub(super) points: [u64; 3],
    unread: u64,
    /// Reason why the first unread message could not be read.
    pub(super) reason: Option<String>,
}

/// Times of a message, in milliseconds.
pub(super) struct Spread {
    pub(super) median: f64,
    /// 99th percentile.
    pub(super) p99: f64,
    pub(super) longest: f64,
}

impl Pace {
    pub(super) fn add(&mut self, cut: Cut) {
        let [first, last] = self.span.unwrap_or([cut.log_time; 2]);
        self.span = Some([first.min(cut.log_time), last.max(cut.log_time)]);
        match cut.error {
            Some(error) => {
                self.unread += 1;
                self.reason.get_or_insert(error);
            }
            None => {
                self.times.push(cut.time.as_secs_f64() as f32 * 1e3);
                for (sum, points) in self.points.iter_mut().zip(cut.points) {
                    *sum += points as u64;
                }
            }
        }
    }

    pub(super) fn unread(&self) -> u64 {
        self.unread
    }

    pub(super) fn messages(&self) -> u64 {
        self.times.len() as u64 + self.unread
    }

    /// Returns the recorded rate in messages per second; `None` for fewer than two.
    pub(super) fn recorded(&self) -> Option<f64> {
        let [first, last] = self.span?;
        let seconds = last.saturating_sub(first) as f64 * 1e-9;
        (self.messages() > 1 && seconds > 0.0).then(|| (self.messages() - 1) as f64 / seconds)
    }

    /// Returns the percentiles, or `None` if no message was read.
    pub(super) fn spread(&self) -> Option<Spread> {
        let mut times = self.times.clone();
        times.sort_by(f32::total_cmp);
        let at = |share: f64| {
            let place = (share * times.len() as f64).ceil() as usize;
            times.get(place.max(1) - 1).copied().map(f64::from)
        };
        Some(Spread { median: at(0.5)?, p99: at(0.99)?, longest: at(1.0)? })
    }

    /// Counts the messages that took longer than the sensor's period; `None` if that is unknown.
    pub(super) fn late(&self) -> Option<usize> {
        let period = 1e3 / self.recorded()?;
        Some(self.times.iter().filter(|&&time| f64::from(time) > period).count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_times() {
        let mut pace = Pace::default();
        assert!(pace.spread().is_none() && pace.recorded().is_none() && pace.late().is_none());
        for k in 0..101u32 {
            // 10 a second; 1 to 101 ms.
            pace.times.push(k as f32 + 1.0);
            let time = u64::from(k) * 100_000_000;
            let [first, _] = pace.span.unwrap_or([time; 2]);
            pace.span = Some([first, time]);
        }
        assert_eq!(pace.recorded(), Some(10.0));
        let spread = pace.spread().unwrap();
        assert_eq!([spread.median, spread.p99, spread.longest], [51.0, 100.0, 101.0]);
        assert_eq!(pace.late(), Some(1));
    }
}
