package webhook_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/app/webhook"
	"github.com/sia-bot/sia/sia"
)

// BenchmarkIntake sends deliveries of 25 kB over 64 connections, each answered once it is stored, while an engine
// processes them.
func BenchmarkIntake(b *testing.B) {
	s := storetest.Open(b, store.Config{})
	e, err := s.Start(context.Background(), store.Handlers{
		Delivery: func(context.Context, store.Delivery) error { return nil },
		Effect:   func(context.Context, sia.Task, sia.Effect) (sia.Fact, error) { return nil, nil },
	}, store.EngineConfig{})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Stop(context.Background())
	secret := []byte("secret")
	srv := httptest.NewServer(&webhook.Handler{Store: s, Secret: secret, Logger: slog.New(slog.DiscardHandler),
		Now: time.Now})
	defer srv.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	body := []byte(`{"action":"completed","check_run":{"id":1,"name":"answer","output":{"text":"` +
		strings.Repeat(`{\"id\":4711,\"node_id\":\"MDU6SXNzdWUx\"},`, 580) + `"}},"installation":{"id":1},"repository":` +
		`{"id":1,"name":"bench","full_name":"ada/bench"}}`)
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	signature := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	var n atomic.Int64
	b.SetBytes(int64(len(body)))
	b.SetParallelism(32)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, srv.URL, bytes.NewReader(body))
			if err != nil {
				b.Error(err)
				return
			}
			req.Header.Set("X-GitHub-Event", "check_run")
			req.Header.Set("X-GitHub-Delivery", fmt.Sprint(n.Add(1)))
			req.Header.Set("X-Hub-Signature-256", signature)
			resp, err := client.Do(req)
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if resp.StatusCode != http.StatusAccepted {
				b.Errorf("%s", resp.Status)
			}
		}
	})
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
}
