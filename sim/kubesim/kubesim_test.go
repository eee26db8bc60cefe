package kubesim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/sia-bot/sia/sim/kubesim"
)

// good is a Pod that the API server accepts.
const good = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"app":"x"}},
"spec":{"restartPolicy":"Never","activeDeadlineSeconds":60,"terminationGracePeriodSeconds":60,
"runtimeClassName":"gvisor","nodeSelector":{"a":"b"},
"tolerations":[{"key":"a","operator":"Exists","effect":"NoSchedule"}],
"securityContext":{"runAsUser":65532,"runAsNonRoot":true},"volumes":[{"name":"work","emptyDir":{"sizeLimit":"1Gi"}}],
"containers":[{"name":"attempt","image":"sia:v1",
"env":[{"name":"PASS","valueFrom":{"secretKeyRef":{"name":"a","key":"pass"}}}],
"resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"memory":"2Gi"}},
"volumeMounts":[{"name":"work","mountPath":"/data"}],"securityContext":{"allowPrivilegeEscalation":false,
"capabilities":{"drop":["ALL"]},"seccompProfile":{"type":"RuntimeDefault"}}}]}}`

// bad are invalid Pods: a replacement in good, and the answer. Kubernetes 1.34.2's own Pod validation and Pod security
// check gave the same results for each.
var bad = []struct {
	old, new string
	code     int
	says     string
}{
	{`"nodeSelector"`, `"nodeSelektor"`, 400, `strict decoding error: unknown field "spec.nodeSelektor"`},
	{`"restartPolicy"`, `"RestartPolicy"`, 400, `unknown field "spec.RestartPolicy"`},
	{`"image":"sia:v1"`, `"image":"sia:v1","image":"b"`, 400, `duplicate field "spec.containers[0].image"`},
	{`"1Gi"`, `"much"`, 400, `quantities must match`},
	{`"activeDeadlineSeconds":60`, `"activeDeadlineSeconds":"60"`, 400, `Pod in version "v1" cannot be handled as a Pod`},
	{`"kind":"Pod"`, `"kind":"Secret"`, 400, ``},
	{`"name":"a","labels"`, `"name":"a","namespace":"other","labels"`, 400, `does not match the namespace`},
	{`"name":"a","labels"`, `"name":"A_b","labels"`, 422, `metadata.name: Invalid value: "A_b": a lower`},
	{`"name":"a","labels"`, `"labels"`, 422, `metadata.name: Required value`},
	{`{"app":"x"}`, `{"app":"x/y"}`, 422, `metadata.labels: Invalid value: "x/y"`},
	{`{"app":"x"}`, `{"a/b/c":"x"}`, 422, `metadata.labels: Invalid value: "a/b/c"`},
	{`{"app":"x"}`, `{"app":"` + strings.Repeat("x", 64) + `"}`, 422, `must be no more than 63`},
	{`"Never"`, `"Once"`, 422, `spec.restartPolicy: Unsupported value: "Once"`},
	{`"activeDeadlineSeconds":60`, `"activeDeadlineSeconds":0`, 422, `spec.activeDeadlineSeconds: Invalid value: 0`},
	{`"gvisor"`, `"other"`, 403, `pods "a" is forbidden: pod rejected: RuntimeClass "other" not found`},
	{`{"a":"b"}`, `{"a":"b c"}`, 422, `spec.nodeSelector: Invalid value: "b c"`},
	{`"Exists"`, `"Is"`, 422, `spec.tolerations[0].operator: Unsupported value: "Is"`},
	{`"NoSchedule"`, `"No"`, 422, `spec.tolerations[0].effect: Unsupported value: "No"`},
	{`65532`, `-1`, 422, `runAsUser`},
	{`"emptyDir":{"sizeLimit":"1Gi"}`, `"emptyDir":{},"hostPath":{"path":"/"}`, 422, `spec.volumes[0]`},
	{`"sizeLimit":"1Gi"`, `"sizeLimit":"-1Gi"`, 422, `SizeLimit`},
	{`"name":"work","emptyDir"`, `"name":"Work","emptyDir"`, 422, `spec.volumes[0].name: Invalid value: "Work"`},
	{`"name":"attempt"`, `"name":"an attempt"`, 422, `spec.containers[0].name: Invalid value: "an attempt"`},
	{`"image":"sia:v1"`, `"image":""`, 422, `spec.containers[0].image: Required value`},
	{`"image":"sia:v1"`, `"image":" sia:v1"`, 422, `must not have leading or trailing whitespace`},
	{`"name":"PASS"`, `"name":"A=B"`, 422, `spec.containers[0].env[0].name: Invalid value: "A=B"`},
	{`"name":"PASS"`, `"name":"PASS","value":"x"`, 422, `may not be specified when`},
	{`"key":"pass"`, `"key":"the pass"`, 422, `secretKeyRef.key: Invalid value: "the pass"`},
	{`"key":"pass"`, `"key":""`, 422, `secretKeyRef.key: Required value`},
	{`"memory":"1Gi"`, `"memory":"3Gi"`, 422, `must be less than or equal to memory limit of 2Gi`},
	{`"cpu":"1"`, `"cpus":"1"`, 422, `must be a standard resource for containers`},
	{`"cpu":"1"`, `"cpu":"-1"`, 422, `must be greater than or equal to 0`},
	{`"name":"work","mountPath"`, `"name":"none","mountPath"`, 422, `volumeMounts[0].name: Not found: "none"`},
	{`"mountPath":"/data"`, `"mountPath":""`, 422, `mountPath: Required value`},
	{`"type":"RuntimeDefault"`, `"type":"Default"`, 422, `seccompProfile.type: Unsupported value: "Default"`},
	{`"type":"RuntimeDefault"`, `"type":"Localhost"`, 422, `localhostProfile`},
	{`"allowPrivilegeEscalation":false`, `"allowPrivilegeEscalation":false,"privileged":true`, 422, `cannot set`},
	{`"allowPrivilegeEscalation":false`, `"allowPrivilegeEscalation":false,"procMount":"Unmasked"`, 422, `procMount`},
	{`"allowPrivilegeEscalation":false`, `"allowPrivilegeEscalation":true`, 403, `PodSecurity "restricted:latest": allow`},
	{`"drop":["ALL"]`, `"drop":["NET_RAW"]`, 403, `unrestricted capabilities`},
	{`"runAsNonRoot":true`, `"runAsNonRoot":false`, 403, `runAsNonRoot != true`},
	{`"type":"RuntimeDefault"`, `"type":"Unconfined"`, 403, `seccompProfile`},
}

// The API server accepts valid objects, and refuses what the real one refuses.
func TestRefusals(t *testing.T) {
	k, err := kubesim.Start(kubesim.Config{Namespace: "n", Rules: []rbacv1.PolicyRule{{APIGroups: []string{""},
		Resources: []string{"pods"}, Verbs: []string{"create", "list"}}},
		Run: func(context.Context, kubesim.Container) (int32, string) { return 0, "" }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	k.Change(func(c *kubesim.Circumstances) { c.RuntimeClasses, c.Restricted = []string{"gvisor"}, true })
	file, err := k.Kubeconfig(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		t.Fatal(err)
	}
	encrypted, err := rest.TLSConfigFor(config)
	if err != nil {
		t.Fatal(err)
	}
	client, token := &http.Client{Transport: &http.Transport{TLSClientConfig: encrypted}}, config.BearerToken
	say := func(method, path, token, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, config.Host+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		var v struct{ Kind, Message string }
		if err := json.Unmarshal(bytes.TrimSpace(b), &v); err != nil || resp.StatusCode >= 400 && v.Kind != "Status" {
			t.Errorf("%s %s: %s, %v", method, path, b, err)
		}
		return resp.StatusCode, v.Message
	}
	const pods = "/api/v1/namespaces/n/pods"
	for _, c := range bad {
		if strings.Count(good, c.old) == 0 {
			t.Fatalf("no %s in the Pod", c.old)
		}
		code, said := say(http.MethodPost, pods, token, strings.Replace(good, c.old, c.new, 1))
		if code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("%s: %d %s", c.new, code, said)
		}
	}
	if len(k.Pods()) > 0 {
		t.Error("a Pod was made")
	}
	for what, c := range map[string]struct {
		method, path, token, body string
		code                      int
		says                      string
	}{
		"another token":        {http.MethodPost, pods, "x", good, 401, "Unauthorized"},
		"another namespace":    {http.MethodPost, "/api/v1/namespaces/o/pods", token, good, 403, "cannot create resource"},
		"a verb without rule":  {http.MethodDelete, pods + "/a", token, "", 403, `cannot delete resource "pods"`},
		"another resource":     {http.MethodGet, "/api/v1/nodes", token, "", 404, ""},
		"an update":            {http.MethodPut, pods + "/a", token, good, 405, ""},
		"an unknown parameter": {http.MethodGet, pods + "?selector=x", token, "", 400, "selector"},
		"a trial": {http.MethodPost, pods + "?dryRun=All", token, strings.Replace(good, `"name":"a"`,
			`"name":"b"`, 1), 201, ""},
		"a Pod": {http.MethodPost, pods, token, good, 201, ""},
	} {
		if code, said := say(c.method, c.path, c.token, c.body); code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("%s: %d %s", what, code, said)
		}
	}
	if len(k.Pods()) != 1 {
		t.Errorf("%d Pods", len(k.Pods()))
	}
	code, said := say(http.MethodPost, pods, token, good)
	if code != 409 || said != `pods "a" already exists` {
		t.Errorf("again: %d %s", code, said)
	}
	k.Change(func(c *kubesim.Circumstances) { c.Quota = 0 })
	code, said = say(http.MethodPost, pods, token, strings.Replace(good, `"name":"a"`, `"name":"b"`, 1))
	if code != 403 || !strings.HasPrefix(said, `pods "b" is forbidden: exceeded quota: attempts, requested: pods=1, `) {
		t.Errorf("%d %s", code, said)
	}
}
