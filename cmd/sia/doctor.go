package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia/secret"
)

type doctorCmd struct {
	serverFlags `embed:""`
	Output      string `help:"text or json." enum:"text,json" default:"text"`
}

// doctorFinding is one thing that doctor looked at.
type doctorFinding struct {
	What   string `json:"what"`
	OK     bool   `json:"ok"`
	Weaker bool   `json:"weaker,omitempty"` // OK, and something that SIA could do is off
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what to do, when not OK or weaker
}

// neededPermissions are the permissions that SIA works with, each with the feature that is
// lost without it. They are those of app.yml.
var neededPermissions = []struct{ permission, access, feature string }{
	{"contents", "write", "pushing the branch and the memory"},
	{"issues", "write", "the status comment, labels and questions"},
	{"pull_requests", "write", "the draft pull request and the comments on it"},
	{"checks", "write", "reading checks and SIA's own check run"},
	{"actions", "write", "reading logs and running jobs again"},
	{"statuses", "read", "reading commit statuses"},
}

// Run looks at everything a server needs, against the real endpoints.
func (c *doctorCmd) Run(e *commandEnv) error {
	config, err := c.config()
	var all []doctorFinding
	if err == nil {
		err = config.Validate()
	}
	if err != nil {
		all = append(all, doctorFinding{What: "configuration", Detail: strings.ReplaceAll(err.Error(), "\n", "; "),
			Fix: "see docs/configuration.md"})
	} else {
		all = append(all, doctorFinding{What: "configuration", OK: true, Detail: "complete"})
	}
	ctx, cancel := context.WithTimeout(e.ctx, 2*time.Minute)
	defer cancel()
	all = append(all, c.look(ctx, e)...)
	all = append(all, checkSandbox(ctx, sandbox.Options{Self: forwardCommand(), Logger: e.logger}),
		installedAgents(config.AgentPath))
	if len(config.GitHub.PrivateKey) > 0 && config.GitHub.AppID > 0 {
		all = append(all, checkGitHub(ctx, config, e)...)
	}
	if config.Models.Coder.URL != "" && config.Models.Coder.Model != "" {
		all = append(all, checkModels(ctx, config, e)...)
	}
	return reportFindings(e, c.Output, all)
}

func reportFindings(e *commandEnv, output string, all []doctorFinding) error {
	bad := slices.ContainsFunc(all, func(f doctorFinding) bool { return !f.OK })
	if output == "json" {
		if err := printJSON(e, all); err != nil {
			return err
		}
	} else {
		for _, f := range all {
			mark := e.style.green("✓")
			switch {
			case !f.OK:
				mark = e.style.red("✗")
			case f.Weaker:
				mark = e.style.amber("!")
			}
			fmt.Fprintf(e.out, "%s %-16s %s\n", mark, f.What, f.Detail)
			if f.Fix != "" {
				fmt.Fprintf(e.out, "  %-16s → %s\n", "", f.Fix)
			}
		}
	}
	if bad {
		return errShown
	}
	return nil
}

// look looks at the database, and at what it says of repositories.
func (c *doctorCmd) look(ctx context.Context, e *commandEnv) []doctorFinding {
	f := doctorFinding{What: "database", Detail: c.database()}
	var setups []store.Setup
	var halts []store.Halt
	s, err := store.Open(ctx, store.Config{URL: c.database(), Logger: e.logger})
	if err == nil {
		var v int64
		if v, err = s.Version(ctx); err == nil && v > 0 {
			// An older schema has neither; the server brings it up to date.
			setups, _ = s.Setups(ctx)
			halts, _ = s.Halts(ctx)
		}
		err = errors.Join(err, s.Close())
		f.Detail = fmt.Sprintf("%s, schema version %d", c.database(), v)
	}
	if err != nil {
		f.Detail, f.Fix = err.Error(), "give SIA a folder that it may write to with --dir, or another database with --db"
		return []doctorFinding{f}
	}
	f.OK = true
	all := append([]doctorFinding{f}, checkSetups(setups)...)
	for _, h := range halts {
		all = append(all, doctorFinding{What: "paused", OK: true, Weaker: true, Detail: h.Reason + ", since " +
			h.At.Local().Format(time.DateTime), Fix: h.Scope.LiftedBy()})
	}
	return all
}

// checkSetups says how far the labels of repositories are set up, and where that failed.
func checkSetups(all []store.Setup) (found []doctorFinding) {
	if len(all) == 0 {
		return nil
	}
	n := map[store.SetupState]int{}
	for _, s := range all {
		n[s.State]++
		if s.State == store.SetupFailed {
			found = append(found, doctorFinding{What: "repository",
				Detail: s.String() + ": its labels could not be made: " + s.Error,
				Fix:    "mend that, then take the repository out of the app's installation and add it again"})
		}
	}
	sum := doctorFinding{What: "repositories", OK: true, Weaker: n[store.SetupPending] > 0,
		Detail: fmt.Sprintf("%d are set up, %d wait for their turn, %d are archived, %d failed", n[store.SetupDone],
			n[store.SetupPending], n[store.SetupArchived], n[store.SetupFailed])}
	return append([]doctorFinding{sum}, found...)
}

// checkSandbox says whether attempts can build and test before they push. SIA works
// without: the repository's checks decide either way.
func checkSandbox(ctx context.Context, o sandbox.Options) doctorFinding {
	found := sandbox.Probe(ctx, o)
	f := doctorFinding{What: "sandbox", OK: true, Weaker: !found.OK(), Detail: found.String(), Fix: found.Fix}
	if f.Weaker {
		f.Detail += ". Off: the tools run and test, agent.setup, and agents of the kind command; attempts can't build or " +
			"test before they push"
	}
	return f
}

