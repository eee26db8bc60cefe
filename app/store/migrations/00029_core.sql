-- The schema of both databases, as SQLite reads it; pgschema.go says how PostgreSQL's is made of it.
--
-- Times are microseconds since 1970-01-01 UTC. Amounts are thousandths of a credit. "packed" bytes begin with one byte
-- that names their compression (pack.go). JSON columns hold what is only read whole. Indexes that are longer than what
-- is looked up answer the pages' questions by themselves.

-- +goose Up

CREATE TABLE installations (
    id           integer PRIMARY KEY, -- GitHub's installation id
    account      text    NOT NULL,
    account_id   integer NOT NULL,
    account_type text    NOT NULL,
    suspended    integer NOT NULL DEFAULT 0,
    created_at   integer NOT NULL,
    updated_at   integer NOT NULL
);

CREATE TABLE repositories (
    id              integer PRIMARY KEY, -- GitHub's repository id
    installation_id integer NOT NULL REFERENCES installations (id) ON DELETE CASCADE,
    owner           text    NOT NULL,
    name            text    NOT NULL,
    default_branch  text    NOT NULL,
    private         integer NOT NULL DEFAULT 0,
    settings        text, -- JSON, the last good ones; null: none seen
    settings_sha    text    NOT NULL DEFAULT '',
    updated_at      integer NOT NULL,
    server          text    NOT NULL DEFAULT '' -- whose folder has the mirror: it is preferred for attempts there
);
CREATE INDEX repositories_installation ON repositories (installation_id, owner, name);

CREATE TABLE deliveries (
    id              integer PRIMARY KEY,
    guid            text    NOT NULL UNIQUE, -- X-GitHub-Delivery
    event           text    NOT NULL,
    action          text    NOT NULL,
    installation_id integer NOT NULL,
    repo            text    NOT NULL,
    body            blob    NOT NULL, -- packed
    received_at     integer NOT NULL,
    state           text    NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'done', 'failed')),
    tries           integer NOT NULL DEFAULT 0, -- that failed
    error           text    NOT NULL DEFAULT ''
);
CREATE INDEX deliveries_state ON deliveries (state, received_at);

CREATE TABLE tasks (
    id              text    PRIMARY KEY,
    installation_id integer NOT NULL,
    repo_id         integer NOT NULL,
    issue           integer NOT NULL,
    state           text    NOT NULL,
    title           text    NOT NULL,
    version         integer NOT NULL,
    task            text    NOT NULL, -- JSON
    created_at      integer NOT NULL,
    updated_at      integer NOT NULL,
    temperature     text    NOT NULL DEFAULT '', -- sia.Temperature: hot, warm or cold; empty: nothing changes any more
    temperature_of  integer NOT NULL DEFAULT 0 -- nobody asks for it
);
CREATE INDEX tasks_repo ON tasks (repo_id, updated_at);
CREATE INDEX tasks_state ON tasks (state, updated_at);
CREATE INDEX tasks_updated ON tasks (updated_at DESC, id, repo_id, state, title);
CREATE INDEX tasks_ended ON tasks (installation_id, updated_at DESC, id) WHERE state IN ('passed', 'stopped');
CREATE INDEX tasks_temperature ON tasks (temperature, id, updated_at) WHERE temperature <> '';

-- Append-only.
CREATE TABLE task_events (
    task_id    text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    seq        integer NOT NULL, -- 1-based, without gaps
    event_id   text    NOT NULL,
    kind       text    NOT NULL,
    at         integer NOT NULL,
    by_id      integer NOT NULL DEFAULT 0,
    by_login   text    NOT NULL DEFAULT '',
    event      text    NOT NULL, -- JSON
    from_state text    NOT NULL,
    to_state   text    NOT NULL,
    why        text    NOT NULL DEFAULT '',
    ignored    text    NOT NULL DEFAULT '',
    PRIMARY KEY (task_id, seq)
);
CREATE UNIQUE INDEX task_events_once ON task_events (task_id, event_id);
CREATE INDEX task_events_kind ON task_events (kind, at);
CREATE INDEX task_endings ON task_events (at, to_state, task_id)
    WHERE to_state IN ('passed', 'stopped') AND from_state <> to_state AND kind <> 'restored';

CREATE TABLE task_refs (
    repo_id integer NOT NULL,
    ref     text    NOT NULL,
    task_id text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    PRIMARY KEY (repo_id, ref, task_id)
);

