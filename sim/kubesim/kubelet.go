package kubesim

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// run is the scheduler and the kubelet of one Pod: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle. A
// container waits for the objects that its Pod names, and with restartPolicy Never it runs once.
func (k *Cluster) run(ctx context.Context, p *pod) {
	defer k.forget(p)
	main := p.Spec.Containers[0]
	var c Container
	for {
		k.mu.Lock()
		changed := k.changed
		wait := k.lacks(p)
		if wait == nil {
			c = k.container(p, main)
			k.status(p, corev1.PodRunning, corev1.ContainerState{Running: &corev1.ContainerStateRunning{
				StartedAt: metav1.Now()}})
		}
		k.mu.Unlock()
		if wait == nil {
			break
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
	exit, said := k.Run(ctx, c)
	phase, reason := corev1.PodSucceeded, "Completed"
	if exit != 0 {
		phase, reason = corev1.PodFailed, "Error"
	}
	if main.TerminationMessagePolicy != corev1.TerminationMessageFallbackToLogsOnError || exit == 0 {
		said = ""
	}
	k.mu.Lock()
	k.status(p, phase, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exit,
		Reason: reason, Message: said, FinishedAt: metav1.Now()}})
	k.mu.Unlock()
	<-ctx.Done()
}

// status sets a Pod's status. The caller holds k.mu.
func (k *Cluster) status(p *pod, phase corev1.PodPhase, state corev1.ContainerState) {
	p.ResourceVersion = k.next()
	p.Status.Phase = phase
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: p.Spec.Containers[0].Name, State: state,
		Image: p.Spec.Containers[0].Image}}
	k.broadcast()
}

// lacks is the status of a Pod that waits for something; nil: nothing is missing. The caller holds k.mu.
func (k *Cluster) lacks(p *pod) *corev1.PodStatus {
	scheduled := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}
	if k.now.NoNode {
		scheduled = corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
			Reason: corev1.PodReasonUnschedulable, Message: "0/3 nodes are available: 3 Insufficient memory."}
		p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{scheduled}}
		return &p.Status
	}
	reason, message := "", ""
	if k.now.Image != "" {
		reason, message = k.now.Image, fmt.Sprintf("Back-off pulling image %q", p.Spec.Containers[0].Image)
	}
	for _, e := range p.Spec.Containers[0].Env {
		if from := e.ValueFrom; reason == "" && from != nil && from.SecretKeyRef != nil {
			s := k.secrets[from.SecretKeyRef.Name]
			if s == nil {
				reason, message = "CreateContainerConfigError", fmt.Sprintf("secret %q not found", from.SecretKeyRef.Name)
			} else if _, ok := s.Data[from.SecretKeyRef.Key]; !ok {
				reason, message = "CreateContainerConfigError", fmt.Sprintf("couldn't find key %s in Secret %s/%s",
					from.SecretKeyRef.Key, s.Namespace, s.Name)
			}
		}
	}
	p.Spec.NodeName = "node-1"
	p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{scheduled}}
	if reason == "" {
		return nil
	}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: p.Spec.Containers[0].Name,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}}
	return &p.Status
}

// container is the configuration of a Pod's container. The caller holds k.mu.
func (k *Cluster) container(p *pod, c corev1.Container) Container {
	out := Container{Pod: p.Name, Image: c.Image, Args: c.Args, Env: map[string]string{},
		Token: p.Spec.AutomountServiceAccountToken == nil || *p.Spec.AutomountServiceAccountToken}
	for _, e := range c.Env {
		out.Env[e.Name] = e.Value
		if from := e.ValueFrom; from != nil && from.SecretKeyRef != nil {
			out.Env[e.Name] = string(k.secrets[from.SecretKeyRef.Name].Data[from.SecretKeyRef.Key])
		}
	}
	return out
}

// delete starts the deletion of a Pod. The caller holds k.mu.
func (k *Cluster) delete(p *pod) {
	if p.DeletionTimestamp == nil {
		now := metav1.Now()
		p.DeletionTimestamp, p.ResourceVersion = &now, k.next()
	}
	p.end()
}

// forget removes a deleted Pod that has ended, and its dependents.
func (k *Cluster) forget(p *pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.pods, p.Name)
	for name, s := range k.secrets {
		for _, o := range s.OwnerReferences {
			if o.UID == p.UID {
				delete(k.secrets, name)
			}
		}
	}
	k.broadcast()
}
