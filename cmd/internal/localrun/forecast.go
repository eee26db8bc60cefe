package localrun

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
)

// pastRun is a line of runs.jsonl in SIA's folder: the result of a run, without its texts. Forecasts use the last 300.
type pastRun struct {
	Repo    int64       `json:"repo"` // hash of the folder's path
	Kind    string      `json:"kind"` // of the issue
	Credits sia.Credits `json:"credits"`
	Seconds float64     `json:"seconds"`
	Passed  bool        `json:"passed"`
	At      time.Time   `json:"at"`
}

const (
	forecastRuns = 300
	maxHistory   = 1 << 20 // bytes; a longer file is truncated
)

// historyPath returns the path of the file with the results of runs; "" if there is no folder for it.
func (j *job) historyPath() string {
	if j.opts.Dir == "" {
		return ""
	}
	return filepath.Join(j.opts.Dir, "runs.jsonl")
}

// repoNumber identifies the clone's folder.
func (j *job) repoNumber() int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(j.git.Dir)) // never fails
	return int64(h.Sum64() >> 1)      //nolint:gosec // 63 bits fit
}

func (j *job) kind() string { return string(policies.Read(j.opts.Title, j.opts.Body, nil).Kind) }

// forecast prints the expected cost and duration of the run, from earlier runs on this machine.
func (r *run) forecast() {
	file, err := os.ReadFile(r.job.historyPath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.Logger.WarnContext(r.Ctx, "no forecast", "error", err)
	}
	var all []sia.Ended
	for lines := bufio.NewScanner(bytes.NewReader(file)); lines.Scan(); {
		var p pastRun
		if json.Unmarshal(lines.Bytes(), &p) == nil { // skip a truncated line
			all = append(all, sia.Ended{Repo: p.Repo, Kind: p.Kind, Cost: p.Credits, Passed: p.Passed,
				Took: time.Duration(p.Seconds * float64(time.Second))})
		}
	}
	f := sia.Predict(all[max(0, len(all)-forecastRuns):], r.job.repoNumber(), r.job.kind())
	if !f.Known() {
		r.progress("No forecast: %s", render.ForecastFrom(f))
		return
	}
	r.progress("Forecast: %s: %s", render.Forecast(f), render.ForecastFrom(f))
}

// addToHistory records the cost and time of the run for later forecasts, if there is a folder for that. It skips a run
// that was stopped, one in which the model called no tool, and a replay task: they predict nothing.
func (r *run) addToHistory(out Result, spent sia.Credits) {
	if r.toolCalls == 0 || r.Ctx.Err() != nil || r.job.judge != nil || r.job.opts.Dir == "" {
		return
	}
	how := os.O_APPEND
	if st, err := os.Stat(r.job.historyPath()); err == nil && st.Size() > maxHistory {
		how = os.O_TRUNC
	}
	err := os.MkdirAll(r.job.opts.Dir, 0o700)
	file, openErr := os.OpenFile(r.job.historyPath(), os.O_WRONLY|os.O_CREATE|how, 0o600)
	if err = errors.Join(err, openErr); openErr == nil {
		past := pastRun{Repo: r.job.repoNumber(), Kind: r.job.kind(), Credits: spent, Seconds: out.Seconds,
			Passed: out.Passed, At: time.Now().UTC()}
		err = errors.Join(err, json.NewEncoder(file).Encode(past), file.Close())
	}
	if err != nil {
		r.Logger.WarnContext(r.Ctx, "the run is not kept for later forecasts", "error", err)
	}
}
