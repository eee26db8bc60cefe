package ghsim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// jobRun is one job being run.
type jobRun struct {
	s         *Server
	j         *job
	log       *runLog
	temp      string // everything of the job; removed at its end
	workspace string
	gitDir    string
	env       map[string]string
	outputs   map[string]string // "id.name" → value
	groups    []int             // process groups to kill at the end
	failed    bool
	steps     []*step
}

// stepFailure is why a step failed, in the words that GitHub's logs use.
type stepFailure string

func (f stepFailure) Error() string { return string(f) }

// runJob runs a job's steps in a fresh directory. The mutex is not held.
func (s *Server) runJob(env map[string]string, j *job) jobResult {
	run := &jobRun{s: s, j: j, log: &runLog{now: s.now}, env: env, gitDir: env["GHSIM_GIT_DIR"], outputs: map[string]string{}}
	delete(env, "GHSIM_GIT_DIR")
	ctx, cancel, limit := s.jobContext(j.plan.file.TimeoutMinutes)
	defer cancel()
	defer run.clean()
	if err := run.prepare(); err != nil {
		run.log.printf("##[error]%v", err)
		return jobResult{conclusion: "failure", log: run.log.buf.Bytes(), steps: run.steps}
	}
	if u := j.plan.file.Uses; u != "" {
		run.log.printf("##[error]Reusable workflows (%s) are not run by the simulator.", u)
		run.failed = true
	}
	for _, st := range j.plan.file.Steps {
		run.step(ctx, st)
	}
	done := run.begin("Complete job")
	run.log.printf("Cleaning up orphan processes")
	run.end(done, "success")
	res := jobResult{conclusion: "success", steps: run.steps, annotations: run.log.annotations}
	switch {
	case ctx.Err() != nil:
		res.conclusion = "cancelled" // what GitHub calls a job beyond its time
		message := fmt.Sprintf("The job has exceeded the maximum execution time of %v.", limit)
		run.log.printf("##[error]%s", message)
		res.annotations = append(res.annotations, annotation{Path: ".github", StartLine: 1, EndLine: 1, Level: "failure", Message: message})
	case run.failed && truth(fmt.Sprint(j.plan.file.ContinueOnError), false, run.value):
		res.conclusion = "success"
	case run.failed:
		res.conclusion = "failure"
	}
	run.log.flush()
	res.log = run.log.buf.Bytes()
	return res
}

// prepare makes the job's directories and its clean environment.
func (r *jobRun) prepare() error {
	temp, err := os.MkdirTemp(r.s.git.root, "job-")
	if err != nil {
		return err
	}
	r.temp, r.workspace = temp, filepath.Join(temp, "workspace")
	home, tmp := filepath.Join(temp, "home"), filepath.Join(temp, "tmp")
	for _, d := range []string{r.workspace, home, tmp} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return err
		}
	}
	maps.Copy(r.env, toolEnvironment())
	maps.Copy(r.env, map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": home, "TMPDIR": tmp, "RUNNER_TEMP": tmp, "LANG": "C.UTF-8", "GITHUB_WORKSPACE": r.workspace,
		"GITHUB_ENV": filepath.Join(temp, "env"), "GITHUB_OUTPUT": filepath.Join(temp, "output"), "GITHUB_PATH": filepath.Join(temp, "path"),
		"GITHUB_STEP_SUMMARY": filepath.Join(temp, "summary"),
	})
	st := r.begin("Set up job")
	r.log.printf("Current runner version: 'ghsim'")
	r.log.printf("##[group]Operating System\nLinux\n##[endgroup]")
	r.log.printf("Complete job name: %s", r.j.plan.name)
	r.end(st, "success")
	r.setEnv(r.j.plan.workflow.Env)
	r.setEnv(r.j.plan.file.Env)
	return nil
}

