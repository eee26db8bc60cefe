package notify

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/mail"
	"net/url"
	"strings"
	"time"
)

// Config configures notifications. The zero value sends none.
type Config struct {
	// URL is the URL of an incoming webhook that takes {"text": …}: Slack's, Mattermost's, or Discord's
	// with the suffix /slack. It is a secret. "" for none.
	URL string
	// SMTP is the mail server: smtps://user@host:465 for implicit TLS, smtp://user@host:587 for STARTTLS;
	// without a user, there is no authentication. "" for no e-mail.
	SMTP     string
	Password string   // of the user
	From     string   // sender address; "" is the user, if that is an address
	To       []string // addresses
	Summary  Summary  // "" is Off

	Roots *x509.CertPool // trusted certificate authorities; nil: the system's
}

// Validate returns an error for everything that is missing or wrong, each with advice.
func (c Config) Validate() error {
	var all []error
	need := func(ok bool, format string, args ...any) {
		if !ok {
			all = append(all, fmt.Errorf(format, args...))
		}
	}
	if c.URL != "" { // a secret, so errors don't include it
		u, err := url.Parse(c.URL)
		need(err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "",
			"the webhook for messages is not an http or https address: set SIA_NOTIFY_URL to the one that the chat shows")
	}
	if c.SMTP != "" {
		_, err := c.mail()
		need(err == nil, "%w", err)
	} else {
		need(len(c.To) == 0 && c.From == "" && c.Password == "",
			"there are addresses or a password for e-mail, and no server that sends it: set --notify-smtp or SIA_NOTIFY_SMTP")
	}
	switch c.Summary {
	case "", Off:
	case Daily, Weekly:
		need(c.URL != "" || c.SMTP != "", "a %s summary has nowhere to go: set SIA_NOTIFY_URL or SIA_NOTIFY_SMTP, or leave "+
			"--summary out", c.Summary)
	default:
		need(false, "--summary %q: give daily, weekly or off", c.Summary)
	}
	return errors.Join(all...)
}

// Channels returns the configured channels. now is the clock.
func (c Config) Channels(log *slog.Logger, now func() time.Time) ([]Channel, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	var all []Channel
	if c.URL != "" {
		all = append(all, newWebhook(c.URL, c.Roots, now))
	}
	if c.SMTP != "" {
		m, err := c.mail()
		if err != nil {
			return nil, err
		}
		m.log, m.now = log, now
		all = append(all, m)
	}
	return all, nil
}

// Secrets returns the secrets in the configuration, for masking. Those of a webhook's address, with which anybody can
// write to the chat, are in its path, its query or its password.
func (c Config) Secrets() []string {
	all := []string{c.Password}
	if u, err := url.Parse(c.URL); err == nil {
		all = append(all, strings.Split(u.Path, "/")...)
		for key, values := range u.Query() {
			all = append(append(all, key), values...)
		}
		password, _ := u.User.Password()
		all = append(all, password)
	}
	return all
}

// mail returns the channel for e-mail.
func (c Config) mail() (*mailer, error) {
	u, err := url.Parse(c.SMTP)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" {
		return nil, errors.New("--notify-smtp is not the address of a server for e-mail: give smtps://user@host:465, or " +
			"smtp://user@host:587 for STARTTLS")
	}
	if _, inside := u.User.Password(); inside {
		return nil, errors.New("--notify-smtp holds a password, which other users of the machine can see: take it out, and " +
			"set SIA_NOTIFY_SMTP_PASSWORD to it")
	}
	m := &mailer{host: u.Hostname(), port: u.Port(), tls: u.Scheme == "smtps", user: u.User.Username(),
		password: c.Password, roots: c.Roots}
	m.port = cmp.Or(m.port, map[bool]string{true: "465", false: "587"}[m.tls])
	if m.user != "" && m.password == "" {
		return nil, fmt.Errorf("the password of %s at %s is missing: set SIA_NOTIFY_SMTP_PASSWORD", m.user, m.host)
	}
	if m.from, err = mail.ParseAddress(cmp.Or(c.From, m.user)); err != nil {
		return nil, fmt.Errorf("%q is no address that e-mail can come from: set --notify-from to one",
			cmp.Or(c.From, m.user))
	}
	if len(c.To) == 0 {
		return nil, errors.New("nobody is named whom e-mail goes to: set --notify-to or SIA_NOTIFY_TO to addresses")
	}
	for _, to := range c.To {
		a, err := mail.ParseAddress(to)
		if err != nil {
			return nil, fmt.Errorf("--notify-to: %q is no e-mail address; give one such as anna@example.com", to)
		}
		m.to = append(m.to, a)
	}
	return m, nil
}
