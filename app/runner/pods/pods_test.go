package pods_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/gateway"
	"github.com/sia-bot/sia/app/runner"
	"github.com/sia-bot/sia/app/runner/pods"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/kubesim"
)

const namespace = "attempts"

// role is the Role of docs/runners.md.
var role = []rbacv1.PolicyRule{
	{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"create", "get", "list", "delete"}},
	{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create"}},
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a server, and a cluster with a runner of Pods.
type world struct {
	t        *testing.T
	db       *store.Store
	task     sia.Task
	dispatch *runner.Dispatcher
	server   *httptest.Server
	client   *runner.Client
	cluster  *kubesim.Cluster
	config   pods.Config

	mu    sync.Mutex
	asked map[string]int // number of requests to the server by their path, and to the cluster by their method
	sent  bytes.Buffer   // all that was sent to the cluster
	log   bytes.Buffer
}

// Write stores the logs of the runner and the server.
func (w *world) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(b)
}

// logged reports whether the log contains a text.
func (w *world) logged(words string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Contains(w.log.Bytes(), []byte(words))
}

// contents simulates the container of a Pod: with the pass, until ctx ends. Nil: it runs the attempt.
type contents func(ctx context.Context, pass string, c kubesim.Container) (exit int32, said string)

func newWorld(t *testing.T, run contents) *world {
	t.Helper()
	w := &world{t: t, db: storetest.Open(t, store.Config{}), asked: map[string]int{}}
	id := sia.NewTaskID(7, 1)
	_, err := w.db.Apply(t.Context(), id, sia.Event{ID: "start", At: time.Now(), Fact: sia.Start{Installation: 3,
		Repo: sia.Repo{ID: 7, Owner: "ada", Name: "shop"}, Issue: 1, Title: "Greet", DefaultBranch: "main"}})
	must(t, err)
	w.task, err = w.db.Task(t.Context(), id)
	must(t, err)
	token := runner.NewToken()
	must(t, w.db.AddRunner(t.Context(), "mill", runner.Hash(token)))
	log := slog.New(slog.NewTextHandler(io.MultiWriter(t.Output(), w), nil))
	w.dispatch = runner.NewDispatcher(runner.Config{Store: w.db, Logger: log, Now: time.Now,
		Mirror: func(sia.Task) *gitops.Repo { return nil }, Key: func(sia.Task) string { return "3/7" },
		Agents: []runner.Agent{{Name: "coder", Models: []runner.Upstream{{Model: runner.Model{Name: "coder", Model: "m"}}}}},
		Poll:   20 * time.Millisecond})
	handler := runner.NewHandler(w.dispatch, &gateway.Room{})
	w.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.asked[strings.TrimPrefix(r.URL.Path, runner.Prefix)]++
		w.mu.Unlock()
		handler.ServeHTTP(rw, r)
	}))
	t.Cleanup(w.server.Close)
	w.client, err = runner.NewClient(w.server.URL, false)
	must(t, err)
	w.cluster, err = kubesim.Start(kubesim.Config{Namespace: namespace, Rules: role,
		Run: func(ctx context.Context, c kubesim.Container) (int32, string) {
			pass := c.Env[pods.PassEnv]
			if run == nil {
				return w.makes(ctx, pass)
			}
			return run(ctx, pass, c)
		}})
	must(t, err)
	t.Cleanup(w.cluster.Close)
	w.cluster.Change(func(c *kubesim.Circumstances) {
		c.Seen = func(r *http.Request, body []byte) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.asked[r.Method]++
			w.sent.Write(body)
		}
	})
	w.config = pods.Config{Client: w.client, Token: token, Cluster: w.connect(), Attempts: 1, Pending: time.Hour,
		About: "v1", Logger: log, Poll: 10 * time.Millisecond, Pause: 10 * time.Millisecond, Heartbeat: 10 * time.Millisecond,
		Spec: pods.Spec{Server: w.server.URL, Image: "sia:v1"}}
	return w
}

func (w *world) connect() *pods.Cluster {
	w.t.Helper()
	file, err := w.cluster.Kubeconfig(w.t.TempDir())
	must(w.t, err)
	c, err := pods.Connect(file, namespace, slog.New(slog.DiscardHandler))
	must(w.t, err)
	return c
}

// pods starts the runner; stop stops it and returns its error.
func (w *world) pods() (stop func() error) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- pods.Run(ctx, w.config) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	w.t.Cleanup(func() { _ = stop() })
	return stop
}

