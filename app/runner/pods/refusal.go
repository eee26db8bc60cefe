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

// statusOf is the answer of an API server; false: none came.
func statusOf(err error) (metav1.Status, bool) {
	var s apierrors.APIStatus
	if !errors.As(err, &s) {
		return metav1.Status{}, false
	}
	return s.Status(), true
}

// isFull reports whether a quota has no room. Its answer has the same reason as everything else that is forbidden, so
// the message has to tell (k8s.io/apiserver/pkg/admission/plugin/resourcequota). "failed quota" is another case: the
// quota demands a limit that the Pod lacks, and waiting does not help.
func isFull(err error) bool {
	s, ok := statusOf(err)
	return ok && s.Code == http.StatusForbidden &&
		(strings.Contains(s.Message, "exceeded quota: ") || strings.Contains(s.Message, "status unknown for quota: "))
}

// isLater reports whether time may remove what keeps the cluster from taking a Pod.
func isLater(err error) bool {
	s, answered := statusOf(err)
	switch {
	case !answered, isFull(err):
		return true
	case s.Code == http.StatusConflict:
		return !apierrors.IsAlreadyExists(err) // two took of one quota at once
	}
	return s.Code == http.StatusTooManyRequests || s.Code == http.StatusRequestTimeout || s.Code >= 500
}

// isUntried reports whether something in the cluster can't try: a webhook that has side effects.
func isUntried(err error) bool {
	s, ok := statusOf(err)
	return ok && s.Code == http.StatusBadRequest && strings.Contains(s.Message, "does not support dry run")
}

// retryAfter is how long an API server wants to be left alone.
func retryAfter(err error) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return min(time.Duration(seconds)*time.Second, 5*time.Minute)
}

// advice says what to do about answers, by their words.
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

// configuration says what to do about an answer that no time changes.
func configuration(err error) error {
	do := "check --image and the template of --pod-template"
	for _, a := range advice {
		if strings.Contains(err.Error(), a.words) {
			do = a.do
			break
		}
	}
	return fmt.Errorf("the cluster refuses the Pods of attempts: %w; %s", err, do)
}
