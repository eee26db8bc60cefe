// Package kubesim simulates what a runner of Pods meets of a Kubernetes cluster: an API server for the Pods and Secrets
// of one namespace, and a kubelet that runs a Pod's container as a function of the test's.
//
// The API server refuses what the real one refuses: wrong credentials, verbs that no rule allows, fields that there are
// not, names and values that break a rule, RuntimeClasses and Secrets that are missing, a quota that is full. Its words
// are those of Kubernetes 1.34, of which each place names its source: api.go for requests, validate.go for objects,
// admission.go for what is forbidden. Nothing is updated or patched: nobody asks for that, and 405 is the answer.
//
// It knows nothing of ours. Only tests import it.
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

// Config is what a cluster is made of.
type Config struct {
	Namespace string
	Rules     []rbacv1.PolicyRule // what the account may do
	// Run runs a container until it ends by itself, or is to end with ctx; said is the end of its log.
	Run func(ctx context.Context, c Container) (exit int32, said string)
}

// Container is what a kubelet is told to run.
type Container struct {
	Pod   string
	Image string
	Args  []string
	Env   map[string]string
	Token bool // it has a token of the cluster
}

// Spoil is how a request is spoiled. Other values are HTTP statuses that are answered instead.
type Spoil int

// The values that are no HTTP status.
const (
	Whole      Spoil = 0
	Unanswered Spoil = 1 // it is carried out, and the connection is cut before the answer
)

// Circumstances are what the cluster lacks just now, and refuses.
type Circumstances struct {
	Quota          int      // Pods that there may be; below zero: any number
	Limits         []string // resources of which the quota wants limits
	RuntimeClasses []string
	Restricted     bool                        // the namespace's level of Pod security
	NoNode         bool                        // no node has room
	Image          string                      // why kubelets don't have the image; empty: they have it
	Spoil          func(*http.Request) Spoil   // nil: nothing
	Seen           func(*http.Request, []byte) // is shown each request; nil: nobody
}

// Cluster is one. It is safe for concurrent use.
type Cluster struct {
	Config
	token   string
	address string
	server  *httptest.Server // nil: it is away
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

// Leave lets the API server be gone: connections to it are refused. Pods run on.
func (k *Cluster) Leave() {
	k.server.CloseClientConnections()
	k.server.Close()
	k.server = nil
}

// Return lets it be there again.
func (k *Cluster) Return() error {
	l, err := net.Listen("tcp", k.address)
	if err != nil {
		return err
	}
	k.listen(l)
	return nil
}

// Close ends the cluster and every container.
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
	k.tell()
}

// Pods are those that there are.
func (k *Cluster) Pods() (all []corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.pods {
		all = append(all, *p.DeepCopy())
	}
	return all
}

// Secrets are those that there are.
func (k *Cluster) Secrets() (all []corev1.Secret) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.secrets {
		all = append(all, *s.DeepCopy())
	}
	return all
}

// Evict deletes a Pod as a node's drain does: its container is told to end.
func (k *Cluster) Evict(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.pods[name]; p != nil {
		k.delete(p)
	}
}

// tell wakes those who wait for a change. k.mu is held.
func (k *Cluster) tell() {
	close(k.changed)
	k.changed = make(chan struct{})
}

// next is the next resource version. k.mu is held.
func (k *Cluster) next() string {
	k.version++
	return strconv.Itoa(k.version)
}
