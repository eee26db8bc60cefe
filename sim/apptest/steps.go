package apptest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/ghsim"
)

// Steps lists the steps of a story's script. A person's step waits until nothing is left to do at that time; where is
// "issue", "pull" or "question" (the last issue that SIA opened to ask).
//
//	open <who> [name]                 opens the issue, or that of section issue/<name>;
//	                                  what follows is about the issue opened last
//	label|unlabel <who> <label>
//	comment <who> <where> <text>
//	edit <who> <text>                 replaces the issue's text
//	tick <who> <letter>               ticks a box of the question
//	close|reopen|delete <who> <where>|<n>
//	                                  n: the issue of that number
//	blocked-by|sub-issue <who> <n>    the issue opened last is blocked by issue n, or has it as a part
//	review <who> <state> <name>       reviews the pull request as in section review/<name>: a text, then
//	                                  for each line "@ <path>:<line>" or "@ <path>:<first>-<last>" the text
//	                                  of a comment there; state is approved, changes_requested or commented
//	thread <who> <path> <text>        answers in the first thread on a file of the pull request
//	resolve|reopen-thread <who> <path>
//	                                  resolves the first thread on a file of the pull request, or opens it again
//	edit-review <who> <words>         replaces what their last review says
//	dismiss <who>                     dismisses the reviews that request changes
//	merge <who>
//	draft|ready <who>                 makes the pull request a draft, or marks it ready for review
//	push <who> <branch> <name> [message]
//	                                  pushes the files push/<name>/…; the branch "head" is the task's
//	pull <who> <branch> <text>        opens a pull request of a branch, with that text
//	owner <who> <branch> <name>       pushes them to the owner's .github repository
//	force <who> <branch> <ref>        moves a branch to the head of another
//	update <who> pull                 presses “Update branch” on the pull request: the base is merged into its branch
//	press <who> <button>              of SIA's check run on the head
//	rerun <who> <check>               the "Re-run" button of a check of the head
//	rerun-all <who> <app>             "Re-run all checks" of an app on the head
//	status <who> <context> <state> [n] a commit status on the head, or on attempt n's commit; with
//	                                  "merge" for n, on the test merge of the pull request
//	bot <login> <branch> <name> [skip-ci|token|silent]
//	                                  pushes the files push/<name>/… as a bot with its own token, with the
//	                                  message "[skip ci]", or with GITHUB_TOKEN, for which workflow runs wait for
//	                                  approval; "silent": on a server where it starts none
//	check <app> <check> <state> [n]   a check run that an app makes through the API, on the commit given by n, as
//	                                  for status; state is queued, in_progress or a conclusion. The app
//	                                  github-actions makes it with GITHUB_TOKEN
//	finish <app> <check> <state>      changes the newest check run that an app made this way on the head
//	require <check>…                  the checks that a ruleset requires on main; none: no ruleset
//	rule <json>|none                  adds a rule to those of main, as the REST API prints its type and parameters;
//	                                  {repo}, {owner} and {app} are replaced by the ids of the repository, of the owner's
//	                                  .github repository and of SIA. "none" removes all rules
//	protect <what>…                   what else classic protection of main requires: linear-history, conversations
//	rules readable|unreadable|forbidden
//	                                  the API returns the rules of branches, or answers 404, or 403
//	up-to-date                        the rules of main require branches to be up to date with it
//	secret <word>                     push protection refuses files that contain it
//	sign-off                          commits made on the web have to be signed off
//	hooks on|off                      pre-receive hooks check merges
//	workflows on|approval|no-runner|startup-failure|late|refused <words>
//	                                  what keeps workflows from running from now on; "late": a job that needs others
//	                                  is made when those have ended
//	approve <who>                     approves the waiting workflow runs
//	retarget <who> <branch>           changes the base branch of the pull request
//	queue <who>                       puts the pull request into the merge queue
//	unqueue <who> [merged]            takes it out
//	rename <name>                     gives the repository another name
//	no-drafts                         the owner's plan has no draft pull requests for the repository
//	archive                           makes the repository read-only
//	transfer <who>                    moves the issue to the owner's .github repository
//	graphql fails <n>                 the next n GraphQL requests are answered with 502
//	git narrowed|whole                git answers 404 to tokens restricted to one repository, or to no token
//	react <who> <reaction> <n>|plan   on the comment of intervention n, or of the waiting plan
//	role <who> <role>
//	uninstall | suspend | unsuspend
//	withhold <permission>             the app and its installation lose it
//
//	settle                            runs everything that is due, and advances the time
//	until before|after <effect> <n>   likewise, until the worker gets there in attempt n, and holds it
//	go                                releases it
//	wait <duration>
//	look | redeliver | repair | feedback | approvals | heartbeat | watch
//	                                  runs the periodic work now
//	looks on|off                      each wait polls every two minutes
//	learned <pattern> <technique> <n> of <m>
//	                                  earlier tasks of the repository in which the technique resolved n of m
//	stop | restart                    the application
//
//	drop|duplicate|hold <event>…      webhooks, such as check_run or issue_comment.created; "all"; "none" ends it
//	release [reversed]                the held webhooks
//	lag <n>                           later pushes, issues and pull requests are unknown to the API for n answers
//	                                  about them; 0 ends it
const Steps = ""

