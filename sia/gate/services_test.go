package gate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia/gate"
)

// The services of jobs are returned in a stable order.
func TestServicesOfWorkflows(t *testing.T) {
	got := gate.Services([]byte(`
on: push
env: &shared {A: "1"}
jobs:
  test:
    services:
      db:
        image: postgres:16
        env: {POSTGRES_PASSWORD: "a: b", PORT: 5432, NONE: }
        ports: [5432, "15432:5432"]
      cache: {image: redis, env: *shared, ports: "6379:6379"}
      off: {image: "${{ matrix.on && 'x' }}"}
      none: {image: ""}
  lint:
    services: [broken]
  build:
    services: {db: text}
`))
	want := []gate.Service{
		{Name: "cache", Image: "redis", Ports: []string{"6379:6379"}, Env: map[string]string{"A": "1"}},
		{Name: "db", Image: "postgres:16", Ports: []string{"5432", "15432:5432"},
			Env: map[string]string{"POSTGRES_PASSWORD": "a: b", "PORT": "5432", "NONE": ""}},
		{Name: "off", Image: "${{ matrix.on && 'x' }}", Env: map[string]string{}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, text := range []string{"", "jobs: [", "a: b", "jobs: {a: {services: {b: 1}}}", strings.Repeat("[", 100),
		strings.Repeat("a: b\n", 10_000)} {
		if got := gate.Services([]byte(text)); len(got) > 0 {
			t.Errorf("%.20q: %v", text, got)
		}
	}
}