CREATE TABLE effects (
    key        text    PRIMARY KEY,
    task_id    text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    kind       text    NOT NULL,
    attempt    integer NOT NULL,
    due_at     integer NOT NULL,
    effect     text    NOT NULL, -- JSON
    state      text    NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'done', 'failed')),
    tries      integer NOT NULL DEFAULT 0, -- that failed
    error      text    NOT NULL DEFAULT '',
    cancelled  integer NOT NULL DEFAULT 0, -- somebody asked that it be stopped
    job_id     integer NOT NULL DEFAULT 0, -- a hint while pending
    created_at integer NOT NULL,
    ended_at   integer NOT NULL DEFAULT 0,
    -- Who carries a pending effect out (docs/adr/0026).
    lease_token  integer NOT NULL DEFAULT 0, -- grows each time it is taken: an outcome counts with the newest only
    lease_holder text    NOT NULL DEFAULT '', -- the engine that took it last
    lease_until  integer NOT NULL DEFAULT 0 -- when it runs out; 0: nobody holds it
);
CREATE INDEX effects_task ON effects (task_id, created_at);
CREATE INDEX effects_pending ON effects (due_at) WHERE state = 'pending';

CREATE TABLE attempts (
    task_id     text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    number      integer NOT NULL,
    repo_id     integer NOT NULL,
    agent       text    NOT NULL,
    prompt_hash text    NOT NULL,
    technique   text    NOT NULL,
    outcome     text    NOT NULL,
    cost        integer NOT NULL,
    started_at  integer NOT NULL,
    ended_at    integer NOT NULL, -- 0: it has not
    attempt     text    NOT NULL, -- JSON
    PRIMARY KEY (task_id, number)
);
CREATE INDEX attempts_technique ON attempts (technique, task_id);
CREATE INDEX attempts_ended ON attempts (ended_at);
CREATE INDEX attempts_repo ON attempts (repo_id, outcome);

-- Several runs of agents may go into one attempt; 0 is the only one.
CREATE TABLE transcripts (
    task_id text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    attempt integer NOT NULL,
    run     integer NOT NULL,
    number  integer NOT NULL,
    turn    blob    NOT NULL, -- packed JSON
    PRIMARY KEY (task_id, attempt, run, number)
);

CREATE TABLE texts (
    task_id text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    attempt integer NOT NULL,
    kind    text    NOT NULL,
    body    blob    NOT NULL, -- packed
    PRIMARY KEY (task_id, attempt, kind)
);

CREATE TABLE credits (
    id              integer PRIMARY KEY,
    task_id         text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    seq             integer NOT NULL,
    repo_id         integer NOT NULL,
    installation_id integer NOT NULL,
    at              integer NOT NULL,
    kind            text    NOT NULL CHECK (kind IN ('grant', 'reserve', 'return', 'spend', 'overrun')),
    amount          integer NOT NULL -- positive, but for a grant that lowers the budget
);
CREATE INDEX credits_repo ON credits (repo_id, at);
CREATE INDEX credits_installation ON credits (installation_id, at);
CREATE INDEX credits_task ON credits (task_id, seq);
CREATE INDEX credits_spent ON credits (at, repo_id, amount) WHERE kind IN ('spend', 'overrun');

CREATE TABLE surfaces (
    task_id   text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    kind      text    NOT NULL,
    github_id integer NOT NULL,
    hash      text    NOT NULL,
    PRIMARY KEY (task_id, kind)
);

-- Decisions with everything that they were made by.
CREATE TABLE decisions (
    n          integer PRIMARY KEY, -- the order in which they were made
    id         text    NOT NULL UNIQUE,
    task_id    text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    repo_id    integer NOT NULL,
    attempt    integer NOT NULL,
    type       text    NOT NULL, -- technique, rerun, interrupt, …
    policy     text    NOT NULL, -- name and version
    context    text    NOT NULL, -- JSON: what it was decided by
    options    text    NOT NULL, -- JSON: what could have been chosen
    choice     text    NOT NULL,
    propensity real    NOT NULL,
    reason     text    NOT NULL,
    at         integer NOT NULL,
    outcome    text    NOT NULL DEFAULT '', -- empty until it is known
    credit     real    NOT NULL DEFAULT 0
);
CREATE INDEX decisions_task ON decisions (task_id, n);
CREATE INDEX decisions_type ON decisions (type, at);
CREATE INDEX decisions_policy ON decisions (policy, at);

