-- +goose Up
-- Running applications of projects, who has shown that a host is theirs, and what scans
-- of them leave behind.
CREATE TABLE target (
    id              TEXT COLLATE "C" PRIMARY KEY,
    organization_id TEXT COLLATE "C" NOT NULL,
    project_id      TEXT COLLATE "C" NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    name            TEXT COLLATE "C" NOT NULL,
    environment     TEXT COLLATE "C" NOT NULL,
    root            TEXT COLLATE "C" NOT NULL, -- what the paths of its findings begin with
    shown           TEXT COLLATE "C" NOT NULL, -- scan.Target as JSON, without secrets and texts
    kept            TEXT COLLATE "C" NOT NULL, -- names of the secrets that are set, as JSON
    sealed          BYTEA NOT NULL, -- the whole scan.Target
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    UNIQUE (project_id, root)
);

-- Who has shown that a host, or an origin, is theirs.
CREATE TABLE ownership (
    organization_id TEXT COLLATE "C" NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
    subject         TEXT COLLATE "C" NOT NULL, -- a domain, or host:port
    method          TEXT COLLATE "C" NOT NULL,
    first_at        BIGINT NOT NULL,
    checked_at      BIGINT NOT NULL, -- when it was last seen
    PRIMARY KEY (organization_id, subject, method)
);

-- The running application that is scanned instead of an upload: run.Target as JSON, or
-- empty, and its identifier. A paused run waits until somebody resumes it.
ALTER TABLE run ADD COLUMN target TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN target_id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN paused BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX run_target ON run (target_id, created_at) WHERE target_id <> '';

-- What an attempt has kept for the next one, sealed.
CREATE TABLE run_kept (
    run_id     TEXT COLLATE "C" PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    sealed     BYTEA NOT NULL,
    updated_at BIGINT NOT NULL
);

-- What became of each operation of a running application in a run.
CREATE TABLE operation (
    run_id  TEXT COLLATE "C" NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    number  INTEGER NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL, -- finding.Outcome
    body    TEXT COLLATE "C" NOT NULL, -- finding.Operation as JSON
    PRIMARY KEY (run_id, number)
);
