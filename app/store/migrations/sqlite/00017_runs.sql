-- +goose Up

-- Several runs of agents may go into one attempt; 0 is the only one.
CREATE TABLE transcripts_of_runs (
    task_id text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    attempt integer NOT NULL,
    run     integer NOT NULL,
    number  integer NOT NULL,
    turn    blob    NOT NULL, -- packed JSON
    PRIMARY KEY (task_id, attempt, run, number)
);
INSERT INTO transcripts_of_runs SELECT task_id, attempt, 0, number, turn FROM transcripts;
DROP TABLE transcripts;
ALTER TABLE transcripts_of_runs RENAME TO transcripts;

-- +goose Down

CREATE TABLE transcripts_of_attempts (
    task_id text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    attempt integer NOT NULL,
    number  integer NOT NULL,
    turn    blob    NOT NULL, -- packed JSON
    PRIMARY KEY (task_id, attempt, number)
);
INSERT INTO transcripts_of_attempts SELECT task_id, attempt, number, turn FROM transcripts WHERE run = 0;
DROP TABLE transcripts;
ALTER TABLE transcripts_of_attempts RENAME TO transcripts;
