package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// step runs one step and records its result.
func (r *jobRun) step(ctx context.Context, f stepFile) {
	name := r.expand(f.Name)
	switch {
	case name != "":
	case f.Uses != "":
		name = "Run " + f.Uses
	default:
		name = "Run " + firstLine(strings.TrimSpace(f.Run))
	}
	st := r.begin(name)
	ended := func(outcome, conclusion string) {
		r.end(st, conclusion)
		if f.ID != "" {
			r.outcomes[f.ID] = [2]string{outcome, conclusion}
		}
	}
	if ctx.Err() != nil {
		ended("cancelled", "cancelled")
		return
	}
	wanted, err := condition(f.If, r.scope())
	if err == nil && !wanted {
		ended("skipped", "skipped")
		return
	}
	switch {
	case err != nil:
	case f.Run != "":
		err = r.script(ctx, f)
	case f.Uses != "":
		err = r.action(ctx, f)
	default:
		err = errors.New("the step has neither run nor uses")
	}
	r.log.flush()
	if err == nil {
		ended("success", "success")
		return
	}
	r.log.printf("##[error]%v", err)
	if truth(f.ContinueOnError, r.scope()) {
		ended("failure", "success")
		return
	}
	r.failed = true
	ended("failure", "failure")
	if ctx.Err() == nil {
		r.log.annotations = append(r.log.annotations, failure(err.Error()))
	}
}

// action carries out a uses: step: checkout clones, setup actions find their tool on the machine, others are refused.
func (r *jobRun) action(ctx context.Context, f stepFile) error {
	name, _, _ := strings.Cut(f.Uses, "@")
	r.log.printf("##[group]Run %s", f.Uses)
	if len(f.With) > 0 {
		r.log.printf("with:")
	}
	for _, k := range slices.Sorted(maps.Keys(f.With)) {
		r.log.printf("  %s: %v", k, f.With[k])
	}
	r.log.printf("##[endgroup]")
	switch {
	case name == "actions/checkout":
		return r.checkout(ctx, f)
	case strings.HasPrefix(name, "actions/setup-"):
		r.log.printf("%s is provided by the runner", strings.TrimPrefix(name, "actions/setup-"))
		return nil
	case name == "actions/upload-artifact":
		return r.upload(f)
	case name == "actions/cache":
		r.log.printf("%s does nothing in the simulator", name)
		return nil
	}
	return stepFailure(fmt.Sprintf("Unable to resolve action %s: the simulator runs run: steps, actions/checkout and "+
		"actions/setup-*", f.Uses))
}

func (r *jobRun) checkout(ctx context.Context, f stepFile) error {
	dir, sha := r.workspace, r.env["GITHUB_SHA"]
	if p, is := f.With["path"]; is {
		dir = filepath.Join(dir, filepath.Clean("/"+fmt.Sprint(p)))
	}
	if ref, is := f.With["ref"]; is && r.expand(fmt.Sprint(ref)) != "" {
		full, known := r.source.Resolve(strings.TrimPrefix(r.expand(fmt.Sprint(ref)), "refs/heads/"))
		if !known {
			return stepFailure(fmt.Sprintf("A branch or tag with the name '%v' could not be found", ref))
		}
		sha = full
	}
	depth, is := f.With["fetch-depth"]
	if err := r.source.Checkout(ctx, dir, sha, is && fmt.Sprint(depth) == "0"); err != nil {
		return err
	}
	r.log.printf("HEAD is now at %.7s", sha)
	return nil
}

