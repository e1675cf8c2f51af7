-- +goose Up
-- What the OpenID provider remembers. Codes and tokens are hashes, keys sealed.
CREATE TABLE oidc_key (
    generation BIGINT PRIMARY KEY, -- from 1
    id         TEXT NOT NULL UNIQUE,
    sealed     BLOB NOT NULL,
    created_at BIGINT NOT NULL,
    active_at  BIGINT NOT NULL
);

-- What a user gave to an application.
CREATE TABLE oidc_grant (
    id         TEXT PRIMARY KEY,
    user_id    TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    client_id  TEXT NOT NULL,
    scopes     TEXT NOT NULL, -- separated by spaces
    auth_time  BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL, -- nothing issued for it lives longer
    revoked_at BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX oidc_grant_user ON oidc_grant (user_id);
CREATE INDEX oidc_grant_expires ON oidc_grant (expires_at);

CREATE TABLE oidc_code (
    hash         TEXT PRIMARY KEY,
    user_id      TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    client_id    TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    challenge    TEXT NOT NULL,
    nonce        TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    offline      BOOLEAN NOT NULL,
    auth_time    BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    grant_id     TEXT NOT NULL DEFAULT '' -- set once it was exchanged
);
CREATE INDEX oidc_code_user ON oidc_code (user_id);
CREATE INDEX oidc_code_expires ON oidc_code (expires_at);

CREATE TABLE oidc_refresh (
    hash       TEXT PRIMARY KEY,
    grant_id   TEXT NOT NULL REFERENCES oidc_grant (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX oidc_refresh_grant ON oidc_refresh (grant_id);

CREATE TABLE oidc_device (
    hash       TEXT PRIMARY KEY,
    user_hash  TEXT NOT NULL UNIQUE,
    client_id  TEXT NOT NULL,
    scopes     TEXT NOT NULL,
    state      TEXT NOT NULL, -- grant.DeviceState
    user_id    TEXT REFERENCES app_user (id) ON DELETE CASCADE,
    auth_time  BIGINT NOT NULL DEFAULT 0,
    poll_every BIGINT NOT NULL, -- milliseconds
    polled_at  BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    grant_id   TEXT NOT NULL DEFAULT ''
);
CREATE INDEX oidc_device_user ON oidc_device (user_id);
CREATE INDEX oidc_device_expires ON oidc_device (expires_at);

-- Access tokens that were taken back before their end: their own id, or that of
-- the grant or session they were made for.
CREATE TABLE oidc_revocation (
    id         TEXT PRIMARY KEY,
    expires_at BIGINT NOT NULL -- every such token has ended by then
);
CREATE INDEX oidc_revocation_expires ON oidc_revocation (expires_at);