-- Append-only, and read in the order of id: whoever replays it has learned what everybody has. A row outlives its
-- task.
CREATE TABLE outcomes (
    id                integer PRIMARY KEY,
    task_id           text    NOT NULL,
    intervention      integer NOT NULL, -- 1-based within the task
    repo_id           integer NOT NULL,
    org               text    NOT NULL, -- the repository's owner
    repo              text    NOT NULL, -- and name, as they were then
    pattern           text    NOT NULL,
    technique         text    NOT NULL,
    resolved          integer NOT NULL,
    attempt           integer NOT NULL, -- techniques tried in the task before
    z                 real    NOT NULL, -- the confidence, standardised
    confidence        text    NOT NULL, -- JSON: technique → the model's confidence; null: no model said any
    setup             text    NOT NULL, -- the models and prompts that it was decided under
    decision          text    NOT NULL, -- id; empty: none was logged
    at                integer NOT NULL,
    imported_resolved real    NOT NULL DEFAULT 0, -- what others had seen when it was chosen
    imported_tried    real    NOT NULL DEFAULT 0,
    UNIQUE (task_id, intervention)
);
CREATE INDEX outcomes_technique ON outcomes (repo_id, pattern, technique);
CREATE INDEX outcomes_at ON outcomes (at, repo_id, pattern, technique, resolved);

CREATE TABLE lessons (
    seq        integer PRIMARY KEY,
    repo_id    integer NOT NULL,
    id         text    NOT NULL,
    kind       text    NOT NULL,
    state      text    NOT NULL,
    source     text    NOT NULL, -- outcome, person or pattern
    created_at integer NOT NULL,
    lesson     text    NOT NULL, -- JSON
    terms      text    NOT NULL DEFAULT '', -- its terms, with a space between any two
    UNIQUE (repo_id, id)
);
CREATE INDEX lessons_created ON lessons (repo_id, created_at);

-- Which lessons have a term. A term names repository, whether attempts may be told the lesson, and word
-- (lessonsearch.go), so that a search reads nothing of another repository. A row is for a stretch of lessons, for it
-- is rewritten whole.
CREATE TABLE lesson_terms (
    term text    NOT NULL,
    part integer NOT NULL, -- of lessons.seq: its stretch (lessonpostings.go)
    n    integer NOT NULL, -- lessons of the part that have it
    seqs blob    NOT NULL, -- which: the steps from one to the next, as varints
    PRIMARY KEY (term, part)
) WITHOUT ROWID;
-- How many lessons have a term, without reading which.
CREATE INDEX lesson_terms_n ON lesson_terms (term, part, n);

CREATE TABLE lesson_evidence (
    repo_id   integer NOT NULL,
    key       text    NOT NULL,
    lesson_id text    NOT NULL,
    at        integer NOT NULL,
    arm       text    NOT NULL, -- of attempts: told or withheld
    evidence  text    NOT NULL, -- JSON
    PRIMARY KEY (repo_id, key)
);
CREATE INDEX lesson_evidence_lesson ON lesson_evidence (repo_id, lesson_id, at);

-- How far the memory branch of each repository was read.
CREATE TABLE memory_heads (
    repo_id integer PRIMARY KEY,
    sha     text    NOT NULL, -- of the branch, as last read or written
    warning text    NOT NULL, -- what could not be read there, for people; empty: nothing
    read_at integer NOT NULL
);

-- The commits on which a check went green, and whether it went red on them, too.
CREATE TABLE flips (
    repo_id integer NOT NULL,
    name    text    NOT NULL, -- of the check
    sha     text    NOT NULL,
    flipped integer NOT NULL, -- 1: it went red on the commit, too
    at      integer NOT NULL,
    PRIMARY KEY (repo_id, name, sha)
);
CREATE INDEX flips_at ON flips (at);
CREATE INDEX flips_counts ON flips (repo_id, name, flipped);

-- Lessons that a person approved for every repository of an installation. A copy in a repository is a lesson of its
-- own, under the same id.
CREATE TABLE shared_lessons (
    installation_id integer NOT NULL REFERENCES installations (id) ON DELETE CASCADE,
    id              text    NOT NULL, -- of the lesson that it is a copy of
    lesson          text    NOT NULL, -- JSON, as approved
    approved_by     text    NOT NULL, -- who, on the server; for people
    at              integer NOT NULL,
    PRIMARY KEY (installation_id, id)
);

