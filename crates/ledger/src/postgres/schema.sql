CREATE TABLE rail_keys (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    secret BYTEA NOT NULL,
    admin BOOLEAN NOT NULL,
    models TEXT NOT NULL,
    per_minute BIGINT,
    budget BIGINT,
    per TEXT,
    created BIGINT NOT NULL,
    expires BIGINT,
    revoked BIGINT,
    full_at BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX rail_keys_live_name ON rail_keys (name) WHERE revoked IS NULL;

CREATE TABLE rail_spent (
    key TEXT NOT NULL,
    day BIGINT NOT NULL,
    amount BIGINT NOT NULL,
    PRIMARY KEY (key, day)
);

CREATE TABLE rail_holds (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key TEXT NOT NULL,
    day BIGINT NOT NULL,
    amount BIGINT NOT NULL,
    until BIGINT NOT NULL
);
CREATE INDEX rail_holds_key ON rail_holds (key);

CREATE TABLE rail_entries (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    at BIGINT NOT NULL,
    key TEXT,
    client TEXT NOT NULL,
    session TEXT,
    protocol TEXT NOT NULL,
    operation TEXT NOT NULL,
    stream BOOLEAN NOT NULL,
    asked TEXT NOT NULL,
    virtual_model TEXT,
    route TEXT,
    target TEXT,
    sent TEXT NOT NULL,
    relayed BOOLEAN NOT NULL,
    repairs TEXT NOT NULL,
    losses TEXT NOT NULL,
    input BIGINT NOT NULL,
    cache_read BIGINT NOT NULL,
    cache_write BIGINT NOT NULL,
    output BIGINT NOT NULL,
    reasoning BIGINT NOT NULL,
    cost BIGINT,
    first_ms BIGINT,
    total_ms BIGINT NOT NULL,
    ending TEXT NOT NULL,
    status BIGINT NOT NULL,
    problem TEXT,
    repaired BIGINT NOT NULL
);
CREATE INDEX rail_entries_at ON rail_entries (at);
CREATE INDEX rail_entries_key ON rail_entries (key, at) WHERE key IS NOT NULL;

CREATE TABLE rail_bodies (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    request TEXT NOT NULL,
    answer TEXT NOT NULL
);
