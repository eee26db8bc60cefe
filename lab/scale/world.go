package scale

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sia-bot/sia/lab/benchtask"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/scripted"
)

const (
	modelKey = "the model's key"
	maxRepos = 200 // with tasks; each may have several
)

// loudOrg is the organization with many issues labelled at once.
const loudOrg = "loud"

// issue is a task's issue.
type issue struct {
	repo     string
	number   int
	labelled time.Time
	loud     bool
}

func orgName(i int) string { return fmt.Sprintf("org-%d", i) }

// repo returns the repository of the n-th task.
func (c Config) repo(n int) (owner, name string) {
	n %= min(c.Tasks, maxRepos)
	return orgName(n % c.Installations), fmt.Sprintf("busy-%d", n)
}

// loudRepo returns the repository of the n-th issue of the loud installation.
func (c Config) loudRepo(n int) string { return fmt.Sprintf("loud-%d", n%maxRepos) }

// world creates GitHub, its repositories, and the model.
func (s *stage) world() (err error) {
	if s.sim, err = ghsim.New(ghsim.Config{Dir: filepath.Join(s.dir, "github")}); err != nil {
		return err
	}
	if _, err = s.sim.Start(""); err != nil {
		return err
	}
	s.sim.AfterRequest(s.requests.note)
	for i := range s.Installations {
		s.sim.CreateOrg(orgName(i))
	}
	for n := range min(s.Tasks, maxRepos) {
		owner, name := s.repo(n)
		if _, err := s.sim.CreateRepo(owner, name, ghsim.RepoSpec{Files: benchtask.Files()}); err != nil {
			return err
		}
	}
	if s.Loud > 0 {
		s.sim.CreateOrg(loudOrg)
	}
	for n := range min(s.Loud, maxRepos) {
		if _, err := s.sim.CreateRepo(loudOrg, s.loudRepo(n), ghsim.RepoSpec{Files: benchtask.Files()}); err != nil {
			return err
		}
	}
	if s.app, err = s.sim.CreateApp("sia"); err != nil {
		return err
	}
	script, err := scripted.Parse(benchtask.Model)
	if err != nil {
		return err
	}
	for _, rule := range script.Rules {
		for i := range rule.Turns {
			rule.Turns[i].Delay = s.ModelDelay
		}
	}
	s.model, err = scripted.Start(script, scripted.Options{Key: modelKey})
	return err
}

