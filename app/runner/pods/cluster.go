package pods

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/sia-bot/sia/app/runner"
)

// Limits of requests to the API server.
const (
	requestTimeout = 10 * time.Second
	retryPause     = time.Second
	maxTries       = 3 // when no response arrives
	requestRate    = 20
	requestBurst   = 40
)

// scheme has only the kinds of core/v1.
var scheme = newScheme()

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := corev1.AddToScheme(s); err != nil {
		panic(err) // two of Kubernetes' types have the same name
	}
	return s
}

// Cluster is a namespace of a cluster. It is safe for concurrent use.
type Cluster struct {
	rest      rest.Interface
	namespace string
}

// Connect returns a cluster from a kubeconfig or, if that is empty, from the environment of the current Pod.
func Connect(kubeconfig, namespace string, log *slog.Logger) (*Cluster, error) {
	var config *rest.Config
	var err error
	if kubeconfig != "" {
		config, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
	} else if config, err = rest.InClusterConfig(); errors.Is(err, rest.ErrNotInCluster) {
		return nil, errors.New("this does not run in a Pod that may speak with its cluster; run it in one with a service " +
			"account, or give --kubeconfig FILE")
	}
	if err != nil {
		return nil, fmt.Errorf("how the cluster is reached: %w", err)
	}
	config.GroupVersion = &corev1.SchemeGroupVersion
	config.APIPath = "/api"
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.UserAgent = "sia-runner"
	config.QPS, config.Burst, config.Timeout = requestRate, requestBurst, requestTimeout
	config.WarningHandler = warnings{log}
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("how the cluster is reached: %w", err)
	}
	return &Cluster{rest: client, namespace: namespace}, nil
}

// warnings logs the warnings of an API server.
type warnings struct{ log *slog.Logger }

// HandleWarningHeader implements [rest.WarningHandler].
func (w warnings) HandleWarningHeader(_ int, _, text string) {
	w.log.Warn("the cluster warns", "of", text)
}

// create creates an object, or with dry only validates it. The API server rejects unknown fields, such as of a newer
// Kubernetes: one that it ignored could be a security restriction.
func (c *Cluster) create(ctx context.Context, resource string, object runtime.Object, dry bool) rest.Result {
	q := c.rest.Post().Namespace(c.namespace).Resource(resource).Param("fieldValidation", metav1.FieldValidationStrict)
	if dry {
		q = q.Param("dryRun", metav1.DryRunAll)
	}
	return q.MaxRetries(0).Body(object).Do(ctx)
}

// dryRun checks, with a dry run, whether the cluster accepts a Pod and its Secret.
func (c *Cluster) dryRun(ctx context.Context, pod *corev1.Pod) error {
	if err := c.create(ctx, "pods", pod, true).Error(); err != nil {
		return err
	}
	pod.UID = "00000000-0000-0000-0000-000000000000"
	return c.create(ctx, "secrets", secretOf(pod, "x"), true).Error()
}

// createPod creates a Pod. If a response was lost the Pod may exist, and a retry fails because of that, or because the
// Pod used up a quota. A Pod with this name is ours: its name depends on the pass, which nobody else has.
func (c *Cluster) createPod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	made, asked := &corev1.Pod{}, 0
	err := retry(ctx, func() error {
		asked++
		return c.create(ctx, "pods", pod, false).Into(made)
	})
	if err == nil || asked == 1 && !apierrors.IsAlreadyExists(err) {
		return made, err
	}
	there := &corev1.Pod{}
	got := retry(ctx, func() error {
		return c.rest.Get().Namespace(c.namespace).Resource("pods").Name(pod.Name).MaxRetries(0).Do(ctx).Into(there)
	})
	if got != nil {
		return nil, err
	}
	if there.Labels[instanceLabel] != pod.Labels[instanceLabel] ||
		there.Annotations[attemptAnnotation] != pod.Annotations[attemptAnnotation] {
		return nil, fmt.Errorf("there is a Pod %s already, which this runner did not make", pod.Name)
	}
	return there, nil
}

// createSecret creates a Secret, unless it exists.
func (c *Cluster) createSecret(ctx context.Context, secret *corev1.Secret) error {
	err := retry(ctx, func() error { return c.create(ctx, "secrets", secret, false).Error() })
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// list returns the Pods of a runner, by their names.
func (c *Cluster) list(ctx context.Context, id string) (map[string]*corev1.Pod, error) {
	var list corev1.PodList
	err := c.rest.Get().Namespace(c.namespace).Resource("pods").MaxRetries(0).
		Param("labelSelector", instanceLabel+"="+id+","+componentLabel+"=attempt").Do(ctx).Into(&list)
	if err != nil {
		return nil, err
	}
	found := map[string]*corev1.Pod{}
	for i := range list.Items {
		found[list.Items[i].Name] = &list.Items[i]
	}
	return found, nil
}

// deletePod deletes a Pod, if it exists.
func (c *Cluster) deletePod(ctx context.Context, name string) error {
	err := c.rest.Delete().Namespace(c.namespace).Resource("pods").Name(name).MaxRetries(0).Do(ctx).Error()
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// retry calls do, and retries when no response arrived.
func retry(ctx context.Context, do func() error) error {
	for n := 1; ; n++ {
		err := do()
		var answered apierrors.APIStatus
		if err == nil || errors.As(err, &answered) || n == maxTries {
			return err
		}
		if !runner.Sleep(ctx, retryPause) {
			return err
		}
	}
}
