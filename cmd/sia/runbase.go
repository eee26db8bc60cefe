package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// noRunError returns the error for a check that says nothing of the code before any change.
func (r *localRun) noRunError(base checkResult) error {
	if base.noRun == agent.LacksProgram && !executes(r.Ctx, r.Dir) {
		return fmt.Errorf("`%s` can't be run, so nothing was begun: %s, where the code is checked out, is on a file "+
			"system that is mounted noexec. Name another folder for temporary files with TMPDIR", r.job.check, os.TempDir())
	}
	said := fmt.Sprintf("`%s` says nothing of the code before any change: %s, so nothing was begun:\n%s\n", r.job.check,
		base.noRun, excerptOf(base.log, shownLines))
	switch {
	case r.job.isDetected && base.noRun == agent.LacksProgram:
		return errors.New(said + "Install it where commands can see it, or name another command with --test")
	case r.job.isDetected:
		return errors.New(said + "Name the command that runs the tests with --test")
	}
	said += "Correct the command, or install the program where commands can see it: in /usr, or in the folder of a " +
		"toolchain that is in PATH. If the change is to make the program, add `|| false` to the command"
	if r.cmd.Test != "" {
		return cli.Usage("%s", said)
	}
	return errors.New(said)
}

// executes reports whether a program in a folder can be executed.
func executes(ctx context.Context, dir string) bool {
	file := filepath.Join(dir, "executes")
	if os.WriteFile(file, []byte("#!/bin/sh\n"), 0o700) != nil {
		return true // not known
	}
	defer os.Remove(file)
	return !errors.Is(exec.CommandContext(ctx, file).Run(), fs.ErrPermission)
}

// untestable returns an error for a base that can't be tested here, which would make each attempt fail: its tests don't
// end in time, or need packages that are not installed.
func (r *localRun) untestable(base checkResult) error {
	if base.timedOut {
		return fmt.Errorf("`%s` did not end within %s before any change, so nothing was begun. Give a longer --test-within, "+
			"or with --test a command that tests less; if it is to be mended that it does not end, one that ends by itself, "+
			"such as --test \"timeout 60 %s\"", r.job.check, r.cmd.TestWithin, r.job.check)
	}
	line := r.missingPackage(base.log)
	if line == "" {
		return nil
	}
	setup := "no setup was run"
	if given := r.job.settings.Agent.Setup; len(given) > 0 {
		setup = "setup was: " + strings.Join(given, "; ")
	}
	return fmt.Errorf("`%s` needs a package that is not here, so nothing was begun:\n    %s\nGive the commands that "+
		"install it with --setup (%s), and the hosts that they need with --setup-hosts; or leave out the tests that need "+
		"it with --test", r.job.check, text.Clip(line, maxShownLine), setup)
}

// maxShownLine is the maximum length of a line of a log in an error, in characters.
const maxShownLine = 300

var (
	// notInstalled matches lines of package managers that can't download a package, since tests have no network.
	notInstalled = lazyregexp.New(`(?m)^.*(?:missing go\.sum entry|no required module provides package|` +
		`module lookup disabled|proxy\.golang\.org/.*: dial tcp|in offline mode|you may wish to retry without ` +
		"`?--offline|" + `[Cc]ould not create local repository).*$`)
	// missingModule matches a module that Python or Node can't find. It may be one that the issue asks for.
	missingModule = lazyregexp.New(`(?m)^.*(?:No module named '|Cannot find (?:module|package) ')([^'\n]+)'.*$`)
)

// manifests are the files in which Python and Node name the packages that a project needs.
var manifests = []string{"pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "requirements.txt",
	"requirements-dev.txt", "requirements-test.txt", "dev-requirements.txt", "test-requirements.txt",
	"requirements_dev.txt", "requirements_test.txt", "dev_requirements.txt", "test_requirements.txt", "package.json"}

// missingPackage returns the line of a failing log that shows that a package is not installed; "" if there is none. A
// module counts if the project names it as a package.
func (r *localRun) missingPackage(log string) string {
	if line := notInstalled.FindString(log); line != "" {
		return strings.TrimSpace(line)
	}
	for _, m := range missingModule.FindAllStringSubmatch(log, maxMissing) {
		if r.namesPackage(r.Ctx, m[1]) {
			return strings.TrimSpace(m[0])
		}
	}
	return ""
}

// maxMissing is the maximum number of missing modules that are looked up.
const maxMissing = 20

// namesPackage reports whether a manifest at the top of the base names the package of a module.
func (r *localRun) namesPackage(ctx context.Context, module string) bool {
	if strings.HasPrefix(module, ".") || strings.HasPrefix(module, "/") {
		return false // a file
	}
	name := module
	if scoped := strings.HasPrefix(module, "@"); !scoped {
		name = strings.FieldsFunc(module, func(c rune) bool { return c == '.' || c == '/' })[0]
	}
	quoted := strings.ReplaceAll(regexp.QuoteMeta(name), "_", "[-_]")
	named, err := regexp.Compile(`(?im)(?:^|["'\s\[,])` + quoted + `(?:$|["'\s\[\]<>=!~;,])`)
	if err != nil {
		return false
	}
	for _, file := range manifests {
		if b, err := r.job.git.run(ctx, "show", r.job.base+":"+file); err == nil && named.Match(b) {
			return true
		}
	}
	return false
}
