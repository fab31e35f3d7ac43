//! Values that are computed once per key, on first use.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Map of lazily computed values. A call for a value that is being computed waits for that value only:
/// others can be found and computed meanwhile.
pub(crate) struct OncePerKey<K, V> {
    ready: RwLock<HashMap<K, V>>,
    /// Held by the thread that computes the value.
    locks: Mutex<HashMap<K, Arc<Mutex<()>>>>,
}

impl<K, V> Default for OncePerKey<K, V> {
    fn default() -> Self {
        Self { ready: RwLock::default(), locks: Mutex::default() }
    }
}

impl<K: Copy + Eq + Hash, V: Copy> OncePerKey<K, V> {
    /// Returns the value of a key, computed if absent. If that fails, the next call tries again.
    pub(crate) fn get<E>(&self, key: K, compute: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        if let Some(value) = self.find(key) {
            return Ok(value);
        }
        let key_lock = {
            let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(locks.entry(key).or_default())
        };
        let _guard = key_lock.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have computed it meanwhile.
        if let Some(value) = self.find(key) {
            return Ok(value);
        }
        let value = compute()?;
        self.ready.write().unwrap_or_else(PoisonError::into_inner).insert(key, value);
        Ok(value)
    }

    fn find(&self, key: K) -> Option<V> {
        self.ready.read().unwrap_or_else(PoisonError::into_inner).get(&key).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::OncePerKey;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn computing_one_value_does_not_block_others() {
        let values = OncePerKey::<u32, u32>::default();
        let ok = |value| move || Ok::<_, ()>(value);
        assert_eq!(values.get(1, ok(10)), Ok(10));
        let (started, has_started) = mpsc::channel();
        let (go, proceed) = mpsc::channel();
        let values = &values;
        thread::scope(|scope| {
            let slow = scope.spawn(move || {
                values.get(2, || {
                    started.send(()).unwrap();
                    proceed.recv_timeout(LONG).map_err(|_| ())?;
                    Ok::<_, ()>(20)
                })
            });
            has_started.recv_timeout(LONG).unwrap();
            // The second is being made: the first is there, and a third can be made. If either
            // waited, `proceed` would end after its time and `slow` would fail.
            assert_eq!(values.get(1, || Err("made twice")), Ok(10));
            assert_eq!(values.get(3, ok(30)), Ok(30));
            go.send(()).unwrap();
            assert_eq!(slow.join().unwrap(), Ok(20));
        });
    }

    #[test]
    fn concurrent_callers_compute_a_value_once() {
        let values = OncePerKey::<u32, usize>::default();
        let count = AtomicUsize::new(0);
        let compute = || {
            thread::sleep(Duration::from_millis(5));
            Ok::<_, ()>(count.fetch_add(1, Ordering::Relaxed))
        };
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert_eq!(values.get(7, compute), Ok(0)));
            }
        });
        assert_eq!(count.into_inner(), 1);
    }

    #[test]
    fn a_failed_computation_is_retried() {
        let values = OncePerKey::<u32, u32>::default();
        assert_eq!(values.get(1, || Err("no memory")), Err("no memory"));
        assert_eq!(values.get(1, || Ok::<_, &str>(10)), Ok(10));
    }
}
