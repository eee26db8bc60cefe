package localrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/failure"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// checkBase runs the check before any change. Its error means that no attempt could pass, so nothing is begun. It
// skips the tests of a replay task, which are known to fail.
func (r *run) checkBase() (base checkResult) {
	if r.job.judge != nil {
		return checkResult{passed: true}
	}
	r.joinOthers()
	base = r.checkBaseWith(r.job.settings.Agent.Test)
	switch {
	case base.err != nil:
	case base.setup != "" && !base.passed:
		base.err = r.setupError(base)
	case base.noRun == agent.LacksProgram, base.noRun != "" && r.job.isDetected:
		base.err = r.noRunError(base)
	case !base.passed:
		if base.err = r.untestable(base); base.err == nil {
			base = r.checkAgain(base)
		}
	}
	return base
}

// tellBase prints the result of the check before any change.
func (r *run) tellBase() {
	base := r.baseCheck
	if !base.passed {
		r.progress("The check fails before any change, too, so the result has to repair that as well. Where that is not "+
			"wanted, stop, and leave it out with --test:\n%s", excerptOf(base.log, shownLines))
		return
	}
	r.progress("The check passes before any change, in %s.", base.took.Round(100*time.Millisecond))
	if base.setup != "" {
		r.progress("Setup fails, and the check passes without it; to leave setup out, give --setup true:\n%s",
			excerptOf(base.setup, shownLines))
	}
}

// joinOthers adds the test commands of the repository's other languages to the check, and reports those that can't run
// here.
func (r *run) joinOthers() {
	for _, other := range r.job.others {
		res := r.checkBaseWith(other.Line)
		if r.Ctx.Err() != nil {
			return
		}
		rep, err := failure.Read(r.Ctx, strings.NewReader(res.log), failure.Options{})
		if !res.passed && (res.err != nil || err != nil || res.noRun != "" || len(rep.Tests) == 0) {
			r.progress("Not part of the check, since it does not run here: %s (%s). To have it checked, too, give --test.",
				other.Line, other.Why)
			continue
		}
		r.job.settings.Agent.Test += " && " + other.Line
		r.job.check = r.job.settings.Agent.Test
		failing := ""
		if !res.passed {
			failing = "; it fails before any change, and --test with the first command alone leaves it out"
		}
		r.progress("The check runs this, too: %s (%s)%s", other.Line, other.Why, failing)
	}
}

// checkBaseWith runs a command before any change, and reports now and then that it is running.
func (r *run) checkBaseWith(command string) checkResult {
	ended := make(chan checkResult, 1)
	go func() { ended <- r.checkWith(r.Ctx, r.job.base, command) }()
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case out := <-ended:
			return out
		case <-tick.C:
			r.reportSilence(sia.Task{})
		}
	}
}

// maxFirstRun is how long a check of the base may have taken that is run again because it failed.
const maxFirstRun = 2 * time.Minute

// checkAgain runs the check before any change once more if it failed and was quick, so that no attempt has to
// repair a test that fails now and then. It returns the result that counts. The finished change of a stopped run is no
// such base: a second run would let it pass.
func (r *run) checkAgain(first checkResult) checkResult {
	if r.job.finishedBase != "" || first.noRun != "" || first.took > maxFirstRun {
		return first
	}
	again := r.checkBaseWith(r.job.settings.Agent.Test)
	if !again.passed || again.err != nil {
		return first
	}
	r.flaky, r.flakyLog = first.failedTests(r.Ctx), first.log
	then := "Where only the same tests fail on a change, it is run once more, too"
	if len(r.flaky) == 0 {
		then = "It does not say which tests failed, so it is not run again where it fails on a change"
	}
	r.progress("The check failed before any change, and passed when it was run again. %s:\n%s", then,
		excerptOf(first.log, shownLines))
	return again
}

// lacksSetupProgram matches the exit status of a shell for a program that does not exist or can't be run.
var lacksSetupProgram = regexp.MustCompile(`(?m)^exit status 12[67]$`)

// setupError returns the error for setup and tests that fail before any change, which makes attempts useless.
func (r *run) setupError(base checkResult) error {
	hosts := cmp.Or(strings.Join(r.job.opts.SetupHosts, ", "), "no host")
	log, unreachable, notAllowed := excerptOf(base.setup, shownLines), false, false
	for line := range strings.Lines(base.setup) { // the reason, which a package manager's own words don't give
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, agent.RefusedPrefix) {
			continue
		}
		if strings.Contains(line, ": "+sandbox.Unreachable) {
			unreachable = true
		} else {
			notAllowed = true
		}
		if !strings.Contains(log, line) {
			log += "\n    " + line
		}
	}
	then := "Give other commands with --setup, or the hosts that they need with --setup-hosts (now " + hosts + ")"
	switch {
	case lacksSetupProgram.MatchString(base.setup):
		then = "A program that setup needs is not installed, or not where commands can see it: in /usr, or in the folder " +
			"of a toolchain that is in PATH. Install it, or give other commands with --setup"
	case unreachable && !notAllowed:
		then = "This machine can't reach a host that setup needs. If what it installs is on the machine, --setup true " +
			"leaves setup out; otherwise give other commands with --setup"
	}
	return fmt.Errorf("setup fails before any change, and the tests with it, so nothing was begun:\n%s\n%s", log, then)
}

// noRunError returns the error for a check that says nothing of the code before any change.
func (r *run) noRunError(base checkResult) error {
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
	if r.job.opts.Test != "" {
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
func (r *run) untestable(base checkResult) error {
	if base.timedOut {
		return fmt.Errorf("`%s` did not end within %s before any change, so nothing was begun. Give a longer --test-within, "+
			"or with --test a command that tests less; if it is to be mended that it does not end, one that ends by itself, "+
			"such as --test \"timeout 60 %s\"", r.job.check, r.job.opts.TestWithin, r.job.check)
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
func (r *run) missingPackage(log string) string {
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
func (r *run) namesPackage(ctx context.Context, module string) bool {
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
		if b, err := r.job.git.Run(ctx, "show", r.job.base+":"+file); err == nil && named.Match(b) {
			return true
		}
	}
	return false
}
