package github

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/app/lease"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// ErrNoLog reports that there is no log or artifact to read: the check run is not a GitHub Actions job or has not
// finished, it has expired, or it is too large.
var ErrNoLog = errors.New("nothing to read")

var errWriteQueue = errors.New("wait for earlier writes to the repository")

// errUncounted is wrapped if the database can't count a write.
var errUncounted = errors.New("count the write")

var errForeignHost = errors.New("a redirect led to another host, where the app does not sign in")

// queueRetryAfter is the wait before retrying a write that did not get its turn.
const queueRetryAfter = 15 * time.Second

// suspendedRetryAfter is the wait before retrying a request that failed because the installation is suspended. The
// delivery about the suspension pauses all tasks, and may arrive after the refusal.
const suspendedRetryAfter = time.Minute

// failure turns an error of an operation into one with a message for people. It returns nil for nil, and a
// [sia.Error] unchanged.
func (a *App) failure(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	var known *sia.Error
	if errors.As(err, &known) {
		return known
	}
	e := &sia.Error{Op: fmt.Sprintf(format, args...), Err: &redactedError{err}}
	var (
		limit *rateLimitError
		turn  *writeLimitError
		he    *ghinstallation.HTTPError
		er    *gh.ErrorResponse

		refusal   *graphqlError
		untrusted *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &limit):
		e.Outage, e.RetryAfter = true, limit.wait
		e.Message = fmt.Sprintf("GitHub's rate limit is used up until %s UTC; SIA goes on by itself then",
			limit.until.UTC().Format("15:04"))
	case errors.As(err, &turn):
		e.Turn, e.RetryAfter, e.Message = true, turn.wait, WriteLimitMessage(turn.until)
	case errors.As(err, &he) && he.Response != nil:
		a.explainToken(e, he)
	case errors.As(err, &er) && er.Response != nil:
		a.explain(e, er)
	case errors.As(err, &refusal) && refusal.isServerError():
		e.Outage, e.Message = true, "GitHub is failing. See githubstatus.com"
	case errors.As(err, &refusal):
		e.Message = "GitHub refused the query, as an older GitHub Enterprise Server does that does not know all of it"
	case errors.Is(err, lease.ErrLost):
		e.Message = "nothing was written to GitHub: " + lease.ErrLost.Error()
	case errors.Is(err, errUncounted):
		e.Message = "nothing was written to GitHub: the database could not count the write"
	case errors.Is(err, errForeignHost):
		e.Permanent, e.Message = true, "GitHub's address answers with a redirect elsewhere; check the configured base URL"
	case errors.Is(err, errTooManyRedirects):
		e.Permanent, e.Message = true, "GitHub's address leads round in redirects; check the configured base URL"
	case errors.Is(err, errNotReplicated):
		e.RetryAfter, e.Message = freshRetryAfter, "GitHub does not find what SIA made a moment ago"
	case errors.Is(err, errIncomplete):
		e.Message = incompleteMessage(err) + ". See githubstatus.com"
	case isAccepted(err):
		e.RetryAfter, e.Message = freshRetryAfter, "GitHub took the request in and has not answered it (202)"
	case errors.Is(err, context.Canceled):
		e.Message = "the operation was cancelled"
	case errors.Is(err, errWriteQueue):
		e.Turn, e.RetryAfter, e.Message = true, queueRetryAfter, "many changes to this repository wait their turn, which "+
			"GitHub asks to space"
	case errors.Is(err, context.DeadlineExceeded):
		e.Outage, e.Message = true, "GitHub did not answer in time"
	case errors.As(err, &untrusted):
		e.Outage, e.Message = true, fmt.Sprintf("GitHub's certificate is not trusted on this machine (%s); where an "+
			"authority of your own signed it, name a file with that authority's certificate in SSL_CERT_FILE and start SIA "+
			"again", untrusted.Err)
	default:
		e.Outage, e.Message = true, "GitHub can't be reached or its answer can't be read. If it goes on, check the "+
			"network and githubstatus.com"
	}
	return e
}

