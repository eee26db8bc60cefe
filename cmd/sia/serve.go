package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/web/setup"
	"github.com/sia-bot/sia/app/web/signin"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/lab/replay"
)

type serveCmd struct {
	serverFlags `embed:""`
}

// Validate returns an error for flags that no server can work with.
func (c *serveCmd) Validate() error {
	notify := c.notifyFlags.config()
	notify.Summary = ""                // settings that are missing are reported later
	roles, _ := app.ParseRoles(c.Role) // serverFlags.Validate reports the error
	return errors.Join(c.serverFlags.Validate(), notify.Validate(), roles.CheckShared(c.database()),
		app.Config{DB: c.database(), DBDirect: c.DBDirect}.CheckDirect())
}

// Run serves until its context ends. Without an app it serves /setup first, and continues as soon as an app is stored.
// If GitHub refuses the keys, it ends at once. An unreachable model is only logged, since it may recover.
func (c *serveCmd) Run(e *cli.Env) (err error) {
	config, err := c.config()
	if err != nil {
		return err
	}
	o := app.Options{Logger: e.Logger, Sandbox: sandbox.Options{Self: cli.ForwardCommand()}, ProbeModels: true,
		Version: ownVersion(), Duels: replay.DuelsIn(c.Dir)}
	if len(config.Roles) == 0 && !config.GitHub.Named() && config.Private != "" {
		var ready bool
		if config, ready, err = setUpFirst(e, config, &o); err != nil || !ready {
			return err
		}
	}
	a, err := app.New(e.Ctx, config, o)
	if err != nil {
		if o.Front != nil {
			err = errors.Join(err, o.Front.Close())
		}
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	for _, p := range a.Problems(e.Ctx) {
		if p.Fatal {
			return fmt.Errorf("%s", p)
		}
		e.Logger.WarnContext(e.Ctx, "not working yet; tasks wait for it", "what", p.What, "error", p.Err)
	}
	return a.Run(e.Ctx)
}

// setUpFirst serves /setup until an app is stored, and adds the app to the configuration. If other settings are missing
// then, it logs them and serves a page that lists them until its context ends: ready is false.
func setUpFirst(e *cli.Env, config app.Config, o *app.Options) (_ app.Config, ready bool, err error) {
	if err := config.CheckAddresses(); err != nil {
		return config, false, err
	}
	if config.PublicURL != "" {
		o.Invited = signin.NewInvitation(setup.Path, strings.HasPrefix(config.PublicURL, "https:"), time.Now)
	}
	if o.Front, err = app.Listen(e.Ctx, config.WithDefaults()); err != nil {
		return config, false, err
	}
	front := o.Front
	defer func() {
		if !ready {
			err = errors.Join(err, front.Close())
		}
	}()
	fmt.Fprintf(e.Err, "No GitHub App is configured. To register one, open on this machine:\n  http://%s%s\n",
		front.PrivateAddr(), setup.Path)
	printLink := func(words string) {
		fmt.Fprintf(e.Err, "%s, which lets one browser in and is valid for two hours:\n  %s%s\n", words,
			strings.TrimRight(config.PublicURL, "/"), o.Invited.Link())
	}
	if o.Invited != nil {
		printLink("or, from elsewhere, this address")
	}
	e.Logger.InfoContext(e.Ctx, "waiting for set-up", "webhooks", front.Addr().String()+"/webhook", "setup",
		"http://"+front.PrivateAddr().String()+setup.Path)
	made, err := app.SetUp(e.Ctx, config, app.SetUpOptions{Front: front, Invitation: o.Invited, Serves: true,
		NewLink: func() { printLink("The last address has expired. Set-up has another one") },
		Logger:  e.Logger, Now: time.Now})
	if o.Invited != nil {
		o.Invited.Drop()
	}
	if e.Ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return config, false, nil
	}
	if err != nil {
		return config, false, err
	}
	if config, err = config.WithApp(made); err != nil {
		return config, false, err
	}
	if err := errors.Join(config.WithDefaults().Validate(), config.CheckPrices()); err != nil {
		e.Logger.ErrorContext(e.Ctx, "the app is set up, and SIA can't work yet: stop it, add what is missing, and start it "+
			"again", "missing", strings.ReplaceAll(err.Error(), "\n", "; "))
		return config, false, front.Run(e.Ctx)
	}
	return config, true, nil
}
