-- +goose Up
-- Container images that scans of a branch looked at, and what each of them holds:
-- images of one repository share findings and packages.

CREATE TABLE image (
    id              TEXT PRIMARY KEY, -- derived from project, branch and reference
    organization_id TEXT NOT NULL,
    project_id      TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    branch          TEXT NOT NULL,
    reference       TEXT NOT NULL,    -- the name in full, with the tag
    repository      TEXT NOT NULL,
    tag             TEXT NOT NULL,    -- or the digest that it was asked for by
    digest          TEXT NOT NULL,    -- of the manifest that was scanned last
    platform        TEXT NOT NULL,
    base            TEXT NOT NULL,    -- the image that it was built from
    os              TEXT NOT NULL,    -- scan.OS as JSON; empty while no scan told
    size            BIGINT NOT NULL,  -- bytes of the layers as stored
    layers          INTEGER NOT NULL,
    run_id          TEXT NOT NULL,    -- of the last scan
    state           TEXT NOT NULL,    -- scan.State of it
    created_at      BIGINT NOT NULL,
    scanned_at      BIGINT NOT NULL
);
CREATE INDEX image_list ON image (project_id, branch, repository, tag);

-- What an image holds. Rows may come before that of the image: a scan is written in
-- several transactions, and the image with the last.
CREATE TABLE image_content (
    image_id   TEXT NOT NULL,
    item_id    TEXT NOT NULL, -- of a finding or a package
    project_id TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    PRIMARY KEY (image_id, item_id)
);
CREATE INDEX image_content_item ON image_content (item_id);
CREATE INDEX image_content_project ON image_content (project_id);

-- When a scan of source was last applied as a whole: a scan of an image says nothing
-- of the source of a branch. Analysis 6 is that of images.
ALTER TABLE branch ADD COLUMN source_at BIGINT NOT NULL DEFAULT 0;
UPDATE branch SET source_at = scanned_at WHERE EXISTS
    (SELECT 1 FROM branch_scan s WHERE s.project_id = branch.project_id AND s.branch = branch.name AND s.analysis <> 6);

-- Classes of what is in images: bits 16, packages of the distribution, and 32, secrets.
UPDATE package SET dependency = dependency | 16 WHERE dependency & 8 <> 0
    AND (body LIKE '%"purl":"pkg:deb/%' OR body LIKE '%"purl":"pkg:rpm/%' OR body LIKE '%"purl":"pkg:apk/%');
UPDATE finding SET dependency = dependency | 16 WHERE dependency & 8 <> 0
    AND (path LIKE '%/var/lib/dpkg/%' OR path LIKE '%/apk/db/%' OR path LIKE '%/rpm/%');
UPDATE finding SET dependency = dependency | 32 WHERE analysis = 6 AND package = '' AND EXISTS
    (SELECT 1 FROM rule r WHERE r.id = finding.rule_id AND (r.rule_id LIKE 'secrets/%' OR r.rule_id LIKE 'container/image/secret-%'));