// explain fills in e from GitHub's refusal of a request.
func (a *App) explain(e *sia.Error, er *gh.ErrorResponse) {
	resp := er.Response
	message := strings.ToLower(er.Message)
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized && strings.Contains(message, "claim"):
		e.Outage, e.Message = true, "GitHub refused the app's signature because of its times; set this machine's clock "+
			"(NTP)"
	case code == http.StatusUnauthorized:
		e.Outage, e.Message = true, "GitHub does not accept the app's credentials; check the app id and private key "+
			"with `sia doctor`"
	case isLag(er):
		e.RetryAfter, e.Message = freshRetryAfter, "GitHub refused it as not valid, as it does for moments after a push: "+
			reasonOf(er)
	case code == http.StatusForbidden && strings.Contains(message, "suspended"):
		e.RetryAfter, e.Message = suspendedRetryAfter, "the installation is suspended; an owner of the account can "+
			"unsuspend it under Settings → GitHub Apps"
	case code == http.StatusForbidden && strings.Contains(message, "archived"):
		e.Permanent, e.Message = true, "the repository is archived and so read-only; unarchive it to go on"
	case code == http.StatusForbidden && strings.Contains(message, lockedWords):
		e.Permanent, e.Message = true, "the conversation is locked, and GitHub takes no comments of apps there; unlock it "+
			"to go on"
	case code == http.StatusForbidden && (strings.Contains(message, "saml") || resp.Header.Get("X-Github-Sso") != ""):
		e.Permanent, e.Message = true, "the organisation asks for SAML single sign-on and does not let the app in; an "+
			"owner can approve it: "+scrubbedLine(er.Message)
	case code == http.StatusForbidden && strings.Contains(message, "ip allow list"):
		e.Permanent, e.Message = true, "the organisation's IP allow list keeps this server out; an owner can add its "+
			"address under Settings → Authentication security"
	case code == http.StatusForbidden && (strings.Contains(message, "blocked") || strings.Contains(message, "disabled")):
		e.Permanent, e.Message = true, "GitHub has blocked or disabled this; ask its support: "+scrubbedLine(er.Message)
	case code == http.StatusForbidden && er.Message == "":
		e.Permanent, e.Message = true, "it was forbidden without a reason, as proxies do; check the way to GitHub, and the "+
			"app's permissions with `sia doctor`"
	case code == http.StatusForbidden:
		e.Permanent, e.Message = true, missingPermission(resp, er.Message)
	case code == http.StatusNotFound:
		e.Permanent, e.Message = true, "GitHub does not find it: it was deleted or moved, or the app is not installed on "+
			"this repository"
	case code == http.StatusGone && strings.Contains(message, "disabled"):
		e.Permanent, e.Message = true, "it is turned off in the repository's settings: "+scrubbedLine(er.Message)
	case code == http.StatusGone && strings.Contains(message, "deleted"):
		e.Permanent, e.Message = true, "it was deleted: "+scrubbedLine(er.Message)
	case code == http.StatusUnavailableForLegalReasons:
		e.Permanent, e.Message = true, "GitHub keeps the repository closed for legal reasons: "+reasonOf(er)
	case code == http.StatusRequestTimeout || code == http.StatusTooEarly:
		e.Message = fmt.Sprintf("GitHub did not take the request in (%d)", code)
	case code == http.StatusGone:
		e.Permanent, e.Message = true, "it is gone for good: deleted, expired, or turned off in the repository's settings"
	case code == http.StatusUnprocessableEntity || code == http.StatusBadRequest:
		e.Permanent, e.Message = true, "GitHub refused it as not valid: "+reasonOf(er)
	case code == http.StatusConflict:
		e.Message = "something else changed it at the same moment"
	case code >= 500:
		if after, ok := parseRetryAfter(resp.Header.Get("Retry-After"), a.cfg.Now()); ok {
			e.RetryAfter = after
		}
		e.Outage, e.Message = true, fmt.Sprintf("GitHub is failing (%d). See githubstatus.com", code)
	case code < 300:
		e.Message = fmt.Sprintf("%v that can be used: another address was expected, and came %d", errIncomplete, code)
	default:
		e.Permanent, e.Message = true, fmt.Sprintf("GitHub answered %d: %s", code, reasonOf(er))
	}
}

// lockedWords are part of GitHub's refusal of a comment in a locked conversation. Only people with write access can
// comment there.
// https://docs.github.com/en/communities/moderating-comments-and-conversations/locking-conversations
// https://github.com/renovatebot/renovate/issues/6215
const lockedWords = "issue is locked"

// IsLocked reports whether GitHub refused a comment because the conversation is locked.
func IsLocked(err error) bool {
	return statusOf(err) == http.StatusForbidden && refusalContains(err, lockedWords)
}

// explainToken fills in e from GitHub's refusal to issue an installation token.
func (a *App) explainToken(e *sia.Error, he *ghinstallation.HTTPError) {
	resp := he.Response
	var body struct {
		Message string `json:"message"`
	}
	if b, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10)); err == nil {
		_ = json.Unmarshal(b, &body) // an unreadable reason leaves the status
	}
	resp.Body.Close()
	er := &gh.ErrorResponse{Response: resp, Message: body.Message}
	switch resp.StatusCode {
	case http.StatusNotFound:
		e.Permanent, e.Message = true, fmt.Sprintf("the app is not installed there any more (installation %d), or the key "+
			"belongs to another app", he.InstallationID)
	case http.StatusUnprocessableEntity:
		e.Permanent, e.Message = true, "GitHub gives no token for this repository: "+reasonOf(er)+
			". Check that the app is installed on it, and accept its permissions under Settings → GitHub Apps"
	default:
		a.explain(e, er)
	}
}

