package localrun

import (
	"cmp"
	"errors"
	"strings"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/cmd/internal/localgit"
	"github.com/sia-bot/sia/lab/replay"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
)

// Replay works on a task of a repository's history, with the repository's settings and these policies. The task's tests
// are the check. Repo, Base and Branch of the options have no effect.
func Replay(e *cli.Env, o Options, s replay.Stage, set sia.Settings, by *policies.Set) (out replay.Result, err error) {
	o.Title, o.Body = s.Title, s.Text
	j := job{opts: o, git: localgit.At(s.Dir), name: "task", base: s.Base, baseName: "main", branch: "sia/result",
		why: "a replay task", check: "the tests", judge: s.Check, settings: set, policies: by}
	if err := j.complete(e.Ctx); err != nil {
		return out, err
	}
	r, err := start(e, j)
	if err != nil {
		return out, err
	}
	ended, err := r.play()
	if err = errors.Join(err, r.Close(), e.Ctx.Err()); err != nil {
		return out, err
	}
	if r.trouble.words != "" && !ended.Passed {
		return out, errors.New(r.trouble.words)
	}
	out = replay.Result{Resolved: ended.Passed, Why: cmp.Or(ended.Reason, "the tests pass"),
		Cost: 100 * ended.USD, Attempts: len(ended.Attempts), Files: []string{}}
	if ended.Head != "" {
		listed, err := j.git.Run(e.Ctx, "diff", "--name-only", "--no-renames", "-z", "--end-of-options", s.Base, ended.Head)
		if err != nil {
			return out, err
		}
		out.Files = strings.FieldsFunc(string(listed), func(c rune) bool { return c == 0 })
	}
	return out, nil
}
