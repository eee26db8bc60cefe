package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Config configures a runner.
type Config struct {
	Dir     string        // parent of the jobs' directories
	Shell   string        // for steps without a shell, and those with bash
	Timeout time.Duration // default limit of a job
	Clock   func() time.Time
	Logger  *slog.Logger
}

// Runner runs jobs. Safe for concurrent use.
type Runner struct {
	dir, shell string
	timeout    time.Duration
	clock      func() time.Time
	log        *slog.Logger
}

// New is a runner. Every field of its configuration is required.
func New(cfg Config) *Runner {
	return &Runner{dir: cfg.Dir, shell: cfg.Shell, timeout: cfg.Timeout, clock: cfg.Clock, log: cfg.Logger}
}

// Source is the repository that a job's checkout steps clone.
type Source interface {
	// Resolve returns the commit of a branch, tag or SHA.
	Resolve(ref string) (sha string, known bool)
	// Checkout clones into dir at a commit; whole requests all branches and their history.
	Checkout(ctx context.Context, dir, sha string, whole bool) error
}

// Result is the result of a job.
type Result struct {
	Conclusion  string // as a check run's
	Log         []byte
	Steps       []*Step
	Annotations []Annotation
	Outputs     map[string]string // of the job, for those that need it
	Artifacts   []Artifact
}

// Step is the result of a step of a job.
type Step struct {
	Number             int // from 1
	Name               string
	Status, Conclusion string
	Started, Completed time.Time
}

// Annotation marks lines of a file, from a job's output.
type Annotation struct {
	Path        string
	StartLine   int
	EndLine     int
	StartColumn *int
	EndColumn   *int
	Level       string // notice, warning or failure
	Message     string
	Title       *string
	RawDetails  *string
}

// Run runs a job in a new directory. env is added to the common environment; if ctx ends, the job is cancelled.
func (r *Runner) Run(ctx context.Context, job Job, env map[string]string, src Source) Result {
	limit := r.timeout
	if own := time.Duration(job.spec.TimeoutMinutes * float64(time.Minute)); own > 0 && own < limit {
		limit = own
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	run := &jobRun{runner: r, job: job, source: src, log: &runLog{now: r.clock}, env: maps.Clone(env),
		outputs: map[string]map[string]any{}, outcomes: map[string][2]string{}}
	defer run.clean()
	if err := run.prepare(); err != nil {
		run.log.printf("##[error]%v", err)
		return Result{Conclusion: "failure", Log: run.log.buf.Bytes(), Steps: run.steps}
	}
	if u := job.spec.Uses; u != "" {
		run.log.printf("##[error]Reusable workflows (%s) are not run by the simulator.", u)
		run.failed = true
	}
	for _, st := range job.spec.Steps {
		run.step(ctx, st)
	}
	done := run.begin("Complete job")
	run.log.printf("Cleaning up orphan processes")
	run.end(done, "success")
	res := Result{Conclusion: "success", Steps: run.steps, Annotations: run.log.annotations, Outputs: map[string]string{},
		Artifacts: run.artifacts}
	for k, v := range job.spec.Outputs {
		res.Outputs[k] = run.expand(fmt.Sprint(v))
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		res.Conclusion = "cancelled"
		const message = "The operation was canceled."
		run.log.printf("##[error]%s", message)
		res.Annotations = append(res.Annotations, failure(message))
	case ctx.Err() != nil:
		res.Conclusion = "cancelled" // GitHub's conclusion for a job beyond its time limit
		message := fmt.Sprintf("The job has exceeded the maximum execution time of %v.", limit)
		run.log.printf("##[error]%s", message)
		res.Annotations = append(res.Annotations, failure(message))
	case run.failed && truth(job.spec.ContinueOnError, run.scope()):
		res.Conclusion = "success"
	case run.failed:
		res.Conclusion = "failure"
	}
	run.log.flush()
	res.Log = run.log.buf.Bytes()
	return res
}

// failure is the annotation of a failed step or job, without a file.
func failure(message string) Annotation {
	return Annotation{Path: ".github", StartLine: 1, EndLine: 1, Level: "failure", Message: message}
}

// jobRun is one job being run.
type jobRun struct {
	runner    *Runner
	job       Job
	source    Source
	log       *runLog
	temp      string // everything of the job; removed at its end
	workspace string
	env       map[string]string
	outputs   map[string]map[string]any // of steps, by their ids
	outcomes  map[string][2]string      // of steps, by their ids: outcome and conclusion
	groups    []int                     // process groups to kill at the end
	failed    bool
	steps     []*Step
	artifacts []Artifact
}

// stepFailure explains why a step failed, in the words of GitHub's logs.
type stepFailure string

func (f stepFailure) Error() string { return string(f) }

// prepare makes the job's directories and its clean environment.
func (r *jobRun) prepare() error {
	temp, err := os.MkdirTemp(r.runner.dir, "job-")
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
		"CI": "true", "GITHUB_ACTIONS": "true", "RUNNER_OS": "Linux", "RUNNER_ARCH": "X64", "RUNNER_NAME": "ghsim",
		"PATH": os.Getenv("PATH"), "HOME": home, "TMPDIR": tmp, "RUNNER_TEMP": tmp, "LANG": "C.UTF-8",
		"GITHUB_WORKSPACE": r.workspace,
		"GITHUB_ENV":       filepath.Join(temp, "env"), "GITHUB_OUTPUT": filepath.Join(temp, "output"),
		"GITHUB_PATH":         filepath.Join(temp, "path"),
		"GITHUB_STEP_SUMMARY": filepath.Join(temp, "summary"),
	})
	st := r.begin("Set up job")
	r.log.printf("Current runner version: 'ghsim'")
	r.log.printf("##[group]Operating System\nLinux\n##[endgroup]")
	r.log.printf("Complete job name: %s", r.job.Name)
	r.end(st, "success")
	r.setEnv(r.job.file.Env)
	r.setEnv(r.job.spec.Env)
	return nil
}

