-- +goose Up

-- What people did that no task's log has: they paused everything of something and let it go on, taught a lesson or had
-- one forgotten. `sia audit` lists it. Rows are only added.
CREATE TABLE acts (
    n        integer PRIMARY KEY, -- in the order of time
    at       integer NOT NULL,
    by_login text    NOT NULL, -- a login, "operator" (whoever runs the server) or "sia"
    what     text    NOT NULL, -- halt, lift, learn, edit, forget
    repo_id  integer NOT NULL, -- 0: none, or all
    detail   text    NOT NULL -- for people
);
CREATE INDEX acts_at ON acts (at);

INSERT INTO acts (at, by_login, what, repo_id, detail)
    SELECT at, CASE WHEN by_login <> '' THEN by_login WHEN scope LIKE 'suspended %' THEN 'sia' ELSE 'operator' END,
        'halt', CASE WHEN scope LIKE 'repository %' THEN CAST(substr(scope, 12) AS integer) ELSE 0 END,
        scope || ': ' || reason FROM halts ORDER BY at, scope;
