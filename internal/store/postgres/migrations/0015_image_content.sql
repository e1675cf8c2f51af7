-- +goose Up
-- What an image holds, findings apart from packages: numbers of images are of the former,
-- and there are many more of the latter.
ALTER TABLE image_content RENAME TO image_content_old;
CREATE TABLE image_content (
    project_id TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    image_id   TEXT NOT NULL,
    kind       SMALLINT NOT NULL, -- 1 a finding, 2 a package
    item_id    TEXT NOT NULL,
    PRIMARY KEY (project_id, image_id, kind, item_id)
);
INSERT INTO image_content (project_id, image_id, kind, item_id)
    SELECT o.project_id, o.image_id, CASE WHEN EXISTS (SELECT 1 FROM finding f WHERE f.id = o.item_id) THEN 1 ELSE 2 END, o.item_id FROM image_content_old o;
DROP TABLE image_content_old;
CREATE INDEX image_content_holder ON image_content (item_id, image_id);
