-- +goose Up
-- Credentials for registries of container images, and the projects that may use
-- them.
CREATE TABLE registry_credential (
    id              TEXT PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
    kind            TEXT NOT NULL,
    name            TEXT NOT NULL, -- of the registry and the account in it
    fields          TEXT NOT NULL, -- what is public, as JSON
    sealed          BLOB NOT NULL,     -- the secret
    description     TEXT NOT NULL,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    UNIQUE (organization_id, kind, name)
);

CREATE TABLE registry_link (
    credential_id TEXT NOT NULL REFERENCES registry_credential (id) ON DELETE CASCADE,
    project_id    TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    PRIMARY KEY (credential_id, project_id)
);
CREATE INDEX registry_link_project ON registry_link (project_id);
