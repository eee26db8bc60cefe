package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/trace"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia/text"
)

// doctorServerCmd checks a server's configuration, database, GitHub App, models and sandbox.
type doctorServerCmd struct {
	serverFlags `embed:""`
	cli.Format  `embed:""`
}

// doctorFinding is the result of one check.
type doctorFinding struct {
	What   string `json:"what"`
	OK     bool   `json:"ok"`
	Weaker bool   `json:"weaker,omitempty"` // OK, but an optional feature is off
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what to do, if not OK or weaker
}

// checkTimeout bounds the check of the database, and that of GitHub, which sends more requests the more installations
// there are. All other checks have their own timeouts.
const checkTimeout = 2 * time.Minute

// Run checks everything that a server needs, with the real endpoints.
func (c *doctorServerCmd) Run(e *cli.Env) error {
	return reportFindings(e, c.Format, c.checkAll(e, checkTimeout))
}

// checkAll runs all checks; within is the timeout of each that has none of its own.
func (c *doctorServerCmd) checkAll(e *cli.Env, within time.Duration) (all []doctorFinding) {
	config, err := c.config()
	stored := checkStored(c.Dir, config)
	if err == nil {
		complete := config
		if !config.GitHub.Named() { // `sia setup` registers an app with all of these
			complete.GitHub.AppID, complete.GitHub.PrivateKey, complete.GitHub.WebhookSecret = 1, []byte("key"), "secret"
		}
		err = complete.Validate()
	}
	if err != nil {
		all = append(all, configFindings(err)...)
		all = append(stored, all...) // first, since `sia setup` may provide what is missing
		stored = nil
	} else if config.GitHub.Named() {
		all = append(all, doctorFinding{What: "configuration", OK: true, Detail: "complete"})
	}
	all = append(all, stored...)
	all = append(all, misspelledVariables(os.Environ(), config.AgentEnv)...)
	if settings := config.Unmasked(); len(settings) > 0 {
		all = append(all, doctorFinding{What: "secrets", OK: true, Detail: "not masked in what SIA writes, since ordinary " +
			"text has such values: " + strings.Join(settings, ", ")})
	}
	role := doctorFinding{What: "role", OK: true, Detail: config.Roles.String()}
	if len(config.Roles) > 0 {
		role.Detail += "; other servers of the same database have the rest"
	}
	all = append(all, role)
	works, asks := config.Roles.Has(app.RoleWork), config.Roles.Has(app.RoleWork) || config.Roles.Has(app.RoleWeb)
	if config.Roles.Has(app.RoleWeb) {
		all = append(all, checkSignIn(config))
	}
	bounded := func(part func(context.Context) []doctorFinding) {
		ctx, cancel := context.WithTimeout(e.Ctx, within)
		defer cancel()
		all = append(all, part(ctx)...)
	}
	bounded(func(ctx context.Context) []doctorFinding { return c.checkDatabase(ctx, e, config.OnRunners) })
	if works {
		if free, err := app.FreeSpace(c.Dir); err == nil { // else there is no folder yet
			all = append(all, checkFree(free))
		}
		if !config.OnRunners { // which have their own
			all = append(all, checkSandbox(e.Ctx, sandbox.Options{Self: cli.ForwardCommand(), Logger: e.Logger}))
		}
		all = append(all, installedAgents(config.AgentPath))
	}
	if asks && len(config.GitHub.PrivateKey) > 0 && config.GitHub.AppID > 0 {
		bounded(func(ctx context.Context) []doctorFinding { return checkGitHub(ctx, config, e) })
	}
	if works && config.Models.Coder.URL != "" && config.Models.Coder.Model != "" {
		all = append(all, checkModels(e.Ctx, config, e)...)
	}
	if works {
		all = append(all, checkNotify(e.Ctx, config.Notify)...)
	}
	if config.Traces != "" {
		all = append(all, checkTraces(e.Ctx, config))
	}
	return all
}

// checkTraces sends an empty trace to the receiver.
func checkTraces(ctx context.Context, c app.Config) doctorFinding {
	f := doctorFinding{What: "traces", OK: true, Detail: "the receiver takes them"}
	if err := trace.Reach(ctx, c.Traces, c.TraceHeaders); err != nil {
		f = failed(f.What, err, "check --traces and --trace-headers; SIA works without a receiver, and its traces are lost")
	}
	return f
}

