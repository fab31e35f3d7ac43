//! A clock, on targets that have one.

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod real {
    /// A moment.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Clock(std::time::Instant);

    impl Clock {
        pub(crate) fn now() -> Self {
            Self(std::time::Instant::now())
        }

        /// Returns the seconds from this moment to a later one.
        fn until(self, later: Self) -> f64 {
            (later.0 - self.0).as_secs_f64()
        }

        /// Returns the time since this moment.
        pub(crate) fn elapsed(self) -> std::time::Duration {
            self.0.elapsed()
        }

        /// Adds the seconds since this moment to `stage`, and starts the next.
        pub(crate) fn lap(&mut self, stage: &mut f64) {
            let now = Self::now();
            *stage += self.until(now);
            *self = now;
        }
    }
}

/// Targets whose standard library has no clock would panic: there, every stage takes no time.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod real {
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Clock;

    impl Clock {
        pub(crate) fn now() -> Self {
            Self
        }

        pub(crate) fn elapsed(self) -> std::time::Duration {
            std::time::Duration::ZERO
        }

        pub(crate) fn lap(&mut self, _stage: &mut f64) {}
    }
}

pub(crate) use real::Clock;
