package pods

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// statusOf returns the response of an API server in an error; false: there was none.
func statusOf(err error) (metav1.Status, bool) {
	var s apierrors.APIStatus
	if !errors.As(err, &s) {
		return metav1.Status{}, false
	}
	return s.Status(), true
}

// isQuotaExceeded reports whether a quota is exceeded. The response has the same reason as for any other forbidden
// request, so only the message identifies it (k8s.io/apiserver/pkg/admission/plugin/resourcequota). "failed quota" is
// another case: the quota requires a limit that the Pod lacks, and waiting does not help.
func isQuotaExceeded(err error) bool {
	s, ok := statusOf(err)
	return ok && s.Code == http.StatusForbidden &&
		(strings.Contains(s.Message, "exceeded quota: ") || strings.Contains(s.Message, "status unknown for quota: "))
}

// isTemporary reports whether creating a Pod may succeed later.
func isTemporary(err error) bool {
	s, answered := statusOf(err)
	switch {
	case !answered, isQuotaExceeded(err):
		return true
	case s.Code == http.StatusConflict:
		return !apierrors.IsAlreadyExists(err) // a concurrent update of a quota
	}
	return s.Code == http.StatusTooManyRequests || s.Code == http.StatusRequestTimeout || s.Code >= 500
}

// isDryRunUnsupported reports whether the cluster does not support a dry run, because of a webhook with side effects.
func isDryRunUnsupported(err error) bool {
	s, ok := statusOf(err)
	return ok && s.Code == http.StatusBadRequest && strings.Contains(s.Message, "does not support dry run")
}

// retryAfter returns the delay that an API server asks for.
func retryAfter(err error) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return min(time.Duration(seconds)*time.Second, 5*time.Minute)
}

// advice has advice for responses, by a part of their message.
var advice = []struct{ words, do string }{
	{"cannot create resource", "give its service account the Role of docs/runners.md"},
	{"cannot list resource", "give its service account the Role of docs/runners.md"},
	{"cannot get resource", "give its service account the Role of docs/runners.md"},
	{"RuntimeClass", "`kubectl get runtimeclass` lists those that --runtime-class may name"},
	{"violates PodSecurity", "change the template of --pod-template, or the level of the namespace"},
	{"failed quota", "set resources in the template of --pod-template"},
	{"namespaces \"", "check --namespace"},
	{"Unauthorized", "the cluster does not know the credentials: check the service account, or --kubeconfig"},
}

// configurationError adds advice to a permanent error.
func configurationError(err error) error {
	do := "check --image and the template of --pod-template"
	for _, a := range advice {
		if strings.Contains(err.Error(), a.words) {
			do = a.do
			break
		}
	}
	return fmt.Errorf("the cluster refuses the Pods of attempts: %w; %s", err, do)
}
