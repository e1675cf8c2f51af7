-- +goose Up
-- How far a chain is sealed with the deployment's key: see audit.Seal.
ALTER TABLE audit_head ADD COLUMN seal_seq BIGINT NOT NULL DEFAULT 0;
ALTER TABLE audit_head ADD COLUMN seal_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE audit_head ADD COLUMN seal TEXT NOT NULL DEFAULT '';
