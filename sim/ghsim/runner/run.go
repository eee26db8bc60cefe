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

// Config says how jobs are run.
type Config struct {
	Dir     string        // jobs run in directories of their own beneath it
	Shell   string        // runs steps that don't say by what, and those that say bash
	Timeout time.Duration // of a job that does not say less
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

// New is a runner. Every field of its configuration is wanted.
func New(cfg Config) *Runner {
	return &Runner{dir: cfg.Dir, shell: cfg.Shell, timeout: cfg.Timeout, clock: cfg.Clock, log: cfg.Logger}
}

// Source is the repository that a job's checkout steps clone.
type Source interface {
	// Resolve is the commit that a branch, tag or SHA names.
	Resolve(ref string) (sha string, known bool)
	// Checkout clones into dir at a commit; whole asks for all branches and their history.
	Checkout(ctx context.Context, dir, sha string, whole bool) error
}

// Result is how a job went.
type Result struct {
	Conclusion  string // as a check run's
	Log         []byte
	Steps       []*Step
	Annotations []Annotation
	Outputs     map[string]string // of the job, for those that need it
	Artifacts   []Artifact
}

// Step is one step of a job as it went.
type Step struct {
	Number             int // from 1
	Name               string
	Status, Conclusion string
	Started, Completed time.Time
}

// Annotation marks lines of a file, as a job's output asks.
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

// Run runs a job in a fresh directory. env is added to what every job has; a
// context that ends makes the job cancelled.
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
		res.Conclusion = "cancelled" // what GitHub calls a job beyond its time
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

// failure is the annotation of a failed step or job, which is about no file.
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

// stepFailure is why a step failed, in the words that GitHub's logs use.
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

// clean kills what the job left running and removes its files.
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
