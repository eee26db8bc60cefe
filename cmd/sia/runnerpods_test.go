package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/sia-bot/sia/app/runner/pods"
	"github.com/sia-bot/sia/sim/kubesim"
	"github.com/sia-bot/sia/sim/scripted"
)

// chartRules are the rules of the Role in the Helm chart, which is also the one in docs/runners.md.
func chartRules(t *testing.T) (rules []rbacv1.PolicyRule) {
	t.Helper()
	_, text, _ := strings.Cut(root(t, chart+"templates/runner.yaml"), "\nrules:\n")
	text, _, _ = strings.Cut(text, "\n---\n")
	var parsed []struct {
		APIGroups        []string `yaml:"apiGroups"`
		Resources, Verbs []string
	}
	if err := yaml.Unmarshal([]byte(text), &parsed); err != nil || len(parsed) == 0 {
		t.Fatalf("the chart's Role: %v\n%s", err, text)
	}
	doc := root(t, "docs/runners.md")
	for _, r := range parsed {
		rules = append(rules, rbacv1.PolicyRule{APIGroups: r.APIGroups, Resources: r.Resources, Verbs: r.Verbs})
		line := fmt.Sprintf("resources: [%s], verbs: [%s]", r.Resources[0], strings.Join(r.Verbs, ", "))
		if !strings.Contains(doc, line) {
			t.Errorf("docs/runners.md lacks %q", line)
		}
	}
	return rules
}

// podWorld is a runnerWorld with a cluster whose Pods are processes of sia.
type podWorld struct {
	*runnerWorld
	cluster    *kubesim.Cluster
	kubeconfig string
	scratch    string // of Pods
	token      string
	gate       chan struct{} // containers start when it is closed

	mu       sync.Mutex
	started  []*exec.Cmd
	environ  []string
	requests bytes.Buffer // to the cluster
}

func newPodWorld(t *testing.T, fault *scripted.Fault) *podWorld {
	t.Helper()
	w := &podWorld{runnerWorld: newRunnerWorld(t, greetModel(fault)), gate: make(chan struct{}),
		scratch: t.TempDir()}
	var err error
	w.cluster, err = kubesim.Start(kubesim.Config{Namespace: "attempts", Rules: chartRules(t), Run: w.container})
	w.must(err)
	t.Cleanup(w.cluster.Close)
	w.cluster.Change(func(c *kubesim.Circumstances) {
		c.Restricted, c.RuntimeClasses, c.Limits, c.Quota = true, []string{"gvisor"}, []string{"memory"}, 1
		c.Seen = func(_ *http.Request, body []byte) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.requests.Write(body)
		}
	})
	w.kubeconfig, err = w.cluster.Kubeconfig(t.TempDir())
	w.must(err)
	w.token = w.sia("runner", "add", "pods")
	return w
}

// pods starts the runner.
func (w *podWorld) pods() *siaProcess {
	w.t.Helper()
	return w.start("waiting for attempts", []string{"SIA_RUNNER_TOKEN=" + w.token}, "runner", "pods",
		"--server", w.front.URL, "--namespace", "attempts", "--image", "sia:v1", "--runtime-class", "gvisor",
		"--kubeconfig", w.kubeconfig)
}