// serve starts the servers and runners.
func (s *stage) serve(ctx context.Context, database string) error {
	on := "here"
	if s.Runners > 0 {
		on = "runners"
	}
	for i := range s.Servers {
		p, listen, _, err := s.server(i, database, on)
		if err != nil {
			return err
		}
		s.servers = append(s.servers, p)
		s.balancer.to = append(s.balancer.to, listen)
		if err := s.servers[i].start(ctx); err != nil { // one after another: the first migrates
			return err
		}
	}
	for i := range s.Runners {
		name := fmt.Sprint("runner-", i)
		dir := filepath.Join(s.dir, name)
		token, err := s.servers[0].run(ctx, "runner", "add", name)
		if err != nil {
			return err
		}
		s.runners = append(s.runners, &process{name: name, program: s.Program, ready: "waiting for attempts",
			env:  []string{"HOME=" + dir, "SIA_RUNNER_TOKEN=" + strings.TrimSpace(token), s.clockOf(i + 1)},
			args: []string{"runner", "--server", s.balancer.URL, "--dir", dir, "--attempts", fmt.Sprint(s.Attempts)}})
		if err := s.runners[i].start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// server returns the i-th server, and its addresses.
func (s *stage) server(i int, database, attemptsOn string) (p *process, listen, private string, err error) {
	if listen, err = freeAddress(); err != nil {
		return nil, "", "", err
	}
	if private, err = freeAddress(); err != nil {
		return nil, "", "", err
	}
	key := filepath.Join(s.dir, "app.pem")
	if err := os.WriteFile(key, s.app.PrivateKeyPEM, 0o600); err != nil {
		return nil, "", "", err
	}
	dir := filepath.Join(s.dir, fmt.Sprint("server-", i))
	return &process{name: fmt.Sprint("server ", i), program: s.Program, ready: "serving",
		env: []string{"HOME=" + dir, "SIA_DIR=" + dir, "SIA_GITHUB_URL=" + s.sim.URL(), "SIA_GITHUB_API=" + s.sim.APIURL(),
			fmt.Sprint("SIA_APP_ID=", s.app.ID), "SIA_APP_KEY_FILE=" + key, "SIA_WEBHOOK_SECRET=" + secret,
			"SIA_MODEL_URL=" + s.model.URL, "SIA_MODEL_KEY=" + modelKey, "SIA_MODEL=coder", "SIA_SIA_MODEL=sia",
			"SIA_REVIEWER_MODEL=reviewer", "SIA_FREE=true", "SIA_WELCOME=false", "SIA_DB=" + database, s.clockOf(i)},
		args: []string{"serve", "--listen", listen, "--private", private, "--attempts-on", attemptsOn,
			"--attempts", fmt.Sprint(max(1, s.Attempts*max(1, s.Runners)))}}, listen, private, nil
}

// install points the app's webhook at the servers and installs the app.
func (s *stage) install() error {
	if err := s.sim.SetWebhook(s.app.ID, s.balancer.URL+"/webhook", secret); err != nil {
		return err
	}
	repos := map[string][]string{}
	for n := range min(s.Tasks, maxRepos) {
		owner, name := s.repo(n)
		repos[owner] = append(repos[owner], name)
	}
	for i := range s.Installations {
		id, err := s.sim.Install(s.app.ID, orgName(i), repos[orgName(i)]...)
		if err != nil {
			return err
		}
		s.installed = append(s.installed, id)
	}
	if s.Loud == 0 {
		return nil
	}
	var loud []string
	for n := range min(s.Loud, maxRepos) {
		loud = append(loud, s.loudRepo(n))
	}
	_, err := s.sim.Install(s.app.ID, loudOrg, loud...)
	return err
}

// span returns the duration of the noise.
func (c Config) span() time.Duration {
	return time.Duration(c.Deliveries) * time.Second / time.Duration(c.Rate)
}

// ask labels the issues of the loud installation, and then the others, spread over the time of the noise, each by
// another person: one may start three a minute.
func (s *stage) ask(ctx context.Context) error {
	for n := range s.Loud {
		if err := s.label(loudOrg+"/"+s.loudRepo(n), fmt.Sprint("loud-", n), n, true); err != nil {
			return err
		}
	}
	began := time.Now()
	for n := range s.Tasks {
		if err := wait(ctx, time.Until(began.Add(s.span()*time.Duration(n)/time.Duration(s.Tasks)))); err != nil {
			return err
		}
		owner, name := s.repo(n)
		if err := s.label(owner+"/"+name, fmt.Sprint("dev-", n), n, false); err != nil {
			return err
		}
	}
	return nil
}

// label opens and labels the n-th issue as a new person.
func (s *stage) label(repo, login string, n int, loud bool) error {
	s.sim.CreateUser(login)
	if err := s.sim.SetPermission(repo, login, "write"); err != nil {
		return err
	}
	number, err := s.sim.OpenIssue(repo, login, fmt.Sprintf("Find answer %d", n), "The answer to everything, please.")
	if err != nil {
		return err
	}
	if err := s.sim.Label(repo, number, login, "sia"); err != nil {
		return err
	}
	s.issues = append(s.issues, issue{repo, number, time.Now(), loud})
	return nil
}

// freeAddress returns a loopback address that was free a moment ago. Its port is below the dynamic
// ports (RFC 6335 §6), so that a killed server gets it again.
func freeAddress() (address string, err error) {
	for range 100 {
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprint("127.0.0.1:", 20_000+rand.IntN(12_000))); err == nil {
			return l.Addr().String(), l.Close()
		}
	}
	return "", fmt.Errorf("find a free port: %w", err)
}
