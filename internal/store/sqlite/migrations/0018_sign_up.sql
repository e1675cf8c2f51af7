-- +goose Up
-- A sign-up keeps the address only: name and password are chosen behind the link
-- in the mail. What strangers typed for an address before is removed.
ALTER TABLE one_time_token DROP COLUMN password;
ALTER TABLE one_time_token DROP COLUMN first_name;
ALTER TABLE one_time_token DROP COLUMN last_name;
