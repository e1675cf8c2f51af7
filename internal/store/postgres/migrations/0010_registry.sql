-- +goose Up
-- Credentials for registries of container images, and the projects that may use
-- them.
CREATE TABLE registry_credential (
    id              TEXT COLLATE "C" PRIMARY KEY,
    organization_id TEXT COLLATE "C" NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
    kind            TEXT COLLATE "C" NOT NULL,
    name            TEXT COLLATE "C" NOT NULL, -- of the registry and the account in it
    fields          TEXT COLLATE "C" NOT NULL, -- what is public, as JSON
    sealed          BYTEA NOT NULL,     -- the secret
    description     TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    UNIQUE (organization_id, kind, name)
);

CREATE TABLE registry_link (
    credential_id TEXT COLLATE "C" NOT NULL REFERENCES registry_credential (id) ON DELETE CASCADE,
    project_id    TEXT COLLATE "C" NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    PRIMARY KEY (credential_id, project_id)
);
CREATE INDEX registry_link_project ON registry_link (project_id);
