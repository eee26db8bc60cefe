package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// webhook is a Channel: an incoming webhook of Slack, or a compatible one
// (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks).
type webhook struct {
	url    string // a secret: errors include only the host
	host   string
	client *http.Client
	now    func() time.Time
}

// maxResponse is the maximum size of a response that is read, in bytes.
const maxResponse = 4 << 10

func newWebhook(address string, roots *x509.CertPool, now func() time.Time) *webhook {
	host := ""
	if u, err := url.Parse(address); err == nil {
		host = u.Host
	}
	return &webhook{url: address, host: host, now: now, client: &http.Client{
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, // messages are rare
			TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       sendTimeout,
	}}
}

// Name implements Channel.
func (*webhook) Name() string { return "webhook" }

// escaper escapes the characters that start mentions and links in messages.
// https://docs.slack.dev/messaging/formatting-message-text#escaping
var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Send implements Channel.
func (w *webhook) Send(ctx context.Context, _ string, n render.Notice) error {
	body, err := json.Marshal(map[string]string{"text": escaper.Replace(n.Title + "\n" + n.Text)})
	if err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	resp, err := w.ask(ctx, http.MethodPost, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, maxResponse)) // for the error message
	return w.responseError(resp, text.Clip(text.OneLine(string(said)), 200))
}

// Reach implements Channel: any response of the server counts, because only a message could test more.
func (w *webhook) Reach(ctx context.Context) error {
	resp, err := w.ask(ctx, http.MethodHead, nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func (w *webhook) ask(ctx context.Context, method string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, w.url, bytes.NewReader(body))
	if err != nil {
		return nil, w.error("its address can't be used; set SIA_NOTIFY_URL to the one that the chat shows", nil)
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("User-Agent", "sia")
	resp, err := w.client.Do(req)
	if err == nil {
		return resp, nil
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err // the outer error includes the address
	}
	return nil, w.error(connectAdvice(err), err)
}

// responseError returns the error for a response; nil if the message was accepted.
func (w *webhook) responseError(resp *http.Response, said string) error {
	status := resp.StatusCode
	because := fmt.Errorf("HTTP %d: %s", status, said)
	switch {
	case status >= 200 && status < 300:
		return nil
	case status >= 300 && status < 400:
		return w.error("it leads elsewhere, and SIA does not follow; set SIA_NOTIFY_URL to where it leads",
			fmt.Errorf("HTTP %d", status))
	case status == http.StatusTooManyRequests || status >= 500:
		e := w.error("it can't take messages now; SIA tries again", because)
		wait, _ := text.RetryAfter(resp.Header.Get("Retry-After"), w.now())
		e.RetryAfter = min(wait, maxPause)
		return e
	case status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge ||
		status == http.StatusUnprocessableEntity:
		e := w.error("it refused the message; the webhook has to be one that takes {\"text\": …}", because)
		e.Permanent = true
		return e
	}
	return w.error("it does not take messages from this address (any more); make a new webhook and set "+
		"SIA_NOTIFY_URL to it",
		because)
}

func (w *webhook) error(message string, err error) *sia.Error {
	return &sia.Error{Op: "send a message to the webhook at " + w.host, Message: message, Err: err}
}

// connectAdvice returns advice for a failed connection.
func connectAdvice(err error) string {
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) {
		return "its certificate is not trusted; SSL_CERT_FILE names the certificate of an authority of your own"
	}
	return "it can't be reached; check its address, and the network between"
}
