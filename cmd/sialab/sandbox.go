package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/scripted"
)

// Numbers of attempts.
const (
	waitingAttempts = 50 // waiting for the model
	workingAttempts = 20 // concurrent
)

type sandboxCmd struct {
	cli.Format `embed:""`
}

// Run measures and prints one table. Absolute times are not comparable between machines; ratios are.
func (c *sandboxCmd) Run(e *cli.Env) (err error) {
	box, err := cli.OpenSandbox(e.Ctx, sandbox.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("attempts work in the sandbox only: %w", err)
	}
	dir, err := os.MkdirTemp("", "sia-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	figures, err := measureAttempts(e, box, dir)
	if err != nil {
		return err
	}
	return e.Figures(c.Output, figures)
}

// measureAttempts measures attempts of the builtin agent against the scripted model.
func measureAttempts(e *cli.Env, box *sandbox.Sandbox, dir string) ([]cli.Figure, error) {
	call := func(name string, args any) scripted.Answer {
		return scripted.Answer{Calls: []scripted.Call{{Name: name, Args: args}}}
	}
	model, err := scripted.Start(scripted.Script{Rules: []scripted.Rule{
		{Name: "idle", User: "Wait for me",
			Turns: []scripted.Answer{call("read", map[string]any{"path": "a.txt"}), {Text: "done", Delay: time.Hour}}},
		{Name: "work", Turns: []scripted.Answer{call("write", map[string]any{"path": "b.txt", "content": "b\n"}),
			call("run", map[string]any{"command": "sort a.txt b.txt > c.txt"}),
			call("finish", map[string]any{"summary": "sorted"})}},
	}}, scripted.Options{})
	if err != nil {
		return nil, err
	}
	defer model.Close()
	client, err := llm.New(llm.Config{Model: "coder", BaseURL: model.URL})
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.DiscardHandler)
	commands, err := agent.NewCommands(box, "", nil, time.Now, log)
	if err != nil {
		return nil, err
	}
	coder, err := agent.NewBuiltin(agent.BuiltinConfig{Model: client, Commands: commands, Now: time.Now, Logger: log})
	if err != nil {
		return nil, err
	}
	b := &attemptsBench{agent: coder, dir: dir}
	if err := b.all(e.Ctx, 2, "Warm up.", nil); err != nil {
		return nil, err
	}

	fmt.Fprintf(e.Err, "sandbox: %d waiting attempts…\n", waitingAttempts)
	ctx, stop := context.WithCancel(e.Ctx)
	defer stop()
	waiting, ended := &turnCount{want: waitingAttempts, reached: make(chan struct{})}, make(chan error, 1)
	before := residentBytes()
	go func() { ended <- b.all(ctx, waitingAttempts, "Wait for me.", waiting) }()
	select {
	case <-waiting.reached:
	case err := <-ended:
		return nil, errors.Join(errors.New("waiting attempts ended"), err)
	}
	each := float64(residentBytes()-before) / 1e6 / waitingAttempts
	stop()
	<-ended // canceled above

	fmt.Fprintf(e.Err, "sandbox: %d attempts at once…\n", workingAttempts)
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // reset the peak
		return nil, err
	}
	began := time.Now()
	err = b.all(e.Ctx, workingAttempts, "Sort it.", nil)
	took := time.Since(began)
	return []cli.Figure{
		cli.Measured("memory of a running attempt", each, "MB", "≤ 25",
			fmt.Sprintf("growth with %d that wait for the model, whose server is in the same process", waitingAttempts)),
		cli.Measured("20 attempts at once: all finished after", took.Seconds(), "s",
			"", "three model calls, one command in the sandbox and one new file each"),
		cli.Measured("20 attempts at once: peak memory of SIA", float64(memoryOf("VmHWM"))/1e6, "MB",
			"", "the scripted model's server included"),
	}, err
}

// attemptsBench makes concurrent attempts, each in its own folder.
type attemptsBench struct {
	agent *agent.BuiltinAgent
	dir   string
}

// all makes n attempts and returns when they have ended. An unfinished attempt is an error.
func (b *attemptsBench) all(ctx context.Context, n int, title string, rec agent.Recorder) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			tree, err := os.MkdirTemp(b.dir, "tree-*")
			if err == nil {
				err = os.WriteFile(filepath.Join(tree, "a.txt"), []byte("a\n"), 0o644)
			}
			if err != nil {
				errs[i] = err
				return
			}
			res, err := b.agent.Run(ctx, agent.Input{Title: title, Repo: "ada/bench", Issue: i + 1, Attempt: 1, Dir: tree,
				Limits: agent.Limits{Time: time.Hour}}, rec)
			if err == nil && res.End != sia.EndFinished {
				err = fmt.Errorf("attempt %d ended %s: %s", i+1, res.End, res.Reason)
			}
			errs[i] = err
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// turnCount is a recorder that signals when want attempts have received their first answer.
type turnCount struct {
	mu      sync.Mutex
	have    int
	want    int
	reached chan struct{}
}

// Turn counts turns of the model.
func (c *turnCount) Turn(_ context.Context, t agent.Turn) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.Kind == agent.TurnModel {
		if c.have++; c.have == c.want {
			close(c.reached)
		}
	}
	return nil
}

// residentBytes returns the resident memory of this process, in bytes, after garbage has been returned to the system; 0
// if it is unknown.
func residentBytes() int64 {
	debug.FreeOSMemory()
	return memoryOf("VmRSS")
}

// memoryOf returns a figure of this process's memory, in bytes.
func memoryOf(name string) int64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), name+":"); ok {
			var kb int64
			_, _ = fmt.Sscan(rest, &kb) // 0 if it is not a number
			return kb << 10
		}
	}
	return 0
}
