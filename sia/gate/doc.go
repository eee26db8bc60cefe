// Package gate judges the checks of one commit: it decides whether the task
// passes, fails, waits, or needs a re-run of a check, and explains why.
//
// [Judge] works in five steps, and each reads what the earlier ones made. Facts are what GitHub
// reported about the commit and its base, the workflow files, and what rules, settings and people say. Requirements
// say which checks have to be green, and which of these did not report. The assessment decides the outcome of each
// check, which differs from the reported one if the check is excused, blocked, awaited or missed. The judgement derives
// the verdict of the checks alone; finally, a red one may be by chance, so that the checks are run again, and a green
// one waits for SIA's own tests and for a person's consent to changed tests.
//
// Concepts:
//
//   - A check is a check run, a legacy commit status, or a state of a workflow run that
//     none of its jobs shows: that it waits, could not start, or failed although none of
//     its jobs did. A job is identified by its app, its check suite and its name: two jobs
//     of one name are two checks, the worse counts, and only a later attempt
//     of the same job replaces a run. A check run that an app made through the API is
//     identified by app and name, and the newest counts. commit.go and twin.go decide
//     which runs belong to one check.
//   - A check is required if the branch's rules or the settings name it. If neither
//     names any, or the rules can't be read, every check that ran is required, and so is
//     every expected check, even if it did not report ([Expect]).
//   - Jobs that a required job needs are required as well. A job that only aggregates the
//     jobs that it needs takes over their outcome (skip.go).
//   - A skipped check is acceptable only if some other check ran and succeeded, and all
//     jobs that it needs are green. If nothing ran, nothing was validated. A job that was
//     skipped because of a guard, and not because of the change, is missed (skip.go).
//   - A pass requires a green check that ran the repository's code at the commit, judged
//     by its name, its workflow file and people's answers (code.go, file.go). A check of a
//     licence or a title validates nothing, and neither does a check of unknown purpose.
//   - A check that can't have a result before a person acts (an approval, an unpaid bill,
//     a name that no check has, a job that does not end) is blocked. The attempt is never
//     the cause.
//   - A check of a pull request's form, or one that waits for people's reviews, is blocked
//     if it is not green (form.go): a person takes care of it, or waives it.
//   - Some red checks are not caused by the attempt: those that are red on the base commit
//     too (excused, unless more fails than there, the issue asks to fix it, or a rule
//     requires it), those that were red and green in attempts of one job (flaky: run again,
//     and finally a person is asked), and transient failures, such as a rate limit or a
//     lost runner (run again). In total there are at most [sia.MaxReruns] re-runs a commit.
//   - Other red checks may be red by chance. They are run again once if the probability
//     that a correct attempt failed by accident justifies the cost of the re-run ([Doubt]).
//     It is estimated from how often a check went red and green on one commit.
//   - A verdict waits until every required check has finished and nothing has
//     changed for the settle time, because checks are created late.
//   - An attempt must not get a green verdict by weakening its checks. If it changed the
//     tests or files that validate it (package tamper finds that), a person has to accept it.
//
// [Input.Needs] returns which inputs are missing for a verdict (workflow runs and
// their files, the base commit's checks, logs, the changed paths, flake rates). It
// applies the same rules as the verdict, so a caller gathers inputs until none is
// missing and then calls [Judge].
//
// The package is pure: [Input] contains the time, nothing is read or written, and
// the same input always gives the same [Result]. It is safe for concurrent use.
//
// Start reading at [Judge]. A type is a step: facts (facts.go; rule.go, needed.go, code.go, form.go and issue.go answer
// questions about them), requirements (require.go), assessment (assessment.go, with its steps in excuse.go, block.go
// and skip.go) and judgement (conclude.go, final.go, doubt.go). needs.go and unread.go find what has to be read.
package gate
