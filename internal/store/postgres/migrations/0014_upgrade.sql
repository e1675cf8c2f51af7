-- +goose Up
-- Requests for upgrades that are too large to be answered at once. A process takes one
-- by raising attempt; what another has taken it can write no more.
CREATE TABLE upgrade_job (
    id              TEXT PRIMARY KEY,
    organization_id TEXT NOT NULL,
    project_id      TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    request         TEXT NOT NULL,              -- remedy.Request as JSON
    state           TEXT NOT NULL,              -- remedy.State
    attempt         INTEGER NOT NULL DEFAULT 0,
    processed       INTEGER NOT NULL DEFAULT 0, -- findings
    answer          BYTEA NOT NULL DEFAULT '',   -- remedy.Answer as JSON, compressed
    error           TEXT NOT NULL DEFAULT '',
    created_at      BIGINT NOT NULL,
    started_at      BIGINT NOT NULL DEFAULT 0,
    completed_at    BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX upgrade_job_project ON upgrade_job (project_id, created_at);