func (r *jobRun) setEnv(vars map[string]any) {
	for _, k := range sortedKeys(vars) {
		r.env[k] = r.expand(fmt.Sprint(vars[k]))
	}
}

func (r *jobRun) expand(text string) string { return expand(text, r.value) }

// value is the value of a context's property; unknown ones are empty.
func (r *jobRun) value(name string) string {
	of, rest, _ := strings.Cut(strings.TrimSpace(name), ".")
	switch of {
	case "env":
		return r.env[rest]
	case "matrix":
		return r.j.plan.matrix[rest]
	case "github", "runner":
		return r.env[strings.ToUpper(of+"_"+rest)]
	case "steps":
		return r.outputs[strings.Replace(rest, ".outputs.", ".", 1)]
	case "job":
		return map[bool]string{true: "failure", false: "success"}[r.failed]
	}
	return ""
}

func (r *jobRun) begin(name string) *step {
	st := &step{number: len(r.steps) + 1, name: name, status: "in_progress", started: r.s.now()}
	r.steps = append(r.steps, st)
	return st
}

func (r *jobRun) end(st *step, conclusion string) {
	st.status, st.conclusion, st.completed = "completed", conclusion, r.s.now()
}

// step runs one step and keeps how it went.
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
	if ctx.Err() != nil {
		r.end(st, "cancelled")
		return
	}
	if !condition(f.If, r.failed, r.value) {
		r.end(st, "skipped")
		return
	}
	var err error
	switch {
	case f.Run != "":
		err = r.script(ctx, f)
	case f.Uses != "":
		err = r.action(ctx, f)
	default:
		err = errors.New("the step has neither run nor uses")
	}
	r.log.flush()
	if err == nil {
		r.end(st, "success")
		return
	}
	r.log.printf("##[error]%v", err)
	if truth(fmt.Sprint(f.ContinueOnError), false, r.value) {
		r.end(st, "success") // GitHub: the outcome is failure, the conclusion success
		return
	}
	r.failed = true
	r.end(st, "failure")
	if ctx.Err() == nil {
		r.log.annotations = append(r.log.annotations, annotation{Path: ".github", StartLine: 1, EndLine: 1, Level: "failure", Message: err.Error()})
	}
}

// action does what a uses: step asks: checkout clones, setup actions find their
// tool on the machine, others are refused.
func (r *jobRun) action(ctx context.Context, f stepFile) error {
	name, _, _ := strings.Cut(f.Uses, "@")
	r.log.printf("##[group]Run %s", f.Uses)
	if len(f.With) > 0 {
		r.log.printf("with:")
	}
	for _, k := range sortedKeys(f.With) {
		r.log.printf("  %s: %v", k, f.With[k])
	}
	r.log.printf("##[endgroup]")
	switch {
	case name == "actions/checkout":
		return r.checkout(ctx, f)
	case strings.HasPrefix(name, "actions/setup-"):
		r.log.printf("%s is provided by the runner", strings.TrimPrefix(name, "actions/setup-"))
		return nil
	case name == "actions/cache" || name == "actions/upload-artifact":
		r.log.printf("%s does nothing in the simulator", name)
		return nil
	}
	return stepFailure(fmt.Sprintf("Unable to resolve action %s: the simulator runs run: steps, actions/checkout and actions/setup-*", f.Uses))
}

