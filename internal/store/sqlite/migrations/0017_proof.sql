-- +goose Up
-- One flaw, seen from both sides: in the source, and in the running application.
ALTER TABLE finding ADD COLUMN proves TEXT NOT NULL DEFAULT '';         -- of a live scan: the place of the finding of the source
ALTER TABLE finding ADD COLUMN proven BOOLEAN NOT NULL DEFAULT FALSE;   -- of the source: the priority counts that a live scan shows it
CREATE INDEX finding_proves ON finding (project_id, branch, proves) WHERE proves <> '';
CREATE INDEX finding_proven ON finding (project_id, branch) WHERE proven;
