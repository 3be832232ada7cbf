use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::Page;

/// Pages that were read a short time ago, by the address that was asked for.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    pages: BTreeMap<String, (Instant, Arc<Page>)>,
    /// In the order in which they came.
    order: VecDeque<String>,
    bytes: usize,
}

impl Cache {
    /// The page of an address, if it is not older than this.
    pub(crate) fn get(&self, url: &str, now: Instant, kept: Duration) -> Option<Arc<Page>> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, page) = inner.pages.get(url)?;
        (now.saturating_duration_since(*since) < kept).then(|| Arc::clone(page))
    }

    /// Keeps a page; the oldest go where there is no room for it.
    pub(crate) fn keep(&self, url: &str, page: &Arc<Page>, now: Instant, room: usize) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.forget(url);
        let size = size(url, page);
        while inner.bytes + size > room {
            let Some(oldest) = inner.order.front().cloned() else { return };
            inner.forget(&oldest);
        }
        inner.bytes += size;
        inner.order.push_back(url.to_owned());
        inner.pages.insert(url.to_owned(), (now, Arc::clone(page)));
    }
}

impl Inner {
    fn forget(&mut self, url: &str) {
        if let Some((_, page)) = self.pages.remove(url) {
            self.bytes -= size(url, &page);
            self.order.retain(|known| known != url);
        }
    }
}

fn size(url: &str, page: &Page) -> usize {
    let said = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    url.len() * 3 + page.text.len() + said(&page.title) + said(&page.description) + 256
}
