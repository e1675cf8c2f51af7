-- +goose Up
-- Organizations, teams, projects, members and custom roles.
-- Users stand here because every membership refers to one; how a person proves
-- to be that user is in 0002_identity.sql.
CREATE TABLE organization (
    id                    TEXT PRIMARY KEY,
    name                  TEXT NOT NULL,
    description           TEXT NOT NULL DEFAULT '',
    website               TEXT NOT NULL DEFAULT '',
    email                 TEXT NOT NULL DEFAULT '',
    industry              TEXT NOT NULL,
    country               TEXT NOT NULL,
    concurrent_scan_limit INTEGER NOT NULL DEFAULT 1,
    billing               TEXT NOT NULL DEFAULT '{}', -- tenant.BillingProfile as JSON
    created_at            BIGINT NOT NULL,
    updated_at            BIGINT NOT NULL
);

CREATE TABLE app_user (
    id           TEXT PRIMARY KEY,
    email        TEXT NOT NULL UNIQUE,         -- lower case; of a service account an unroutable name
    first_name   TEXT NOT NULL DEFAULT '',
    last_name    TEXT NOT NULL DEFAULT '',
    picture      TEXT NOT NULL DEFAULT '',
    notification BOOLEAN NOT NULL DEFAULT TRUE,
    onboarded    BOOLEAN NOT NULL DEFAULT FALSE,
    service_of   TEXT REFERENCES organization (id) ON DELETE CASCADE, -- set for a service account
    disabled_at  BIGINT NOT NULL DEFAULT 0,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);

CREATE TABLE custom_role (
    id              TEXT PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
    name            TEXT NOT NULL,
    level           TEXT NOT NULL, -- tenant.Level
    permissions     BIGINT NOT NULL,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    UNIQUE (organization_id, name)
);

CREATE TABLE organization_member (
    organization_id TEXT NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
    user_id         TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    role            TEXT NOT NULL, -- a built-in role's name or a custom_role's id
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (organization_id, user_id)
);
CREATE INDEX organization_member_user ON organization_member (user_id);

CREATE TABLE team (
    id              TEXT PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
    name            TEXT NOT NULL,
    description     TEXT NOT NULL DEFAULT '',
    projects        BIGINT NOT NULL DEFAULT 0, -- how many it has: a list says its total without counting
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL
);
CREATE INDEX team_organization ON team (organization_id, projects);

CREATE TABLE team_member (
    team_id    TEXT NOT NULL REFERENCES team (id) ON DELETE CASCADE,
    user_id    TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    role       TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (team_id, user_id)
);
CREATE INDEX team_member_user ON team_member (user_id, team_id, role);

CREATE TABLE project (
    id              TEXT PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
    team_id         TEXT NOT NULL REFERENCES team (id) ON DELETE CASCADE,
    name            TEXT NOT NULL,
    languages       TEXT NOT NULL DEFAULT '[]', -- JSON
    settings        TEXT NOT NULL,              -- project.Settings as JSON
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL
);
CREATE INDEX project_team ON project (team_id, name, id);
CREATE INDEX project_organization ON project (organization_id, name, id, team_id);

CREATE TABLE project_member (
    project_id TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    user_id    TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    role       TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, user_id)
);
CREATE INDEX project_member_user ON project_member (user_id, project_id, role);

CREATE TABLE invitation (
    id              TEXT PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
    email           TEXT NOT NULL,
    role            TEXT NOT NULL,
    teams           TEXT NOT NULL DEFAULT '[]', -- []tenant.TeamAssignment as JSON
    token_hash      TEXT NOT NULL UNIQUE,       -- SHA-256, hexadecimal
    status          TEXT NOT NULL,
    invited_by      TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    created_at      BIGINT NOT NULL,
    expires_at      BIGINT NOT NULL
);
CREATE INDEX invitation_organization ON invitation (organization_id, created_at, id);

-- Each organization's audit records are a chain of their own; the chain '' is
-- the deployment's (sign-in events and what belongs to no organization).
CREATE TABLE audit_event (
    chain       TEXT NOT NULL,
    seq         BIGINT NOT NULL, -- from 1, without a gap
    at          BIGINT NOT NULL,
    actor       TEXT NOT NULL,   -- a user's id; empty for the program itself
    client      TEXT NOT NULL,
    ip          TEXT NOT NULL,
    action      TEXT NOT NULL,
    target_kind TEXT NOT NULL,
    target      TEXT NOT NULL,
    detail      TEXT NOT NULL,   -- JSON
    previous    TEXT NOT NULL,   -- hash of seq-1
    hash        TEXT NOT NULL,
    PRIMARY KEY (chain, seq)
);
CREATE INDEX audit_event_actor ON audit_event (chain, actor, seq);
CREATE INDEX audit_event_action ON audit_event (chain, action, seq);
CREATE INDEX audit_event_at ON audit_event (chain, at);

CREATE TABLE audit_head (
    chain TEXT PRIMARY KEY,
    seq   BIGINT NOT NULL,
    hash  TEXT NOT NULL
);

-- What the deployment remembers of itself: made once, read by every process.
CREATE TABLE deployment (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
