-- +goose Up
-- Findings, what was decided about them, their history, the packages of a branch,
-- and the counters that lists read instead of counting.
--
-- Enumerations are numbers from 1, in the order in which they sort:
--   analysis  sast sca iac secret cicd container dast api
--   severity  critical high medium low
--   status    to_verify confirmed resolved ignored
--   priority  critical_urgent urgent normal low very_low
-- Fingerprints and flaws are 32 hexadecimal digits. Times are milliseconds.

-- A rule as an organization's scans describe it. Tenants do not share rows: a
-- scanner's text may be a tenant's own.
CREATE TABLE rule (
    id              TEXT PRIMARY KEY, -- derived from organization and name
    organization_id TEXT NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
    rule_id         TEXT NOT NULL,    -- finding.Rule.ID
    name            TEXT NOT NULL,
    advisory        TEXT NOT NULL DEFAULT '', -- the vulnerability's name, of a rule that is one
    body            BLOB NOT NULL,    -- finding.Rule as JSON, compressed
    sum             BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL
);
CREATE INDEX rule_organization ON rule (organization_id, name);

-- A branch of a project that was scanned.
CREATE TABLE branch (
    project_id      TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    name            TEXT NOT NULL,
    organization_id TEXT NOT NULL,
    version         BIGINT NOT NULL DEFAULT 0, -- grows with every batch of a scan
    scanned_at      BIGINT NOT NULL DEFAULT 0, -- when a scan was last applied as a whole
    run_id          TEXT NOT NULL DEFAULT '',  -- of that scan
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (project_id, name)
);

-- The last run of each analyzer on a branch, and how it ended.
CREATE TABLE branch_scan (
    project_id TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    branch     TEXT NOT NULL,
    analyzer   TEXT NOT NULL,
    analysis   SMALLINT NOT NULL,
    run_id     TEXT NOT NULL,
    source     TEXT NOT NULL, -- run.Source
    state      TEXT NOT NULL, -- scan.State
    at         BIGINT NOT NULL,
    PRIMARY KEY (project_id, branch, analyzer)
);

-- A flaw on a branch.
CREATE TABLE finding (
    id              TEXT PRIMARY KEY,
    organization_id TEXT NOT NULL,
    project_id      TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    branch          TEXT NOT NULL,
    flaw            TEXT NOT NULL,      -- shared by all branches: the first place it was seen at
    place           TEXT NOT NULL,      -- finding.Fingerprint.Place
    code            TEXT NOT NULL,      -- finding.Fingerprint.Flaw
    analysis        SMALLINT NOT NULL,
    analyzer        TEXT NOT NULL,
    rule_id         TEXT NOT NULL,      -- of rule
    closed          SMALLINT NOT NULL,  -- 0 to_verify or confirmed, 1 resolved or ignored
    severity        SMALLINT NOT NULL,
    status          SMALLINT NOT NULL,
    priority        SMALLINT NOT NULL,
    pinned          BOOLEAN NOT NULL,   -- a person chose the priority
    score           SMALLINT NOT NULL,  -- of the priority, thousandths
    gone            BOOLEAN NOT NULL,   -- the last scan that looked did not find it
    cvss            SMALLINT NOT NULL,  -- tenths; 0 for none
    fixable         BOOLEAN NOT NULL,   -- an upgrade that clears it is known
    dependency      SMALLINT NOT NULL,  -- 0 none; bits: 1 direct, 2 transitive, 4 development
    path            TEXT NOT NULL,
    start_line      INTEGER NOT NULL,
    end_line        INTEGER NOT NULL,
    language        TEXT NOT NULL,
    message         TEXT NOT NULL,
    package         TEXT NOT NULL,      -- its name; empty for none
    detail          BLOB NOT NULL,      -- the rest of finding.Finding as JSON, compressed
    sum             BIGINT NOT NULL,    -- of what was reported
    first_run       TEXT NOT NULL,
    last_run        TEXT NOT NULL,      -- the last run that changed it
    last_did        SMALLINT NOT NULL,  -- triage.Effect of that run
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    resolved_at     BIGINT NOT NULL
);
CREATE UNIQUE INDEX finding_place ON finding (project_id, branch, place);
CREATE INDEX finding_flaw ON finding (project_id, flaw);
-- Lists: the worst open ones first, with what they are filtered by most.
CREATE INDEX finding_list ON finding (project_id, analysis, closed, severity, id, status, priority, branch);

