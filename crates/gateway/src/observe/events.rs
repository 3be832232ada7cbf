//! The live stream of events, for whoever watches.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::mpsc;

/// The most events that are kept for those who come back.
const MOST_KEPT: usize = 2048;
/// The most bytes of them.
const MOST_BYTES: usize = 2 << 20;
/// The most events that wait for one reader; who is slower than that is left, and may come back.
const MOST_WAITING: usize = 512;
/// The most readers at once.
const MOST_READERS: usize = 64;

/// Events as they happen, each written once as a server-sent event.
///
/// While nobody watches, nothing is written and nothing is kept. What happened in the little while that a reader needs to come
/// back is there for it.
#[derive(Default)]
pub(crate) struct Events {
    /// Whether events are written at all; looked at without a lock.
    awake: AtomicBool,
    ring: Mutex<Ring>,
    left: AtomicU64,
}

#[derive(Default)]
struct Ring {
    /// Tells this run of the gateway from others.
    run: u64,
    /// The number of the last event.
    last: u64,
    /// The events up to the last one, the oldest first.
    kept: VecDeque<Bytes>,
    bytes: usize,
    readers: Vec<mpsc::Sender<Bytes>>,
    /// How many events came since the last reader went.
    alone: usize,
    closed: bool,
}

/// What a new reader gets.
pub(crate) struct Reading {
    /// What it missed, the oldest first.
    pub(crate) missed: Vec<Bytes>,
    /// What comes.
    pub(crate) coming: mpsc::Receiver<Bytes>,
}

/// Why nobody more can watch.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoReading {
    /// There are too many readers.
    TooMany,
    /// The gateway is about to stop.
    Closed,
}

impl Events {
    /// Events of a run of the gateway that began at this moment.
    pub(crate) fn new(run: u64) -> Self {
        Self { ring: Mutex::new(Ring { run, ..Ring::default() }), ..Self::default() }
    }

    /// Whether anybody may want to hear of events; if not, they need not be made.
    pub(crate) fn are_wanted(&self) -> bool {
        self.awake.load(Ordering::Relaxed)
    }

    /// Tells an event to all readers. Its data is JSON in one line.
    pub(crate) fn tell(&self, event: &str, data: &str) {
        if !self.are_wanted() {
            return;
        }
        let mut ring = self.ring();
        if ring.readers.is_empty() {
            ring.alone += 1;
            if ring.alone > MOST_KEPT {
                ring.sleep();
                self.awake.store(false, Ordering::Relaxed);
                return;
            }
        }
        ring.last += 1;
        let bytes = Bytes::from(format!("id: {}\nevent: {event}\ndata: {data}\n\n", ring.id(ring.last)));
        ring.keep(bytes.clone());
        let before = ring.readers.len();
        ring.readers.retain(|reader| match reader.try_send(bytes.clone()) {
            Ok(()) => true,
            Err(mpsc::error::TrySendError::Full(_)) => {
                self.left.fetch_add(1, Ordering::Relaxed);
                false
            }
            Err(mpsc::error::TrySendError::Closed(_)) => false,
        });
        if ring.readers.len() < before && ring.readers.is_empty() {
            ring.alone = 0;
        }
    }

    /// A new reader, that may have seen all up to the event of this id before.
    pub(crate) fn read(&self, seen: Option<&str>) -> Result<Reading, NoReading> {
        let mut ring = self.ring();
        ring.readers.retain(|reader| !reader.is_closed());
        if ring.closed {
            return Err(NoReading::Closed);
        }
        if ring.readers.len() >= MOST_READERS {
            return Err(NoReading::TooMany);
        }
        let (sender, coming) = mpsc::channel(MOST_WAITING);
        ring.readers.push(sender);
        self.awake.store(true, Ordering::Relaxed);
        let missed = seen.map(|seen| ring.since(seen)).unwrap_or_default();
        Ok(Reading { missed, coming })
    }

