-- +goose Up
-- Grants know the browser session in which they were given, which takes them
-- back when it is ended, and when they were last used.
ALTER TABLE oidc_code ADD COLUMN session_id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE oidc_device ADD COLUMN session_id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE oidc_grant ADD COLUMN session_id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE oidc_grant ADD COLUMN last_used_at BIGINT NOT NULL DEFAULT 0;
UPDATE oidc_grant SET last_used_at = created_at;
CREATE INDEX oidc_grant_session ON oidc_grant (session_id) WHERE session_id <> '';
