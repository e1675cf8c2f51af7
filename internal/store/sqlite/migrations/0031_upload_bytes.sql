-- +goose Up
-- How many bytes an upload takes up, or may at present, and whose they are: an
-- organization stores only so many. No foreign key: the row outlives its run until the
-- blob is deleted.
ALTER TABLE upload ADD COLUMN organization_id TEXT NOT NULL DEFAULT '';
ALTER TABLE upload ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
UPDATE upload SET
    organization_id = COALESCE((SELECT r.organization_id FROM run r WHERE r.id = upload.run_id), ''),
    bytes = COALESCE((SELECT r.size FROM run r WHERE r.id = upload.run_id AND r.archive = upload.blob_key), 0);
CREATE INDEX upload_organization ON upload (organization_id);
