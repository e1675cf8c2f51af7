-- +goose Up
-- What a user agreed to let an application do, so that it is asked about once.
CREATE TABLE oidc_consent (
    user_id    TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    client_id  TEXT NOT NULL,
    scopes     TEXT NOT NULL, -- separated by spaces
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, client_id)
);