// misspelledVariables returns a finding for each SIA_ variable that resembles one that a flag reads, but is read by
// none. given lists variables that commands receive, which may have any name.
func misspelledVariables(environ, given []string) (all []doctorFinding) {
	parser, err := newParser(&commandLine{}, io.Discard, io.Discard)
	if err != nil {
		return nil // does not happen: the command line was parsed before
	}
	known := []string{runnerToken}
	for _, flag := range allFlags(parser.Model) {
		known = append(known, flag.Envs...)
	}
	for _, set := range environ {
		name, _, _ := strings.Cut(set, "=")
		if !strings.HasPrefix(name, "SIA_") || slices.Contains(known, name) || slices.Contains(given, name) {
			continue
		}
		if near := text.Nearest(name, known); near != "" {
			all = append(all, doctorFinding{What: "environment", OK: true, Weaker: true,
				Detail: "nothing reads the variable " + name, Fix: "if it is misspelt, call it " + near})
		}
	}
	return all
}

// fixOfProblem matches a problem of a configuration, and captures what is wrong and what to do.
var fixOfProblem = regexp.MustCompile(`^(.*?)[:;] ((?:set|check|give) .*)$`)

// configFindings returns a finding for each problem of a configuration.
func configFindings(err error) (all []doctorFinding) {
	for problem := range strings.Lines(err.Error()) {
		f := doctorFinding{What: "configuration", Detail: strings.TrimSpace(problem),
			Fix: "docs/configuration.md lists what can be set"}
		if m := fixOfProblem.FindStringSubmatch(f.Detail); m != nil {
			f.Detail, f.Fix = m[1], m[2]
		}
		all = append(all, f)
	}
	return all
}

func reportFindings(e *cli.Env, format cli.Format, all []doctorFinding) error {
	bad := slices.ContainsFunc(all, func(f doctorFinding) bool { return !f.OK })
	return format.Report(e, all, !bad, func() error {
		for _, f := range all {
			mark := e.Style.Green("✓")
			switch {
			case !f.OK:
				mark = e.Style.Red("✗")
			case f.Weaker:
				mark = e.Style.Amber("!")
			}
			e.Linef("%s %-16s %s", mark, f.What, f.Detail)
			if f.Fix != "" {
				e.Linef("  %-16s → %s", "", f.Fix)
			}
		}
		return nil
	})
}

// checkDatabase checks the database, and reports failed set-ups, pauses and missing runners stored in it. onRunners
// says that the server leaves attempts to runners.
func (c *doctorServerCmd) checkDatabase(ctx context.Context, e *cli.Env, onRunners bool) []doctorFinding {
	f := doctorFinding{What: "database", Detail: c.databaseName()}
	if c.lacksDatabase() {
		f.OK, f.Weaker, f.Detail, f.Fix = true, true, "none yet at "+c.databaseName(), "`sia serve` makes it"
		return []doctorFinding{f}
	}
	var setups []store.Setup
	var halts []store.Halt
	var runners []doctorFinding
	s, err := store.Open(ctx, store.Config{URL: c.database(), DirectURL: c.DBDirect, Logger: e.Logger})
	if err == nil {
		var v int64
		v, err = s.Version(ctx)
		newer := s.Newer(ctx)
		switch {
		case err != nil:
		case newer != nil:
			f.Fix = "run the newer version of SIA, or restore a backup of the database"
			err = newer
		case v > 0:
			// An older schema may lack these tables; the server migrates it.
			setups, _ = s.Setups(ctx, 0)
			halts, _ = s.Halts(ctx)
			if known, err := s.Runners(ctx); err == nil {
				offered, _ := s.RunnerStandings(ctx)
				runners = checkRunners(onRunners, known, offered, s.Now())
			}
		}
		if err == nil {
			err = s.CheckRights(ctx)
		}
		err = errors.Join(err, s.Close())
		f.Detail = fmt.Sprintf("%s, schema version %d", c.databaseName(), v)
		if v == 0 {
			f.Weaker, f.Detail, f.Fix = true, "none yet at "+c.databaseName(), "`sia serve` makes it"
		}
	}
	if err != nil {
		return []doctorFinding{failed(f.What, err, f.Fix)} // the store's errors contain the fix
	}
	f.OK = true
	all := append([]doctorFinding{f}, checkSetups(setups)...)
	all = append(all, runners...)
	for _, h := range halts {
		all = append(all, doctorFinding{What: "paused", OK: true, Weaker: true, Detail: h.Reason + ", since " +
			h.At.Local().Format(time.DateTime), Fix: h.Scope.LiftedBy(h.Actor().Operator)})
	}
	return all
}

