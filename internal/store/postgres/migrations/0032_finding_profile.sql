-- +goose Up
-- Which findings the scan reports. Scans before had no profile and reported all.
ALTER TABLE run ADD COLUMN finding_profile TEXT NOT NULL DEFAULT 'all';