// player plays a story's script.
type player struct {
	*Stage
	story   Story
	earlier int       // earlier tasks with recorded results
	issue   int       // number of the issue opened last
	looks   time.Time // the next poll while time passes; zero: no polling
}

// text is the section with the text of an issue.
func text(name string) string {
	if name == "" {
		return "issue"
	}
	return "issue/" + name
}

// play runs the steps in order. A hold is requested before the step ahead of its "until", so that this step's effects
// do not run past it.
func (p *player) play(script string) error {
	p.t.Helper()
	var lines []string
	for line := range strings.Lines(script) {
		if line, _, _ = strings.Cut(strings.TrimSpace(line), " # "); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	for i, line := range lines {
		if i+1 < len(lines) {
			if err := p.prepareHold(lines[i+1]); err != nil {
				return fmt.Errorf("%s: %w", lines[i+1], err)
			}
		}
		if err := p.step(line); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
	}
	return nil
}

// prepareHold requests the hold of a step "until".
func (p *player) prepareHold(line string) error {
	where, ok := strings.CutPrefix(line, "until ")
	if !ok {
		return nil
	}
	var at Point
	var kind string
	if _, err := fmt.Sscanf(where, "%s %s %d", &at.When, &kind, &at.Attempt); err != nil {
		return err
	}
	at.Kind = sia.EffectKind(kind)
	if !slices.Contains(sia.EffectKinds(), at.Kind) || at.When != "before" && at.When != "after" {
		return errors.New("there is no such effect; write for example: until before attempt 2")
	}
	p.Hold(at)
	return nil
}

func (p *player) step(line string) error {
	p.t.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	f := strings.Fields(rest)
	arg := func(i int) string {
		if i < len(f) {
			return f[i]
		}
		return ""
	}
	words := func(n int) string { // the text after the first n fields
		text := rest
		for range n {
			_, text, _ = strings.Cut(strings.TrimLeft(text, " "), " ")
		}
		return strings.ReplaceAll(text, `\n`, "\n")
	}
	if done, err := p.flow(verb, arg, f); done {
		return err
	}
	if done, err := p.github(verb, arg, rest); done {
		p.Quiet()
		return err
	}
	if err := p.person(verb, arg, words); err != nil {
		return err
	}
	p.Quiet()
	return nil
}

// flow plays the steps without an actor.
func (p *player) flow(verb string, arg func(int) string, f []string) (done bool, err error) {
	p.t.Helper()
	switch verb {
	case "settle":
		p.Settle()
	case "until":
		p.Until()
	case "go":
		p.Go()
		p.Quiet()
	case "cut": // the held effect was cancelled
		p.Cut()
		p.Quiet()
	case "wait":
		d, err := time.ParseDuration(arg(0))
		if err != nil {
			return true, err
		}
		p.wait(d)
	case "learned":
		return true, p.learned(f)
	case "look", "redeliver", "repair", "feedback", "approvals", "heartbeat", "watch":
		p.Periodic(verb)
		p.Quiet()
	case "stop":
		p.Stop()
	case "restart":
		p.Restart()
	case "drop":
		p.Sim.DropDeliveries(matching(f))
	case "duplicate":
		p.Sim.DuplicateDeliveries(matching(f))
	case "hold":
		p.Sim.HoldDeliveries(matching(f))
	case "lag":
		n, err := strconv.Atoi(arg(0))
		if err != nil {
			return true, err
		}
		p.Sim.Lag(n)
	case "release":
		p.Sim.HoldDeliveries(nil)
		p.Sim.Release(order(arg(0) == "reversed"))
		p.Quiet()
	default:
		return false, nil
	}
	return true, nil
}

// matching accepts deliveries of the named events.
func matching(names []string) func(ghsim.Delivery) bool {
	if slices.Contains(names, "none") {
		return nil
	}
	return func(d ghsim.Delivery) bool {
		return slices.Contains(names, "all") || slices.Contains(names, d.Event) ||
			slices.Contains(names, d.Event+"."+d.Action)
	}
}

func order(reversed bool) func([]ghsim.Delivery) []int {
	if !reversed {
		return nil
	}
	return func(ds []ghsim.Delivery) []int {
		order := make([]int, len(ds))
		for i := range order {
			order[i] = len(ds) - 1 - i
		}
		return order
	}
}

// person plays the steps of people.
func (p *player) person(verb string, arg func(int) string, words func(int) string) error {
	who := arg(0)
	on, err := p.where(verb, arg(1))
	if err != nil {
		return err
	}
	switch verb {
	case "open":
		title, body, _ := strings.Cut(strings.TrimSpace(p.story.parts[text(arg(1))]), "\n")
		p.issue, err = p.Sim.OpenIssue(Repo, who, title, strings.TrimSpace(body))
	case "label":
		err = p.Sim.Label(Repo, p.issue, who, arg(1))
	case "unlabel":
		err = p.Sim.Unlabel(Repo, p.issue, who, arg(1))
	case "comment":
		_, err = p.Sim.Comment(Repo, on, who, words(2))
	case "edit":
		err = p.Sim.EditIssueBody(Repo, p.issue, who, words(1))
	case "tick":
		err = p.tick(who, on, arg(1))
	case "close":
		err = p.Sim.CloseIssue(Repo, on, who)
	case "reopen":
		err = p.Sim.ReopenIssue(Repo, on, who)
	case "delete":
		err = p.Sim.DeleteIssue(Repo, on, who)
	case "review":
		err = p.review(who, on, arg(1), p.story.parts["review/"+arg(2)])
	case "edit-review":
		err = p.Sim.EditReview(Repo, on, who, words(1))
	case "thread":
		err = p.thread(who, on, arg(1), words(2))
	case "resolve", "reopen-thread":
		err = p.resolve(who, on, arg(1), verb == "reopen-thread")
	case "dismiss":
		err = p.Sim.DismissReviews(Repo, on, who)
	case "draft", "ready":
		err = p.Sim.SetDraft(Repo, on, who, verb == "draft")
	case "merge":
		_, err = p.Sim.MergePull(Repo, on, who)
	case "push":
		err = p.push(Repo, p.branch(arg(1)), who, arg(2), words(3))
	case "pull":
		_, err = p.Sim.OpenPull(Repo, who, arg(1), "main", "A pull request of "+who+"'s", words(2), false)
	case "owner":
		err = p.push(OwnersRepo, arg(1), who, arg(2), "")
	case "update": // the button “Update branch”
		err = p.update(who, on)
	case "force":
		err = p.force(who, p.branch(arg(1)), p.branch(arg(2)))
	case "press":
		err = p.press(who, arg(1))
	case "rerun":
		err = p.rerun(who, arg(1))
	case "rerun-all":
		err = p.Sim.RerequestSuite(Repo, string(p.Task(p.issue).Head), arg(1), who)
	case "react":
		err = p.react(who, arg(1), arg(2))
	case "role":
		p.Sim.CreateUser(who)
		err = p.Sim.SetPermission(Repo, who, arg(1))
	case "withhold":
		granted := ghsim.DefaultPermissions()
		delete(granted, arg(0))
		err = p.Sim.SetAppPermissions(p.config.GitHub.AppID, granted)
	case "uninstall":
		err = p.Sim.Uninstall(p.Install)
	case "suspend", "unsuspend":
		err = p.Sim.Suspend(p.Install, verb == "suspend")
	default:
		err = p.onRepository(verb, arg)
	}
	return err
}

// where is the number of the issue or pull request of a person's step.
func (p *player) where(verb, name string) (int, error) {
	switch {
	case verb == "tick" || name == "question":
		return p.question()
	case slices.Contains([]string{"merge", "draft", "ready", "review", "edit-review", "thread", "dismiss", "resolve",
		"reopen-thread"}, verb), name == "pull":
		return p.pull()
	case verb == "close" || verb == "reopen" || verb == "delete":
		if n, err := strconv.Atoi(name); err == nil {
			return n, nil
		}
	}
	return p.issue, nil
}

// tick ticks a box of the question, which is an issue or a comment on the task's issue.
func (p *player) tick(who string, on int, letter string) error {
	e := p.Task(p.issue).Escalation
	if e == nil || e.Issue != p.issue {
		return p.Sim.TickBox(Repo, on, who, letter)
	}
	_, id, _ := strings.Cut(e.URL, "#issuecomment-")
	comment, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return fmt.Errorf("comment at %q: %w", e.URL, err)
	}
	return p.Sim.TickCommentBox(Repo, comment, who, letter)
}

