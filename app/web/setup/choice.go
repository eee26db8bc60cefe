package setup

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

// webhookPath is the path of webhooks, below the server's public address.
const webhookPath = "/webhook"

// MaxName is the maximum length of an app's name, in characters.
// https://docs.github.com/en/apps/creating-github-apps/registering-a-github-app/registering-a-github-app
const MaxName = 34

// choice is the input of a person before an app is registered.
type choice struct {
	OfOrg     bool   // an organisation will own the app, not the person's account
	Org       string // the organisation
	Name      string
	GitHub    string // https://github.com, https://TENANT.ghe.com, or a GitHub Enterprise Server's address
	PublicURL string // address of this server for GitHub and people: scheme and host
}

var login = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})$`)

// checked returns the choice without slashes at its ends, or an error.
func (c choice) checked() (choice, error) {
	c.Org, c.Name = strings.TrimSpace(c.Org), strings.TrimSpace(c.Name)
	var all []error
	if c.Org != "" && !login.MatchString(c.Org) {
		all = append(all, fmt.Errorf("%q is no organisation: give its name as in its address on GitHub", c.Org))
	}
	switch {
	case c.OfOrg && c.Org == "":
		all = append(all, errors.New("name the organisation, or choose your own account"))
	case !c.OfOrg && c.Org != "": // GitHub installs a private app only on its owner's account
		all = append(all, fmt.Errorf("you typed the organisation %s and chose your own account: choose “An organisation …”, "+
			"or empty the field", c.Org))
	}
	if n := utf8.RuneCountInString(c.Name); n < 1 || n > MaxName {
		all = append(all, fmt.Errorf("the app needs a name of 1 to %d characters that no other app on GitHub has", MaxName))
	}
	var err error
	if c.GitHub, err = origin(c.GitHub); err != nil {
		all = append(all,
			fmt.Errorf("GitHub's address: %w, such as https://github.com or that of your GitHub Enterprise", err))
	}
	if c.PublicURL, err = origin(c.PublicURL); err != nil {
		all = append(all, fmt.Errorf("the public address of this server: %w, such as https://sia.example.com", err))
	}
	return c, errors.Join(all...)
}

// origin is the scheme and host of an http or https address that has nothing else.
func origin(address string) (string, error) {
	u, err := url.Parse(strings.TrimRight(strings.TrimSpace(address), "/"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Path != "" ||
		u.RawQuery != "" || u.Fragment != "" || len(address) > 300 {
		return "", errors.New("give https:// and a host, and nothing behind it")
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), nil
}

// warning says why GitHub may not reach the public address; "" if it probably can.
func (c choice) warning() string {
	u, err := url.Parse(c.PublicURL)
	if err != nil {
		return ""
	}
	ip := net.ParseIP(u.Hostname())
	here := strings.EqualFold(u.Hostname(), "localhost") || ip != nil && ip.IsLoopback()
	cloud := c.GitHub == "https://github.com" || strings.HasSuffix(c.GitHub, ".ghe.com")
	switch {
	case cloud && (here || ip != nil && ip.IsPrivate()):
		return c.PublicURL + " is an address of this machine or network alone. GitHub has to reach it, and does not take it."
	case here:
		return c.PublicURL + " is an address of this machine alone: your GitHub reaches it only if it runs here, too."
	case u.Scheme == "http":
		return c.PublicURL + " is not encrypted: what GitHub sends can be read on its way. Put something that " +
			"ends TLS in front."
	}
	return ""
}