-- Later places of a flaw: a renamed file gives it another place.
CREATE TABLE renamed (
    project_id TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    place      TEXT NOT NULL,
    flaw       TEXT NOT NULL,
    PRIMARY KEY (project_id, place)
);

-- What a person decided about a flaw, for every branch.
CREATE TABLE decision (
    project_id TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    flaw       TEXT NOT NULL,
    status     SMALLINT NOT NULL, -- 0 for none
    priority   SMALLINT NOT NULL, -- 0 for none
    comment    TEXT NOT NULL,
    decided_by TEXT NOT NULL,     -- a user's id
    decided_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, flaw)
);

-- Changes of a finding by scans, and of a flaw by people.
CREATE TABLE finding_history (
    project_id TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    flaw       TEXT NOT NULL,
    id         TEXT NOT NULL,
    finding_id TEXT NOT NULL, -- empty for a decision
    at         BIGINT NOT NULL,
    kind       TEXT NOT NULL, -- triage.ChangeKind
    value      TEXT NOT NULL,
    previous   TEXT NOT NULL,
    reason     TEXT NOT NULL,
    run_id     TEXT NOT NULL, -- empty for a person's change
    user_id    TEXT NOT NULL, -- empty for a scan's change
    PRIMARY KEY (project_id, flaw, id)
);

-- The packages of a branch, as its last scans saw them.
CREATE TABLE package (
    id              TEXT PRIMARY KEY, -- derived from project, branch, name, version and path
    organization_id TEXT NOT NULL,
    project_id      TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    branch          TEXT NOT NULL,
    ecosystem       TEXT NOT NULL,
    name            TEXT NOT NULL,
    version         TEXT NOT NULL,
    path            TEXT NOT NULL,
    dependency      SMALLINT NOT NULL, -- as in finding
    body            TEXT NOT NULL,     -- finding.Package as JSON
    sum             BIGINT NOT NULL,
    first_run       TEXT NOT NULL,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL
);
CREATE INDEX package_list ON package (project_id, branch, name, version, id);

-- How many findings a branch has of each sort, and what they add to the risk
-- score in thousandths.
CREATE TABLE branch_stats (
    project_id TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    branch     TEXT NOT NULL,
    analysis   SMALLINT NOT NULL,
    severity   SMALLINT NOT NULL,
    status     SMALLINT NOT NULL,
    priority   SMALLINT NOT NULL,
    findings   BIGINT NOT NULL,
    risk       BIGINT NOT NULL,
    PRIMARY KEY (project_id, branch, analysis, severity, status, priority)
);

-- How many findings a branch gained and lost on each day.
CREATE TABLE branch_day (
    project_id TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    branch     TEXT NOT NULL,
    day        BIGINT NOT NULL, -- days since 1970 in UTC
    severity   SMALLINT NOT NULL,
    opened     BIGINT NOT NULL,
    solved     BIGINT NOT NULL,
    PRIMARY KEY (project_id, branch, day, severity)
);

-- How a project stands on its reference branch. Whoever changes findings of a
-- project locks its row first.
CREATE TABLE project_stats (
    project_id      TEXT PRIMARY KEY REFERENCES project (id) ON DELETE CASCADE,
    organization_id TEXT NOT NULL,
    revision        BIGINT NOT NULL DEFAULT 0,  -- grows with every decision
    branch          TEXT NOT NULL DEFAULT '',   -- the reference branch; empty while nothing was scanned
    hidden          BIGINT NOT NULL DEFAULT 0,  -- bit 4 * (analysis - 1) + severity - 1: such findings are not shown
    critical        BIGINT NOT NULL DEFAULT 0,  -- active findings that are shown
    high            BIGINT NOT NULL DEFAULT 0,
    medium          BIGINT NOT NULL DEFAULT 0,
    low             BIGINT NOT NULL DEFAULT 0,
    risk_score      BIGINT NOT NULL DEFAULT 0,
    risk_level      SMALLINT NOT NULL DEFAULT 4, -- critical high medium low
    level_since     BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX project_stats_organization ON project_stats (organization_id, project_id);
