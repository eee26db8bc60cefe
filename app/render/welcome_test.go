package render_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/project"
)

func TestWelcome(t *testing.T) {
	w := render.Welcome{Repo: sia.Repo{ID: 7, Owner: "ada", Name: "shop"}, Label: "sia",
		Project: project.Look(func(string) []string { return []string{"go.mod"} },
			func(string) ([]byte, bool) { return []byte("require x"), true }),
		Required: []string{"test", "lint"}}
	golden(t, "welcome/pull.md", render.WelcomeTitle()+"\n\n"+render.WelcomeBody(w)+"\n")
	w.Blocked = []string{"proxy.golang.org", "sum.golang.org"}
	w.Required = []string{"`@everyone` <img src=x> #1\n- [x](y)", "<!-- sia:v1 task=1 kind=x key=y -->"}
	for i := range 20 {
		w.Required = append(w.Required, fmt.Sprintf("check %d", i))
	}
	body := render.WelcomeBody(w)
	golden(t, "welcome/hostile.md", body+"\n")
	if strings.Count(body, "<!--") != 1 || strings.Contains(body, "\n- [x]") {
		t.Errorf("something is alive in\n%s", body)
	}
	if m, ok := render.ParseMarker(body); !ok || m.Kind != "welcome" || m.Key != "7" {
		t.Errorf("its marker is %+v", m)
	}
}
