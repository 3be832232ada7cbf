//! The real PostgreSQL server that tests share.

use rail_testkit::Postgres;

#[test]
fn a_server_keeps_what_was_committed_when_it_is_ended() {
    let Some(server) = Postgres::start_or_skip() else { return };
    let (one, other) = (server.database().unwrap(), server.database().unwrap());
    assert_ne!(one, other);
    server.sql(&one, "CREATE TABLE kept (number INT); INSERT INTO kept VALUES (7)").unwrap();
    server.stop();
    assert!(server.sql(&one, "SELECT 1").is_err());
    server.restart().unwrap();
    assert_eq!(server.sql(&one, "SELECT number FROM kept").unwrap(), "7");
    assert!(server.sql(&other, "SELECT number FROM kept").is_err());
}
