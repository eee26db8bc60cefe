-- A lesson's terms beside it, so that ranking what a search finds takes no text apart.

-- +goose Up

-- The terms with a space between any two; '' in rows from before: see the lesson.
ALTER TABLE lessons ADD COLUMN terms text NOT NULL DEFAULT '';

-- +goose Down

ALTER TABLE lessons DROP COLUMN terms;
