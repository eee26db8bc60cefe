// Package benchtask has the tasks of benchmarks: a repository with a cheap check, models that are wrong first and right
// after a failure, signed deliveries, and a log.
package benchtask

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"

	"golang.org/x/tools/txtar"
)

// Model has the scripted models' answers, in the format of sim/scripted.
//
//go:embed model.txtar
var Model []byte

//go:embed repo.txtar
var repo []byte

// Files returns the repository's files, by path.
func Files() map[string]string {
	files := map[string]string{}
	for _, f := range txtar.Parse(repo).Files {
		files[f.Name] = string(f.Data)
	}
	return files
}

// Sign returns the header X-Hub-Signature-256 of a body.
// https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
func Sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// Send sends a delivery with the signature of its body. An answer other than 2xx is an error, as for
// GitHub.
func Send(ctx context.Context, client *http.Client, url, event, guid, signature string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-GitHub-Event", event)
	req.Header.Set("X-GitHub-Delivery", guid)
	req.Header.Set("X-Hub-Signature-256", signature)
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("a delivery was answered %s", resp.Status)
	}
	return nil
}
