-- +goose Up
-- Vulnerability data: immutable data files (package advisory), cut into chunks,
-- so that every worker finds them wherever the database is.
CREATE TABLE advisory_snapshot (
    id          TEXT PRIMARY KEY,
    seq         BIGINT NOT NULL DEFAULT 0, -- the highest is in force; 0 while chunks are still being written
    digest      TEXT NOT NULL,             -- SHA-256 that ends the data file, hexadecimal
    meta        TEXT NOT NULL,             -- advisory.Meta as JSON
    size        BIGINT NOT NULL,           -- of the data file, bytes
    created_at  BIGINT NOT NULL
);
CREATE UNIQUE INDEX advisory_snapshot_seq ON advisory_snapshot (seq) WHERE seq > 0;

CREATE TABLE advisory_chunk (
    snapshot_id TEXT NOT NULL REFERENCES advisory_snapshot (id) ON DELETE CASCADE,
    seq         INTEGER NOT NULL, -- from 0
    data        BLOB NOT NULL,
    PRIMARY KEY (snapshot_id, seq)
);
