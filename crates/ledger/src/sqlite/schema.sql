CREATE TABLE keys (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    secret BLOB NOT NULL,
    admin INTEGER NOT NULL,
    models TEXT NOT NULL,
    per_minute INTEGER,
    budget INTEGER,
    per TEXT,
    created INTEGER NOT NULL,
    expires INTEGER,
    revoked INTEGER,
    full_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX keys_live_name ON keys (name) WHERE revoked IS NULL;

CREATE TABLE spent (
    key TEXT NOT NULL,
    day INTEGER NOT NULL,
    amount INTEGER NOT NULL,
    PRIMARY KEY (key, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE holds (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    day INTEGER NOT NULL,
    amount INTEGER NOT NULL,
    until INTEGER NOT NULL
) STRICT;
CREATE INDEX holds_key ON holds (key);

CREATE TABLE entries (
    id TEXT NOT NULL PRIMARY KEY,
    at INTEGER NOT NULL,
    key TEXT,
    client TEXT NOT NULL,
    session TEXT,
    protocol TEXT NOT NULL,
    operation TEXT NOT NULL,
    stream INTEGER NOT NULL,
    asked TEXT NOT NULL,
    virtual_model TEXT,
    route TEXT,
    target TEXT,
    sent TEXT NOT NULL,
    relayed INTEGER NOT NULL,
    repairs TEXT NOT NULL,
    losses TEXT NOT NULL,
    input INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    output INTEGER NOT NULL,
    reasoning INTEGER NOT NULL,
    cost INTEGER,
    first_ms INTEGER,
    total_ms INTEGER NOT NULL,
    ending TEXT NOT NULL,
    status INTEGER NOT NULL,
    problem TEXT,
    repaired INTEGER NOT NULL
) STRICT;
CREATE INDEX entries_at ON entries (at);
CREATE INDEX entries_key ON entries (key, at) WHERE key IS NOT NULL;

CREATE TABLE bodies (
    id TEXT NOT NULL PRIMARY KEY,
    request TEXT NOT NULL,
    answer TEXT NOT NULL
) STRICT;
