package pods

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	"github.com/sia-bot/sia/app/runner"
)

var update = flag.Bool("update", false, "rewrite golden files")

func golden(t *testing.T, file string, v any) {
	t.Helper()
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, '\n')
	if *update {
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(b)); d != "" {
		t.Error(d)
	}
}

// The objects for an attempt: from flags only, and with the template of docs/operations.
func TestPod(t *testing.T) {
	o := &runner.Offer{Pass: "sia-attempt-x", Work: runner.Work{Key: "7-1/1/attempt"}}
	o.Work.Input.Limits.Time = time.Hour
	pod := Spec{Server: "https://sia.example.com", Image: "ghcr.io/sia-bot/sia:v1"}.pod("runner-1", "attempts", o)
	golden(t, "testdata/pod.json", pod)
	pod.UID = "the Pod's"
	golden(t, "testdata/secret.json", secretOf(pod, o.Pass))

	b, err := os.ReadFile("../../../docs/operations/pod.yml")
	if err != nil {
		t.Fatal(err)
	}
	template, err := ReadTemplate(b)
	if err != nil {
		t.Fatal(err)
	}
	s := Spec{Server: "http://sia", PlainHTTP: true, Image: "own:v1", RuntimeClass: "gvisor", Template: template}
	golden(t, "testdata/template.json", s.pod("runner-1", "attempts", o))
	if s.Template.Spec.Containers[0].SecurityContext == nil || !s.runsTests() || (Spec{}).runsTests() {
		t.Error("tests are run in Pods without a sandbox, or in none")
	}
	again := s.pod("runner-1", "attempts", o)
	if len(again.Spec.Containers[0].Env) != len(template.Spec.Containers[0].Env)+1 {
		t.Error("the template is changed by what is made of it")
	}
}

// Names of Pods are valid host names for any attempt, the same for the same pass, and different for another.
func TestNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key, pass := rapid.String().Draw(t, "key"), rapid.String().Draw(t, "pass")
		name := nameOf(key, pass)
		if errs := validation.IsDNS1123Label(name); errs != nil {
			t.Errorf("%q: %v", name, errs)
		}
		if name != nameOf(key, pass) || name == nameOf(key, pass+"x") {
			t.Errorf("%q is another name, or another's", name)
		}
	})
}

// A template is parsed strictly, and must not set the fields that SIA sets.
func TestTemplate(t *testing.T) {
	for text, says := range map[string]string{
		`spec: {nodeSelektor: {a: b}}`:                                               `unknown field "spec.nodeSelektor"`,
		`spec: {NodeSelector: {a: b}}`:                                               `unknown field "spec.NodeSelector"`,
		"spec: {hostUsers: false}\nspec: {hostUsers: true}":                          `"spec"`,
		`{apiVersion: v1, kind: Secret}`:                                             "Secret",
		`{apiVersion: apps/v1, kind: Deployment}`:                                    "Deployment",
		`spec: {terminationGracePeriodSeconds: soon}`:                                "terminationGracePeriodSeconds",
		`spec: {containers: [{name: x}]}`:                                            `is called attempt, not "x"`,
		`spec: {containers: [{name: attempt}, {name: b}]}`:                           "initContainers",
		`spec: {containers: [{name: attempt, image: x}]}`:                            "--image",
		`spec: {containers: [{name: attempt, args: [x]}]}`:                           "args",
		`spec: {containers: [{name: attempt, env: [{name: SIA_ATTEMPT_PASS}]}]}`:     "SIA_ATTEMPT_PASS",
		`spec: {automountServiceAccountToken: true}`:                                 "no token of the cluster",
		`spec: {restartPolicy: Always}`:                                              "spec.restartPolicy",
		`spec: {activeDeadlineSeconds: 5}`:                                           "spec.activeDeadlineSeconds",
		`metadata: {name: x}`:                                                        "metadata.name",
		`metadata: {namespace: x}`:                                                   "--namespace",
		`spec: {containers: [{name: attempt, resources: {limits: {memory: many}}}]}`: "quantities",
		`[]`: "no Pod",
		``:   "",
		`spec: {hostUsers: false, restartPolicy: Never}`: "",
	} {
		_, err := ReadTemplate([]byte(text))
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The state of a Pod depends on its status only.
func TestStanding(t *testing.T) {
	container := func(s corev1.ContainerState) []corev1.ContainerStatus {
		return []corev1.ContainerStatus{{Name: "other", State: corev1.ContainerState{
			Running: &corev1.ContainerStateRunning{}}}, {Name: containerName, State: s}}
	}
	waits := func(reason string) corev1.PodStatus {
		return corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: container(corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "first\nlast"}})}
	}
	ended := func(phase corev1.PodPhase, reason string) corev1.PodStatus {
		return corev1.PodStatus{Phase: phase, ContainerStatuses: container(corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: reason}})}
	}
	for _, c := range []struct {
		status corev1.PodStatus
		state  state
		ran    bool
		why    string
	}{
		{corev1.PodStatus{}, waiting, false, "did not begin"},
		{corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled,
			Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/1 nodes"}}}, waiting, false,
			"no node has room for its Pod: Unschedulable: 0/1 nodes"},
		{waits("ContainerCreating"), waiting, false, "did not begin"},
		{waits("ErrImagePull"), waiting, false, "its container attempt waits: ErrImagePull: last"},
		{waits("InvalidImageName"), hopeless, false, "InvalidImageName"},
		{corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: container(corev1.ContainerState{
			Running: &corev1.ContainerStateRunning{}})}, running, true, ""},
		{ended(corev1.PodRunning, "Error"), running, true, ""},
		{ended(corev1.PodSucceeded, "Completed"), succeeded, true, ""},
		{ended(corev1.PodFailed, "OOMKilled"), failed, true, "its Pod failed: exit code 137, OOMKilled"},
		{ended(corev1.PodFailed, "StartError"), failed, false, "StartError"},
		{corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "The node was low on memory."}, failed, false,
			"its Pod failed: Evicted: The node was low on memory."},
		{corev1.PodStatus{Phase: corev1.PodFailed}, failed, false, "its Pod failed"},
		{corev1.PodStatus{Phase: corev1.PodUnknown}, running, true, ""}, // its node is unreachable; the lease decides
	} {
		got := podStatusOf(&corev1.Pod{Status: c.status})
		why := ""
		if got.why != nil {
			why = got.why.Error()
		}
		if got.state != c.state || got.ran != c.ran || !strings.Contains(why, c.why) {
			t.Errorf("%+v: %+v", c.status, got)
		}
	}
}
