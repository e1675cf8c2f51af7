-- +goose Up
-- Licences of packages, what people decided about them, and what organizations
-- think of licences.
--
-- Categories are numbers from 1: permissive, weak copyleft, strong copyleft, unknown.

-- What the package declares: SPDX expressions, one a line.
ALTER TABLE package ADD COLUMN licenses TEXT NOT NULL DEFAULT '';
UPDATE package SET licenses = (SELECT COALESCE(string_agg(l.value, E'\n'), '') FROM json_array_elements_text(body::json -> 'licenses') l(value))
WHERE body LIKE '%"licenses":[%' AND strpos(body, '\u0000') = 0;

-- What a person said about the licence of a package, for every branch, version and
-- later scan, as long as the package declares what it declared then.
CREATE TABLE package_license (
    project_id TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    ecosystem  TEXT NOT NULL,
    name       TEXT NOT NULL,
    declared   TEXT NOT NULL,                  -- package.licenses
    expression TEXT NOT NULL DEFAULT '',       -- under which it truly is; empty for what it declares
    ignored    BOOLEAN NOT NULL DEFAULT FALSE, -- left out of numbers
    decided_by TEXT NOT NULL,
    decided_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, ecosystem, name, declared)
);

-- What an organization thinks of a licence, listed by SPDX or its own.
CREATE TABLE license_class (
    organization_id TEXT NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
    name            TEXT NOT NULL,     -- the identifier in lower case
    spdx_id         TEXT NOT NULL,
    category        SMALLINT NOT NULL,
    PRIMARY KEY (organization_id, name)
);
