-- +goose Up
-- Requests that carried an Idempotency-Key, and what they were answered with.
CREATE TABLE idempotent_request (
    actor      TEXT COLLATE "C" NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    route      TEXT COLLATE "C" NOT NULL,   -- operationId
    key_hash   TEXT COLLATE "C" NOT NULL,   -- SHA-256, hexadecimal
    digest     TEXT COLLATE "C" NOT NULL,   -- of address and body
    holder     TEXT COLLATE "C" NOT NULL,   -- who is at it; empty when it is answered
    held_until BIGINT NOT NULL, -- a holder that died is replaced then
    answer     BYTEA,           -- sealed
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (actor, route, key_hash)
);
CREATE INDEX idempotent_request_expires ON idempotent_request (expires_at);
