-- +goose Up
-- Requests that carried an Idempotency-Key, and what they were answered with.
CREATE TABLE idempotent_request (
    actor      TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    route      TEXT NOT NULL,   -- operationId
    key_hash   TEXT NOT NULL,   -- SHA-256, hexadecimal
    digest     TEXT NOT NULL,   -- of address and body
    holder     TEXT NOT NULL,   -- who is at it; empty when it is answered
    held_until BIGINT NOT NULL, -- a holder that died is replaced then
    answer     BLOB,            -- sealed
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (actor, route, key_hash)
);
CREATE INDEX idempotent_request_expires ON idempotent_request (expires_at);