// installedAgents says which of the agents that are known by name are installed
// where commands can see them.
func installedAgents(path []string) doctorFinding {
	f := doctorFinding{What: "other agents", OK: true}
	commands, err := agent.NewCommandAgents(agent.CommandAgentsConfig{Path: path})
	if err != nil {
		return doctorFinding{What: f.What, Detail: err.Error(), Fix: "check --agent-path"}
	}
	var there, absent []string
	for _, p := range agent.Presets() {
		if file := commands.Find(p); file != "" {
			there = append(there, p.Name+" ("+file+")")
		} else {
			absent = append(absent, p.Name)
		}
	}
	f.Detail = "none installed; repositories can use the builtin one"
	if len(there) > 0 {
		f.Detail = strings.Join(there, ", ")
		if len(absent) > 0 {
			f.Detail += "; not " + strings.Join(absent, ", ")
		}
	}
	return f
}

// checkGitHub checks the app's authentication, permissions and installations.
func checkGitHub(ctx context.Context, c app.Config, e *commandEnv) []doctorFinding {
	c = c.WithDefaults()
	f := doctorFinding{What: "GitHub App", Fix: "check --app-id, --app-key-file and --github-url; the key must " +
		"belong to that app, and this machine's clock must be right"}
	a, err := github.New(github.Config{AppID: c.GitHub.AppID, PrivateKey: c.GitHub.PrivateKey, BaseURL: c.GitHub.API,
		Logger: e.logger, Secrets: &secret.Masker{}}) // it only reads, so there is nothing to know by value
	if err != nil {
		f.Detail = err.Error()
		return []doctorFinding{f}
	}
	self, err := a.Self(ctx)
	if err != nil {
		f.Detail = err.Error()
		return []doctorFinding{f}
	}
	all := []doctorFinding{{What: f.What, OK: true,
		Detail: fmt.Sprintf("%s (%s) at %s", self.Name, self.Login, c.GitHub.URL)}}
	for _, p := range neededPermissions {
		have := self.Permissions[p.permission]
		if have == p.access || have == "write" || have == "admin" {
			continue
		}
		all = append(all, doctorFinding{What: "permission",
			Detail: fmt.Sprintf("%s: %s is missing; without it SIA can't do %s", p.permission, p.access, p.feature),
			Fix:    "grant it in the app's settings on GitHub, then accept it in each installation"})
	}
	installs, err := a.Installations(ctx)
	switch {
	case err != nil:
		all = append(all, doctorFinding{What: "installations", Detail: err.Error()})
	case len(installs) == 0:
		all = append(all, doctorFinding{What: "installations", Detail: "the app is installed nowhere",
			Fix: "install it from " + self.URL})
	default:
		names := make([]string, len(installs))
		for i, in := range installs {
			names[i] = in.Account
		}
		all = append(all, doctorFinding{What: "installations", OK: true, Detail: strings.Join(names, ", ")})
	}
	return all
}

// checkModels asks each model for one word.
func checkModels(ctx context.Context, c app.Config, e *commandEnv) []doctorFinding {
	c = c.WithDefaults()
	var all []doctorFinding
	for _, m := range c.Models.Named() {
		f := doctorFinding{What: "model " + m.Name, Detail: m.Model + " at " + m.URL}
		ask := llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "Answer with the word ready."}},
			MaxOutput: 64}
		if err := modelAnswers(ctx, m, e, ask); err != nil {
			f.Detail, f.Fix = err.Error(), "check the address, the model's name and its key"
			var known *llm.Error
			if errors.As(err, &known) {
				f.Fix = known.Advice()
			}
		} else {
			f.OK = true
		}
		price := doctorFinding{What: "price of " + m.Name, OK: true, Detail: fmt.Sprintf("%g in, %g cached, %g out, USD per "+
			"million tokens", m.Price.Input, m.Price.CachedInput, m.Price.Output)}
		if m.Price.Input <= 0 || m.Price.Output <= 0 {
			price.OK, price.Weaker = c.Free, c.Free
			price.Detail = "none: what it answers counts as free, so no credit budget ever binds"
			price.Fix = "set its price: --price-input and --price-output, or price in the file of --config"
			if !c.Free {
				price.Fix += "; sia serve refuses to start without, unless --free says that the model costs nothing"
			}
		}
		all = append(all, f, price)
	}
	return append(all, doctorFinding{What: "order", OK: true, Detail: modelOrder(c.Models)})
}

// modelAnswers asks a model, twice and for half a minute at most.
func modelAnswers(ctx context.Context, m app.ModelConfig, e *commandEnv, ask llm.Request) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	client, err := m.Client(e.logger, 1)
	if err != nil {
		return err
	}
	_, err = client.Complete(ctx, ask)
	return err
}

// modelOrder says who is asked for what, and who after them.
func modelOrder(c app.ModelsConfig) string {
	roles, parts := c.Roles(), []string{}
	for _, role := range []string{"coder", "sia", "reviewer"} {
		m := roles[role]
		names := []string{cmp.Or(m.Name, m.Model)}
		for _, b := range m.Backups {
			names = append(names, b.Name)
		}
		parts = append(parts, role+": "+strings.Join(names, ", then "))
	}
	return strings.Join(parts, " · ")
}