-- What is paused as a whole: a repository, an installation, or this server. Tasks that a halt paused carry its scope.
CREATE TABLE halts (
    scope    text    PRIMARY KEY, -- sia.HaltScope
    by_login text    NOT NULL, -- who said so; empty: GitHub did, or whoever runs the server
    reason   text    NOT NULL, -- for people
    at       integer NOT NULL
);

-- What people said outside of any task, or about a whole repository, and what they were answered: so that each is
-- heard once, and nobody is answered without end.
CREATE TABLE heard (
    repo_id  integer NOT NULL,
    event_id text    NOT NULL, -- as tasks know it, such as "comment/17"
    issue    integer NOT NULL,
    login    text    NOT NULL,
    answer   text    NOT NULL, -- empty: none was given any more
    at       integer NOT NULL,
    PRIMARY KEY (repo_id, event_id)
);
CREATE INDEX heard_at ON heard (at);

-- Repositories in which labels are set up, one at a time so that GitHub's limits hold. One that is new gets settings
-- proposed, unless many became known at once.
CREATE TABLE setups (
    repo_id         integer PRIMARY KEY REFERENCES repositories (id) ON DELETE CASCADE,
    installation_id integer NOT NULL,
    state           text    NOT NULL DEFAULT 'pending', -- pending, done, archived or failed
    slot            integer NOT NULL, -- of the installation's pace; see store.setupSlot
    tries           integer NOT NULL DEFAULT 0,
    error           text    NOT NULL DEFAULT '', -- of the last failed try, for people
    updated_at      integer NOT NULL,
    together        integer NOT NULL DEFAULT 0, -- repositories added at once with it, itself included; 0: it is not new
    welcome         text    NOT NULL DEFAULT '' -- what came of proposing settings, for people
);
CREATE INDEX setups_installation ON setups (installation_id, slot);

-- What repositories, and owners' .github repositories, say in .sia/policies: of each file its last good state.
CREATE TABLE repo_policies (
    repo_id integer NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    path    text    NOT NULL,
    version text    NOT NULL, -- id of the policy; see policy_versions
    source  text    NOT NULL,
    PRIMARY KEY (repo_id, path)
);

-- The commit that these were last read at.
CREATE TABLE policy_reads (
    repo_id integer PRIMARY KEY REFERENCES repositories (id) ON DELETE CASCADE,
    sha     text    NOT NULL,
    broken  text    NOT NULL -- what is wrong with files of that commit, for people
);

-- Every version of every policy that a decision was made by, for ever.
CREATE TABLE policy_versions (
    id       text    PRIMARY KEY, -- name, the author's count and a hash of the content
    decision text    NOT NULL,
    source   text    NOT NULL,
    at       integer NOT NULL -- when it was first in force
);

-- What came of tasks, by their kind. A row outlives its task.
CREATE TABLE task_ends (
    task_id text    PRIMARY KEY,
    repo_id integer NOT NULL,
    kind    text    NOT NULL,
    passed  integer NOT NULL,
    helped  integer NOT NULL, -- a person answered a question in it
    at      integer NOT NULL
);
CREATE INDEX task_ends_kind ON task_ends (repo_id, kind);

-- Append-only, and read in the order of id, like outcomes: who worked, and what came of it.
CREATE TABLE coder_outcomes (
    id       integer PRIMARY KEY,
    task_id  text    NOT NULL,
    attempt  integer NOT NULL,
    repo_id  integer NOT NULL,
    org      text    NOT NULL,
    kind     text    NOT NULL,
    coder    text    NOT NULL, -- its name
    agent    text    NOT NULL, -- and what it was then: agent and model
    cost     integer NOT NULL, -- as the task's ledger counts
    resolved integer NOT NULL,
    changed  integer NOT NULL, -- it went by other instructions than those that had failed before
    failed   text    NOT NULL, -- JSON: coders that had failed in the task before, in order
    at       integer NOT NULL,
    UNIQUE (task_id, attempt, coder)
);

