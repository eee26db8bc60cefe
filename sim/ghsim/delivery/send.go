package delivery

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// timeout is how long GitHub waits for an answer.
// https://docs.github.com/en/webhooks/using-webhooks/handling-webhook-deliveries
const timeout = 10 * time.Second

// sendAll sends a hook's deliveries until none is waiting.
func (q *Queue) sendAll(h *Hook) {
	for {
		q.mon.Lock()
		if len(h.pending) == 0 {
			h.running = false
			q.mon.Unlock()
			return
		}
		d := h.pending[0]
		h.pending = h.pending[1:]
		url, header := h.URL, d.RequestHeader()
		q.mon.Unlock()

		res := q.send(d, url, header)

		q.mon.Lock()
		d.Done, d.StatusCode, d.Status = true, res.code, res.status
		d.Duration, d.Answer, d.ResponseHeader = res.took, res.body, res.header
		q.mon.Unlock()
	}
}

type result struct {
	code   int
	status string
	took   time.Duration
	body   string
	header http.Header
}

func (q *Queue) send(d *Delivery, url string, header http.Header) result {
	began := q.reg.Now()
	took := func() time.Duration { return q.reg.Now().Sub(began) }
	ctx, cancel := context.WithTimeout(q.mon.Context(), timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(d.Payload))
	if err != nil {
		return result{code: http.StatusBadGateway, status: err.Error()}
	}
	req.Header = header
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		q.log.Warn("webhook delivery was not answered", "event", d.Event, "action", d.Action, "error", err)
		if ctx.Err() != nil {
			return result{code: http.StatusGatewayTimeout, status: "timed out", took: took()}
		}
		return result{code: http.StatusBadGateway, status: "failed to connect to host", took: took()}
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	status := "OK"
	if resp.StatusCode >= 400 {
		status = fmt.Sprintf("Invalid HTTP Response: %d", resp.StatusCode)
	}
	return result{resp.StatusCode, status, took(), string(body), resp.Header}
}

// URL is the delivery's target; the lock is held.
func (d *Delivery) URL() string { return d.hook.URL }

// RequestHeader is the header of a delivery's request; the lock is held.
// https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers
func (d *Delivery) RequestHeader() http.Header {
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "*/*")
	h.Set("User-Agent", "GitHub-Hookshot/ghsim")
	h.Set("X-GitHub-Event", d.Event)
	h.Set("X-GitHub-Delivery", d.GUID)
	h.Set("X-GitHub-Hook-ID", strconv.FormatInt(d.hook.ID, 10))
	h.Set("X-GitHub-Hook-Installation-Target-Type", "integration")
	h.Set("X-GitHub-Hook-Installation-Target-ID", strconv.FormatInt(d.hook.AppID, 10))
	if d.hook.Secret != "" {
		mac := hmac.New(sha256.New, []byte(d.hook.Secret))
		mac.Write(d.Payload)
		h.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	return h
}
