-- +goose Up

-- Up to when this database has every delivery that GitHub had answered. A database that was restored from a backup has
-- lost those since then (app/sweep/lost.go).
CREATE TABLE delivery_marks (
    name text    PRIMARY KEY, -- "answered"
    at   integer NOT NULL
);

INSERT INTO delivery_marks (name, at)
    SELECT 'answered', max(received_at) FROM deliveries HAVING count(*) > 0;
