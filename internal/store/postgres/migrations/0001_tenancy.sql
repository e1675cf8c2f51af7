-- +goose Up
-- Organizations, teams, projects, members and custom roles.
-- Users stand here because every membership refers to one; how a person proves
-- to be that user is in 0002_identity.sql.
CREATE TABLE organization (
    id                    TEXT COLLATE "C" PRIMARY KEY,
    name                  TEXT COLLATE "C" NOT NULL,
    description           TEXT COLLATE "C" NOT NULL DEFAULT '',
    website               TEXT COLLATE "C" NOT NULL DEFAULT '',
    email                 TEXT COLLATE "C" NOT NULL DEFAULT '',
    industry              TEXT COLLATE "C" NOT NULL,
    country               TEXT COLLATE "C" NOT NULL,
    concurrent_scan_limit INTEGER NOT NULL DEFAULT 1,
    billing               TEXT COLLATE "C" NOT NULL DEFAULT '{}', -- tenant.BillingProfile as JSON
    created_at            BIGINT NOT NULL,
    updated_at            BIGINT NOT NULL
);

CREATE TABLE app_user (
    id           TEXT COLLATE "C" PRIMARY KEY,
    email        TEXT COLLATE "C" NOT NULL UNIQUE,         -- lower case; of a service account an unroutable name
    first_name   TEXT COLLATE "C" NOT NULL DEFAULT '',
    last_name    TEXT COLLATE "C" NOT NULL DEFAULT '',
    picture      TEXT COLLATE "C" NOT NULL DEFAULT '',
    notification BOOLEAN NOT NULL DEFAULT TRUE,
    onboarded    BOOLEAN NOT NULL DEFAULT FALSE,
    service_of   TEXT COLLATE "C" REFERENCES organization (id) ON DELETE CASCADE, -- set for a service account
    disabled_at  BIGINT NOT NULL DEFAULT 0,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);

CREATE TABLE custom_role (
    id              TEXT COLLATE "C" PRIMARY KEY,
    organization_id TEXT COLLATE "C" NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
    name            TEXT COLLATE "C" NOT NULL,
    level           TEXT COLLATE "C" NOT NULL, -- tenant.Level
    permissions     BIGINT NOT NULL,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    UNIQUE (organization_id, name)
);

CREATE TABLE organization_member (
    organization_id TEXT COLLATE "C" NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
    user_id         TEXT COLLATE "C" NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    role            TEXT COLLATE "C" NOT NULL, -- a built-in role's name or a custom_role's id
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (organization_id, user_id)
);
CREATE INDEX organization_member_user ON organization_member (user_id);

CREATE TABLE team (
    id              TEXT COLLATE "C" PRIMARY KEY,
    organization_id TEXT COLLATE "C" NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
    name            TEXT COLLATE "C" NOT NULL,
    description     TEXT COLLATE "C" NOT NULL DEFAULT '',
    projects        BIGINT NOT NULL DEFAULT 0, -- how many it has: a list says its total without counting
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL
);
CREATE INDEX team_organization ON team (organization_id, projects);

CREATE TABLE team_member (
    team_id    TEXT COLLATE "C" NOT NULL REFERENCES team (id) ON DELETE CASCADE,
    user_id    TEXT COLLATE "C" NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    role       TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (team_id, user_id)
);
CREATE INDEX team_member_user ON team_member (user_id, team_id, role);

CREATE TABLE project (
    id              TEXT COLLATE "C" PRIMARY KEY,
    organization_id TEXT COLLATE "C" NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
    team_id         TEXT COLLATE "C" NOT NULL REFERENCES team (id) ON DELETE CASCADE,
    name            TEXT COLLATE "C" NOT NULL,
    languages       TEXT COLLATE "C" NOT NULL DEFAULT '[]', -- JSON
    settings        TEXT COLLATE "C" NOT NULL,              -- project.Settings as JSON
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL
);
CREATE INDEX project_team ON project (team_id, name, id);
CREATE INDEX project_organization ON project (organization_id, name, id, team_id);

CREATE TABLE project_member (
    project_id TEXT COLLATE "C" NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    user_id    TEXT COLLATE "C" NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    role       TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, user_id)
);
CREATE INDEX project_member_user ON project_member (user_id, project_id, role);

CREATE TABLE invitation (
    id              TEXT COLLATE "C" PRIMARY KEY,
    organization_id TEXT COLLATE "C" NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
    email           TEXT COLLATE "C" NOT NULL,
    role            TEXT COLLATE "C" NOT NULL,
    teams           TEXT COLLATE "C" NOT NULL DEFAULT '[]', -- []tenant.TeamAssignment as JSON
    token_hash      TEXT COLLATE "C" NOT NULL UNIQUE,       -- SHA-256, hexadecimal
    status          TEXT COLLATE "C" NOT NULL,
    invited_by      TEXT COLLATE "C" NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    created_at      BIGINT NOT NULL,
    expires_at      BIGINT NOT NULL
);
CREATE INDEX invitation_organization ON invitation (organization_id, created_at, id);

-- Each organization's audit records are a chain of their own; the chain '' is
-- the deployment's (sign-in events and what belongs to no organization).
CREATE TABLE audit_event (
    chain       TEXT COLLATE "C" NOT NULL,
    seq         BIGINT NOT NULL, -- from 1, without a gap
    at          BIGINT NOT NULL,
    actor       TEXT COLLATE "C" NOT NULL,   -- a user's id; empty for the program itself
    client      TEXT COLLATE "C" NOT NULL,
    ip          TEXT COLLATE "C" NOT NULL,
    action      TEXT COLLATE "C" NOT NULL,
    target_kind TEXT COLLATE "C" NOT NULL,
    target      TEXT COLLATE "C" NOT NULL,
    detail      TEXT COLLATE "C" NOT NULL,   -- JSON
    previous    TEXT COLLATE "C" NOT NULL,   -- hash of seq-1
    hash        TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (chain, seq)
);
CREATE INDEX audit_event_actor ON audit_event (chain, actor, seq);
CREATE INDEX audit_event_action ON audit_event (chain, action, seq);
CREATE INDEX audit_event_at ON audit_event (chain, at);

CREATE TABLE audit_head (
    chain TEXT COLLATE "C" PRIMARY KEY,
    seq   BIGINT NOT NULL,
    hash  TEXT COLLATE "C" NOT NULL
);

-- What the deployment remembers of itself: made once, read by every process.
CREATE TABLE deployment (
    name  TEXT COLLATE "C" PRIMARY KEY,
    value TEXT COLLATE "C" NOT NULL
);
