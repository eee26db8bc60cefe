// Package kubesim simulates the parts of a Kubernetes cluster that a runner of Pods uses: an API server for the Pods
// and Secrets of one namespace, and a kubelet that runs a Pod's container as a function of the test's.
//
// The API server refuses what the real one refuses: wrong credentials, verbs that no rule permits, unknown fields,
// invalid names and values, missing RuntimeClasses and Secrets, a full quota. Its messages are those of Kubernetes
// 1.34, with their sources in the code: api.go for requests, validate.go for objects, admission.go for admission.
// Updates and patches are answered with 405, as no runner uses them.
//
// It imports nothing of this module. Only tests import it.
package kubesim

import (
	"context"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// Config configures a cluster.
type Config struct {
	Namespace string
	Rules     []rbacv1.PolicyRule // the account's permissions
	// Run runs a container until it ends by itself, or ctx is done; said is the end of its log.
	Run func(ctx context.Context, c Container) (exit int32, said string)
}

// Container is the configuration of a container for a kubelet.
type Container struct {
	Pod   string
	Image string
	Args  []string
	Env   map[string]string
	Token bool // it has a service account token of the cluster
}

// Fault is a fault of a request. Other values are HTTP statuses to answer with.
type Fault int

// The values that are no HTTP statuses.
const (
	Whole      Fault = 0
	Unanswered Fault = 1 // it is carried out, and the connection is closed before the answer
)

// Circumstances are the cluster's present faults and limits.
type Circumstances struct {
	Quota          int      // most Pods; below zero: unlimited
	Limits         []string // resources for which the quota requires limits
	RuntimeClasses []string
	Restricted     bool                        // no node has free capacity
	NoNode         bool                        // why kubelets can't pull the image; empty: they can
	Image          string                      // why kubelets don't have the image; empty: they have it
	Fault          func(*http.Request) Fault   // nil: none
	Seen           func(*http.Request, []byte) // called with each request; nil: not called
}

// Cluster is a simulated cluster. It is safe for concurrent use.
type Cluster struct {
	Config
	token   string
	address string
	server  *httptest.Server // nil: it is down
	kubelet sync.WaitGroup

	mu      sync.Mutex
	now     Circumstances
	pods    map[string]*pod
	secrets map[string]*corev1.Secret
	version int
	changed chan struct{}
}

// pod is a Pod with its kubelet.
type pod struct {
	corev1.Pod
	end context.CancelFunc
}

// Start starts a cluster.
func Start(c Config) (*Cluster, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	k := &Cluster{Config: c, token: "the account's token", address: l.Addr().String(), now: Circumstances{Quota: -1},
		pods: map[string]*pod{}, secrets: map[string]*corev1.Secret{}, changed: make(chan struct{})}
	k.listen(l)
	return k, nil
}

func (k *Cluster) listen(l net.Listener) {
	k.server = httptest.NewUnstartedServer(k)
	_ = k.server.Listener.Close()
	k.server.Listener, k.server.EnableHTTP2 = l, true
	k.server.StartTLS()
}

// Leave stops the API server: connections to it are refused. Pods continue.
func (k *Cluster) Leave() {
	k.server.CloseClientConnections()
	k.server.Close()
	k.server = nil
}

// Return starts it again.
func (k *Cluster) Return() error {
	l, err := net.Listen("tcp", k.address)
	if err != nil {
		return err
	}
	k.listen(l)
	return nil
}

// Close stops the cluster and every container.
func (k *Cluster) Close() {
	if k.server != nil {
		k.Leave()
	}
	k.mu.Lock()
	for _, p := range k.pods {
		p.end()
	}
	k.mu.Unlock()
	k.kubelet.Wait()
}

// Kubeconfig writes a kubeconfig into a folder.
func (k *Cluster) Kubeconfig(dir string) (string, error) {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: k.server.Certificate().Raw})
	file := filepath.Join(dir, "kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: sim, cluster: {server: "https://%s", certificate-authority: %q}}]
users: [{name: runner, user: {token: %q}}]
contexts: [{name: sim, context: {cluster: sim, user: runner}}]
current-context: sim
`, k.address, file+".ca", k.token)
	if err := os.WriteFile(file+".ca", ca, 0o600); err != nil {
		return "", err
	}
	return file, os.WriteFile(file, []byte(text), 0o600)
}

// Change changes the circumstances.
func (k *Cluster) Change(change func(*Circumstances)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change(&k.now)
	k.broadcast()
}

// Pods returns all Pods.
func (k *Cluster) Pods() (all []corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.pods {
		all = append(all, *p.DeepCopy())
	}
	return all
}

// Secrets returns all Secrets.
func (k *Cluster) Secrets() (all []corev1.Secret) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.secrets {
		all = append(all, *s.DeepCopy())
	}
	return all
}

// Evict deletes a Pod as a node's drain does: its container is asked to stop.
func (k *Cluster) Evict(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.pods[name]; p != nil {
		k.delete(p)
	}
}

// broadcast wakes goroutines that wait for a change. The caller holds k.mu.
func (k *Cluster) broadcast() {
	close(k.changed)
	k.changed = make(chan struct{})
}

// next is the next resource version. The caller holds k.mu.
func (k *Cluster) next() string {
	k.version++
	return strconv.Itoa(k.version)
}