// container runs the image's entry point with a Pod's arguments and environment, and its own /data.
func (w *podWorld) container(ctx context.Context, c kubesim.Container) (exit int32, said string) {
	select {
	case <-w.gate:
	case <-ctx.Done():
		return 143, ""
	}
	dir, err := os.MkdirTemp(w.scratch, c.Pod)
	if err != nil {
		return 1, err.Error()
	}
	args := slices.Clone(c.Args)
	for i, a := range args {
		if a == "/data" {
			args[i] = filepath.Join(dir, "data")
		}
	}
	cmd := exec.CommandContext(ctx, "sia", args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + os.TempDir()}
	for name, value := range c.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var log bytes.Buffer
	cmd.Stderr = &log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	w.mu.Lock()
	err = cmd.Start()
	w.started, w.environ = append(w.started, cmd), append(w.environ, cmd.Env...)
	w.mu.Unlock()
	if err == nil {
		err = cmd.Wait()
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	said = lines[len(lines)-1]
	w.t.Logf("%s: %v\n%s", c.Pod, err, log.String())
	var failed *exec.ExitError
	switch {
	case err == nil:
		return 0, said
	case errors.As(err, &failed) && failed.ExitCode() >= 0:
		return int32(failed.ExitCode()), said
	}
	return 137, said
}

// empty waits until the cluster has no Pods and Secrets left.
func (w *podWorld) empty() {
	w.t.Helper()
	w.until("the cluster is empty", func() bool { return len(w.cluster.Pods())+len(w.cluster.Secrets()) == 0 })
}

// An issue passes with its attempt in a Pod. The first Pod is killed during it; the next one continues from the last
// turn. The runner needs no more rights than the chart's Role, and Pods get only their pass.
//
//test:thorough
func TestRunnerPods(t *testing.T) {
	t.Parallel()
	w := newPodWorld(t, &scripted.Fault{Stall: true, After: 1, Times: 1})
	close(w.gate)
	w.ask()
	w.pods()
	w.until("the model is in the midst of its third answer", func() bool { return len(w.asked()) == 3 })
	w.mu.Lock()
	first := w.started[0].Process
	w.mu.Unlock()
	w.must(first.Kill())
	db := w.db()
	w.passed(w.ended(db))
	// A connection that the proxy between them lost has an answer asked for once more.
	if got := w.asked(); len(got) < 4 || !slices.Equal(slices.Compact(slices.Clone(got)), []int{0, 1, 2}) {
		t.Errorf("answers asked for, by their place in the conversation: %v", got)
	}
	w.empty()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.started) != 2 {
		t.Errorf("%d Pods ran", len(w.started))
	}
	all := append(w.requests.Bytes(), strings.Join(w.environ, "\n")...)
	for what, text := range map[string]string{"the runner's token": w.token, "the model's key": modelKey,
		"a token of GitHub's": "ghs_", "GitHub's address": strings.TrimPrefix(w.sim.URL(), "http://")} {
		if bytes.Contains(all, []byte(text)) {
			t.Errorf("the cluster or a Pod was given %s", what)
		}
	}
	if !bytes.Contains(all, []byte(pods.PassEnv+"=sia-attempt-")) || !bytes.Contains(all, []byte(`"sia:v1"`)) {
		t.Error("what the cluster and Pods were given was not seen here")
	}
}

// The runner is killed while a Pod runs. The Pod continues, and the next runner removes it.
//
//test:thorough
func TestRunnerOfPodsKilled(t *testing.T) {
	t.Parallel()
	w := newPodWorld(t, nil)
	w.ask()
	p := w.pods()
	p.await(t, "attempt's Pod runs")
	w.must(p.cmd.Process.Kill())
	<-p.ended
	again := w.pods()
	close(w.gate)
	db := w.db()
	w.passed(w.ended(db))
	again.await(t, "attempt's Pod has ended")
	w.empty()
	if got := w.asked(); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("answers asked for, by their place in the conversation: %v", got)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.started) != 1 {
		t.Errorf("%d Pods ran", len(w.started))
	}
}

// A Pod that is terminated returns its attempt, and the next one continues from the last turn.
//
//test:thorough
func TestRunnerPodEvicted(t *testing.T) {
	t.Parallel()
	w := newPodWorld(t, &scripted.Fault{Stall: true, After: 1, Times: 1})
	close(w.gate)
	w.ask()
	w.pods()
	w.until("the model is in the midst of its third answer", func() bool { return len(w.asked()) == 3 })
	w.cluster.Evict(w.cluster.Pods()[0].Name)
	w.passed(w.ended(w.db()))
	// A connection that the proxy between them lost has an answer asked for once more.
	if got := w.asked(); len(got) < 4 || !slices.Equal(slices.Compact(slices.Clone(got)), []int{0, 1, 2}) {
		t.Errorf("answers asked for, by their place in the conversation: %v", got)
	}
	w.empty()
}
