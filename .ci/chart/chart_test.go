// Package chart renders the Helm chart of docs/operations/helm with Helm's own engine, and decodes the result as
// objects of Kubernetes. It is a module of its own, so that Helm and its dependencies are not SIA's.
package chart

import (
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

const folder = "../../docs/operations/helm"

var strict = serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()

// rendered has what the chart gives for some values: its objects, and the notes.
type rendered struct {
	objects []runtime.Object
	notes   string
}

func render(values string) (r rendered, err error) {
	c, err := loader.Load(folder)
	if err != nil {
		return r, err
	}
	given, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		return r, err
	}
	all, err := chartutil.ToRenderValues(c, given, // it also checks them against values.schema.json
		chartutil.ReleaseOptions{Name: "sia", Namespace: "default", IsInstall: true}, chartutil.DefaultCapabilities)
	if err != nil {
		return r, err
	}
	files, err := engine.Engine{Strict: true}.Render(c, all)
	if err != nil {
		return r, err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Base(name) == "NOTES.txt" {
			r.notes = files[name]
			continue
		}
		for _, text := range releaseutil.SplitManifests(files[name]) {
			o, err := decode([]byte(text))
			if err != nil {
				return r, fmt.Errorf("%s: %w in\n%s", name, err, text)
			}
			r.objects = append(r.objects, o)
		}
	}
	return r, nil
}

// decode accepts no field that Kubernetes does not know. A ServiceMonitor is the Prometheus operator's.
func decode(text []byte) (runtime.Object, error) {
	o, _, err := strict.Decode(text, nil, nil)
	if !runtime.IsNotRegisteredError(err) {
		return o, err
	}
	var other unstructured.Unstructured
	if err := yaml.UnmarshalStrict(text, &other.Object); err != nil {
		return nil, err
	}
	if other.GetAPIVersion() != "monitoring.coreos.com/v1" || other.GetKind() != "ServiceMonitor" {
		return nil, err
	}
	return &other, nil
}

const (
	pods = "runner: {enabled: true, namespace: attempts, token: {secret: t, key: k}}\n"
	many = "replicas: 2\ndatabase: postgres\nsecret: sia\n"
	at   = "publicURL: https://sia.example.com\n"
	all  = at + pods + many + `
persistence: {accessMode: ReadWriteMany, storageClass: fast}
image: {tag: v1, pullSecrets: [registry]}
appKey: {secret: app, key: key.pem}
env: {SIA_MODEL: gpt-5}
sandbox: true
service: {type: LoadBalancer, annotations: {a: b}}
ingress: {enabled: true, className: nginx, annotations: {a: b}, tlsSecret: tls}
serviceMonitor: {enabled: true, labels: {release: prometheus}}
networkPolicy:
  enabled: true
  from: [{namespaceSelector: {matchLabels: {name: ingress}}}]
  monitoring: [{namespaceSelector: {matchLabels: {name: monitoring}}}]
  egress: [{ports: [{port: 5432, protocol: TCP}]}]
nodeSelector: {disk: ssd}
tolerations: [{key: ci, operator: Exists}]
affinity: {nodeAffinity: {}}
podAnnotations: {a: b}
podLabels: {team: tools}
`
)

func TestRenders(t *testing.T) {
	for of, c := range map[string]struct {
		values string
		want   []string // kinds
	}{
		"as it is":        {"", server},
		"a claim":         {"persistence: {existingClaim: mine}", []string{"Service", "Service", "StatefulSet"}},
		"replicas":        {many + "persistence: {accessMode: ReadWriteMany}", server},
		"another address": {"runner: {server: 'https://sia', " + pods[len("runner: {"):], runner},
		"Pods":            {at + pods, runner},
		"other runners":   {"env: {SIA_ATTEMPTS_ON: runners}", server},
		"everything": {all, slices.Sorted(slices.Values(append(slices.Clone(runner),
			"Ingress", "NetworkPolicy", "NetworkPolicy", "ServiceMonitor")))},
	} {
		t.Run(of, func(t *testing.T) {
			r, err := render(c.values)
			if err != nil {
				t.Fatal(err)
			}
			var kinds []string
			for _, o := range r.objects {
				kinds = append(kinds, o.GetObjectKind().GroupVersionKind().Kind)
			}
			if slices.Sort(kinds); !slices.Equal(kinds, c.want) {
				t.Errorf("objects %v, want %v", kinds, c.want)
			}
			if !strings.HasPrefix(r.notes, "SIA starts.") {
				t.Errorf("notes %q", r.notes)
			}
			checkSelectors(t, r.objects)
		})
	}
}

// Only with an ingress is there a proxy whose word about a client's address counts, unless the values name some.
func TestTrustedProxies(t *testing.T) {
	const ingress = "ingress: {enabled: true}\n"
	for values, want := range map[string]string{
		"":                                  "none",
		"service: {type: LoadBalancer}":     "none",
		ingress:                             "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7",
		"trustedProxies: [192.0.2.0/24]":    "192.0.2.0/24",
		ingress + "trustedProxies: ['::1']": "::1",
	} {
		r, err := render(values)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range r.objects {
			if s, ok := o.(*appsv1.StatefulSet); ok {
				for _, v := range s.Spec.Template.Spec.Containers[0].Env {
					if v.Name == "SIA_TRUSTED_PROXIES" && v.Value != want {
						t.Errorf("%q trusts %s", values, v.Value)
					}
				}
			}
		}
		if strings.Contains(r.notes, "proxy-body-size") != strings.Contains(values, "ingress") {
			t.Errorf("%q: notes %q", values, r.notes)
		}
	}
}

