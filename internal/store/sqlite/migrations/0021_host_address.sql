-- +goose Up
-- Where a host led when its ownership was shown by a record in the DNS: a name that leads
-- elsewhere later is not attacked.
CREATE TABLE host_address (
    organization_id TEXT NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
    host            TEXT NOT NULL,
    addresses       TEXT NOT NULL, -- JSON
    seen_at         BIGINT NOT NULL,
    PRIMARY KEY (organization_id, host)
);