-- Changes of policies: proposed, tried, kept or taken back. Times are 0 where it has not come to that.
CREATE TABLE experiments (
    id           text    PRIMARY KEY, -- names the lot
    installation integer NOT NULL,
    place_id     integer NOT NULL, -- the repository that holds, or is to hold, the policy
    place_owner  text    NOT NULL,
    place_name   text    NOT NULL,
    alone        integer NOT NULL, -- it is about tasks of that repository; else of the whole installation
    layer        integer NOT NULL, -- of the candidate, as package policies counts
    decision     text    NOT NULL,
    name         text    NOT NULL, -- of the policy
    file         text    NOT NULL, -- its path
    present      text    NOT NULL, -- ids; see policy_versions
    candidate    text    NOT NULL,
    change       text    NOT NULL, -- in words, such as parameters.threshold: 0.65 -> 0.5
    path         text    NOT NULL, -- what is changed
    value        text    NOT NULL, -- and to what
    reason       text    NOT NULL,
    proposed_by  text    NOT NULL, -- login, or the model
    number       integer NOT NULL, -- how many changes of this policy were proposed before, and this one
    phase        text    NOT NULL,
    why          text    NOT NULL, -- of the phase, for people
    gate         text    NOT NULL, -- what tasks that were played again said
    pull         integer NOT NULL, -- number of the pull request; 0: none yet
    pull_url     text    NOT NULL,
    head         text    NOT NULL, -- commit of the pull request, as SIA made it
    comment      integer NOT NULL, -- id of the comment there that says how it stands
    approved_by  text    NOT NULL,
    created_at   integer NOT NULL,
    started_at   integer NOT NULL, -- tasks that are created after this take part
    promoted_at  integer NOT NULL,
    watched_at   integer NOT NULL, -- since when it is watched anew, after an alarm that was not its own
    ended_at     integer NOT NULL
);
CREATE INDEX experiments_policy ON experiments (installation, decision, phase);

-- What happened to each, append-only, for people.
CREATE TABLE experiment_events (
    n          integer PRIMARY KEY,
    experiment text    NOT NULL REFERENCES experiments (id) ON DELETE CASCADE,
    at         integer NOT NULL,
    phase      text    NOT NULL,
    what       text    NOT NULL
);
CREATE INDEX experiment_events_of ON experiment_events (experiment, n);

-- The tasks that take part, in the order in which they were assigned. A row outlives its task.
CREATE TABLE experiment_tasks (
    experiment text    NOT NULL REFERENCES experiments (id) ON DELETE CASCADE,
    n          integer NOT NULL,
    task_id    text    NOT NULL,
    candidate  integer NOT NULL, -- decided by the candidate; else by the version before it
    after      integer NOT NULL, -- the candidate had been promoted by then
    at         integer NOT NULL,
    came       text    NOT NULL DEFAULT '', -- resolved, failed, none; empty: open
    credits    real    NOT NULL DEFAULT 0,
    seconds    real    NOT NULL DEFAULT 0,
    escalated  integer NOT NULL DEFAULT 0,
    tampered   integer NOT NULL DEFAULT 0,
    PRIMARY KEY (experiment, n),
    UNIQUE (experiment, task_id)
) WITHOUT ROWID;

-- Policies that are not to be changed for a while, and those that another version stands in for.
CREATE TABLE policy_holds (
    installation integer NOT NULL,
    place_id     integer NOT NULL, -- repository that holds the policy; 0: it is a shipped one
    decision     text    NOT NULL,
    name         text    NOT NULL,
    bad          text    NOT NULL, -- id of the version that is not to decide; empty: none
    instead      text    NOT NULL, -- id of the one that stands in for it
    until        integer NOT NULL, -- not changed before
    why          text    NOT NULL,
    by_login     text    NOT NULL, -- empty: SIA
    at           integer NOT NULL,
    PRIMARY KEY (installation, place_id, decision, name)
);

-- What this installation has shared of its counts: each report as it was signed, and which tasks are counted in it, so
-- that each is counted once ever. A row outlives its task.
CREATE TABLE shared_reports (
    period integer PRIMARY KEY, -- 1-based, without gaps
    key    text    NOT NULL, -- public key that signed it
    report blob    NOT NULL, -- packed: the signed file
    at     integer NOT NULL
);

CREATE TABLE shared_tasks (
    task_id   text    NOT NULL,
    technique integer NOT NULL, -- 1: its first technique is counted; 0: its first coder
    period    integer NOT NULL REFERENCES shared_reports (period),
    PRIMARY KEY (task_id, technique)
) WITHOUT ROWID;

