package abuse

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/sia-bot/sia/sia"
)

// smallDiskSize is the size of the disk that is filled, in bytes: several times the size of an empty database.
const smallDiskSize = 16 << 20

// fullDisk is the name of the attack.
const fullDisk = "a full disk in the midst of a task"

// onSmallDisk plays the attack in a child process, for which bubblewrap mounts a small disk without needing root.
func (p *target) onSmallDisk(ctx context.Context) error {
	dir := filepath.Join(p.dir, "small")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	args := []string{"--dev-bind", "/", "/", "--size", strconv.Itoa(smallDiskSize), "--tmpfs", dir, "--die-with-parent"}
	if os.Geteuid() == 0 {
		args = append(args, "--cap-add", "ALL") // for the sandbox of the attacked program
	}
	cmd := exec.CommandContext(ctx, "bwrap", slices.Concat(args, []string{"--"}, p.set.Program,
		[]string{"--only", fullDisk, "--disk", dir, "--output", "json"})...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	var came []Figure
	if json.Unmarshal(out, &came) != nil || len(came) != 1 {
		return fmt.Errorf("play it on a small disk: %w: %s", err, &said)
	}
	if !came[0].Held {
		return errors.New(came[0].Why)
	}
	return nil
}

// fillDisk uses up the free space of the disk that holds a folder. free releases it.
func fillDisk(dir string) (free func() error, err error) {
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for piece := make([]byte, 4<<10); err == nil; {
		_, err = f.Write(piece)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return nil, err
	}
	return func() error { return os.Remove(f.Name()) }, nil
}

// fullDisk fills the disk that holds the database in the middle of a task, starts another task meanwhile, and then
// frees the space.
func (p *target) fullDisk(ctx context.Context) error {
	if p.set.Disk == "" {
		return p.onSmallDisk(ctx)
	}
	log, err := os.Create(filepath.Join(p.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	err = p.start(ctx, slog.New(slog.NewTextHandler(log, nil)), "sqlite:"+filepath.Join(p.set.Disk, "sia.db"))
	if err != nil {
		return err
	}
	first, err := p.open("Plain when the disk fills")
	if err != nil {
		return err
	}
	if _, err = p.until(ctx, first, func(t sia.Task) bool { return t.State != "" }); err != nil {
		return err
	}
	free, err := fillDisk(p.set.Disk)
	if err != nil {
		return err
	}
	if err = p.refused(ctx); err != nil {
		return errors.Join(err, free())
	}
	second, err := p.open("Plain on a full disk")
	if err == nil {
		err = p.Sim.WaitIdle(ctx)
	}
	if err = errors.Join(err, free()); err != nil {
		return err
	}
	said, err := os.ReadFile(log.Name())
	if err == nil && !strings.Contains(string(said), "free some space and SIA goes on where it was") {
		err = errors.New("the log does not say what to do about a full disk")
	}
	if err != nil {
		return err
	}
	if code, _, err := p.deliver(ctx, "issue_comment", "room", "x"); err != nil || code != http.StatusAccepted {
		return wrongAnswer("a delivery with room again", code, err)
	}
	if err = errors.Join(p.App.Periodic(ctx, "redeliver"), p.App.Periodic(ctx, "look")); err != nil {
		return err
	}
	return errors.Join(p.passedOnce(ctx, first), p.passedOnce(ctx, second))
}

// refused sends incompressible deliveries until the disk has no room for one. A delivery that was not stored must not
// be acknowledged.
func (p *target) refused(ctx context.Context) error {
	noise := make([]byte, 1<<20)
	for i := range 2 * smallDiskSize / len(noise) {
		if _, err := io.ReadFull(rand.Reader, noise); err != nil {
			return err
		}
		switch code, words, err := p.deliver(ctx, "issue_comment", fmt.Sprint("noise", i),
			base64.StdEncoding.EncodeToString(noise)); {
		case err == nil && code == http.StatusServiceUnavailable && strings.Contains(words, "send it again"):
			return nil
		case err != nil || code != http.StatusAccepted:
			return fmt.Errorf("%w: %s", wrongAnswer("a delivery on a full disk", code, err), words)
		}
	}
	return errors.New("more was stored than there is room for")
}

// passedOnce waits until a task has passed. It returns an error unless that took one attempt and one pull request.
func (p *target) passedOnce(ctx context.Context, issue int) error {
	t, err := p.until(ctx, issue, func(t sia.Task) bool { return t.State == sia.Passed })
	if err != nil {
		return err
	}
	all, err := p.Sim.Issues(repo)
	if err != nil {
		return err
	}
	pulls := 0
	for _, v := range all {
		if strings.Contains(v.Body, fmt.Sprintf("Closes #%d", issue)) {
			pulls++
		}
	}
	if pulls > 1 || len(t.Attempts) != 1 {
		return fmt.Errorf("%d pull requests and %d attempts came of #%d", pulls, len(t.Attempts), issue)
	}
	return nil
}
