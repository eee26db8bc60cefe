// Package gate judges the checks of one commit: whether the task passes, fails,
// waits, or has to have a check run again — and why.
//
// Concepts:
//
//   - A check is a check run, a legacy commit status, or what a run of a workflow says
//     besides its jobs: that it waits, could not start, or failed though none of its
//     jobs did. A job is known by its app, its check suite and its name: two jobs
//     of one name are two checks, of which the worse counts, and only a later attempt
//     of the same job replaces a run. A check run that an app made through the API is
//     known by app and name, and the newest counts. commit.go and twin.go are the places
//     that say which runs are one check's.
//   - A check is required when the branch's rules or the settings name it. Where
//     neither names any, or the rules can't be read, every check that ran is. Then what
//     should have reported and did not is missed, too ([Expect]).
//   - What a required job needs is required as well. A job that only sums up the jobs
//     that it needs stands as they do (needed.go).
//   - What was skipped is no obstacle only beside something that ran and succeeded, and not
//     beside something that it needs and that is not green. Where nothing ran, nothing
//     was validated. What a guard skips, and not the change, is missed (skip.go).
//   - A pass rests on a green check that ran the repository's code at the commit, as far
//     as its name, its workflow file and people tell (code.go, file.go). A licence or a
//     title validates nothing, nor does a check of which nothing tells what it does.
//   - What can't say anything before a person acts (an approval, an unpaid bill, a
//     name that no check bears, a job without end) is blocked, and never the attempt's
//     doing.
//   - What judges a pull request's form, or waits until people have reviewed, is blocked
//     where it is not green (form.go): a person sees to it, or says to go on without it.
//   - Some red is not the attempt's doing: red on the base commit too (excused, unless it
//     fails in more than there, the issue asks to mend it, or a rule requires it),
//     red and green in attempts of one job (flaky: run again, and a person asked in the end), or
//     weather, such as a rate limit or a lost runner (run again). Together they
//     are run again at most [sia.MaxReruns] times a commit.
//   - Other red may be chance. Red checks are run again once where the chance that
//     a right attempt failed by accident is worth what the re-run costs ([Doubt]).
//     The chance is learned from how often a check went red and green on one commit.
//   - A verdict waits until every required check has finished and nothing has
//     changed for the settle time, because checks are created late.
//   - A green verdict must not be bought. Where the attempt touched what validates
//     it (package tamper finds that), a person has to accept it.
//
// A judgement is made once. [Input.Needs] says what is missing for it (which
// workflows ran and what their files say, the base commit's checks, what logs say,
// what the change touched, how often checks flip), and finds that by the judgement's
// own rules, so a caller gathers until nothing is missing and then calls [Judge].
//
// The package is pure: time comes in with [Input], nothing is read or written, and
// one input always gives one [Result]. Of ours it imports package sia alone. Safe for
// concurrent use.
//
// Start reading at [Judge], then require.go and needs.go.
package gate
