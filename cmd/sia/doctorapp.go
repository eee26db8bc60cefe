package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/web/setup"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
)

// checkGitHub checks the app's authentication, permissions, webhook and installations. It returns a finding for each.
func checkGitHub(ctx context.Context, c app.Config, e *cli.Env) []doctorFinding {
	c = c.WithDefaults()
	const whole = "GitHub App"
	a, err := github.New(github.Config{AppID: c.GitHub.AppID, PrivateKey: c.GitHub.PrivateKey, BaseURL: c.GitHub.API,
		Logger: e.Logger, Writes: github.Uncounted{}, Secrets: &secret.Masker{}}) // it only reads
	if err != nil {
		return []doctorFinding{failed(whole, err, "check --app-key-file and --github-api")}
	}
	self, err := a.Self(ctx)
	if unreached := new(net.OpError); errors.As(err, &unreached) { // GitHub is unreachable
		return []doctorFinding{{What: whole, Detail: fmt.Sprintf("GitHub can't be reached at %s: %v", c.GitHub.API,
			unreached), Fix: "check --github-url, and this machine's way there: its name server, proxy and firewall"}}
	}
	if err != nil {
		return []doctorFinding{failed(whole, err, "check --app-id, --app-key-file and --github-url; the key must belong to "+
			"that app, and this machine's clock must be right")}
	}
	all := []doctorFinding{{What: whole, OK: true,
		Detail: fmt.Sprintf("%s (%s) at %s", self.Name, self.Login, c.GitHub.URL)}}
	all = append(all, missingPermissions("the app", self.Permissions,
		"grant it under Permissions in the app's settings on GitHub, then accept it in each installation")...)
	all = append(all, checkHook(ctx, a), checkDeliveries(ctx, a))
	return append(all, checkInstallations(ctx, a, self)...)
}

// failed returns a finding about something that could not be checked.
func failed(what string, err error, fix string) doctorFinding {
	detail := err.Error()
	var known *sia.Error
	if errors.As(err, &known) && known.Message != "" {
		detail = known.Message
	}
	return doctorFinding{What: what, Detail: strings.ReplaceAll(detail, " with `sia doctor`", ""), Fix: fix}
}

// missingPermissions returns a finding for each permission that has not been granted.
func missingPermissions(who string, have github.Permissions, fix string) (all []doctorFinding) {
	asked, _, err := setup.Requested()
	if err != nil {
		return []doctorFinding{failed("permission", err, fix)}
	}
	for _, p := range asked {
		if h := have[p.Name]; h == p.Access || h == "write" || h == "admin" {
			continue
		}
		all = append(all, doctorFinding{What: "permission", Fix: fix,
			Detail: fmt.Sprintf("%s lacks %s: %s; what it is for: %s", who, p.Name, p.Access, p.Reason)})
	}
	return all
}

// missingEvents returns a finding for each event that is not subscribed to.
func missingEvents(who string, have []string, fix string) (all []doctorFinding) {
	_, asked, err := setup.Requested()
	if err != nil {
		return []doctorFinding{failed("event", err, fix)}
	}
	for _, e := range asked {
		if !slices.Contains(have, e.Name) {
			all = append(all, doctorFinding{What: "event", Fix: fix,
				Detail: fmt.Sprintf("%s does not get %s: %s", who, e.Name, e.Reason)})
		}
	}
	return all
}

// checkHook checks the address and the settings of the webhook.
func checkHook(ctx context.Context, a *github.App) doctorFinding {
	const settings = "under Webhook in the app's settings on GitHub, "
	f := doctorFinding{What: "webhook"}
	hook, err := a.Hook(ctx)
	if err != nil {
		return failed(f.What, err, "look at the webhook in the app's settings on GitHub")
	}
	u, err := url.Parse(hook.URL)
	f.Detail = hook.URL
	switch {
	case hook.URL == "":
		f.Detail, f.Fix = "the app has no webhook address, so SIA hears of nothing", settings+"set it to "+
			"https://your-host/webhook and make it active"
	case err != nil || u.Host == "":
		f.Detail, f.Fix = hook.URL+" is no address", settings+"set it to https://your-host/webhook"
	case strings.TrimRight(u.Path, "/") != "/webhook":
		f.Detail, f.Fix = hook.URL+" does not end in /webhook, where SIA listens", settings+"set it to "+u.Scheme+"://"+
			u.Host+"/webhook, unless something in front of SIA changes the path"
	case placeholder(u.Hostname()):
		f.Detail, f.Fix = hook.URL+" is a placeholder", settings+"set it to the address of this server"
	case !hook.Secret:
		f.Detail, f.Fix = "the app has no webhook secret, so SIA refuses all that GitHub sends", settings+"set the one of "+
			"--webhook-secret"
	case hook.Insecure:
		f.OK, f.Weaker, f.Fix = true, true, settings+"turn the verification of certificates on"
		f.Detail += ", without verifying its certificate"
	default:
		f.OK = true
		f.Detail += ", with a secret"
	}
	return f
}

