package kubesim

import (
	"fmt"
	"math"
	"path"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The rules are those of k8s.io/kubernetes/pkg/apis/core/validation (ValidatePodCreate, ValidateSecret) and of the
// comments in k8s.io/api/core/v1, for the fields listed there; names, labels and annotations are checked by the API
// server's own package.

// metadata validates an object's metadata. The caller holds k.mu.
func (k *Cluster) metadata(r request, m *metav1.ObjectMeta) error {
	// k8s.io/apiserver/pkg/registry/rest.EnsureObjectNamespaceMatchesRequestNamespace
	if m.Namespace != "" && m.Namespace != k.Namespace {
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the " +
			"request")
	}
	m.Namespace = k.Namespace
	errs := apivalidation.ValidateObjectMeta(m, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	if len(errs) == 0 {
		return nil
	}
	kind := map[string]string{"pods": "Pod", "secrets": "Secret"}[r.resource]
	return apierrors.NewInvalid(schema.GroupKind{Kind: kind}, m.Name, errs)
}

func validateSecret(s *corev1.Secret) (errs field.ErrorList) {
	total := 0
	for key, v := range s.Data {
		for _, msg := range validation.IsConfigMapKey(key) {
			errs = append(errs, field.Invalid(field.NewPath("data").Key(key), key, msg))
		}
		total += len(v)
	}
	if total > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(field.NewPath("data"), "", corev1.MaxSecretSize))
	}
	return errs
}

// rules collects errors.
type rules struct{ errs field.ErrorList }

func (r *rules) must(ok bool, e *field.Error) {
	if !ok {
		r.errs = append(r.errs, e)
	}
}

func (r *rules) name(at *field.Path, name string, check func(string) []string) {
	for _, msg := range check(name) {
		r.errs = append(r.errs, field.Invalid(at, name, msg))
	}
}

func oneOf[T ~string](r *rules, at *field.Path, v T, all ...T) {
	r.must(v == "" || slices.Contains(all, v), field.NotSupported(at, v, all))
}

func validatePod(p *corev1.Pod) field.ErrorList {
	var r rules
	spec, at := p.Spec, field.NewPath("spec")
	oneOf(&r, at.Child("restartPolicy"), spec.RestartPolicy, corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure,
		corev1.RestartPolicyNever)
	if d := spec.ActiveDeadlineSeconds; d != nil {
		r.must(*d >= 1 && *d <= math.MaxInt32, field.Invalid(at.Child("activeDeadlineSeconds"), *d,
			validation.InclusiveRangeError(1, math.MaxInt32)))
	}
	if spec.RuntimeClassName != nil {
		r.name(at.Child("runtimeClassName"), *spec.RuntimeClassName, validation.IsDNS1123Subdomain)
	}
	if spec.ServiceAccountName != "" {
		r.name(at.Child("serviceAccountName"), spec.ServiceAccountName, validation.IsDNS1123Subdomain)
	}
	r.errs = append(r.errs, metavalidation.ValidateLabels(spec.NodeSelector, at.Child("nodeSelector"))...)
	for i, t := range spec.Tolerations {
		oneOf(&r, at.Child("tolerations").Index(i).Child("operator"), t.Operator, corev1.TolerationOpEqual,
			corev1.TolerationOpExists)
		oneOf(&r, at.Child("tolerations").Index(i).Child("effect"), t.Effect, corev1.TaintEffectNoSchedule,
			corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)
	}
	if s := spec.SecurityContext; s != nil {
		for name, id := range map[string]*int64{"runAsUser": s.RunAsUser, "runAsGroup": s.RunAsGroup, "fsGroup": s.FSGroup} {
			r.must(id == nil || *id >= 0 && *id <= math.MaxInt32, field.Invalid(at.Child("securityContext", name), id, "range"))
		}
		r.seccomp(at.Child("securityContext"), s.SeccompProfile)
	}
	volumes := map[string]bool{}
	for i, v := range spec.Volumes {
		at := at.Child("volumes").Index(i)
		r.name(at.Child("name"), v.Name, validation.IsDNS1123Label)
		r.must(!volumes[v.Name], field.Duplicate(at.Child("name"), v.Name))
		volumes[v.Name] = true
		sources := 0
		for n := range reflect.ValueOf(v.VolumeSource).NumField() {
			if !reflect.ValueOf(v.VolumeSource).Field(n).IsNil() {
				sources++
			}
		}
		r.must(sources == 1, field.Required(at, "must specify exactly one volume type"))
		if v.EmptyDir != nil && v.EmptyDir.SizeLimit != nil {
			r.must(v.EmptyDir.SizeLimit.Sign() >= 0, field.Forbidden(at.Child("emptyDir"), "SizeLimit must not be negative"))
		}
	}
	r.must(len(spec.Containers) > 0, field.Required(at.Child("containers"), ""))
	names := map[string]bool{}
	for i, c := range spec.Containers {
		at := at.Child("containers").Index(i)
		r.name(at.Child("name"), c.Name, validation.IsDNS1123Label)
		r.must(!names[c.Name], field.Duplicate(at.Child("name"), c.Name))
		names[c.Name] = true
		r.container(at, c, volumes, spec.HostUsers)
	}
	return r.errs
}