-- What was learned from other installations, each import for ever. One is in force at a time.
CREATE TABLE prior_imports (
    id         integer PRIMARY KEY,
    source     text    NOT NULL, -- the file or module version, for people
    key        text    NOT NULL, -- trusted public key that signed it
    priors     blob    NOT NULL, -- packed: the signed file
    at         integer NOT NULL,
    removed_at integer NOT NULL DEFAULT 0 -- 0: it is in force
);
CREATE UNIQUE INDEX prior_imports_one ON prior_imports (removed_at) WHERE removed_at = 0;

-- When a repository's lessons were last put in order, for its settings say how often that is.
CREATE TABLE lesson_heartbeats (
    repo_id integer PRIMARY KEY,
    at      integer NOT NULL
);

-- Techniques that stand in a repository on trial, by when each was first met there: two are tried at once.
CREATE TABLE technique_trials (
    repo_id   integer NOT NULL,
    technique text    NOT NULL,
    at        integer NOT NULL,
    PRIMARY KEY (repo_id, technique)
);

-- What people were told outside of GitHub, so that they are told once.
CREATE TABLE notices (
    channel text    NOT NULL, -- how, such as webhook or mail
    key     text    NOT NULL, -- of what: a task and its question
    grouped integer NOT NULL, -- 1: with others, in one message
    at      integer NOT NULL,
    PRIMARY KEY (channel, key)
) WITHOUT ROWID;
CREATE INDEX notices_at ON notices (channel, at);

-- Until when each channel was told how things went.
CREATE TABLE summaries (
    channel text    PRIMARY KEY,
    until   integer NOT NULL
) WITHOUT ROWID;

-- Commits that attempts made, until their task has ended (docs/adr/0030): the server that made one may be gone before
-- it is pushed.
CREATE TABLE commits (
    repo_id integer NOT NULL,
    sha     text    NOT NULL,
    task_id text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    pack    blob    NOT NULL, -- a pack file of all that the commit's parents lack
    at      integer NOT NULL,
    PRIMARY KEY (repo_id, sha)
) WITHOUT ROWID;
CREATE INDEX commits_task ON commits (task_id);

-- How much was created on GitHub for an installation, by all servers, in each five seconds since 1970 of the last
-- hour (docs/adr/0034).
CREATE TABLE github_writes (
    installation_id integer NOT NULL,
    slot            integer NOT NULL,
    writes          integer NOT NULL,
    PRIMARY KEY (installation_id, slot)
) WITHOUT ROWID;

-- Machines that make attempts for this server and have a token each (docs/adr/0033).
CREATE TABLE runners (
    name     text    NOT NULL PRIMARY KEY,
    hash     text    NOT NULL UNIQUE, -- SHA-256 of the token
    about    text    NOT NULL DEFAULT '', -- what it says of itself
    added_at integer NOT NULL,
    seen_at  integer NOT NULL DEFAULT 0 -- 0: never
) WITHOUT ROWID;

-- Attempts that are offered to runners or made by one, each until its server has the result.
CREATE TABLE runner_attempts (
    key        text    NOT NULL PRIMARY KEY, -- of the effect
    task_id    text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    owner      text    NOT NULL, -- the run of the effect that offers it
    state      text    NOT NULL, -- offered, running or done
    start      text    NOT NULL, -- the commit that it begins on
    coder      text    NOT NULL,
    work       blob    NOT NULL, -- what the runner is given
    credits    integer NOT NULL, -- that its model calls may cost
    most_calls integer NOT NULL,
    at         integer NOT NULL, -- when it was offered
    runner     text    NOT NULL DEFAULT '', -- that has it, or had it last
    pass       text    NOT NULL DEFAULT '', -- SHA-256 of the token that it reports with; new each time it is taken
    until      integer NOT NULL DEFAULT 0, -- when it is no longer that one's
    claims     integer NOT NULL DEFAULT 0, -- how often it was taken
    stop       integer NOT NULL DEFAULT 0, -- 1: the runner is to end it
    reported   integer NOT NULL DEFAULT 0, -- number of the last turn that was reported
    taken      integer NOT NULL DEFAULT 0, -- of the last one that is in the transcript
    report     blob, -- the one that is not
    spent      integer NOT NULL DEFAULT 0, -- credits that its model calls cost, and those under way may cost
    calls      integer NOT NULL DEFAULT 0,
    refused    text    NOT NULL DEFAULT '', -- why the last call was not made
    result     blob,
    pack       blob -- of the commit that it made
) WITHOUT ROWID;
CREATE INDEX runner_attempts_pass ON runner_attempts (pass);