// The alert about a server that is down asks for the job that the ServiceMonitor names: the value of a label of the
// Service.
func TestJobOfAlerts(t *testing.T) {
	alerts, err := os.ReadFile("../../docs/operations/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	r, err := render("serviceMonitor: {enabled: true}")
	if err != nil {
		t.Fatal(err)
	}
	var label string
	for _, o := range r.objects {
		if m, ok := o.(*unstructured.Unstructured); ok {
			label, _, _ = unstructured.NestedString(m.Object, "spec", "jobLabel")
		}
	}
	for _, o := range r.objects {
		if s, ok := o.(*corev1.Service); ok && !strings.Contains(string(alerts), fmt.Sprintf("up{job=%q}", s.Labels[label])) {
			t.Errorf("the job of Service %s is %q", s.Name, s.Labels[label])
		}
	}
}

// The Pod in the documentation that moves an installation to another claim has no field that Kubernetes does not know.
func TestMovingPod(t *testing.T) {
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, pod, _ := strings.Cut(string(text), "```yaml\napiVersion: v1\nkind: Pod\n")
	pod, _, ok := strings.Cut(pod, "```")
	o, err := decode([]byte("apiVersion: v1\nkind: Pod\n" + pod))
	if p, is := o.(*corev1.Pod); !ok || err != nil || !is || len(p.Spec.Volumes) != 2 {
		t.Errorf("%v, %v", o, err)
	}
}

// The kinds of the objects of a server, and of one with a runner.
var (
	server = []string{"PersistentVolumeClaim", "Service", "Service", "StatefulSet"}
	runner = []string{"ConfigMap", "Deployment", "PersistentVolumeClaim", "Role", "RoleBinding", "Service", "Service",
		"ServiceAccount", "StatefulSet"}
)

// checkSelectors reports selectors and ports of services that no workload has.
func checkSelectors(t *testing.T, objects []runtime.Object) {
	var templates []corev1.PodTemplateSpec
	for _, o := range objects {
		switch o := o.(type) {
		case *appsv1.StatefulSet:
			checkSelects(t, "the StatefulSet", o.Spec.Selector.MatchLabels, o.Spec.Template)
			templates = append(templates, o.Spec.Template)
		case *appsv1.Deployment:
			checkSelects(t, "the Deployment", o.Spec.Selector.MatchLabels, o.Spec.Template)
			templates = append(templates, o.Spec.Template)
		}
	}
	for _, o := range objects {
		switch o := o.(type) {
		case *corev1.Service:
			of := checkSelects(t, "Service "+o.Name, o.Spec.Selector, templates...)
			for _, p := range o.Spec.Ports {
				if !hasPort(of, p.TargetPort.StrVal) {
					t.Errorf("Service %s: no container has the port %s", o.Name, p.TargetPort.String())
				}
			}
		case *networkingv1.NetworkPolicy:
			if o.Namespace == "" { // otherwise it is of the Pods that attempts get
				checkSelects(t, "NetworkPolicy "+o.Name, o.Spec.PodSelector.MatchLabels, templates...)
			}
		}
	}
}

// checkSelects returns the one template that a selector selects.
func checkSelects(
	t *testing.T, who string, selector map[string]string, all ...corev1.PodTemplateSpec,
) (of corev1.PodTemplateSpec) {
	n := 0
	for _, template := range all {
		if labels.SelectorFromSet(selector).Matches(labels.Set(template.Labels)) {
			of = template
			n++
		}
	}
	if len(selector) == 0 || n != 1 {
		t.Errorf("%s selects %d kinds of pods with %v", who, n, selector)
	}
	return of
}

func hasPort(of corev1.PodTemplateSpec, name string) bool {
	return slices.ContainsFunc(of.Spec.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == name })
	})
}

func TestRefuses(t *testing.T) {
	for of, c := range map[string]struct{ values, why string }{
		"replicas on SQLite":           {"replicas: 2", "database"},
		"replicas on one node's disk":  {many, "accessMode"},
		"PostgreSQL without a Secret":  {"database: postgres", "secret"},
		"another database":             {"database: mysql", "database"},
		"a secret among the variables": {"env: {SIA_MODEL_KEY: x}", "SIA_MODEL_KEY"},
		"a number as a variable":       {"env: {SIA_APP_ID: 12}", "SIA_APP_ID"},
		"a misspelt value":             {"replica: 2", "replica"},
		"Pods without a namespace":     {at + "runner: {enabled: true, token: {secret: t, key: token}}", "namespace"},
		"Pods without a token":         {at + "runner: {enabled: true, namespace: attempts}", "token"},
		"Pods without an address":      {pods, "publicURL"},
		"Pods that are given no HTTPS": {pods + "publicURL: http://sia.example.com", "publicURL"},
		"attempts in the server":       {at + pods + "env: {SIA_ATTEMPTS_ON: here}", "env"},
		"replicas without a part":      {"env: {SIA_ROLE: intake}", "SIA_ROLE"},
		"an address with a path":       {"publicURL: https://sia.example.com/sia", "publicURL"},
	} {
		t.Run(of, func(t *testing.T) {
			if _, err := render(c.values); err == nil || !strings.Contains(err.Error(), c.why) {
				t.Errorf("error %v, want one about %s", err, c.why)
			}
		})
	}
}
