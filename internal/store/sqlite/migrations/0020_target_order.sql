-- +goose Up
-- SQLite reads a row from its beginning: the sealed text, which may have many
-- megabytes, moves behind the columns that lists read.
CREATE TABLE target_ordered (
    id              TEXT PRIMARY KEY,
    organization_id TEXT NOT NULL,
    project_id      TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    name            TEXT NOT NULL,
    environment     TEXT NOT NULL,
    root            TEXT NOT NULL, -- what the paths of its findings begin with
    shown           TEXT NOT NULL, -- scan.Target as JSON, without secrets and texts
    kept            TEXT NOT NULL, -- names of the secrets that are set, as JSON
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    sealed          BLOB NOT NULL, -- the whole scan.Target
    UNIQUE (project_id, root)
);
INSERT INTO target_ordered (id, organization_id, project_id, name, environment, root, shown, kept, created_at, updated_at, sealed)
    SELECT id, organization_id, project_id, name, environment, root, shown, kept, created_at, updated_at, sealed FROM target;
DROP TABLE target;
ALTER TABLE target_ordered RENAME TO target;