func (r *rules) container(at *field.Path, c corev1.Container, volumes map[string]bool, hostUsers *bool) {
	r.must(c.Image != "", field.Required(at.Child("image"), ""))
	r.must(c.Image == strings.TrimSpace(c.Image), field.Invalid(at.Child("image"), c.Image,
		"must not have leading or trailing whitespace"))
	oneOf(r, at.Child("imagePullPolicy"), c.ImagePullPolicy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
	oneOf(r, at.Child("terminationMessagePolicy"), c.TerminationMessagePolicy, corev1.TerminationMessageReadFile,
		corev1.TerminationMessageFallbackToLogsOnError)
	for i, e := range c.Env {
		at := at.Child("env").Index(i)
		r.must(e.Name != "", field.Required(at.Child("name"), ""))
		r.name(at.Child("name"), e.Name, validation.IsRelaxedEnvVarName)
		if from := e.ValueFrom; from != nil {
			r.must(e.Value == "", field.Invalid(at.Child("valueFrom"), "", "may not be specified when `value` is not empty"))
			if ref := from.SecretKeyRef; ref != nil {
				r.name(at.Child("valueFrom", "secretKeyRef", "name"), ref.Name, validation.IsDNS1123Subdomain)
				r.must(ref.Key != "", field.Required(at.Child("valueFrom", "secretKeyRef", "key"), ""))
				r.name(at.Child("valueFrom", "secretKeyRef", "key"), ref.Key, validation.IsConfigMapKey)
			}
		}
	}
	paths := map[string]bool{}
	for i, m := range c.VolumeMounts {
		at := at.Child("volumeMounts").Index(i)
		r.must(volumes[m.Name], field.NotFound(at.Child("name"), m.Name))
		r.must(m.MountPath != "", field.Required(at.Child("mountPath"), ""))
		r.must(!paths[path.Clean(m.MountPath)], field.Invalid(at.Child("mountPath"), m.MountPath, "must be unique"))
		paths[path.Clean(m.MountPath)] = true
	}
	for name, q := range c.Resources.Requests {
		limit, ok := c.Resources.Limits[name]
		r.must(!ok || q.Cmp(limit) <= 0, field.Invalid(at.Child("resources", "requests"), q.String(), fmt.Sprintf(
			"must be less than or equal to %s limit of %s", name, limit.String())))
	}
	for _, list := range []corev1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
		for name, q := range list {
			known := []corev1.ResourceName{"cpu", "memory", "ephemeral-storage"}
			r.must(slices.Contains(known, name) || strings.Contains(string(name), "/"), field.Invalid(at.Child("resources"),
				name, "must be a standard resource for containers"))
			r.must(q.Sign() >= 0, field.Invalid(at.Child("resources"), q.String(), "must be greater than or equal to 0"))
		}
	}
	s := c.SecurityContext
	if s == nil {
		return
	}
	at = at.Child("securityContext")
	r.seccomp(at, s.SeccompProfile)
	if s.AppArmorProfile != nil {
		oneOf(r, at.Child("appArmorProfile", "type"), s.AppArmorProfile.Type, corev1.AppArmorProfileTypeLocalhost,
			corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined)
	}
	if s.ProcMount != nil {
		oneOf(r, at.Child("procMount"), *s.ProcMount, corev1.DefaultProcMount, corev1.UnmaskedProcMount)
		r.must(*s.ProcMount != corev1.UnmaskedProcMount || hostUsers != nil && !*hostUsers, field.Invalid(
			at.Child("procMount"), *s.ProcMount, "`hostUsers` must be false to use `Unmasked`"))
	}
	if s.AllowPrivilegeEscalation != nil && !*s.AllowPrivilegeEscalation {
		r.must(s.Privileged == nil || !*s.Privileged, field.Invalid(at, s, "cannot set `allowPrivilegeEscalation` to false "+
			"and `privileged` to true"))
		r.must(s.Capabilities == nil || !slices.Contains(s.Capabilities.Add, "CAP_SYS_ADMIN"), field.Invalid(at, s,
			"cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"))
	}
}

func (r *rules) seccomp(at *field.Path, p *corev1.SeccompProfile) {
	if p == nil {
		return
	}
	at = at.Child("seccompProfile")
	r.must(p.Type != "", field.Required(at.Child("type"), "type is required when seccompProfile is set"))
	oneOf(r, at.Child("type"), p.Type, corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeRuntimeDefault,
		corev1.SeccompProfileTypeUnconfined)
	r.must((p.Type == corev1.SeccompProfileTypeLocalhost) == (p.LocalhostProfile != nil), field.Invalid(at, p.Type,
		"localhostProfile goes with type Localhost"))
}
