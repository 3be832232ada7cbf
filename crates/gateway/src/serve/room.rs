use std::sync::Arc;
use std::time::Duration;

use rail_model::ErrorKind;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::refused::Refused;

/// Room is counted in so many bytes: a semaphore's numbers are small.
const UNIT: usize = 1 << 10;
/// So much is taken at once while a body comes.
const STEP: usize = 64 << 10;
/// How long a body waits for others to go before it is told to come back.
const WAIT_FOR_ROOM: Duration = Duration::from_secs(1);

/// The room for all bodies that are being read or wait for an answer.
pub(super) struct Rooms {
    free: Arc<Semaphore>,
    most: u32,
}

/// The room of one body, which is given back when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Room(Option<OwnedSemaphorePermit>);

impl Rooms {
    /// Room for so many bytes.
    pub(super) fn new(bytes: u64) -> Self {
        let most = units(usize::try_from(bytes).unwrap_or(usize::MAX)).max(1);
        Self { free: Arc::new(Semaphore::new(usize::try_from(most).unwrap_or_default())), most }
    }

    /// Makes room for a body of so many bytes. One that is larger than all room there is must have all of it.
    pub(super) async fn enlarge(&self, room: &mut Room, bytes: usize) -> Result<(), Refused> {
        let has = room.0.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let has = u32::try_from(has).unwrap_or(u32::MAX);
        if units(bytes).min(self.most) <= has {
            return Ok(());
        }
        let more = units(bytes.next_multiple_of(STEP)).min(self.most) - has;
        let taken = match Arc::clone(&self.free).try_acquire_many_owned(more) {
            Ok(taken) => Ok(taken),
            Err(_none) => match timeout(WAIT_FOR_ROOM, Arc::clone(&self.free).acquire_many_owned(more)).await
            {
                Ok(Ok(taken)) => Ok(taken),
                Ok(Err(_)) | Err(_) => Err(full()),
            },
        }?;
        match &mut room.0 {
            Some(room) => room.merge(taken),
            None => room.0 = Some(taken),
        }
        Ok(())
    }
}

fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX)
}

fn full() -> Refused {
    let message = "the gateway has as much of its clients' requests in memory as it takes (`gateway.limits.bodies`); try again";
    Refused::new(ErrorKind::Overloaded, message).with_status(503).come_back_after(WAIT_FOR_ROOM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn bodies_have_so_much_room_together() {
        let rooms = Rooms::new(256 << 10);
        let (mut one, mut other, mut third) = (Room::default(), Room::default(), Room::default());
        rooms.enlarge(&mut one, 1).await.unwrap();
        rooms.enlarge(&mut one, 64 << 10).await.unwrap();
        rooms.enlarge(&mut other, 190 << 10).await.unwrap();
        assert_eq!(rooms.free.available_permits(), 0);
        let refused = rooms.enlarge(&mut third, 1).await.unwrap_err();
        assert!(refused.message().contains("gateway.limits.bodies"), "{refused:?}");
        let (later, ()) = tokio::join!(rooms.enlarge(&mut third, 1), async { drop(one) });
        later.unwrap();
        drop((other, third));
        let mut huge = Room::default();
        rooms.enlarge(&mut huge, usize::MAX / 2).await.unwrap();
        rooms.enlarge(&mut huge, usize::MAX / 2 + 1).await.unwrap();
        assert_eq!(rooms.free.available_permits(), 0, "what is larger than all has all");
        drop(huge);
        assert_eq!(rooms.free.available_permits(), 256);
    }
}