    /// How many readers were left because they were too slow.
    pub(crate) fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }

    /// Ends all streams, for good.
    pub(crate) fn close(&self) {
        let mut ring = self.ring();
        ring.closed = true;
        ring.sleep();
        self.awake.store(false, Ordering::Relaxed);
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        // A panic elsewhere leaves at worst an event that one reader got and another did not.
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    fn id(&self, number: u64) -> String {
        format!("{:x}-{number}", self.run)
    }

    fn keep(&mut self, event: Bytes) {
        self.bytes += event.len();
        self.kept.push_back(event);
        while self.kept.len() > MOST_KEPT || self.bytes > MOST_BYTES {
            let Some(oldest) = self.kept.pop_front() else { break };
            self.bytes -= oldest.len();
        }
    }

    /// Forgets all. The number goes on, so that who comes back later sees that something is missing.
    fn sleep(&mut self) {
        self.kept.clear();
        self.readers.clear();
        (self.bytes, self.alone) = (0, 0);
        self.last += 1;
    }

    /// What came after the event of this id. If that is not all here, an event `missed` says so first.
    fn since(&self, seen: &str) -> Vec<Bytes> {
        let number =
            seen.strip_prefix(&format!("{:x}-", self.run)).and_then(|number| number.parse::<u64>().ok());
        let first = self.last + 1 - (self.kept.len() as u64).min(self.last);
        let known = number.filter(|number| *number <= self.last && *number + 1 >= first);
        match known {
            Some(number) => {
                let have = usize::try_from(number + 1 - first).unwrap_or(usize::MAX);
                self.kept.iter().skip(have).cloned().collect()
            }
            None => {
                let before = self.id(first.saturating_sub(1));
                let missed = format!("id: {before}\nevent: missed\ndata: {{}}\n\n");
                [Bytes::from(missed)].into_iter().chain(self.kept.iter().cloned()).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(events: &[Bytes]) -> Vec<String> {
        let name = |event: &Bytes| {
            let text = String::from_utf8(event.to_vec()).unwrap();
            let line = |at: usize| text.lines().nth(at).unwrap().split_once(": ").unwrap().1.to_owned();
            format!("{} {}", line(0), line(1))
        };
        events.iter().map(name).collect()
    }

    fn waiting(coming: &mut mpsc::Receiver<Bytes>) -> Vec<String> {
        let all: Vec<Bytes> = std::iter::from_fn(|| coming.try_recv().ok()).collect();
        names(&all)
    }

    #[test]
    fn events_come_in_order_and_who_comes_back_misses_nothing() {
        let events = Events::new(0xab);
        events.tell("unheard", "{}");
        let mut first = events.read(None).unwrap();
        assert!(first.missed.is_empty());
        events.tell("one", r#"{"a":1}"#);
        assert_eq!(first.coming.try_recv().unwrap(), "id: ab-1\nevent: one\ndata: {\"a\":1}\n\n");
        events.tell("two", "{}");
        drop(first);
        events.tell("three", "{}");
        events.tell("four", "{}");
        let mut back = events.read(Some("ab-1")).unwrap();
        assert_eq!(names(&back.missed), ["ab-2 two", "ab-3 three", "ab-4 four"]);
        events.tell("five", "{}");
        assert_eq!(waiting(&mut back.coming), ["ab-5 five"]);
        assert!(events.read(Some("ab-5")).unwrap().missed.is_empty());
    }

    #[test]
    fn who_missed_something_is_told_so() {
        let events = Events::new(0xab);
        let reading = events.read(None).unwrap();
        events.tell("one", "{}");
        for seen in ["99-1", "ab-7", "ab-", "", "ab-18446744073709551615", "x"] {
            let missed = events.read(Some(seen)).unwrap().missed;
            assert_eq!(names(&missed), ["ab-0 missed", "ab-1 one"], "{seen}");
        }
        for _ in 0..MOST_KEPT {
            events.tell("more", "{}");
        }
        drop(reading);
        let missed = names(&events.read(Some("ab-0")).unwrap().missed);
        assert_eq!(
            (missed.len(), missed[0].as_str(), missed[1].as_str()),
            (MOST_KEPT + 1, "ab-1 missed", "ab-2 more")
        );
        let after: Vec<String> =
            names(&events.read(Some(missed[0].split(' ').next().unwrap())).unwrap().missed);
        assert_eq!(after.len(), MOST_KEPT, "the id of `missed` goes on where it was");
    }

    #[test]
    fn a_slow_reader_is_left_and_others_are_not() {
        let events = Events::new(1);
        let mut slow = events.read(None).unwrap();
        let mut quick = events.read(None).unwrap();
        for _ in 0..=MOST_WAITING {
            events.tell("event", "{}");
            assert!(quick.coming.try_recv().is_ok());
        }
        assert_eq!(events.left(), 1);
        assert_eq!(waiting(&mut slow.coming).len(), MOST_WAITING);
        assert_eq!(slow.coming.try_recv(), Err(mpsc::error::TryRecvError::Disconnected));
        events.tell("event", "{}");
        assert!(quick.coming.try_recv().is_ok());
    }

    #[test]
    fn nothing_is_kept_for_nobody() {
        let events = Events::new(1);
        drop(events.read(None).unwrap());
        for _ in 0..MOST_KEPT + 2 {
            events.tell("event", "{}");
        }
        assert!(!events.are_wanted());
        assert_eq!(events.ring().kept.len(), 0);
        let back = events.read(Some("1-3")).unwrap();
        assert_eq!(back.missed.len(), 1, "it is told that something is missing");
        let big = "x".repeat(MOST_BYTES / 2);
        for _ in 0..5 {
            events.tell("big", &big);
        }
        assert!(events.ring().bytes <= MOST_BYTES);
    }

    #[test]
    fn the_end_of_the_gateway_ends_all_streams() {
        let events = Events::new(1);
        let mut reading = events.read(None).unwrap();
        events.close();
        assert_eq!(reading.coming.try_recv(), Err(mpsc::error::TryRecvError::Disconnected));
        assert_eq!(events.read(None).err(), Some(NoReading::Closed));
        let events = Events::new(1);
        let all: Vec<_> = (0..MOST_READERS).map(|_| events.read(None).unwrap()).collect();
        assert_eq!(events.read(None).err(), Some(NoReading::TooMany));
        drop(all);
        assert!(events.read(None).is_ok());
    }
}
