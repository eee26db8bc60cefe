package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/web/setup"
	"github.com/sia-bot/sia/cmd/internal/cli"
)

type setupCmd struct {
	ConfigFile configFile `name:"config" help:"YAML file with the server's settings." env:"SIA_CONFIG" placeholder:"FILE"`
	Dir        string     `help:"The server's folder, in which the keys are stored." default:"${dir}" env:"SIA_DIR" type:"path"`
	GitHubURL  string     `name:"github-url" help:"GitHub's address, or a GitHub Enterprise Server's; default: https://github.com." env:"SIA_GITHUB_URL" placeholder:"URL" type:"web"`
	GitHubAPI  string     `name:"github-api" help:"Its REST address, when it is not the usual one." env:"SIA_GITHUB_API" placeholder:"URL" type:"web"`
	PublicURL  string     `name:"public-url" help:"Address at which GitHub and people reach the server, such as https://sia.example.com." env:"SIA_PUBLIC_URL" placeholder:"URL" type:"web"`
	Org        string     `help:"Organisation that will own the app; default: your own account." placeholder:"NAME" type:"login"`
	Name       string     `help:"Name of the app, which no other app on GitHub may have." placeholder:"NAME"`
	Port       int        `help:"Port of this machine for the page; 0: any that is free." default:"0" min:"0" max:"65535"`
	Replace    bool       `help:"Register another app although one is stored; that one is kept beside it."`
	cli.Format `embed:""`
}

// setupAnswer is the result of set-up, as JSON. It contains no secret.
type setupAnswer struct {
	ID        int64  `json:"id"`
	Slug      string `json:"slug"`
	Name      string `json:"name"`
	Owner     string `json:"owner"`
	File      string `json:"file"`    // where the keys are stored
	Install   string `json:"install"` // where the app is installed
	PublicURL string `json:"public_url"`
}

// makeServerDir makes the server's folder, before anybody is asked to open a page.
func makeServerDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("the server's folder can't be made: %w; give another with --dir", err)
	}
	return nil
}

// Validate returns an error for a name that GitHub does not take.
func (c *setupCmd) Validate() error {
	if n := utf8.RuneCountInString(c.Name); n > setup.MaxName {
		return fmt.Errorf("--name has %d characters; GitHub takes at most %d", n, setup.MaxName)
	}
	return nil
}

// Run serves the page on this machine until the app is stored, and prints the next steps.
func (c *setupCmd) Run(e *cli.Env) (err error) {
	if err := makeServerDir(c.Dir); err != nil {
		return err
	}
	stored, ok, err := setup.Load(c.Dir)
	switch {
	case err != nil && !c.Replace:
		return err
	case ok && !c.Replace:
		return fmt.Errorf("an app is stored already, %s, in %s; `sia serve` uses it. To register another: --replace", stored,
			filepath.Join(c.Dir, setup.File))
	}
	front, err := app.Listen(e.Ctx, app.Config{Private: fmt.Sprintf("127.0.0.1:%d", c.Port)})
	if errno := syscall.Errno(0); errors.As(err, &errno) { // its own message names a flag that this command has not
		return fmt.Errorf("--port %d can't be used: %w; choose another, or leave it out for one that is free", c.Port, errno)
	}
	if err != nil {
		return err
	}
	defer func() {
		ended, end := context.WithCancel(e.Ctx)
		end()
		err = errors.Join(err, front.Run(ended)) // finish the requests in flight
	}()
	_, port, _ := net.SplitHostPort(front.PrivateAddr().String()) // a TCP address
	fmt.Fprintf(e.Err,
		"Open this address in a browser on this machine (from elsewhere: ssh -L %[1]s:localhost:%[1]s …):\n  http://%s%s\n",
		port, front.PrivateAddr(), setup.Path)
	fmt.Fprintln(e.Err, "Waiting until the app is registered; Ctrl-C ends it, and nothing is stored before.")
	config := app.Config{Dir: c.Dir, PublicURL: c.PublicURL, GitHub: app.GitHubConfig{URL: c.GitHubURL, API: c.GitHubAPI}}
	made, err := app.SetUp(e.Ctx, config, app.SetUpOptions{Front: front, Name: c.Name, Org: c.Org, Replace: c.Replace,
		Logger: silentLogger(), Now: time.Now})
	if err != nil {
		return err
	}
	return c.report(e, made)
}

// report prints the result and the next steps.
func (c *setupCmd) report(e *cli.Env, made setup.Registered) error {
	a := setupAnswer{ID: made.ID, Slug: made.Slug, Name: made.Name, Owner: made.Owner,
		File: filepath.Join(c.Dir, setup.File), Install: made.Page + "/installations/new", PublicURL: made.PublicURL}
	return c.Sayf(e, a, "%s %s is registered, and its keys are stored in %s. Keep a backup of that file.\n"+
		"Next:\n  1. Start the server where %s leads, with a model: sia serve --model-url … --model …\n"+
		"  2. Install the app: %s\n"+
		"  3. See that webhooks arrive: http://localhost:9090%s on the server's machine, or sia doctor\n",
		e.Style.Green("✓"), made, a.File, a.PublicURL, a.Install, setup.Path)
}