func (p *player) question() (int, error) {
	if e := p.Task(p.issue).Escalation; e != nil && e.Issue == p.issue {
		return p.issue, nil
	}
	all, err := p.Sim.Issues(Repo)
	if err != nil {
		return 0, err
	}
	for _, i := range slices.Backward(all) {
		if !i.IsPull && i.Author == Bot {
			return i.Number, nil
		}
	}
	return 0, errors.New("SIA has asked nothing")
}

func (p *player) pull() (int, error) {
	if n := p.Task(p.issue).Pull.Number; n != 0 {
		return n, nil
	}
	return 0, errors.New("there is no pull request")
}

// react adds a reaction to the comment of an intervention, or of the waiting plan: "react ada -1 2" is ada's 👎 on the
// second, "react ada +1 plan" her approval.
func (p *player) react(who, content, on string) error {
	t := p.Task(p.issue)
	if e := t.Escalation; on == "plan" && e != nil {
		return p.reactTo(t.Issue, e.URL, who, content)
	}
	n, err := strconv.Atoi(on)
	if err != nil || n < 1 || n > len(t.Interventions) {
		return fmt.Errorf("there is no intervention %q", on)
	}
	return p.reactTo(t.Pull.Number, t.Interventions[n-1].CommentURL, who, content)
}

