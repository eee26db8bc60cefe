package main

import (
	"fmt"
	"os"
	"time"

	"github.com/sia-bot/sia/app/runner"
	"github.com/sia-bot/sia/app/runner/pods"
	"github.com/sia-bot/sia/cmd/internal/cli"
)

// runnerPodsCmd is a runner that creates a Pod for each attempt.
type runnerPodsCmd struct {
	runnerTaker  `embed:""`
	Namespace    string        `help:"Namespace of the Pods; one with nothing else in it is best." env:"SIA_RUNNER_NAMESPACE" placeholder:"NAME" required:""`
	Image        string        `help:"Image of the Pods: SIA's, or one that is made from it with the toolchains that repositories need." env:"SIA_RUNNER_IMAGE" placeholder:"IMAGE" required:""`
	RuntimeClass string        `help:"RuntimeClass of the Pods, such as gvisor or kata." env:"SIA_RUNNER_RUNTIME_CLASS" placeholder:"NAME"`
	PodTemplate  string        `help:"File with a Pod in YAML, into which the rest is set: for resources, nodes, tolerations and the sandbox." env:"SIA_RUNNER_POD_TEMPLATE" type:"path" placeholder:"FILE"`
	Pending      time.Duration `help:"How long a Pod may take until it runs, before its attempt is given back." default:"5m" env:"SIA_RUNNER_PENDING" placeholder:"TIME" min:"1s" max:"15m"`
	Kubeconfig   string        `help:"File that says how the cluster is reached; default: as the Pod does that this runs in." env:"SIA_RUNNER_KUBECONFIG" type:"path" placeholder:"FILE"`
}

// spec returns the specification of the Pods.
func (c runnerPodsCmd) spec() (pods.Spec, error) {
	s := pods.Spec{Server: c.Server, PlainHTTP: c.PlainHTTP, Image: c.Image, RuntimeClass: c.RuntimeClass}
	if c.PodTemplate == "" {
		return s, nil
	}
	b, err := os.ReadFile(c.PodTemplate)
	if err != nil {
		return s, fmt.Errorf("the template of Pods: %w; check --pod-template", err)
	}
	if s.Template, err = pods.ReadTemplate(b); err != nil {
		return s, fmt.Errorf("--pod-template %s: %w", c.PodTemplate, err)
	}
	return s, nil
}

// Run creates Pods for attempts until its context ends.
func (c *runnerPodsCmd) Run(e *cli.Env) error {
	token, err := c.token()
	if err != nil {
		return err
	}
	client, err := runner.NewClient(c.Server, c.PlainHTTP)
	if err != nil {
		return err
	}
	spec, err := c.spec()
	if err != nil {
		return err
	}
	cluster, err := pods.Connect(c.Kubeconfig, c.Namespace, e.Logger)
	if err != nil {
		return err
	}
	return pods.Run(e.Ctx, pods.Config{Client: client, Token: token, Cluster: cluster, Spec: spec, Attempts: c.Attempts,
		Pending: c.Pending, About: versionLine(), Logger: e.Logger})
}
