-- +goose Up
-- Whether source code is analysed function by function, in limited time.
ALTER TABLE run ADD COLUMN fast BOOLEAN NOT NULL DEFAULT FALSE;
