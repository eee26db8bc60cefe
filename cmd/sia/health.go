package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia/text"
)

// healthCmd queries a server's health, for container health checks without curl.
type healthCmd struct {
	URL        string        `arg:"" optional:"" help:"The server's private address, such as http://127.0.0.1:9090. Default: that of SIA_PRIVATE, on this machine." type:"web"`
	Private    string        `hidden:"" default:"127.0.0.1:9090" env:"SIA_PRIVATE" type:"listen"`
	Ready      bool          `help:"Ask whether it can work: whether the database, GitHub and the models answer. Without it: whether it is up."`
	Timeout    time.Duration `help:"How long to wait for the answer." default:"5s" min:"1ms"`
	cli.Format `embed:""`
}

// serverHealth is the answer of a server, as JSON.
type serverHealth struct {
	OK     bool   `json:"ok"`
	Status int    `json:"status"`  // HTTP status
	Says   string `json:"message"` // body of the answer, a line for each problem
}

// maxHealthBody is the maximum number of bytes of an answer that are read.
const maxHealthBody = 16 << 10

// server returns the address to ask. A server that listens on every address of this machine also answers on loopback.
func (c *healthCmd) server() string {
	if c.URL != "" {
		return c.URL
	}
	host, port, _ := net.SplitHostPort(c.Private) // as its type has checked
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// Run sends one request. Only a status of 200 is healthy.
func (c *healthCmd) Run(e *cli.Env) error {
	path := "/healthz"
	if c.Ready {
		path = "/readyz"
	}
	address, err := url.JoinPath(c.server(), path)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(e.Ctx, c.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	// Connect to the server itself: no proxy, no redirect.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("ask the server: %w; is it running, and is that its --private address?", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxHealthBody))
	if err != nil {
		return fmt.Errorf("ask the server: %w", err)
	}
	h := serverHealth{OK: resp.StatusCode == http.StatusOK, Status: resp.StatusCode,
		Says: text.Clip(string(bytes.TrimSpace(body)), maxHealthBody)}
	return c.Report(e, h, h.OK, func() error { return e.Sayf("%s\n", h.Says) })
}
