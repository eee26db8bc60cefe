package pods

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// state is the state of a Pod.
type state string

const (
	waiting   state = "waiting"  // for a node, an image or its Secret
	hopeless  state = "hopeless" // waits, and can never run
	running   state = "running"
	succeeded state = "succeeded"
	failed    state = "failed"
)

// stands is the state of a Pod with details.
type stands struct {
	state state
	ran   bool  // its container was started
	why   error // why it waits, or failed
}

// never lists the permanent reasons for waiting (kubelet's images.ErrInvalidImageName and ErrImageNeverPull).
var never = []string{"InvalidImageName", "ErrImageNeverPull"}

// unstarted lists the reasons of containers that terminated without having started (containerd's and Docker's).
var unstarted = []string{"StartError", "ContainerCannotRun"}

// soon lists the reasons for waiting that are normal.
var soon = []string{"", "ContainerCreating", "PodInitializing"}

// standing returns the state of a Pod, by the rules of the Pod lifecycle:
// https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle
func standing(pod *corev1.Pod) stands {
	status := pod.Status
	var own corev1.ContainerState
	for _, c := range status.ContainerStatuses {
		if c.Name == containerName {
			own = c.State
		}
	}
	switch status.Phase {
	case corev1.PodSucceeded:
		return stands{state: succeeded, ran: true}
	case corev1.PodFailed:
		ran := own.Running != nil || own.Terminated != nil && !slices.Contains(unstarted, own.Terminated.Reason)
		return stands{state: failed, ran: ran, why: whyFailed(status, own)}
	}
	if own.Running != nil || own.Terminated != nil || status.Phase == corev1.PodUnknown { // the phase is updated later
		return stands{state: running, ran: true}
	}
	s := stands{state: waiting, why: whyWaiting(status)}
	for _, c := range slices.Concat(status.InitContainerStatuses, status.ContainerStatuses) {
		if w := c.State.Waiting; w != nil && slices.Contains(never, w.Reason) {
			s.state = hopeless
		}
	}
	return s
}

// whyWaiting returns the reason why a Pod waits.
func whyWaiting(status corev1.PodStatus) error {
	for _, c := range slices.Concat(status.InitContainerStatuses, status.ContainerStatuses) {
		if w := c.State.Waiting; w != nil && !slices.Contains(soon, w.Reason) {
			return fmt.Errorf("its container %s waits: %s", c.Name, words(w.Reason, w.Message))
		}
	}
	for _, c := range status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return fmt.Errorf("no node has room for its Pod: %s", words(c.Reason, c.Message))
		}
	}
	return errors.New("its Pod did not begin to run")
}

// whyFailed returns the reason why a Pod failed.
func whyFailed(status corev1.PodStatus, own corev1.ContainerState) error {
	var parts []string
	if status.Reason != "" || status.Message != "" {
		parts = append(parts, words(status.Reason, status.Message))
	}
	if t := own.Terminated; t != nil {
		parts = append(parts, fmt.Sprintf("exit code %d, %s", t.ExitCode, words(t.Reason, t.Message)))
	}
	if len(parts) == 0 {
		return errors.New("its Pod failed")
	}
	return fmt.Errorf("its Pod failed: %s", strings.Join(parts, "; "))
}

// words joins a reason with the last line of its message, which is the most specific one.
func words(reason, message string) string {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return fmt.Sprintf("%s: %.300s", reason, last)
	}
	return reason
}
