-- +goose Up
-- What a personal access token may be used for, and how old one may be in an
-- organization. Tokens that exist keep all that they could do, as do grants.
ALTER TABLE personal_access_token ADD COLUMN scopes TEXT COLLATE "C" NOT NULL DEFAULT '';        -- tenant.TokenScopes by name; empty for all
ALTER TABLE personal_access_token ADD COLUMN organizations TEXT COLLATE "C" NOT NULL DEFAULT ''; -- ids, the only ones that it reaches; empty for all
ALTER TABLE personal_access_token ADD COLUMN projects TEXT COLLATE "C" NOT NULL DEFAULT '';      -- ids, the only ones that it reaches; empty for all
ALTER TABLE organization ADD COLUMN max_token_days BIGINT NOT NULL DEFAULT 0;        -- 0 for no limit
UPDATE oidc_grant SET scopes = scopes || ' read scan triage administer';
UPDATE oidc_code SET scopes = scopes || ' read scan triage administer';
UPDATE oidc_device SET scopes = scopes || ' read scan triage administer';
