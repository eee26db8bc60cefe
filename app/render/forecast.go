package render

import (
	"fmt"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// Forecast is a task's likely cost and duration, in a few words, such as "12 credits (4–40), 9 minutes (3–31)"; empty
// with too few tasks for an estimate. Where tasks cost nothing, it is the duration alone.
func Forecast(f sia.Forecast) string {
	if !f.Known() {
		return ""
	}
	amount := func(c int64) string { return fmt.Sprintf("%.2g", max(.1, float64(c)/float64(sia.Credit))) }
	if f.Cost.High >= 99*int64(sia.Credit) {
		amount = func(c int64) string { return fmt.Sprintf("%.0f", float64(c)/float64(sia.Credit)) }
	}
	took := Duration(seconds(f.Time.Mid)) + between(shortTime(f.Time.Low), shortTime(f.Time.High))
	if f.Cost.High == 0 {
		return took
	}
	return fmt.Sprintf("%s credits%s, %s", amount(f.Cost.Mid), between(amount(f.Cost.Low), amount(f.Cost.High)), took)
}

// between is a range in brackets after a space; empty where its ends read alike.
func between(low, high string) string {
	if low == high {
		return ""
	}
	return " (" + low + "–" + high + ")"
}

// ForecastFrom names the basis of a forecast and its reliability, or says that there are too few tasks for one.
func ForecastFrom(f sia.Forecast) string {
	if !f.Known() {
		return fmt.Sprintf("too few earlier tasks to say (%d of the 5 that are needed)", f.Tasks)
	}
	kind, where := "", "installation"
	if f.Kind != "" {
		kind = f.Kind + " "
	}
	if f.Here {
		where = "repository"
	}
	return fmt.Sprintf("the median of the last %s of this %s, of which %d passed; about %.0f %% of tasks end in each "+
		"range", text.Count(f.Tasks, kind+"task"), where, f.Passed, 100*f.Within)
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// shortTime is a duration in an interval, with its unit.
func shortTime(n int64) string {
	switch d := seconds(n); {
	case d < time.Minute:
		return "<1 min"
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.0f h", d.Hours())
	default:
		return fmt.Sprintf("%.0f d", d.Hours()/24)
	}
}

// forecastLine is the forecast for a task that has not ended, for the visible part of its status.
func forecastLine(t sia.Task) string {
	if t.Forecast == nil || t.State.Final() || !t.Forecast.Known() {
		return ""
	}
	return "**Forecast:** " + Forecast(*t.Forecast)
}

// forecastInFull is the forecast made before the first attempt, with its basis.
func forecastInFull(t sia.Task) string {
	switch {
	case t.Forecast == nil:
		return ""
	case !t.Forecast.Known() && t.State.Final():
		return ""
	case !t.Forecast.Known():
		return "**Forecast:** " + ForecastFrom(*t.Forecast)
	}
	return "**Forecast before the start:** " + Forecast(*t.Forecast) + ": " + ForecastFrom(*t.Forecast)
}
