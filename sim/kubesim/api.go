package kubesim

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"
)

// maxRequest is etcd's limit for an object, and the API server's for a request (MaxRequestBodyBytes).
const maxRequest = 3 << 20

// query lists the known parameters.
var query = []string{"labelSelector", "fieldValidation", "dryRun", "fieldManager", "timeout"}

// ServeHTTP answers one request.
func (k *Cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		answer(w, 0, apierrors.NewRequestEntityTooLargeError(err.Error()))
		return
	}
	k.mu.Lock()
	spoil, seen := k.now.Fault, k.now.Seen
	k.mu.Unlock()
	if seen != nil {
		seen(r, body)
	}
	what := Whole
	if spoil != nil {
		what = spoil(r)
	}
	if what > Unanswered {
		of := schema.GroupResource{Resource: "pods"}
		answer(w, 0, apierrors.NewGenericServerResponse(int(what), r.Method, of, "", "spoilt", 1, true))
		return
	}
	code, object := k.handle(r, body)
	if what == Unanswered {
		panic(http.ErrAbortHandler)
	}
	answer(w, code, object)
}

// answer writes an object, or the Status of an error.
func answer(w http.ResponseWriter, code int, object any) {
	var status apierrors.APIStatus
	if err, ok := object.(error); ok && errors.As(err, &status) {
		s := status.Status()
		s.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		code, object = int(s.Code), s
		if s.Details != nil && s.Details.RetryAfterSeconds > 0 {
			w.Header().Set("Retry-After", fmt.Sprint(s.Details.RetryAfterSeconds))
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object)
}

// request is a request for Pods or Secrets.
type request struct {
	*http.Request
	resource, name, verb string
	body                 []byte
	dry                  bool
}

// handle carries out a request: authentication, authorisation, decoding, and the operation.
func (k *Cluster) handle(hr *http.Request, body []byte) (int, any) {
	if hr.Header.Get("Authorization") != "Bearer "+k.token {
		return 0, &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 401,
			Reason: metav1.StatusReasonUnauthorized, Message: "Unauthorized"}}
	}
	parts := strings.Split(strings.Trim(hr.URL.Path, "/"), "/")
	if len(parts) < 5 || len(parts) > 6 || !slices.Equal(parts[:3], []string{"api", "v1", "namespaces"}) ||
		parts[4] != "pods" && parts[4] != "secrets" {
		return 0, apierrors.NewGenericServerResponse(404, hr.Method, schema.GroupResource{}, "", "", 0, true)
	}
	r := request{Request: hr, resource: parts[4], body: body, dry: hr.URL.Query().Get("dryRun") == metav1.DryRunAll}
	if len(parts) == 6 {
		r.name = parts[5]
	}
	switch named := r.name != ""; {
	case hr.Method == http.MethodPost && !named:
		r.verb = "create"
	case hr.Method == http.MethodGet && !named:
		r.verb = "list"
	case hr.Method == http.MethodGet:
		r.verb = "get"
	case hr.Method == http.MethodDelete && named:
		r.verb = "delete"
	default:
		return 0, apierrors.NewMethodNotSupported(r.group(), strings.ToLower(hr.Method))
	}
	if !k.allowed(r, parts[3]) { // k8s.io/apiserver/pkg/endpoints/handlers/responsewriters.Forbidden
		return 0, apierrors.NewForbidden(r.group(), r.name, fmt.Errorf("%s cannot %s resource %q in API group %q in the "+
			"namespace %q", `User "system:serviceaccount:sia:runner"`, r.verb, r.resource, "", parts[3]))
	}
	for name := range hr.URL.Query() {
		if !slices.Contains(query, name) {
			return 0, apierrors.NewBadRequest("kubesim knows no parameter " + name)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case r.verb == "create" && r.resource == "pods":
		return k.createPod(r)
	case r.verb == "create":
		return k.createSecret(r)
	case r.resource == "pods" && r.verb == "list":
		return k.listPods(r)
	case r.resource == "pods":
		p := k.pods[r.name]
		if p == nil {
			return 0, apierrors.NewNotFound(r.group(), r.name)
		}
		if r.verb == "delete" {
			k.delete(p)
		}
		return http.StatusOK, *p.DeepCopy()
	}
	return 0, apierrors.NewMethodNotSupported(r.group(), r.verb)
}

