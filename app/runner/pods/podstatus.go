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

// podStatus is the state of a Pod with details.
type podStatus struct {
	state state
	ran   bool  // its container was started
	why   error // why it waits, or failed
}

// permanentReasons lists the permanent reasons for waiting (kubelet's images.ErrInvalidImageName and
// ErrImageNeverPull).
var permanentReasons = []string{"InvalidImageName", "ErrImageNeverPull"}

// notStartedReasons lists the reasons of containers that terminated without having started (containerd's and Docker's).
var notStartedReasons = []string{"StartError", "ContainerCannotRun"}

// normalReasons lists the reasons for waiting that are normal.
var normalReasons = []string{"", "ContainerCreating", "PodInitializing"}

// podStatusOf returns the state of a Pod, by the rules of the Pod lifecycle:
// https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle
func podStatusOf(pod *corev1.Pod) podStatus {
	status := pod.Status
	var own corev1.ContainerState
	for _, c := range status.ContainerStatuses {
		if c.Name == containerName {
			own = c.State
		}
	}
	switch status.Phase {
	case corev1.PodSucceeded:
		return podStatus{state: succeeded, ran: true}
	case corev1.PodFailed:
		ran := own.Running != nil || own.Terminated != nil && !slices.Contains(notStartedReasons, own.Terminated.Reason)
		return podStatus{state: failed, ran: ran, why: failureReason(status, own)}
	}
	if own.Running != nil || own.Terminated != nil || status.Phase == corev1.PodUnknown { // the phase is updated later
		return podStatus{state: running, ran: true}
	}
	s := podStatus{state: waiting, why: waitReason(status)}
	for _, c := range slices.Concat(status.InitContainerStatuses, status.ContainerStatuses) {
		if w := c.State.Waiting; w != nil && slices.Contains(permanentReasons, w.Reason) {
			s.state = hopeless
		}
	}
	return s
}

// waitReason returns the reason why a Pod waits.
func waitReason(status corev1.PodStatus) error {
	for _, c := range slices.Concat(status.InitContainerStatuses, status.ContainerStatuses) {
		if w := c.State.Waiting; w != nil && !slices.Contains(normalReasons, w.Reason) {
			return fmt.Errorf("its container %s waits: %s", c.Name, withMessage(w.Reason, w.Message))
		}
	}
	for _, c := range status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return fmt.Errorf("no node has room for its Pod: %s", withMessage(c.Reason, c.Message))
		}
	}
	return errors.New("its Pod did not begin to run")
}

// failureReason returns the reason why a Pod failed.
func failureReason(status corev1.PodStatus, own corev1.ContainerState) error {
	var parts []string
	if status.Reason != "" || status.Message != "" {
		parts = append(parts, withMessage(status.Reason, status.Message))
	}
	if t := own.Terminated; t != nil {
		parts = append(parts, fmt.Sprintf("exit code %d, %s", t.ExitCode, withMessage(t.Reason, t.Message)))
	}
	if len(parts) == 0 {
		return errors.New("its Pod failed")
	}
	return fmt.Errorf("its Pod failed: %s", strings.Join(parts, "; "))
}

// withMessage joins a reason with the last line of its message, which is the most specific one.
func withMessage(reason, message string) string {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return fmt.Sprintf("%s: %.300s", reason, last)
	}
	return reason
}
