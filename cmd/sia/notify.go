package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/sia-bot/sia/app/notify"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia/secret"
)

type notifyCmd struct {
	Test notifyTestCmd `cmd:"" help:"Send one message to each chat and address that is set." example:"sia notify test"`
}

type notifyTestCmd struct {
	notifyFlags `embed:""`
	PublicURL   string `name:"public-url" help:"Address at which people reach the pages; the message links there." env:"SIA_PUBLIC_URL" placeholder:"URL"`
	cli.Format  `embed:""`
}

// Validate returns an error for a configuration that can't send messages.
func (c *notifyTestCmd) Validate() error { return c.notifyFlags.config().Validate() }

// notified is the result of one message, as JSON.
type notified struct {
	Channel string `json:"channel"` // webhook or mail
	Sent    bool   `json:"sent"`
	Error   string `json:"error,omitempty"` // says what to do
}

// Run sends a message on each channel. It fails if one could not be sent.
func (c *notifyTestCmd) Run(e *cli.Env) error {
	channels, masked, err := openChannels(c.notifyFlags.config(), e.Logger)
	if err != nil {
		return err
	}
	if len(channels) == 0 {
		return errors.New("there is no channel: set SIA_NOTIFY_URL to the webhook of a chat, or SIA_NOTIFY_SMTP and " +
			"SIA_NOTIFY_TO for e-mail")
	}
	var all []notified
	good := true
	for _, channel := range channels {
		ctx, cancel := context.WithTimeout(e.Ctx, time.Minute)
		err := channel.Send(ctx, fmt.Sprint("test/", time.Now().UnixNano()),
			render.TestNotice(render.Links{Web: c.PublicURL}))
		cancel()
		n := notified{Channel: channel.Name(), Sent: err == nil}
		if err != nil {
			n.Error, good = masked.Mask(err.Error()), false
		}
		all = append(all, n)
	}
	return c.Report(e, all, good, func() error {
		for _, n := range all {
			if n.Sent {
				e.Linef("%s %-8s sent; look whether it arrived", e.Style.Green("✓"), n.Channel)
			} else {
				e.Linef("%s %-8s %s", e.Style.Red("✗"), n.Channel, n.Error)
			}
		}
		return nil
	})
}

// openChannels returns the notification channels, and a masker of their secrets.
func openChannels(c notify.Config, log *slog.Logger) ([]notify.Channel, *secret.Masker, error) {
	masked := &secret.Masker{}
	for _, s := range c.Secrets() {
		masked.Know("notify", s)
	}
	channels, err := c.Channels(log, time.Now)
	return channels, masked, err
}

// checkNotify reports whether notifications outside of GitHub are configured, and whether their servers can be reached.
func checkNotify(ctx context.Context, c notify.Config) (all []doctorFinding) {
	channels, masked, err := openChannels(c, silentLogger())
	if err != nil {
		return nil // the invalid configuration was already reported
	}
	if len(channels) == 0 {
		return []doctorFinding{{What: "messages", OK: true,
			Detail: "off: no message outside of GitHub when a person is needed"}}
	}
	for _, channel := range channels {
		f := doctorFinding{What: "messages by " + channel.Name(), OK: true,
			Detail: "it can be reached; `sia notify test` shows whether a message arrives"}
		if err := channel.Reach(ctx); err != nil {
			f = failed(f.What, errors.New(masked.Mask(err.Error())), "mend that, then try `sia notify test`")
		}
		all = append(all, f)
	}
	return all
}