type ran struct {
	res agent.Result
	err error
}

// discard is a recorder that discards turns.
type discard struct{}

func (discard) Turn(context.Context, agent.Turn) error { return nil }

// run offers an attempt.
func (w *world) run(ctx context.Context) <-chan ran {
	out := make(chan ran, 1)
	by := w.dispatch.Agent(w.task, sia.Effect{Key: "7-1/1/attempt", Task: w.task.ID, Attempt: 1}, strings.Repeat("a", 40),
		"coder", false)
	go func() {
		res, err := by.Run(ctx, agent.Input{Rebuild: true, Limits: agent.Limits{Credits: sia.Credit}}, discard{})
		out <- ran{res, err}
	}()
	return out
}

func (w *world) until(what string, so func() bool) {
	w.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(2 * time.Minute)
	for !so() {
		select {
		case <-tick.C:
		case <-limit:
			w.t.Fatalf("it never came that %s", what)
		}
	}
}

func (w *world) count(path string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked[path]
}

// empty waits until the cluster has no objects of the attempts.
func (w *world) empty() {
	w.t.Helper()
	w.until("the cluster is empty", func() bool { return len(w.cluster.Pods())+len(w.cluster.Secrets()) == 0 })
}

// finished returns an error unless an attempt finished.
func finished(t *testing.T, done <-chan ran) {
	t.Helper()
	if got := <-done; got.err != nil || got.res.End != sia.EndFinished || got.res.Summary != "Greeted." {
		t.Errorf("%+v, %v", got.res, got.err)
	}
}

// makes runs an attempt like sia runner attempt, except for the work itself.
func (w *world) makes(ctx context.Context, pass string) (int32, string) {
	work, err := w.client.Work(ctx, pass)
	if err != nil {
		return 1, err.Error()
	}
	b, err := json.Marshal(runner.Outcome{Result: agent.Result{End: sia.EndFinished, Summary: "Greeted."}})
	if err == nil {
		err = w.client.Result(ctx, pass, runner.JoinResult(b, nil))
	}
	if err != nil || work.Key != "7-1/1/attempt" {
		return 1, work.Key
	}
	return 0, ""
}

// An attempt runs in a Pod, which has its pass and no other secret: neither the runner's token nor the cluster's. The
// Pod and its Secret are deleted afterwards. The namespace's Pod Security level is the strictest.
func TestPodHoldsOnlyThePass(t *testing.T) {
	var w *world
	seen := make(chan kubesim.Container, 5) // at most
	var owned []string
	w = newWorld(t, func(ctx context.Context, pass string, c kubesim.Container) (int32, string) {
		for _, s := range w.cluster.Secrets() {
			owned = append(owned, s.Name+" of "+s.OwnerReferences[0].Name)
		}
		seen <- c
		return w.makes(ctx, pass)
	})
	w.cluster.Change(func(c *kubesim.Circumstances) { c.Restricted = true })
	w.pods()
	finished(t, w.run(t.Context()))
	c := <-seen
	if c.Token || len(c.Env) != 1 || !strings.HasPrefix(c.Env[pods.PassEnv], "sia-attempt-") {
		t.Errorf("the container has %v; a token of the cluster: %v", c.Env, c.Token)
	}
	if len(owned) != 1 || owned[0] != c.Pod+" of "+c.Pod {
		t.Errorf("Secrets of %s: %v", c.Pod, owned)
	}
	w.empty()
	w.mu.Lock()
	defer w.mu.Unlock()
	if bytes.Contains(w.sent.Bytes(), []byte(w.config.Token)) || !bytes.Contains(w.sent.Bytes(), []byte("sia:v1")) {
		t.Error("the cluster was sent the runner's token")
	}
}

