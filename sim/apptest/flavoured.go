package apptest

import (
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/sim/flavour"
	"github.com/sia-bot/sia/sim/scripted"
)

// startFronts puts servers in front of the scripted model: the model decides the content, the servers the format.
func (s *Stage) startFronts(flavours map[string]flavour.Flavour) {
	s.Fronts = map[string]*flavour.Server{}
	front := func(m app.ModelConfig) app.ModelConfig {
		f, ok := flavours[m.Model]
		if !ok {
			f, ok = flavours[""]
		}
		if !ok {
			return m
		}
		if s.Fronts[m.Model] == nil {
			f.Say = func(a flavour.Ask) flavour.Turn { return s.say(a) }
			s.Fronts[m.Model] = flavour.Start(f)
			s.t.Cleanup(s.Fronts[m.Model].Close)
		}
		m.URL, m.Protocol, m.Reasoning = s.Fronts[m.Model].URL, llm.Protocol(f.Protocol), f.Reasoning
		m.Price.CacheWrite = 1.25 * m.Price.Input
		return m
	}
	models := &s.config.Models
	models.Coder, models.SIA, models.Reviewer = front(models.Coder), front(models.SIA), front(models.Reviewer)
	for i := range models.Coders {
		models.Coders[i].Model = front(models.Coders[i].Model)
	}
}

// say is the scripted model's answer to a request.
func (s *Stage) say(a flavour.Ask) flavour.Turn {
	m, err := s.Model.Say(a.Path, []byte(a.Raw))
	s.should(err)
	return turnOf(m)
}

// turnOf converts a message of the scripted model for a server in front of it.
func turnOf(m scripted.Message) flavour.Turn {
	t := flavour.Turn{Text: m.Content}
	for _, c := range m.ToolCalls {
		t.Calls = append(t.Calls, flavour.Call{Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	return t
}
