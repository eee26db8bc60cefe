package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web/setup"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/memory"
)

type forgetPersonCmd struct {
	openedDatabase `embed:""`
	DryRun         bool   `help:"Change nothing, and say what would be changed."`
	Compact        bool   `help:"Rewrite the database afterwards, so that its freed space holds no older copies. Servers wait meanwhile; stop them where it is large."`
	Yes            bool   `help:"Do not ask first."`
	Login          string `arg:"" help:"The person's login on GitHub." placeholder:"LOGIN" type:"login"`
}

// Help returns the text of `sia forget-person --help` below the first line.
func (*forgetPersonCmd) Help() string {
	return "Replaces the login and the id by those of GitHub's user ghost wherever the database has them as such, and " +
		"empties the webhooks that name the person. It can't be undone. A server may run meanwhile; what the person does " +
		"later is stored again."
}

// loginPattern matches a login of GitHub, of a managed user or of an app.
var loginPattern = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}(\[bot\])?$`)

// forgottenPerson is the result of erasing a person, as JSON. Fields are only added.
type forgottenPerson struct {
	DryRun    bool           `json:"dry_run"`
	Logins    []string       `json:"logins"` // all logins of the person
	IDs       []int64        `json:"ids"`
	Rows      map[string]int `json:"rows"`     // table → rows that were changed
	Waiting   int            `json:"waiting"`  // webhooks and attempts that are not processed yet
	Complete  bool           `json:"complete"` // false: some rows could not be changed
	Compacted bool           `json:"compacted"`
	Words     int            `json:"words"`  // rows that still hold the login as a word
	Memory    []memoryFiles  `json:"memory"` // files that may name the person
}

// memoryFiles are files of one repository's memory branch.
type memoryFiles struct {
	Repo   string   `json:"repo"`
	Branch string   `json:"branch"`
	Files  []string `json:"files"`
}

// Run erases a person from the database.
func (c *forgetPersonCmd) Run(e *cli.Env) error {
	login := strings.TrimPrefix(c.Login, "@")
	if own, ok, err := setup.Load(c.Dir); err != nil {
		return err
	} else if ok && strings.EqualFold(login, own.Slug+"[bot]") {
		return fmt.Errorf("%s is SIA itself and no person; nothing was changed", login)
	}
	return c.with(e, func(s *store.Store) error {
		if !c.DryRun && !c.Yes {
			if err := c.confirm(e, s, login); err != nil {
				return err
			}
		}
		f, err := s.Forget(e.Ctx, login, c.DryRun)
		if len(f.Logins) == 0 { // nothing was changed
			return err
		}
		out := forgottenPerson{DryRun: c.DryRun, Logins: f.Logins, IDs: nonNil(f.IDs), Rows: f.Rows, Waiting: f.Waiting,
			Complete: err == nil, Words: f.Words, Memory: remembered(f)}
		if c.Compact && !c.DryRun && err == nil {
			err = s.Compact(e.Ctx)
			out.Compacted = err == nil
		}
		// Also after an error: the next run does not list the files of memory branches again.
		return errors.Join(c.Print(e, out, func() error { return out.show(e) }), err)
	})
}

// confirm asks at a terminal for confirmation.
func (c *forgetPersonCmd) confirm(e *cli.Env, s *store.Store, login string) error {
	if !cli.Interactive(os.Stdin) {
		return errors.New("this can't be undone, and nobody is at a terminal to confirm it; see it with --dry-run, then " +
			"give --yes")
	}
	f, err := s.Forget(e.Ctx, login, true)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Err, "This replaces %s by ghost in %d rows, and can't be undone. Type the login to go on: ",
		strings.Join(f.Logins, ", "), f.All())
	line, _ := bufio.NewReader(e.Stdin()).ReadString('\n')
	if !strings.EqualFold(strings.TrimSpace(line), login) {
		return errors.New("nothing was changed, for the login was not typed")
	}
	return nil
}

// remembered returns the files of memory branches that may name the person: the files of tasks that involve them.
func remembered(f store.Forgotten) []memoryFiles {
	files := map[[2]string][]string{}
	for _, t := range f.Tasks {
		at := [2]string{t.Repo.String(), cmp.Or(t.Settings.Memory.Branch, "sia/memory")}
		markdown, json := memory.Paths(t)
		files[at] = append(files[at], markdown, json)
		for _, a := range t.Attempts {
			files[at] = append(files[at], memory.TranscriptPath(t, a.Number))
		}
	}
	out := []memoryFiles{}
	byName := func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }
	for _, at := range slices.SortedFunc(maps.Keys(files), byName) {
		slices.Sort(files[at])
		out = append(out, memoryFiles{at[0], at[1], slices.Compact(files[at])})
	}
	return out
}

// memoryShown is the maximum number of files that are listed for each repository.
const memoryShown = 20

func (f forgottenPerson) show(e *cli.Env) error {
	p := e.Linef
	names := strings.Join(f.Logins, ", ")
	switch {
	case !f.Complete && !f.DryRun:
		p("Not every row with %s could be changed: the error says why; then run this again. Changed were:", names)
	case len(f.Rows) == 0:
		p("The database does not name %s as a person.", names)
	case f.DryRun:
		p("Nothing was changed. Replacing %s by ghost would change:", names)
	default:
		p("%s is ghost now. Changed were:", names)
	}
	if len(f.Rows) > 0 {
		w := cli.NewTable(e.Out, "TABLE", "ROWS")
		for _, table := range slices.Sorted(maps.Keys(f.Rows)) {
			w.Rowf("%s\t%d", table, f.Rows[table])
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	if f.Waiting > 0 {
		p("%d webhooks, or attempts of runners, that name the person are still to be worked on: run this again when they "+
			"were.", f.Waiting)
	}
	if f.Words > 0 {
		p("%d rows hold the login as a word without an @, which may be a repository's owner, prose or code: they "+
			"stay.", f.Words)
	}
	if len(f.Rows) > 0 && !f.DryRun && !f.Compacted {
		p("The database's freed space may hold older copies until it is used again: --compact rewrites the database.")
	}
	p("Out of reach: GitHub itself, backups of the database with PostgreSQL's WAL archives, logs of the server, what " +
		"models were sent, and the history of memory branches.")
	if len(f.Memory) > 0 {
		p("These files of memory branches may name the person; edit them there. A later commit by SIA writes ghost, and " +
			"`sia reindex` reads what they say then:")
	}
	for _, m := range f.Memory {
		p("  %s, branch %s:", m.Repo, m.Branch)
		for _, file := range m.Files[:min(len(m.Files), memoryShown)] {
			p("    %s", file)
		}
		if more := len(m.Files) - memoryShown; more > 0 {
			p("    and %d more: --output json lists them", more)
		}
	}
	return nil
}