// Tests are run in a Pod of their own, if the template can give it a sandbox: one beside the Pods of attempts, also
// after the runner was started again.
func TestPodRunsTests(t *testing.T) {
	var w *world
	runs, ends := make(chan bool, 10), map[bool]chan struct{}{true: make(chan struct{}), false: make(chan struct{})}
	w = newWorld(t, func(ctx context.Context, pass string, _ kubesim.Container) (int32, string) {
		work, err := w.client.Work(ctx, pass)
		if err != nil {
			return 1, err.Error()
		}
		runs <- work.Run != nil
		<-ends[work.Run != nil]
		if work.Run == nil {
			return w.makes(ctx, pass)
		}
		b, err := json.Marshal(runner.Outcome{Result: agent.Result{End: sia.EndFinished}, Checks: []sia.CheckRun{
			{Command: work.Run.Commands[0], Holds: true}}})
		if err == nil {
			err = w.client.Result(ctx, pass, runner.JoinResult(b, nil))
		}
		if err != nil {
			return 1, err.Error()
		}
		return 0, ""
	})
	b, err := os.ReadFile("../../../docs/operations/pod.yml")
	must(t, err)
	w.config.Spec.Template, err = pods.ReadTemplate(b)
	must(t, err)
	stop := w.pods()
	attempt := w.run(t.Context())
	if <-runs {
		t.Fatal("tests run")
	}
	w.until("the runner takes tests", func() bool { return w.dispatch.RunsTests(t.Context()) })
	checked := make(chan []sia.CheckRun, 1)
	go func() {
		got, err := w.dispatch.Check(t.Context(), w.task, sia.Effect{Key: "7-1/1/evidence"}, strings.Repeat("a", 40),
			[]string{"make"}, nil)
		if err != nil {
			t.Error(err)
		}
		checked <- got
	}()
	if !<-runs || len(w.cluster.Pods()) != 2 {
		t.Fatalf("%d Pods", len(w.cluster.Pods()))
	}
	asked := func() int { return w.count(runner.NextPath) + w.count(runner.NextTestsPath) }
	before := asked()
	w.looks(3)
	if n := asked(); n != before {
		t.Error("more was asked for while both Pods run")
	}
	must(t, stop())
	close(ends[false])
	finished(t, attempt)
	w.pods()
	attempt = w.run(t.Context())
	if <-runs {
		t.Error("the tests run again")
	}
	finished(t, attempt) // beside the same tests
	close(ends[true])
	if got := <-checked; len(got) != 1 || !got[0].Holds {
		t.Errorf("%+v", got)
	}
	w.empty()
}

// While the cluster has no capacity, the attempt waits: releasing it does not count as a failure. The server shows the
// reason.
func TestQuota(t *testing.T) {
	for about, says := range map[string]string{"v1": "exceeded quota: attempts",
		strings.Repeat("ß", 45): "the cluster has no room"} { // longer than the server accepts
		w := newWorld(t, nil)
		w.config.About = about
		w.cluster.Change(func(c *kubesim.Circumstances) { c.Quota = 0 })
		w.pods()
		done := w.run(t.Context())
		w.until("seven Pods were refused", func() bool { return w.count(runner.ReleasePath) >= 7 || len(done) > 0 })
		w.until("the server says why", func() bool { return strings.Contains(w.about(), says) })
		w.cluster.Change(func(c *kubesim.Circumstances) { c.Quota = 1 })
		finished(t, done)
		w.empty()
		w.until("all is well again", func() bool { return w.about() == about+", Pods in attempts" })
	}
}

// about returns the runner's description on the server.
func (w *world) about() string {
	all, err := w.db.Runners(w.t.Context())
	must(w.t, err)
	return all[0].About
}

// Failed requests to the API server are retried, and a lost response does not duplicate a Pod.
//
//test:thorough
func TestClusterThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for name, spoils := range map[string]map[string]kubesim.Fault{
		"a Pod's and a look's":    {"POST pods": kubesim.Unanswered, "GET pods": 500},
		"its errors":              {"POST pods": 500, "GET pods": 503},
		"too many requests":       {"POST pods": 429},
		"a Pod's answer is lost":  {"POST pods": kubesim.Unanswered},
		"a Secret's is lost":      {"POST secrets": kubesim.Unanswered},
		"Secrets can't be made":   {"POST secrets": 500},
		"a deletion goes unheard": {"DELETE pods": 500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w *world
			var made sync.Map
			w = newWorld(t, func(ctx context.Context, pass string, c kubesim.Container) (int32, string) {
				if _, again := made.LoadOrStore(pass, true); again {
					t.Error("two Pods have one pass")
				}
				return w.makes(ctx, pass)
			})
			left := map[string]int{"POST pods": 2, "POST secrets": 2, "GET pods": 2, "DELETE pods": 2}
			w.pods()
			w.until("the runner waits for attempts", func() bool { return w.count(runner.NextPath) > 0 })
			w.cluster.Change(func(c *kubesim.Circumstances) {
				c.Quota = 1 // used up by a Pod with a lost response
				c.Fault = func(r *http.Request) kubesim.Fault {
					what := r.Method + " " + strings.Split(strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/attempts/"), "/")[0]
					w.mu.Lock()
					defer w.mu.Unlock()
					if left[what]--; left[what] < 0 {
						return kubesim.Whole
					}
					return spoils[what]
				}
			})
			finished(t, w.run(t.Context()))
			w.empty()
			if n := w.count(runner.ReleasePath); n > 0 && strings.Contains(name, "is lost") {
				t.Errorf("the attempt was given back %d times", n)
			}
		})
	}
}

