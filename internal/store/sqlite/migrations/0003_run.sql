-- +goose Up
-- Runs, their uploads, and the leases of the workers that are at them.
CREATE TABLE run (
    id                TEXT PRIMARY KEY,
    organization_id   TEXT NOT NULL,
    project_id        TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    branch            TEXT NOT NULL,
    source            TEXT NOT NULL,
    private           BOOLEAN NOT NULL,
    analyses          TEXT NOT NULL,              -- []finding.Analysis as JSON
    initiator         TEXT NOT NULL,              -- a user's id; empty when nobody asked
    state             TEXT NOT NULL,              -- run.State
    uploaded          BOOLEAN NOT NULL DEFAULT FALSE,
    upload_expires_at BIGINT NOT NULL,
    archive           TEXT NOT NULL DEFAULT '',   -- key in blob storage
    size              BIGINT NOT NULL DEFAULT 0,
    attempt           INTEGER NOT NULL DEFAULT 0, -- how many workers have taken it: the fence
    tries             INTEGER NOT NULL DEFAULT 0, -- attempts that count against the limit
    placed            BOOLEAN NOT NULL DEFAULT FALSE, -- holds one of the organization's places
    job_id            BIGINT NOT NULL DEFAULT 0,  -- of river_job; 0 for none
    retry_at          BIGINT NOT NULL DEFAULT 0,  -- not to be placed before
    cancelled         BOOLEAN NOT NULL DEFAULT FALSE,
    progress          INTEGER NOT NULL DEFAULT 0,
    step              TEXT NOT NULL,
    languages         TEXT NOT NULL DEFAULT '[]', -- JSON
    failure           TEXT NOT NULL DEFAULT '',   -- run.Failure as JSON; of the last attempt while not failed
    outcome           TEXT NOT NULL DEFAULT '{}', -- run.Outcome as JSON
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL,
    started_at        BIGINT NOT NULL DEFAULT 0,
    ended_at          BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX run_project ON run (project_id, created_at, id);
CREATE INDEX run_active ON run (organization_id, created_at, id) WHERE state IN ('queued', 'running');
CREATE INDEX run_branch_active ON run (project_id, branch, created_at, id) WHERE state IN ('queued', 'running');

-- What an upload has put, or is putting, into blob storage. It refers to a run
-- that may be gone: the row outlives it until the blob is deleted.
CREATE TABLE upload (
    blob_key   TEXT PRIMARY KEY,
    run_id     TEXT NOT NULL,
    touched_at BIGINT NOT NULL -- while it is under way, renewed
);
CREATE INDEX upload_run ON upload (run_id);

-- Who is working on a job. A holder that lives raises beat; one whose beat
-- stands still is dead.
CREATE TABLE job_lease (
    job_id BIGINT PRIMARY KEY, -- of river_job
    holder TEXT NOT NULL,
    beat   BIGINT NOT NULL
);
