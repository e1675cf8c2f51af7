-- +goose Up
-- What the newest scans of a branch looked at, by analysis and by what was scanned. A
-- number of findings means something only together with it.
CREATE TABLE branch_coverage (
    project_id TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    branch     TEXT NOT NULL,
    analysis   SMALLINT NOT NULL,
    subject    TEXT NOT NULL,                  -- empty for source, image:<repository>, target:<id>
    at         BIGINT NOT NULL DEFAULT 0,      -- of the newest scan that looked; 0 when none did
    run_id     TEXT NOT NULL DEFAULT '',
    source     TEXT NOT NULL DEFAULT '',       -- run.Source
    complete   BOOLEAN NOT NULL DEFAULT FALSE, -- it looked at everything
    files      INTEGER NOT NULL DEFAULT 0,
    reasons    TEXT NOT NULL DEFAULT '[]',     -- the first reasons why it did not, as JSON
    omitted    INTEGER NOT NULL DEFAULT 0,     -- how many further ones there are
    failed_at  BIGINT NOT NULL DEFAULT 0,      -- of the newest scan that failed; 0 when none did
    failed_run TEXT NOT NULL DEFAULT '',
    failure    TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (project_id, branch, analysis, subject)
);

INSERT INTO branch_coverage (project_id, branch, analysis, subject, at, run_id, source, complete, reasons)
SELECT s.project_id, s.branch, s.analysis, CASE WHEN s.analysis >= 7 THEN 'target:' || COALESCE(MAX(r.target_id), '') ELSE '' END,
    MAX(s.at), MAX(s.run_id), MAX(s.source), MIN(CASE WHEN s.state = 'succeeded' THEN 1 ELSE 0 END) = 1,
    CASE WHEN MIN(CASE WHEN s.state = 'succeeded' THEN 1 ELSE 0 END) = 1 THEN '[]' ELSE '[{"code":"degraded","message":"see the scan"}]' END
FROM branch_scan s LEFT JOIN run r ON r.id = s.run_id
WHERE s.state <> 'failed' AND s.analysis <> 6 AND s.at = (SELECT MAX(o.at) FROM branch_scan o
    WHERE o.project_id = s.project_id AND o.branch = s.branch AND o.analysis = s.analysis AND o.state <> 'failed')
GROUP BY s.project_id, s.branch, s.analysis;

INSERT INTO branch_coverage (project_id, branch, analysis, subject, at, run_id, complete, reasons)
SELECT i.project_id, i.branch, 6, 'image:' || i.repository, MAX(i.scanned_at), MAX(i.run_id),
    MIN(CASE WHEN i.state = 'succeeded' THEN 1 ELSE 0 END) = 1,
    CASE WHEN MIN(CASE WHEN i.state = 'succeeded' THEN 1 ELSE 0 END) = 1 THEN '[]' ELSE '[{"code":"degraded","message":"see the scan"}]' END
FROM image i WHERE i.state <> 'failed' GROUP BY i.project_id, i.branch, i.repository;

INSERT INTO branch_coverage (project_id, branch, analysis, subject, failed_at, failed_run, failure)
SELECT s.project_id, s.branch, s.analysis, CASE WHEN s.analysis >= 7 THEN 'target:' || COALESCE(MAX(r.target_id), '') ELSE '' END,
    MAX(s.at), MAX(s.run_id), 'see the scan'
FROM branch_scan s LEFT JOIN run r ON r.id = s.run_id WHERE s.state = 'failed' AND s.analysis <> 6
GROUP BY s.project_id, s.branch, s.analysis
ON CONFLICT (project_id, branch, analysis, subject) DO UPDATE SET failed_at = excluded.failed_at, failed_run = excluded.failed_run, failure = excluded.failure;

-- What a branch gained and lost by day, now by analysis, too. Rows of before have the
-- analysis 0: it was not recorded.
CREATE TABLE branch_daily (
    project_id TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    branch     TEXT NOT NULL,
    day        BIGINT NOT NULL, -- days since 1970 in UTC
    analysis   SMALLINT NOT NULL,
    severity   SMALLINT NOT NULL,
    opened     BIGINT NOT NULL,
    solved     BIGINT NOT NULL,
    PRIMARY KEY (project_id, branch, day, analysis, severity)
);
INSERT INTO branch_daily (project_id, branch, day, analysis, severity, opened, solved)
SELECT project_id, branch, day, 0, severity, opened, solved FROM branch_day;
DROP TABLE branch_day;