// checkSetups reports how many repositories are set up and where that failed.
func checkSetups(all []store.Setup) (found []doctorFinding) {
	if len(all) == 0 {
		return nil
	}
	n, silent := map[store.SetupState]int{}, 0
	for _, s := range all {
		n[s.State]++
		if s.Checks != nil && *s.Checks == 0 {
			silent++
		}
		if s.State == store.SetupFailed {
			found = append(found, doctorFinding{What: "repository",
				Detail: s.String() + ": it could not be set up: " + s.Error,
				Fix: fmt.Sprintf("mend that, then press “Try again” on SIA's page /installations/%d",
					s.Repository.Installation)})
		}
	}
	sum := doctorFinding{What: "repositories", OK: true, Weaker: n[store.SetupPending] > 0,
		Detail: fmt.Sprintf("%d are set up, %d wait for their turn, %d are archived, %d failed", n[store.SetupDone],
			n[store.SetupPending], n[store.SetupArchived], n[store.SetupFailed])}
	if silent > 0 {
		sum.Detail += fmt.Sprintf("; in %d, the pull request that proposed settings started no check", silent)
	}
	return append([]doctorFinding{sum}, found...)
}

// checkSandbox reports whether attempts can build and test before they push. SIA works without a sandbox, since the
// repository's checks decide either way.
func checkSandbox(ctx context.Context, o sandbox.Options) doctorFinding {
	found := sandbox.Probe(ctx, o)
	f := doctorFinding{What: "sandbox", OK: true, Weaker: !found.OK(), Detail: found.String(), Fix: found.Fix}
	if f.Weaker {
		f.Detail += ". Off: the tools run and test, agent.setup, and agents of the kind command; attempts can't build or " +
			"test before they push"
	}
	return f
}

// installedAgents reports which of the known agents are installed where commands can see them.
func installedAgents(path []string) doctorFinding {
	f := doctorFinding{What: "other agents", OK: true}
	for _, folder := range path {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return doctorFinding{What: f.What, Detail: "there is no folder " + folder, Fix: "check --agent-path"}
		}
	}
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

// checkModels sends a short request to each model.
func checkModels(ctx context.Context, c app.Config, e *cli.Env) []doctorFinding {
	c = c.WithDefaults()
	memory := app.NewModelMemory(c.Dir, e.Logger)
	var all []doctorFinding
	for _, m := range c.Models.WithMemory(memory.Memory).Named() {
		f := doctorFinding{What: "model " + m.Name, Detail: m.Model + " at " + m.URL}
		if err := modelAnswers(ctx, m, e); err != nil {
			f.Detail, f.Fix = err.Error(), "check the address, the model's name and its key"
			var known *llm.Error
			if errors.As(err, &known) {
				f.Fix = known.Advice()
			}
		} else {
			f.OK = true
			dialect, weaker := m.Found(memory)
			if f.Detail += ", in the dialect " + string(dialect); len(weaker) > 0 {
				f.Weaker, f.Detail = true, f.Detail+"; it works with less than was asked for: "+strings.Join(weaker, "; ")
			}
		}
		write := ""
		if m.Price.CacheWrite > 0 {
			write = fmt.Sprintf("%g written to a cache, ", m.Price.CacheWrite)
		}
		price := doctorFinding{What: "price of " + m.Name, OK: true,
			Detail: fmt.Sprintf("%g in, %g cached, %s%g out, USD per million tokens (%s)", m.Price.Input,
				cmp.Or(m.Price.CachedInput, m.Price.Input), write, m.Price.Output, llm.PriceSource(m.Model, m.Price))}
		if !m.Price.Known() {
			price.OK, price.Weaker = c.Free, c.Free
			price.Detail = "not known: what it answers counts as free, so no credit budget ever binds"
			price.Fix = "set its price: --price-input and --price-output, or price in the file of --config; sia serve refuses " +
				"to start without, unless --free says that the model costs nothing"
			if c.Free {
				price.Detail, price.Fix = "free, as --free says, so no credit budget ever binds", ""
			}
		}
		all = append(all, f, price)
	}
	return append(all, doctorFinding{What: "order", OK: true, Detail: modelOrder(c.Models)})
}

// modelAnswers returns an error unless a model answers, within two requests of at most 30 seconds each. A few tokens
// suffice and are fast even with a slow reasoning model; an answer with only reasoning counts. Some endpoints return an
// error for it, so the second request allows more tokens.
func modelAnswers(ctx context.Context, m app.ModelConfig, e *cli.Env) error {
	m.Timeout = min(cmp.Or(m.Timeout, time.Minute), 30*time.Second)
	ctx, cancel := context.WithTimeout(ctx, 2*m.Timeout)
	defer cancel()
	client, err := m.Client(e.Logger, 1)
	if err != nil {
		return err
	}
	ask := llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "Answer with the word ready."}}}
	for _, ask.MaxOutput = range []int{64, 4096} {
		var known *llm.Error
		if _, err = client.Complete(ctx, ask); !errors.As(err, &known) ||
			known.Kind != llm.KindBadRequest && known.Kind != llm.KindContextLength {
			break
		}
	}
	return err
}

// modelOrder describes the models of each role and their order.
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
