package kubesim

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// forbid is the answer to a Pod that an admission plug-in refuses.
func forbid(p *corev1.Pod, format string, args ...any) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, p.Name, fmt.Errorf(format, args...))
}

// runtimeClass refuses an unknown one (k8s.io/kubernetes/plugin/pkg/admission/runtimeclass). The caller holds k.mu.
func (k *Cluster) runtimeClass(p *corev1.Pod) error {
	if class := p.Spec.RuntimeClassName; class != nil && !slices.Contains(k.now.RuntimeClasses, *class) {
		return forbid(p, "pod rejected: RuntimeClass %q not found", *class)
	}
	return nil
}

// admit refuses Pods that violate the namespace's security level or its quota. The caller holds k.mu.
func (k *Cluster) admit(p *corev1.Pod) error {
	// k8s.io/pod-security-admission/admission
	if why := restricted(p); k.now.Restricted && len(why) > 0 {
		return forbid(p, "violates PodSecurity %q: %s", "restricted:latest", strings.Join(why, ", "))
	}
	// k8s.io/apiserver/pkg/admission/plugin/resourcequota
	for _, resource := range k.now.Limits {
		for _, c := range p.Spec.Containers {
			if _, ok := c.Resources.Limits[corev1.ResourceName(resource)]; !ok {
				return forbid(p, "failed quota: attempts: must specify limits.%s for: %s", resource, c.Name)
			}
		}
	}
	used := 0
	for _, other := range k.pods { // ended Pods don't count: pkg/quota/v1/evaluator/core.QuotaV1Pod
		if other.Status.Phase != corev1.PodSucceeded && other.Status.Phase != corev1.PodFailed {
			used++
		}
	}
	if k.now.Quota >= 0 && used >= k.now.Quota {
		return forbid(p, "exceeded quota: attempts, requested: pods=1, used: pods=%d, limited: pods=%d", used, k.now.Quota)
	}
	return nil
}

// restricted lists the violations of the level restricted by a Pod:
// https://kubernetes.io/docs/concepts/security/pod-security-standards.
func restricted(p *corev1.Pod) (why []string) {
	var pod corev1.PodSecurityContext
	if p.Spec.SecurityContext != nil {
		pod = *p.Spec.SecurityContext
	}
	for _, v := range p.Spec.Volumes {
		if v.HostPath != nil || v.NFS != nil {
			why = append(why, fmt.Sprintf("restricted volume types (volume %q)", v.Name))
		}
	}
	if p.Spec.HostNetwork || p.Spec.HostPID || p.Spec.HostIPC {
		why = append(why, "host namespaces")
	}
	for _, c := range p.Spec.Containers {
		var s corev1.SecurityContext
		if c.SecurityContext != nil {
			s = *c.SecurityContext
		}
		if s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation {
			why = append(why, fmt.Sprintf("allowPrivilegeEscalation != false (container %q)", c.Name))
		}
		if s.Capabilities == nil || !slices.Contains(s.Capabilities.Drop, "ALL") || len(s.Capabilities.Add) > 0 {
			why = append(why, fmt.Sprintf("unrestricted capabilities (container %q)", c.Name))
		}
		if (s.RunAsNonRoot == nil || !*s.RunAsNonRoot) && (pod.RunAsNonRoot == nil || !*pod.RunAsNonRoot) {
			why = append(why, "runAsNonRoot != true")
		}
		if s.RunAsUser != nil && *s.RunAsUser == 0 || pod.RunAsUser != nil && *pod.RunAsUser == 0 {
			why = append(why, "runAsUser=0")
		}
		profile := pod.SeccompProfile
		if s.SeccompProfile != nil {
			profile = s.SeccompProfile
		}
		if profile == nil || profile.Type == corev1.SeccompProfileTypeUnconfined {
			why = append(why, "seccompProfile")
		}
		if s.ProcMount != nil && *s.ProcMount != corev1.DefaultProcMount && (p.Spec.HostUsers == nil || *p.Spec.HostUsers) {
			why = append(why, "procMount")
		}
	}
	return why
}
