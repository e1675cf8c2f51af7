-- +goose Up
-- The container image that is scanned instead of an upload: run.Image as JSON, or empty.
ALTER TABLE run ADD COLUMN image TEXT NOT NULL DEFAULT '';