func (r request) group() schema.GroupResource { return schema.GroupResource{Resource: r.resource} }

// allowed reports whether a rule permits the account's request.
func (k *Cluster) allowed(r request, namespace string) bool {
	if namespace != k.Namespace {
		return false
	}
	for _, rule := range k.Rules {
		if slices.Contains(rule.APIGroups, "") && slices.Contains(rule.Resources, r.resource) &&
			slices.Contains(rule.Verbs, r.verb) {
			return true
		}
	}
	return false
}

// decode reads an object with fieldValidation=Strict: every field known, correctly spelled, and unique.
func decode(r request, kind string, into metav1.Object, meta *metav1.TypeMeta) error {
	strict, err := kjson.UnmarshalStrict(r.body, into)
	if err == nil && len(strict) > 0 {
		err = fmt.Errorf("strict decoding error: %w", errors.Join(strict...))
	}
	if err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", kind, "v1", kind, err))
	}
	if meta.Kind != kind || meta.APIVersion != "v1" {
		return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized: apiVersion %q, kind %q",
			meta.APIVersion, meta.Kind))
	}
	return nil
}

// begin sets the fields that the API server sets.
func (k *Cluster) begin(o metav1.Object) {
	u := make([]byte, 16)
	_, _ = rand.Read(u)
	o.SetUID(types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])))
	o.SetCreationTimestamp(metav1.Now())
	o.SetResourceVersion(k.next())
	o.SetNamespace(k.Namespace)
}

func (k *Cluster) createPod(r request) (int, any) {
	p := &pod{}
	if err := decode(r, "Pod", &p.Pod, &p.TypeMeta); err != nil {
		return 0, err
	}
	p.Status = corev1.PodStatus{Phase: corev1.PodPending}
	// The order is that of Store.Create in k8s.io/apiserver/pkg/registry/generic/registry: mutating plug-ins, validation,
	// validating plug-ins, and last whether the object exists. So a full quota hides that a Pod exists already.
	if err := k.metadata(r, &p.ObjectMeta); err != nil {
		return 0, err
	}
	if err := k.runtimeClass(&p.Pod); err != nil {
		return 0, err
	}
	if errs := validatePod(&p.Pod); len(errs) > 0 {
		return 0, apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, p.Name, errs)
	}
	if err := k.admit(&p.Pod); err != nil {
		return 0, err
	}
	if k.pods[p.Name] != nil {
		return 0, apierrors.NewAlreadyExists(r.group(), p.Name)
	}
	k.begin(p)
	if r.dry {
		return http.StatusCreated, p.Pod
	}
	k.pods[p.Name] = p
	ctx, end := context.WithCancel(context.Background())
	p.end = end
	k.kubelet.Go(func() { k.run(ctx, p) })
	return http.StatusCreated, *p.DeepCopy()
}

func (k *Cluster) createSecret(r request) (int, any) {
	s := &corev1.Secret{}
	if err := decode(r, "Secret", s, &s.TypeMeta); err != nil {
		return 0, err
	}
	if err := k.metadata(r, &s.ObjectMeta); err != nil {
		return 0, err
	}
	if errs := validateSecret(s); len(errs) > 0 {
		return 0, apierrors.NewInvalid(schema.GroupKind{Kind: "Secret"}, s.Name, errs)
	}
	if k.secrets[s.Name] != nil {
		return 0, apierrors.NewAlreadyExists(r.group(), s.Name)
	}
	k.begin(s)
	if r.dry {
		return http.StatusCreated, s
	}
	owned := len(s.OwnerReferences) == 0
	for _, o := range s.OwnerReferences {
		for _, p := range k.pods {
			owned = owned || p.UID == o.UID && p.Name == o.Name
		}
	}
	if owned { // otherwise the garbage collector removes it
		k.secrets[s.Name] = s
		k.broadcast()
	}
	return http.StatusCreated, s
}

func (k *Cluster) listPods(r request) (int, any) {
	selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("unable to parse requirement: %v", err))
	}
	list := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
	list.ResourceVersion = fmt.Sprint(k.version)
	for _, p := range k.pods {
		if selector.Matches(labels.Set(p.Labels)) {
			list.Items = append(list.Items, *p.DeepCopy())
		}
	}
	return http.StatusOK, list
}
