-- +goose Up
-- What the OpenID provider remembers. Codes and tokens are hashes, keys sealed.
CREATE TABLE oidc_key (
    generation BIGINT PRIMARY KEY, -- from 1
    id         TEXT COLLATE "C" NOT NULL UNIQUE,
    sealed     BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    active_at  BIGINT NOT NULL
);

-- What a user gave to an application.
CREATE TABLE oidc_grant (
    id         TEXT COLLATE "C" PRIMARY KEY,
    user_id    TEXT COLLATE "C" NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    client_id  TEXT COLLATE "C" NOT NULL,
    scopes     TEXT COLLATE "C" NOT NULL, -- separated by spaces
    auth_time  BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL, -- nothing issued for it lives longer
    revoked_at BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX oidc_grant_user ON oidc_grant (user_id);
CREATE INDEX oidc_grant_expires ON oidc_grant (expires_at);

CREATE TABLE oidc_code (
    hash         TEXT COLLATE "C" PRIMARY KEY,
    user_id      TEXT COLLATE "C" NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    client_id    TEXT COLLATE "C" NOT NULL,
    redirect_uri TEXT COLLATE "C" NOT NULL,
    challenge    TEXT COLLATE "C" NOT NULL,
    nonce        TEXT COLLATE "C" NOT NULL,
    scopes       TEXT COLLATE "C" NOT NULL,
    offline      BOOLEAN NOT NULL,
    auth_time    BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    grant_id     TEXT COLLATE "C" NOT NULL DEFAULT '' -- set once it was exchanged
);
CREATE INDEX oidc_code_user ON oidc_code (user_id);
CREATE INDEX oidc_code_expires ON oidc_code (expires_at);

CREATE TABLE oidc_refresh (
    hash       TEXT COLLATE "C" PRIMARY KEY,
    grant_id   TEXT COLLATE "C" NOT NULL REFERENCES oidc_grant (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX oidc_refresh_grant ON oidc_refresh (grant_id);

CREATE TABLE oidc_device (
    hash       TEXT COLLATE "C" PRIMARY KEY,
    user_hash  TEXT COLLATE "C" NOT NULL UNIQUE,
    client_id  TEXT COLLATE "C" NOT NULL,
    scopes     TEXT COLLATE "C" NOT NULL,
    state      TEXT COLLATE "C" NOT NULL, -- grant.DeviceState
    user_id    TEXT COLLATE "C" REFERENCES app_user (id) ON DELETE CASCADE,
    auth_time  BIGINT NOT NULL DEFAULT 0,
    poll_every BIGINT NOT NULL, -- milliseconds
    polled_at  BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    grant_id   TEXT COLLATE "C" NOT NULL DEFAULT ''
);
CREATE INDEX oidc_device_user ON oidc_device (user_id);
CREATE INDEX oidc_device_expires ON oidc_device (expires_at);

-- Access tokens that were taken back before their end: their own id, or that of
-- the grant or session they were made for.
CREATE TABLE oidc_revocation (
    id         TEXT COLLATE "C" PRIMARY KEY,
    expires_at BIGINT NOT NULL -- every such token has ended by then
);
CREATE INDEX oidc_revocation_expires ON oidc_revocation (expires_at);
