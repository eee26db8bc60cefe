package main

import "github.com/sia-bot/sia/app/notify"

// notifyFlags configure notifications outside of GitHub. None are sent unless they are set.
type notifyFlags struct {
	NotifyURL          string   `name:"notify-url" help:"Incoming webhook of a chat (Slack, Mattermost, or Discord's with /slack at its end) that gets a message when a person is needed. Better in the environment than as a flag: who knows it can post there." env:"SIA_NOTIFY_URL" placeholder:"URL"`
	NotifySMTP         string   `name:"notify-smtp" help:"Server that sends the same by e-mail: smtps://user@host:465 for TLS, smtp://user@host:587 for STARTTLS." env:"SIA_NOTIFY_SMTP" placeholder:"URL"`
	NotifySMTPPassword string   `name:"notify-smtp-password" help:"That user's password; better in the environment than as a flag." env:"SIA_NOTIFY_SMTP_PASSWORD" placeholder:"PASSWORD"`
	NotifyFrom         string   `help:"Address that e-mail comes from; default: the user of --notify-smtp." env:"SIA_NOTIFY_FROM" placeholder:"ADDRESS"`
	NotifyTo           []string `help:"Addresses that e-mail goes to." env:"SIA_NOTIFY_TO" placeholder:"ADDRESS"`
}

// config returns the flags as the server's configuration.
func (f notifyFlags) config() notify.Config {
	return notify.Config{URL: f.NotifyURL, SMTP: f.NotifySMTP, Password: f.NotifySMTPPassword, From: f.NotifyFrom,
		To: f.NotifyTo}
}
