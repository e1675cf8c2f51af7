-- +goose Up
-- PostgreSQL keeps large values outside of their row and reads only those that a query
-- names, so the order of columns, which this migration changes in SQLite, does not
-- matter. Sealed text does not compress.
ALTER TABLE target ALTER COLUMN sealed SET STORAGE EXTERNAL;
