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

// PassEnv is the variable of a Pod with the attempt's pass.
const PassEnv = "SIA_ATTEMPT_PASS"

// Names in a Pod, of which a template may say more.
const (
	containerName = "attempt"
	workVolume    = "work" // mirrors, the work tree and caches
	tmpVolume     = "tmp"
	workDir       = "/data" // the image's volume
	passKey       = "pass"

	attemptAnnotation = "sia-bot.github.io/attempt" // the attempt's key
)

// Labels of a Pod, as they are recommended:
// https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels
const (
	nameLabel      = "app.kubernetes.io/name"
	componentLabel = "app.kubernetes.io/component"
	managedLabel   = "app.kubernetes.io/managed-by"
	instanceLabel  = "app.kubernetes.io/instance" // the runner
)

// What a Pod gets unless its template says otherwise.
const (
	user         = 65532 // the image's
	graceSeconds = 60    // to give the attempt back
	workSize     = "20Gi"
	tmpSize      = "2Gi"
)

// Spec is what the Pods of attempts are made of.
type Spec struct {
	Server       string // address at which Pods reach the server
	PlainHTTP    bool
	Image        string
	RuntimeClass string      // empty: as the template says
	Template     *corev1.Pod // see [ReadTemplate]; nil: none
}

// notInNames is what an object's name can't have.
var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// nameOf names the Pod and the Secret of an attempt that is made with a pass: the same names for the same two. It is a
// label of RFC 1123, since it becomes the Pod's host name.
func nameOf(key, pass string) string {
	readable := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(key), "-"), "-")
	if most := 63 - len("sia--") - 16; len(readable) > most {
		readable = strings.TrimRight(readable[:most], "-")
	}
	return "sia-" + cmp.Or(readable, "x") + "-" + runner.Hash(pass)[:16]
}

// pod is the Pod of an attempt. What makes it ours is set; what it may use, the template says first.
func (s Spec) pod(id, namespace string, o *runner.Offer) *corev1.Pod {
	pod := &corev1.Pod{}
	if s.Template != nil {
		pod = s.Template.DeepCopy()
	}
	name := nameOf(o.Work.Key, o.Pass)
	pod.Name, pod.Namespace = name, namespace
	pod.Labels = with(pod.Labels, map[string]string{nameLabel: "sia", componentLabel: "attempt",
		managedLabel: "sia-runner", instanceLabel: id})
	pod.Annotations = with(pod.Annotations, map[string]string{attemptAnnotation: o.Work.Key})

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

// container completes the one that makes the attempt.
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
	c.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError // so that the runner can say why it failed
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

// secretOf is the Secret with the pass of an attempt. It is deleted with the Pod.
func secretOf(pod *corev1.Pod, pass string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace, Labels: pod.Labels,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}}},
		Immutable: new(true), Type: corev1.SecretTypeOpaque, Data: map[string][]byte{passKey: []byte(pass)},
	}
}

// addVolume adds a folder that goes with the Pod, where the template has no volume of the name.
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

// quantities makes a list of pairs.
func quantities(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

// with is a map with more in it.
func with(all, more map[string]string) map[string]string {
	if all == nil {
		return more
	}
	for k, v := range more {
		all[k] = v
	}
	return all
}
