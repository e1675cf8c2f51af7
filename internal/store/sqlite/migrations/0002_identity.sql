-- +goose Up
-- How a person proves to be a user: passwords, sessions, personal access tokens,
-- what was asked for by mail, limits on guessing, and the mails that wait. Every
-- secret that the service made is here only as SHA-256 in hexadecimal.
CREATE TABLE credential (
    user_id    TEXT PRIMARY KEY REFERENCES app_user (id) ON DELETE CASCADE,
    password   TEXT NOT NULL,  -- argon2id in the PHC string format; empty for none
    valid_from BIGINT NOT NULL -- what was derived from a sign-in before holds no more
);

CREATE TABLE session (
    id           TEXT PRIMARY KEY,
    user_id      TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    token_hash   TEXT NOT NULL UNIQUE,
    auth_at      BIGINT NOT NULL,
    ip           TEXT NOT NULL,
    user_agent   TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL, -- exact to a minute
    expires_at   BIGINT NOT NULL
);
CREATE INDEX session_by_user ON session (user_id, last_used_at, id);

-- Where a user has signed in from, so that guessing by others does not lock the
-- user out there.
CREATE TABLE known_origin (
    user_id TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    origin  TEXT NOT NULL, -- a hash
    last_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, origin)
);

CREATE TABLE personal_access_token (
    id           TEXT PRIMARY KEY,
    user_id      TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    name         TEXT NOT NULL,
    token_hash   TEXT NOT NULL UNIQUE,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL, -- 0 for never
    last_used_at BIGINT NOT NULL, -- 0 for never; exact to a minute
    UNIQUE (user_id, name)
);

CREATE TABLE one_time_token (
    token_hash TEXT PRIMARY KEY,
    kind       TEXT NOT NULL, -- identity.RequestKind
    email      TEXT NOT NULL,
    user_id    TEXT REFERENCES app_user (id) ON DELETE CASCADE,
    password   TEXT NOT NULL, -- of a sign-up, as in credential
    first_name TEXT NOT NULL,
    last_name  TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX one_time_token_email ON one_time_token (email, kind);
CREATE INDEX one_time_token_user ON one_time_token (user_id);

CREATE TABLE rate_window (
    name     TEXT NOT NULL, -- a hash
    start_at BIGINT NOT NULL,
    hits     BIGINT NOT NULL,
    ends_at  BIGINT NOT NULL, -- nobody asks for it any more
    PRIMARY KEY (name, start_at)
);
CREATE INDEX rate_window_ends ON rate_window (ends_at);

CREATE TABLE mail_outbox (
    id         TEXT PRIMARY KEY,
    recipient  TEXT NOT NULL,
    sealed     BLOB NOT NULL, -- the whole mail; empty when it was given up
    attempts   INTEGER NOT NULL DEFAULT 0,
    next_at    BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    failed_at  BIGINT NOT NULL DEFAULT 0, -- when it was given up
    reason     TEXT NOT NULL DEFAULT ''   -- why it was not delivered the last time
);
CREATE INDEX mail_outbox_due ON mail_outbox (failed_at, next_at, id);