func (r *jobRun) checkout(ctx context.Context, f stepFile) error {
	dir, sha := r.workspace, r.env["GITHUB_SHA"]
	if p, is := f.With["path"]; is {
		dir = filepath.Join(dir, filepath.Clean("/"+fmt.Sprint(p)))
	}
	if ref, is := f.With["ref"]; is && r.expand(fmt.Sprint(ref)) != "" {
		full, known := r.s.git.resolve(r.gitDir, strings.TrimPrefix(r.expand(fmt.Sprint(ref)), "refs/heads/"))
		if !known {
			return stepFailure(fmt.Sprintf("A branch or tag with the name '%v' could not be found", ref))
		}
		sha = full
	}
	fetch := []string{"fetch", "--quiet", "--no-tags", "--depth=1", "file://" + r.gitDir, sha}
	if d, is := f.With["fetch-depth"]; is && fmt.Sprint(d) == "0" {
		fetch = []string{"fetch", "--quiet", "file://" + r.gitDir, sha, "refs/heads/*:refs/remotes/origin/*"}
	}
	for _, args := range [][]string{{"init", "--quiet", dir}, fetch, {"checkout", "--quiet", "--detach", sha}} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Env = r.s.git.env()
		if args[0] != "init" {
			cmd.Dir = dir
		}
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(out.String()))
		}
	}
	r.log.printf("HEAD is now at %.7s", sha)
	return nil
}

// script runs a run: step as a process group of its own.
func (r *jobRun) script(ctx context.Context, f stepFile) error {
	text := r.expand(f.Run)
	dir := first(f.WorkingDirectory, r.j.plan.file.Defaults.Run.WorkingDirectory, r.j.plan.workflow.Defaults.Run.WorkingDirectory)
	shell := first(f.Shell, r.j.plan.file.Defaults.Run.Shell, r.j.plan.workflow.Defaults.Run.Shell)
	args := map[string][]string{
		"": {r.s.cfg.WorkflowShell, "-e"}, "bash": {r.s.cfg.WorkflowShell, "--noprofile", "--norc", "-eo", "pipefail"}, "sh": {"sh", "-e"},
	}[shell]
	if args == nil {
		return fmt.Errorf("the shell %q is not known to the simulator: bash and sh are", shell)
	}
	env := maps.Clone(r.env)
	for _, k := range sortedKeys(f.Env) {
		env[k] = r.expand(fmt.Sprint(f.Env[k]))
	}
	r.log.printf("##[group]Run %s", firstLine(strings.TrimSpace(text)))
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		r.log.printf("\x1b[36;1m%s\x1b[0m", line)
	}
	r.log.printf("shell: %s {0}", strings.Join(args, " "))
	if len(f.Env) > 0 {
		r.log.printf("env:")
		for _, k := range sortedKeys(f.Env) {
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
	cmd.Dir = filepath.Join(r.workspace, filepath.Clean("/"+r.expand(dir)))
	for _, k := range sortedKeys(env) {
		cmd.Env = append(cmd.Env, k+"="+env[k])
	}
	cmd.Stdout, cmd.Stderr = r.log, r.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // background processes may hold the output open
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

// takeFiles reads what a step wrote to GITHUB_ENV, GITHUB_OUTPUT and GITHUB_PATH.
func (r *jobRun) takeFiles(id string) {
	for k, v := range takeAssignments(r.env["GITHUB_ENV"]) {
		r.env[k] = v
	}
	for k, v := range takeAssignments(r.env["GITHUB_OUTPUT"]) {
		r.outputs[id+"."+k] = v
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

// clean kills what the job left running and removes its files.
func (r *jobRun) clean() {
	for _, pid := range r.groups {
		if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			r.s.log.Warn("killing what a job left running", "group", pid, "error", err)
		}
	}
	if r.temp != "" {
		if err := os.RemoveAll(r.temp); err != nil {
			r.s.log.Warn("removing a job's directory", "error", err)
		}
	}
}

// toolEnvironment is where the machine keeps what builds need, so that they work
// offline and with warm caches: Go's module and build cache. It is the machine's
// and asked for once per process.
var toolEnvironment = sync.OnceValue(func() map[string]string {
	env := map[string]string{}
	names := []string{"GOCACHE", "GOFLAGS", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GOTOOLCHAIN"}
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		return env // no Go on this machine
	}
	for i, v := range strings.Split(strings.TrimRight(string(out), "\n"), "\n") {
		if i < len(names) && v != "" {
			env[names[i]] = v
		}
	}
	return env
})

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
