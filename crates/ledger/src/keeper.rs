//! Writes down what lies on the desk.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::desk::{Call, Desk, Item};
use crate::store::Store;
use crate::trouble::Trouble;

/// So long a record waits for others to be written with.
const GATHER: Duration = Duration::from_millis(20);
/// After a failure the next attempt waits so long,
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// then twice as long each time, up to this.
const LAST_PAUSE: Duration = Duration::from_secs(2);

/// Writes until the desk is closed, and then what is left, as long as the database takes it.
pub(crate) async fn keep(desk: Arc<Desk>, store: Arc<Store>) {
    loop {
        let call = desk.called().await;
        match call {
            // Whether it was the time or the urgency that ended the wait, there is something to write.
            Call::Waiting => drop(timeout(GATHER, desk.urged()).await),
            Call::Urgent | Call::Closed => {}
        }
        let written = write_all(&desk, &store).await;
        if call == Call::Closed || written == Written::GivenUp {
            return;
        }
    }
}

#[derive(PartialEq, Eq)]
enum Written {
    All,
    /// The database is away and the desk is closed.
    GivenUp,
}

async fn write_all(desk: &Desk, store: &Store) -> Written {
    let mut pause = FIRST_PAUSE;
    while let Some(batch) = desk.take() {
        let mut open = vec![batch];
        while let Some(mut batch) = open.pop() {
            match store.write(&batch).await {
                Ok(()) => {
                    desk.works();
                    pause = FIRST_PAUSE;
                    desk.written(&batch);
                }
                Err(Trouble::Away(problem)) => {
                    desk.failed(&problem);
                    if desk.is_closed() {
                        return Written::GivenUp;
                    }
                    sleep(pause).await;
                    pause = (pause * 2).min(LAST_PAUSE);
                    open.push(batch);
                }
                // Halves of it are tried, so that one record does not stop the others.
                Err(Trouble::Rejected(_) | Trouble::Taken) if batch.len() > 1 => {
                    let second: Vec<Item> = batch.split_off(batch.len() / 2);
                    open.push(second);
                    open.push(batch);
                }
                Err(Trouble::Rejected(_) | Trouble::Taken) => desk.lost(&batch),
            }
        }
    }
    Written::All
}
