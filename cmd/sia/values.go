package main

import (
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
)

// taskName matches a task's id, or owner/name#issue.
var taskName = regexp.MustCompile(`^([\w.-]+/[\w.-]+#|[0-9]+-)[1-9][0-9]*$`)

// valueTypes returns the types of values that several commands use, for the tag type.
func valueTypes() []kong.Option {
	return []kong.Option{
		cli.Checked("repository", func(s string) error {
			if id, err := strconv.ParseInt(s, 10, 64); ownerName.MatchString(s) || err == nil && id > 0 {
				return nil
			}
			return fmt.Errorf("%q is no repository; write it as owner/name", s)
		}),
		cli.Checked("task", func(s string) error {
			if taskName.MatchString(s) {
				return nil
			}
			return fmt.Errorf("%q is no task; write it as owner/name#issue, or as the id that sia task list shows", s)
		}),
		cli.Checked("login", func(s string) error {
			if loginPattern.MatchString(strings.TrimPrefix(s, "@")) {
				return nil
			}
			return fmt.Errorf("%q is no login; write it as GitHub shows it, such as mia", s)
		}),
		cli.Checked("listen", func(s string) error {
			_, port, err := net.SplitHostPort(s)
			if n, bad := strconv.Atoi(port); bad == nil && (n < 0 || n > 65535) {
				return fmt.Errorf("%q has a port that there is not; give one from 0 to 65535", s)
			}
			if err != nil {
				return fmt.Errorf("%q is no address to listen at; write it such as :8080 or 127.0.0.1:8080", s)
			}
			return nil
		}),
		cli.Checked("database", func(s string) error {
			if _, err := store.File(s); err != nil {
				return err
			}
			if !strings.ContainsAny(s, `:/\.`) {
				return fmt.Errorf("%q is no database; give a file, such as sqlite:/var/lib/sia/sia.db, or a URL postgres://…",
					s)
			}
			return nil
		}),
	}
}