// script runs a run: step in a separate process group.
func (r *jobRun) script(ctx context.Context, f stepFile) error {
	text := r.expand(f.Run)
	dir := first(f.WorkingDirectory, r.job.spec.Defaults.Run.WorkingDirectory,
		r.job.file.Defaults.Run.WorkingDirectory)
	shell := first(f.Shell, r.job.spec.Defaults.Run.Shell, r.job.file.Defaults.Run.Shell)
	args := map[string][]string{
		"": {r.runner.shell, "-e"}, "bash": {r.runner.shell, "--noprofile", "--norc", "-eo", "pipefail"},
		"sh": {"sh", "-e"}, "python": {"python3"},
	}[shell]
	if args == nil {
		return fmt.Errorf("the shell %q is not known to the simulator: bash, sh and python are", shell)
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		return stepFailure(args[0] + ": command not found")
	}
	env := maps.Clone(r.env)
	for _, k := range slices.Sorted(maps.Keys(f.Env)) {
		env[k] = r.expand(fmt.Sprint(f.Env[k]))
	}
	r.log.printf("##[group]Run %s", firstLine(strings.TrimSpace(text)))
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		r.log.printf("\x1b[36;1m%s\x1b[0m", line)
	}
	r.log.printf("shell: %s {0}", strings.Join(args, " "))
	if len(f.Env) > 0 {
		r.log.printf("env:")
		for _, k := range slices.Sorted(maps.Keys(f.Env)) {
			r.log.printf("  %s: %s", k, env[k])
		}
	}
	r.log.printf("##[endgroup]")
	file := filepath.Join(r.temp, fmt.Sprintf("step-%d.sh", len(r.steps)))
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return err
	}
	if f.TimeoutMinutes > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(f.TimeoutMinutes*float64(time.Minute)))
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, args[0], append(args[1:], file)...)
	if cmd.Dir = r.expand(dir); !filepath.IsAbs(cmd.Dir) {
		cmd.Dir = filepath.Join(r.workspace, filepath.Clean("/"+cmd.Dir))
	}
	for _, k := range slices.Sorted(maps.Keys(env)) {
		cmd.Env = append(cmd.Env, k+"="+env[k])
	}
	cmd.Stdout, cmd.Stderr = r.log, r.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // background processes may keep the output open
	err := cmd.Start()
	if err == nil {
		r.groups = append(r.groups, cmd.Process.Pid)
		err = cmd.Wait()
	}
	r.log.flush()
	r.takeFiles(f.ID)
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return stepFailure("The operation was canceled.")
	case errors.As(err, &exit):
		return stepFailure(fmt.Sprintf("Process completed with exit code %d.", exit.ExitCode()))
	case errors.Is(err, exec.ErrWaitDelay):
		return nil
	}
	return err
}

// takeFiles reads the step's GITHUB_ENV, GITHUB_OUTPUT and GITHUB_PATH.
func (r *jobRun) takeFiles(id string) {
	for k, v := range takeAssignments(r.env["GITHUB_ENV"]) {
		r.env[k] = v
	}
	for k, v := range takeAssignments(r.env["GITHUB_OUTPUT"]) {
		if r.outputs[id] == nil {
			r.outputs[id] = map[string]any{}
		}
		r.outputs[id][k] = v
	}
	if b, err := os.ReadFile(r.env["GITHUB_PATH"]); err == nil {
		for p := range strings.FieldsSeq(string(b)) {
			r.env["PATH"] = p + string(os.PathListSeparator) + r.env["PATH"]
		}
		os.Remove(r.env["GITHUB_PATH"])
	}
}

// takeAssignments reads and removes a file of NAME=value and NAME<<END lines.
func takeAssignments(file string) map[string]string {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	os.Remove(file)
	out := map[string]string{}
	lines := strings.Split(string(b), "\n")
	for i := 0; i < len(lines); i++ {
		if name, end, is := strings.Cut(lines[i], "<<"); is && !strings.Contains(name, "=") {
			var value []string
			for i++; i < len(lines) && lines[i] != end; i++ {
				value = append(value, lines[i])
			}
			out[name] = strings.Join(value, "\n")
		} else if name, value, is := strings.Cut(lines[i], "="); is {
			out[name] = value
		}
	}
	return out
}
