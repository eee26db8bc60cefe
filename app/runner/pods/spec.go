package pods

import (
	"cmp"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sia-bot/sia/app/runner"
)

// PassEnv is the environment variable with the attempt's pass.
const PassEnv = "SIA_ATTEMPT_PASS"

// Names in a Pod, which a template may use.
const (
	containerName = "attempt"
	workVolume    = "work" // mirrors, the work tree and caches
	tmpVolume     = "tmp"
	workDir       = "/data" // the image's volume
	passKey       = "pass"

	attemptAnnotation = "sia-bot.github.io/attempt" // the attempt's key
	testsAnnotation   = "sia-bot.github.io/tests"   // is set if the slot for tests took it
)

// Recommended labels:
// https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels
const (
	nameLabel      = "app.kubernetes.io/name"
	componentLabel = "app.kubernetes.io/component"
	managedLabel   = "app.kubernetes.io/managed-by"
	instanceLabel  = "app.kubernetes.io/instance" // the runner
)

// Defaults, which a template may override.
const (
	user         = 65532 // of the image
	graceSeconds = 60    // to release the attempt
	workSize     = "20Gi"
	tmpSize      = "2Gi"
)

// Spec configures the Pods of attempts.
type Spec struct {
	Server       string // address of the server for Pods
	PlainHTTP    bool
	Image        string
	RuntimeClass string      // empty: from the template
	Template     *corev1.Pod // see [ReadTemplate]; nil: none
}

// runsTests reports whether the Pods may have a sandbox, to run tests: the default security context allows none.
func (s Spec) runsTests() bool {
	if s.Template == nil {
		return false
	}
	c := s.Template.Spec.Containers
	return len(c) > 0 && c[0].SecurityContext != nil
}

// notInNames matches the characters that are not allowed in an object's name.
var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// nameOf returns the name of the Pod and the Secret for an attempt and a pass. The name is deterministic, and a label
// by RFC 1123, because it becomes the Pod's host name.
func nameOf(key, pass string) string {
	readable := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(key), "-"), "-")
	if most := 63 - len("sia--") - 16; len(readable) > most {
		readable = strings.TrimRight(readable[:most], "-")
	}
	return "sia-" + cmp.Or(readable, "x") + "-" + runner.Hash(pass)[:16]
}

// pod returns the Pod of an attempt. It sets the required fields, and the defaults of others that the template leaves
// out.
func (s Spec) pod(id, namespace string, o *runner.Offer) *corev1.Pod {
	pod := &corev1.Pod{}
	if s.Template != nil {
		pod = s.Template.DeepCopy()
	}
	name := nameOf(o.Work.Key, o.Pass)
	pod.Name, pod.Namespace = name, namespace
	pod.Labels = mergeMaps(pod.Labels, map[string]string{nameLabel: "sia", componentLabel: "attempt",
		managedLabel: "sia-runner", instanceLabel: id})
	pod.Annotations = mergeMaps(pod.Annotations, map[string]string{attemptAnnotation: o.Work.Key})

	spec := &pod.Spec
	spec.RestartPolicy = corev1.RestartPolicyNever
	spec.AutomountServiceAccountToken = new(false)
	spec.EnableServiceLinks = new(false)
	spec.ActiveDeadlineSeconds = new(int64(o.Work.Within().Seconds()))
	if spec.TerminationGracePeriodSeconds == nil {
		spec.TerminationGracePeriodSeconds = new(int64(graceSeconds))
	}
	if s.RuntimeClass != "" {
		spec.RuntimeClassName = &s.RuntimeClass
	}
	if spec.SecurityContext == nil {
		spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: new(true), RunAsUser: new(int64(user)),
			RunAsGroup: new(int64(user)), FSGroup: new(int64(user))}
	}
	addVolume(spec, workVolume, workSize)
	addVolume(spec, tmpVolume, tmpSize)
	if len(spec.Containers) == 0 {
		spec.Containers = []corev1.Container{{Name: containerName}}
	}
	s.container(&spec.Containers[0], name)
	return pod
}

// container completes the container that runs the attempt.
func (s Spec) container(c *corev1.Container, secret string) {
	c.Image = s.Image
	c.Args = []string{"runner", "attempt", "--server", s.Server, "--dir", workDir}
	if s.PlainHTTP {
		c.Args = append(c.Args, "--plain-http")
	}
	pass := &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: passKey}
	c.Env = append(c.Env, corev1.EnvVar{Name: PassEnv, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: pass}})
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: workVolume, MountPath: workDir},
		corev1.VolumeMount{Name: tmpVolume, MountPath: "/tmp"})
	c.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError // so that the runner can report the error
	if c.Resources.Requests == nil && c.Resources.Limits == nil {
		c.Resources = corev1.ResourceRequirements{
			Requests: quantities("cpu", "1", "memory", "2Gi", "ephemeral-storage", "2Gi"),
			Limits:   quantities("memory", "6Gi"), // the sandbox's 4Gi, and SIA itself
		}
	}
	if c.SecurityContext == nil {
		c.SecurityContext = &corev1.SecurityContext{ReadOnlyRootFilesystem: new(true), AllowPrivilegeEscalation: new(false),
			Capabilities:   &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
	}
}

// secretOf returns the Secret with the pass of an attempt. It is deleted with the Pod.
func secretOf(pod *corev1.Pod, pass string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace, Labels: pod.Labels,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}}},
		Immutable: new(true), Type: corev1.SecretTypeOpaque, Data: map[string][]byte{passKey: []byte(pass)},
	}
}

// addVolume adds an emptyDir volume, unless the template has a volume of the name.
func addVolume(spec *corev1.PodSpec, name, size string) {
	for _, v := range spec.Volumes {
		if v.Name == name {
			return
		}
	}
	limit := resource.MustParse(size)
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name,
		VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &limit}}})
}

// quantities returns a resource list from pairs of names and quantities.
func quantities(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

// mergeMaps adds the entries of more to a map, which may be nil, and returns it.
func mergeMaps(all, more map[string]string) map[string]string {
	if all == nil {
		return more
	}
	for k, v := range more {
		all[k] = v
	}
	return all
}