// placeholder reports whether a host is an example name from documentation.
func placeholder(host string) bool {
	names := []string{"example.com", "example.org", "example.net", "your-host"}
	return slices.ContainsFunc(names, func(name string) bool { return host == name || strings.HasSuffix(host, "."+name) })
}

// failedDeliveryAge is the maximum age of failed deliveries that are reported.
const failedDeliveryAge = 24 * time.Hour

// checkDeliveries checks the results of the latest webhooks. GitHub does not reveal the secret, but SIA's answers show
// whether it is the same.
func checkDeliveries(ctx context.Context, a *github.App) doctorFinding {
	f := doctorFinding{What: "deliveries"}
	tried, err := a.LatestDeliveries(ctx)
	if err != nil {
		return failed(f.What, err, "look at Advanced → Recent Deliveries in the app's settings on GitHub")
	}
	var bad []github.DeliveryAttempt
	for _, d := range tried {
		if !d.OK() && time.Since(d.At) < failedDeliveryAge {
			bad = append(bad, d)
		}
	}
	switch {
	case len(tried) == 0:
		f.OK, f.Weaker, f.Detail = true, true, "GitHub has sent nothing yet, so nobody knows whether it arrives"
		f.Fix = "install the app on a repository, with `sia serve` running, and look again"
	case len(bad) == 0:
		f.OK, f.Detail = true, fmt.Sprintf("the last %d arrived", len(tried))
	default:
		last := bad[0]
		f.Detail = fmt.Sprintf("%d of the last %d failed; the latest of them, %s at %s: %s", len(bad), len(tried), last.Event,
			last.At.UTC().Format("2006-01-02 15:04 UTC"), setup.DeliveryResult(last))
		f.Fix = setup.DeliveryFix(last)
		if tried[0].OK() {
			f.OK, f.Weaker = true, true
			f.Detail += "; those after it arrived"
			f.Fix = "nothing, if it has been mended; SIA asks GitHub to send again what failed"
		}
	}
	return f
}

// checkInstallations checks whether each installation is active and has granted what the app asks for.
func checkInstallations(ctx context.Context, a *github.App, self github.Self) (all []doctorFinding) {
	const what = "installation"
	installs, err := a.Installations(ctx)
	if err != nil {
		return []doctorFinding{failed(what, err, "look at Install App in the app's settings on GitHub")}
	}
	subscribed, err := a.Subscriptions(ctx)
	if err != nil {
		all = append(all, failed("event", err, "look at Permissions & events in the app's settings on GitHub"))
	} else {
		all = append(all, missingEvents("the app", subscribed.App, "subscribe to it under Permissions & events in the app's "+
			"settings on GitHub")...)
	}
	if len(installs) == 0 {
		return append(all, doctorFinding{What: what, Detail: "the app is installed nowhere",
			Fix: "install it from " + self.URL})
	}
	for _, in := range installs {
		accept := "an owner of " + in.Account + " accepts it under Settings → GitHub Apps → " + self.Name
		problems := missingPermissions(in.Account, in.Permissions, accept)
		if events, ok := subscribed.Installations[in.ID]; ok {
			problems = append(problems, missingEvents(in.Account, events, accept)...)
		}
		if in.Suspended {
			problems = append(problems, doctorFinding{What: what, Detail: in.Account + " is suspended",
				Fix: "an owner of " + in.Account + " unsuspends it under Settings → GitHub Apps → " + self.Name})
		}
		if len(problems) == 0 {
			problems = []doctorFinding{{What: what, OK: true, Detail: in.Account}}
		}
		all = append(all, problems...)
		if !in.Suspended {
			all = append(all, checkPullRequests(ctx, a, in)...)
		}
	}
	return all
}
