package api

import (
	"strings"
	"testing"
)

func FuzzLabelNames(f *testing.F) {
	f.Add(`{"labels":["a",{"name":"b"}]}`)
	f.Fuzz(func(t *testing.T, raw string) {
		names, err := labelNames([]byte(raw))
		for _, n := range names {
			if err == nil && strings.TrimSpace(n) == "" {
				t.Errorf("blank label from %q", raw)
			}
		}
	})
}
