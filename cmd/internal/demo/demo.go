// Package demo plays the story of sia demo: people open issues in a repository for restaurant bookings, and SIA works
// on them. The story is told step by step, and each step really has to happen. GitHub is the simulator, and the model
// plays back answers written beforehand, unless the user names another one. Git, the checks and SIA itself are real.
//
// Start reading at [Run], and at play in story.go, which has the parts of the story in order. The last two parts are in
// lesson.go and review.go. The folder story has the repository, the issues and the scripted model's answers.
package demo

import (
	_ "embed"
	"errors"
	"log/slog"
	"os/exec"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/stage"
)

// Options are the inputs of the demo.
type Options struct {
	Models  app.ModelsConfig // without an address of the coder: the scripted model
	Timeout time.Duration    // for one step
	Keep    bool             // stay up after the story
	JSON    bool             // print the result as JSON, and tell the story on standard error
	Logger  *slog.Logger     // of the server
}

// The user who opens the issues and owns the repository.
const (
	user = "ada"
	name = "bookings"
	repo = user + "/" + name
)

var (
	//go:embed story/bookings.txtar
	bookings []byte

	//go:embed story/model.txtar
	script []byte
)

// Run plays the story and prints the result. It returns [cli.ErrShown] if a step did not happen.
func Run(e *cli.Env, o Options) (err error) {
	for _, program := range []string{"git", "go"} { // the story's repository is a Go module
		if _, err := exec.LookPath(program); err != nil {
			return cli.Usage("the demo needs %s, which is not in PATH: install it, or try `sia run` on a clone of yours",
				program)
		}
	}
	n, err := start(e, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	n.opening(o.Models)
	failed := n.play()
	if e.Ctx.Err() != nil {
		return e.Ctx.Err()
	}
	r, err := n.result(failed)
	if err != nil {
		return err
	}
	n.summary(r)
	if o.JSON {
		err = e.JSON(r)
	}
	if o.Keep {
		n.keep()
	}
	if err == nil && failed != nil {
		err = cli.ErrShown
	}
	return err
}

// priced reports whether the price of every model is known.
func priced(models app.ModelsConfig) bool { return app.Config{Models: models}.CheckPrices() == nil }

// start starts the stage with the story's repository.
func start(e *cli.Env, o Options) (*narrator, error) {
	files := map[string]string{}
	for _, f := range txtar.Parse(bookings).Files {
		files[f.Name] = string(f.Data)
	}
	set := stage.Config{Owner: user, Name: name,
		Spec:   ghsim.RepoSpec{Files: files, Message: "A service for restaurant bookings"},
		Logger: o.Logger, Forward: cli.ForwardCommand(), Stdlib: cli.StdlibDir()}
	if o.Models.Coder.URL == "" {
		set.Script = script
	} else {
		set.Models, set.Priced = o.Models, priced(o.Models)
	}
	s, err := stage.Start(e.Ctx, set)
	if err != nil {
		return nil, err
	}
	told := *e
	if o.JSON {
		told.Out, told.Style = e.Err, cli.StyleFor(e.Err)
	}
	return &narrator{Env: &told, Watcher: stage.Watcher{Stage: s, Timeout: o.Timeout}, began: time.Now()}, nil
}