// missingPermission names the permission that a refused request needs, and what SIA needs it for. GitHub names it in
// a header:
// https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api#resource-not-accessible
func missingPermission(resp *http.Response, message string) string {
	var permission, access string
	// The header is like "issues=write; pull_requests=write", alternatives of which one suffices.
	first, _, _ := strings.Cut(resp.Header.Get("X-Accepted-GitHub-Permissions"), ";")
	first, _, _ = strings.Cut(first, ",")
	if p, v, ok := strings.Cut(strings.TrimSpace(first), "="); ok {
		permission, access = p, v
	} else if resp.Request != nil {
		permission, access = permissionFor(resp.Request.Method, resp.Request.URL.Path)
	}
	if permission == "" || !strings.Contains(strings.ToLower(message), "not accessible") {
		return "GitHub does not allow it: " + scrubbedLine(message)
	}
	return fmt.Sprintf("the app lacks the permission %q, which SIA needs to %s; an owner can grant it under Settings "+
		"→ GitHub Apps → Configure",
		permission+": "+access, purposeOf(permission))
}

// lagPattern matches GitHub's messages about a commit or branch that does not exist. For moments after a push, GitHub
// answers the same about one that does, until all its replicas have it.
var lagPattern = lazyregexp.New(`(?i)no commits? (?:found|between)|` +
	`\b(?:head|base|branch|sha|head_sha|commit|commit_id|ref|reference|object)\b[^.;]{0,60}` +
	`\b(?:can't be blank|invalid|is not valid|missing|not found|does not exist|could not be found|must be a branch)`)

// isLag reports whether GitHub refused a request because a commit or branch is unknown.
func isLag(er *gh.ErrorResponse) bool {
	switch er.Response.StatusCode {
	case http.StatusUnprocessableEntity, http.StatusNotFound:
		return lagPattern.MatchString(reasonOf(er))
	}
	return false
}

// reasonOf returns GitHub's reason on one line.
func reasonOf(er *gh.ErrorResponse) string {
	parts := []string{er.Message}
	for _, e := range er.Errors {
		if e.Message != "" {
			parts = append(parts, e.Message)
		} else if e.Field != "" {
			parts = append(parts, e.Field+" "+e.Code)
		}
	}
	s := scrubbedLine(strings.Join(parts, ": "))
	if s == "" {
		return "no reason was given"
	}
	return s
}

// scrubbedLine returns a text from GitHub as one line of an error, without credentials.
func scrubbedLine(s string) string { return text.Clip(scrub(text.OneLine(s)), 300) }

// incompleteMessage returns the message of an [errIncomplete] without the errors around it, such as the request.
func incompleteMessage(err error) string {
	_, what, _ := strings.Cut(err.Error(), errIncomplete.Error())
	return strings.TrimSpace(errIncomplete.Error() + " " + scrubbedLine(what))
}

// statusOf returns the HTTP status of GitHub's refusal, or 0 if err is none.
func statusOf(err error) int {
	var er *gh.ErrorResponse
	if errors.As(err, &er) && er.Response != nil {
		return er.Response.StatusCode
	}
	return 0
}

// IsUnauthorized reports whether GitHub refused the credentials of a request.
func IsUnauthorized(err error) bool { return statusOf(err) == http.StatusUnauthorized }

// refusalContains reports whether err is a refusal with some words, in any case.
func refusalContains(err error, words string) bool {
	var er *gh.ErrorResponse
	return errors.As(err, &er) && strings.Contains(strings.ToLower(reasonOf(er)), words)
}

// isAccepted reports whether err only means that GitHub accepted the request and processes it later.
func isAccepted(err error) bool {
	var ae *gh.AcceptedError
	return errors.As(err, &ae)
}

// redactedError is an error with the credentials removed from its text.
type redactedError struct{ err error }

func (r *redactedError) Error() string { return scrub(r.err.Error()) }
func (r *redactedError) Unwrap() error { return r.err }

// credentialShapes matches GitHub's tokens, JSON web tokens, signed queries and
// authorization headers.
// https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github#githubs-token-formats
var credentialShapes = lazyregexp.New(strings.Join([]string{
	`gh[pousr]_[A-Za-z0-9_.\-]{8,}`,
	`github_pat_[A-Za-z0-9_]{8,}`,
	`eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-.]+`,
	`(?i:(?:bearer|token) )[A-Za-z0-9_.\-]{16,}`,
	`(?i:[?&](?:sig|signature|token|se|sp|x-amz-[a-z\-]+)=)[^&\s"]+`,
}, "|"))

func scrub(s string) string { return credentialShapes.ReplaceAllString(s, "[redacted]") }
