//! A ledger that goes away and comes back.

use rail_ledger::{Ledger, NewKey, Place};
use rail_stdx::Secret;
use rail_testkit::Postgres;

use crate::door::Door;
use crate::wire::{HELLO, ask, soon};

#[tokio::test]
async fn a_gateway_without_its_ledger_is_not_ready_and_it_is_not_the_clients_fault() {
    let Some(server) = Postgres::start_or_skip() else { return };
    let place = Place::Postgres(Secret::new(server.database().unwrap()));
    let ledger = Ledger::open(&place).await.unwrap();
    let new = NewKey { name: "team".to_owned(), admin: true, ..NewKey::default() };
    let key = ledger.create_key(&new, 1_700_000_000_000).await.unwrap().1;
    let key = format!("x-api-key: {}", key.reveal());
    let door = Door::on("127.0.0.1:0", "", ledger).await;
    let ready = async || ask(door.addr, "GET /readyz", &[], "").await;
    assert_eq!(ready().await.status, 200);
    assert_eq!(ask(door.addr, "POST /v1/messages", &[&key], HELLO).await.status, 200);
    server.stop();
    soon(async { while Box::pin(ready()).await.status != 503 {} }).await;
    assert_eq!(ready().await.body, "the ledger does not answer\n");
    assert_eq!(ask(door.addr, "POST /v1/messages", &[&key], HELLO).await.status, 529);
    server.restart().unwrap();
    soon(async { while Box::pin(ready()).await.status != 200 {} }).await;
    let metrics = ask(door.addr, "GET /metrics", &[&key], "").await.body;
    assert!(metrics.contains("ending=\"failed\",status=\"529\"} 1"), "{metrics}");
}
