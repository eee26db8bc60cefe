package render_test

import (
	"testing"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// The status of a running task has a forecast with its basis, or says that there are too few tasks.
func TestForecasts(t *testing.T) {
	f := sia.Forecast{Tasks: 14, Passed: 11, Here: true, Kind: "bug", Within: .8,
		Cost: sia.Span{Low: 3900, Mid: 12400, High: 40200}, Time: sia.Span{Low: 40, Mid: 9 * 60, High: 31 * 60}}
	long := sia.Forecast{Tasks: 7, Passed: 7, Within: .75, Cost: sia.Span{Low: 90, Mid: 70_000, High: 310_000},
		Time: sia.Span{Low: 3600, Mid: 5 * 3600, High: 4 * 24 * 3600}}
	for name, forecast := range map[string]sia.Forecast{"forecast": f, "forecast-long": long,
		"forecast-none": {Tasks: 3}} {
		task := working()
		task.Forecast = &forecast
		golden(t, "status/"+name+".md", render.Status(task, links, now))
	}
	ended := passed()
	ended.Forecast = &f
	short := sia.Forecast{Tasks: 5, Passed: 5, Within: .67, Cost: sia.Span{Mid: 1, High: 9},
		Time: sia.Span{Low: 2, Mid: 3, High: 9}}
	if got, want := render.Forecast(short), "0.1 credits, less than a minute"; got != want {
		t.Errorf("a forecast of short and cheap tasks is %q, want %q", got, want)
	}
	short.Cost = sia.Span{}
	if got, want := render.Forecast(short), "less than a minute"; got != want {
		t.Errorf("a forecast of tasks that cost nothing is %q, want %q", got, want)
	}
	golden(t, "status/forecast-ended.md", render.Status(ended, links, now))
}
