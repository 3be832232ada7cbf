//! TLS to PostgreSQL, as `sslmode` says.

use rail_ledger::{Ledger, Place};
use rail_stdx::Secret;
use rail_testkit::{Authority, Postgres};

use crate::bed::run;

async fn opened(address: &str) -> Result<String, String> {
    let ledger = Ledger::open(&Place::Postgres(Secret::new(address))).await;
    ledger.map(|_| "opened".to_owned()).map_err(|error| error.to_string())
}

#[test]
fn a_server_proves_itself_as_far_as_it_is_asked_to() {
    if Postgres::shared().is_none() {
        return;
    }
    let authority = Authority::new().unwrap();
    let server = Postgres::start_tls(&authority.server().unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (good, bad) = (folder.path().join("good.pem"), folder.path().join("bad.pem"));
    std::fs::write(&good, authority.pem()).unwrap();
    std::fs::write(&bad, Authority::new().unwrap().pem()).unwrap();
    run(async {
        let address = server.database_at("localhost").unwrap();
        for query in ["", "?sslmode=prefer", "?sslmode=disable", "?sslmode=require"] {
            assert_eq!(opened(&format!("{address}{query}")).await, Ok("opened".to_owned()), "{query}");
        }
        let proven =
            |file: &std::path::Path| format!("{address}?sslmode=verify-full&sslrootcert={}", file.display());
        assert_eq!(opened(&proven(&good)).await, Ok("opened".to_owned()));
        let refused = opened(&proven(&bad)).await.unwrap_err();
        assert!(refused.contains("invalid peer certificate"), "{refused}");
        let refused = opened(&format!("{address}?sslmode=verify-full")).await.unwrap_err();
        assert!(refused.contains("UnknownIssuer"), "{refused}");
        let refused = opened(&proven(&folder.path().join("none.pem"))).await.unwrap_err();
        assert!(refused.contains("`sslrootcert`"), "{refused}");
        // In words of the server: this session is packed.
        let packed = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl AND application_name = 'rail'";
        let ledger = Ledger::open(&Place::Postgres(Secret::new(proven(&good)))).await.unwrap();
        assert_eq!(server.sql(&address, packed).unwrap(), "1");
        drop(ledger);
    });
}