func (p *player) reactTo(number int, url, who, content string) error {
	_, id, _ := strings.Cut(url, "#issuecomment-")
	comment, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return fmt.Errorf("comment at %q: %w", url, err)
	}
	return p.Sim.React(Repo, number, comment, who, content)
}

func (p *player) push(repo, branch, who, name, message string) error {
	files := p.story.sectionsIn("push/" + name)
	if len(files) == 0 {
		return fmt.Errorf("the story has no files push/%s/…", name)
	}
	if message = strings.TrimSpace(message); message == "" {
		message = "Push " + name
	}
	_, err := p.Sim.PushFiles(repo, branch, who, message, files)
	return err
}

func (p *player) branch(name string) string {
	if name == "head" {
		return p.Task(p.issue).Branch
	}
	return name
}

func (p *player) update(who string, pull int) error {
	sha, err := p.Sim.TestMerge(Repo, pull)
	if err != nil {
		return err
	}
	return p.Sim.ForcePush(Repo, p.branch("head"), who, sha)
}

func (p *player) force(who, branch, to string) error {
	heads, err := p.Sim.Branches(Repo)
	if err != nil {
		return err
	}
	if heads[to] == "" {
		return fmt.Errorf("there is no branch %s", to)
	}
	return p.Sim.ForcePush(Repo, branch, who, heads[to])
}

func (p *player) press(who, button string) error {
	runs, err := p.Sim.CheckRuns(Repo, string(p.Task(p.issue).Head))
	if err != nil {
		return err
	}
	for _, r := range slices.Backward(runs) { // the newest one has the visible buttons
		if r.App == Slug {
			return p.Sim.PressCheckButton(Repo, r.ID, who, button)
		}
	}
	return errors.New("SIA has no check run on the head")
}