func (r *jobRun) setEnv(vars map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(vars)) {
		r.env[k] = r.expand(fmt.Sprint(vars[k]))
	}
}

func (r *jobRun) expand(text string) string { return expand(text, r.scope()) }

// scope is what the job's expressions see.
func (r *jobRun) scope() scope {
	env, runner, steps := map[string]any{}, map[string]any{}, map[string]any{}
	for k, v := range r.env {
		env[k] = v
		if name, is := strings.CutPrefix(k, "RUNNER_"); is {
			runner[strings.ToLower(name)] = v
		}
	}
	for id, o := range r.outcomes {
		steps[id] = map[string]any{"outcome": o[0], "conclusion": o[1], "outputs": r.outputs[id]}
	}
	return scope{failed: r.failed, contexts: map[string]any{
		"github": withEnvironment(r.job.github, r.env), "env": env, "runner": runner, "steps": steps,
		"matrix": r.job.matrix, "needs": contextOf(r.job.needs),
		"job": map[string]any{"status": map[bool]string{true: "failure", false: "success"}[r.failed]},
	}}
}

func (r *jobRun) begin(name string) *Step {
	st := &Step{Number: len(r.steps) + 1, Name: name, Status: "in_progress", Started: r.runner.clock()}
	r.steps = append(r.steps, st)
	return st
}

func (r *jobRun) end(st *Step, conclusion string) {
	st.Status, st.Conclusion, st.Completed = "completed", conclusion, r.runner.clock()
}

// clean kills the job's remaining processes and removes its files.
func (r *jobRun) clean() {
	for _, pid := range r.groups {
		if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			r.runner.log.Warn("killing what a job left running", "group", pid, "error", err)
		}
	}
	if r.temp != "" {
		if err := os.RemoveAll(r.temp); err != nil {
			r.runner.log.Warn("removing a job's directory", "error", err)
		}
	}
}

// toolEnvironment names the machine's caches for builds, so that they work offline and fast: Go's module and build
// cache. It is computed once per process.
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

// first is the first value that is not empty.
func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