// The runner waits for an API server that is unavailable, at the start or later.
//
//test:thorough
func TestClusterThatIsAway(t *testing.T) {
	w := newWorld(t, nil)
	w.cluster.Leave()
	w.config.Attempts = 2 // the end of the first Pod is not noticed immediately
	stop := w.pods()
	w.until("the cluster was asked", func() bool { return w.logged("the cluster does not answer") })
	must(t, w.cluster.Return())
	w.until("the server is told that all is well", func() bool { return w.about() == "v1, Pods in attempts" })
	done := w.run(t.Context())
	finished(t, done)
	w.empty()
	w.cluster.Leave()
	done = w.run(t.Context())
	w.until("an attempt was given back", func() bool { return w.count(runner.ReleasePath) > 0 })
	must(t, w.cluster.Return())
	finished(t, done)
	must(t, stop())
}

// A permanent rejection by the cluster stops the runner before it takes an attempt, with advice.
func TestClusterThatRefuses(t *testing.T) {
	t.Parallel()
	for says, change := range map[string]func(*testing.T, *world){
		`cannot list resource "pods" in API group "" in the namespace "attempts"; give its service account the Role`: func(
			_ *testing.T, w *world) {
			w.cluster.Rules = nil
		},
		`cannot create resource "secrets"`: func(_ *testing.T, w *world) { w.cluster.Rules = role[:1] },
		`RuntimeClass "gvisor" not found; ` + "`kubectl get runtimeclass`": func(_ *testing.T, w *world) {
			w.config.Spec.RuntimeClass = "gvisor"
		},
		`violates PodSecurity "restricted:latest": seccompProfile; change the template`: func(t *testing.T, w *world) {
			w.cluster.Change(func(c *kubesim.Circumstances) { c.Restricted = true })
			var err error
			w.config.Spec.Template, err = pods.ReadTemplate([]byte(`{spec: {containers: [{name: attempt, securityContext: {
				allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, seccompProfile: {type: Unconfined}}}]}}`))
			must(t, err)
		},
		`must specify limits.cpu for: attempt; set resources`: func(_ *testing.T, w *world) {
			w.cluster.Change(func(c *kubesim.Circumstances) { c.Limits = []string{"memory", "cpu"} })
		},
		`spec.containers[0].image: Invalid value: "sia:v1 "`: func(_ *testing.T, w *world) {
			w.config.Spec.Image = "sia:v1 "
		},
		`spec.runtimeClassName: Invalid value: "g_visor"`: func(_ *testing.T, w *world) {
			w.cluster.Change(func(c *kubesim.Circumstances) { c.RuntimeClasses = []string{"g_visor"} })
			w.config.Spec.RuntimeClass = "g_visor"
		},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			change(t, w)
			err := pods.Run(t.Context(), w.config)
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%v", err)
			}
			if n := w.count(runner.NextPath) + len(w.cluster.Pods()); n > 0 {
				t.Errorf("%d attempts were taken", n)
			}
		})
	}
}

// After it accepted Pods, the runner waits while the cluster rejects them.
func TestClusterThatRefusesLater(t *testing.T) {
	w := newWorld(t, nil)
	w.config.Spec.RuntimeClass = "gvisor"
	classes := func(names ...string) {
		w.cluster.Change(func(c *kubesim.Circumstances) { c.RuntimeClasses = names })
	}
	classes("gvisor")
	w.pods()
	finished(t, w.run(t.Context()))
	classes()
	done := w.run(t.Context())
	w.until("seven Pods were refused", func() bool { return w.count(runner.ReleasePath) >= 7 || len(done) > 0 })
	classes("gvisor")
	finished(t, done)
}
