package pods

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// ReadTemplate parses a Pod in YAML, the template for the Pods of attempts. It returns an error that names the field
// for unknown fields, and for fields that SIA sets itself. Its container must be called attempt.
func ReadTemplate(b []byte) (*corev1.Pod, error) {
	kind := corev1.SchemeGroupVersion.WithKind("Pod")
	read := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true,
		Strict: true})
	object, _, err := read.Decode(b, &kind, &corev1.Pod{})
	if err != nil {
		return nil, fmt.Errorf("it is no Pod: %w", err)
	}
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return nil, fmt.Errorf("it is no Pod, but a %s", object.GetObjectKind().GroupVersionKind().Kind)
	}
	for _, taken := range taken(pod) {
		if taken.set {
			return nil, fmt.Errorf("%s: %s", taken.field, taken.why)
		}
	}
	return pod, nil
}

// setting is a field that a template must not set.
type setting struct {
	field string
	set   bool   // whether the template sets it
	why   string // reason, with advice
}

// taken returns the fields that a template must not set.
func taken(pod *corev1.Pod) []setting {
	spec := pod.Spec
	all := []setting{
		{"metadata.name", pod.Name != "" || pod.GenerateName != "", "each Pod has a name of its own; leave it out"},
		{"metadata.namespace", pod.Namespace != "", "--namespace says it; leave it out"},
		{"spec.restartPolicy", spec.RestartPolicy != "" && spec.RestartPolicy != corev1.RestartPolicyNever,
			"a Pod makes one attempt once; leave it out"},
		{"spec.automountServiceAccountToken", spec.AutomountServiceAccountToken != nil && *spec.AutomountServiceAccountToken,
			"an attempt gets no token of the cluster; leave it out"},
		{"spec.activeDeadlineSeconds", spec.ActiveDeadlineSeconds != nil, "it follows from the attempt's time; leave it out"},
		{"spec.containers", len(spec.Containers) > 1, "there is one container; a sidecar is one of initContainers with " +
			"restartPolicy: Always"},
	}
	for _, c := range spec.Containers {
		all = append(all,
			setting{"spec.containers", c.Name != containerName, fmt.Sprintf("its container is called %s, not %q",
				containerName, c.Name)},
			setting{"spec.containers.image", c.Image != "", "--image says it; leave it out"},
			setting{"spec.containers.args", c.Args != nil, "SIA says what runs; leave it out"},
		)
		for _, e := range c.Env {
			all = append(all, setting{"spec.containers.env", e.Name == PassEnv, "SIA sets " + PassEnv + "; leave it out"})
		}
	}
	return all
}
