package ghsim

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxBody is the largest request body the API takes, in bytes.
const maxBody = 25 << 20

// call is one API request being answered. Handlers run with the server's mutex
// held.
type call struct {
	s      *Server
	r      *http.Request
	params map[string]string
	query  url.Values
	body   []byte
	app    *app       // for an app's JSON Web Token
	token  *token     // for an installation's token
	user   *userToken // for a person's token
	repo   *repository
}

// answer is what a handler answers.
type answer struct {
	code   int // default 200
	value  any // marshalled as JSON; nil: no body
	header map[string]string
}

func ok(v any) answer      { return answer{code: http.StatusOK, value: v} }
func created(v any) answer { return answer{code: http.StatusCreated, value: v} }

// actor is who makes the request, as an installation's bot.
func (c *call) actor() actor {
	if c.token.user != nil {
		return actor{c.token.user, c.token.inst.app, c.token.inst}
	}
	return actor{c.token.inst.app.bot, c.token.inst.app, c.token.inst}
}

// decode reads the request body; an empty one leaves v alone.
func (c *call) decode(v any) error {
	if len(bytes.TrimSpace(c.body)) == 0 {
		return nil
	}
	if err := json.Unmarshal(c.body, v); err != nil {
		return &apiError{code: http.StatusBadRequest, message: "Problems parsing JSON"}
	}
	return nil
}

// id is a numeric path parameter; 0 never names anything.
func (c *call) id(name string) int64 {
	n, _ := strconv.ParseInt(c.params[name], 10, 64)
	return n
}

// need answers 403 when the token lacks a permission.
func (c *call) need(permission, level string) error {
	if !c.token.may(permission, level) {
		return notAccessible()
	}
	return nil
}

// rateWindow counts requests until reset.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
type rateWindow struct {
	used  int
	reset time.Time
}

func limitKey(installation int64, a *app) string {
	if a != nil {
		return fmt.Sprintf("app %d", a.id)
	}
	return fmt.Sprintf("installation %d", installation)
}

func (s *Server) window(key string) *rateWindow {
	w := s.limits[key]
	if w == nil || !s.now().Before(w.reset) {
		w = &rateWindow{reset: s.now().Add(time.Hour).Truncate(time.Second)}
		s.limits[key] = w
	}
	return w
}

func (c *call) window() *rateWindow {
	switch {
	case c.user != nil:
		return c.s.window("user " + c.user.user.login)
	case c.token != nil:
		return c.s.window(limitKey(c.token.inst.id, nil))
	case c.app != nil:
		return c.s.window(limitKey(0, c.app))
	}
	return c.s.window("anonymous")
}

// serveAPI answers one REST or GraphQL request; path is escaped and begins
// after the API's base.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request, path string) {
	entry := Call{Method: r.Method, Path: r.URL.RequestURI()}
	f := s.fault(r)
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody)); err != nil {
			http.Error(w, "request body: "+err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
	}
	rec := &reply{header: http.Header{}}
	if f == nil || f.After {
		s.answerAPI(rec, r, path, body, &entry)
	}
	if f != nil {
		entry.Fault, entry.Status, entry.Conditional = true, max(f.Status, 0), false
	}
	s.logCall(&entry)
	if f != nil {
		f.write(w)
		return
	}
	rec.sendTo(w)
}

// reply keeps an answer until the server's mutex is released.
type reply struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

// sendTo sends what was kept.
func (r *reply) sendTo(w http.ResponseWriter) {
	for k, v := range r.header {
		w.Header()[k] = v
	}
	w.WriteHeader(r.code)
	w.Write(r.body.Bytes())
}

func (r *reply) Header() http.Header         { return r.header }
func (r *reply) WriteHeader(code int)        { r.code = code }
func (r *reply) Write(b []byte) (int, error) { return r.body.Write(b) }

func (s *Server) logCall(entry *Call) {
	s.mu.Lock()
	entry.Seq, entry.At = len(s.calls)+1, s.now()
	s.calls = append(s.calls, *entry)
	after := s.hooks.after
	s.mu.Unlock()
	for _, fn := range after {
		fn(*entry)
	}
}

// answerAPI authenticates, routes, handles and encodes.
func (s *Server) answerAPI(w http.ResponseWriter, r *http.Request, path string, body []byte, entry *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &call{s: s, r: r, query: r.URL.Query(), body: body}
	var a answer
	rt, params, known := match(s.routes, r.Method, path)
	err := s.authenticate(c)
	switch {
	case err != nil:
	case rt == nil && known:
		err = &apiError{code: http.StatusMethodNotAllowed, message: "Method Not Allowed"}
	case rt == nil:
		err = notFound()
	default:
		entry.Pattern, c.params = rt.pattern, params
		if c.window().used >= s.rateMax && rt.pattern != "/rate_limit" {
			err = c.exhausted()
		} else if err = s.authorize(c, rt); err == nil {
			a, err = rt.handle(c)
		}
	}
	if c.token != nil {
		entry.Installation = c.token.inst.id
	}
	h := w.Header()
	h.Set("X-GitHub-Media-Type", "github.v3; format=json")
	h.Set("X-GitHub-Request-Id", fmt.Sprintf("%04X:%06X", s.lastID&0xffff, len(s.calls)+1))
	h.Set("X-GitHub-Api-Version-Selected", "2022-11-28")
	h.Set("Cache-Control", "private, max-age=60, s-maxage=60")
	h.Set("Vary", "Accept, Authorization, Cookie, X-GitHub-OTP")
	if err != nil {
		a = errorAnswer(s, err)
	}
	entry.Status = c.encode(w, a, rt)
	entry.Conditional = entry.Status == http.StatusNotModified
}

// errorAnswer is an error as GitHub answers it.
func errorAnswer(s *Server, err error) answer {
	var e *apiError
	if !errors.As(err, &e) {
		s.log.Error("simulator", "error", err)
		e = &apiError{code: http.StatusInternalServerError, message: "Server Error: " + err.Error()}
	}
	return answer{code: e.code, value: e.body(), header: e.header}
}

// encode writes the answer with ETag and rate limit headers, and gives the
// status. An answer that the client already has is 304 and not counted.
func (c *call) encode(w http.ResponseWriter, a answer, rt *route) int {
	h := w.Header()
	for k, v := range a.header {
		h.Set(k, v)
	}
	code := a.code
	if code == 0 {
		code = http.StatusOK
	}
	var body []byte
	switch v := a.value.(type) {
	case nil:
	case plain:
		body = []byte(v)
		h.Set("Content-Type", "text/plain; charset=utf-8")
	default:
		body, _ = json.Marshal(v)
		h.Set("Content-Type", "application/json; charset=utf-8")
	}
	if c.r.Method == http.MethodGet && code == http.StatusOK {
		sum := sha256.Sum256(append([]byte(h.Get("Link")), body...))
		tag := `W/"` + hex.EncodeToString(sum[:16]) + `"`
		h.Set("ETag", tag)
		if tagMatches(c.r.Header.Get("If-None-Match"), tag) {
			code, body = http.StatusNotModified, nil
			h.Del("Content-Type")
		}
	}
	win := c.window()
	counted := code != http.StatusNotModified && (rt == nil || rt.pattern != "/rate_limit")
	if counted && win.used < c.s.rateMax {
		win.used++
	}
	h.Set("X-RateLimit-Limit", strconv.Itoa(c.s.rateMax))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(max(0, c.s.rateMax-win.used)))
	h.Set("X-RateLimit-Used", strconv.Itoa(win.used))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(win.reset.Unix(), 10))
	h.Set("X-RateLimit-Resource", "core")
	w.WriteHeader(code)
	w.Write(body)
	return code
}

func tagMatches(header, tag string) bool {
	for _, t := range strings.Split(header, ",") {
		t = strings.TrimSpace(t)
		if t == "*" || strings.TrimPrefix(t, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

func (c *call) exhausted() error {
	return &apiError{code: http.StatusForbidden,
		message: "API rate limit exceeded for installation. If you reach out to GitHub Support for help, please include the request ID.",
		doc:     "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api"}
}

// authenticate sets the call's app or token; no credentials are no error yet.
func (s *Server) authenticate(c *call) (err error) {
	raw := credentials(c.r)
	switch {
	case raw == "" && c.r.Header.Get("Authorization") != "":
		return badCredentials()
	case raw == "":
		return nil
	case isJWT(raw):
		c.app, err = s.authApp(raw)
	case strings.HasPrefix(raw, "ghu_"):
		if c.user = s.userTokens[raw]; c.user == nil || !s.now().Before(c.user.expires) {
			c.user, err = nil, badCredentials()
		}
	default:
		c.token, err = s.authToken(raw)
	}
	return err
}

// authorize checks that the credentials are of the kind the route wants, that
// the repository is in scope (404 when not) and the permission is granted (403).
func (s *Server) authorize(c *call, rt *route) error {
	if rt.auth == "none" {
		return nil
	}
	if rt.auth == "app" {
		if c.app == nil {
			return badJWT("A JSON web token could not be decoded")
		}
		if c.params["repo"] != "" {
			return s.scopeRepo(c, func(*repository) bool { return true })
		}
		return nil
	}
	if rt.auth == "user" {
		if c.user == nil {
			return notAccessible()
		}
		return nil
	}
	if c.app != nil {
		return notAccessible()
	}
	if c.user != nil {
		if r := s.repos[lower(c.params["owner"]+"/"+c.params["repo"])]; r != nil {
			c.token = s.narrow(c.user, r)
		}
		if c.token == nil {
			return notFound()
		}
	}
	if c.token == nil {
		return &apiError{code: http.StatusUnauthorized, message: "Requires authentication"}
	}
	if c.params["repo"] != "" {
		if err := s.scopeRepo(c, c.token.has); err != nil {
			return err
		}
	}
	if rt.auth == "" {
		return nil
	}
	permission, level, _ := strings.Cut(rt.auth, ":")
	return c.need(permission, level)
}

func (s *Server) scopeRepo(c *call, in func(*repository) bool) error {
	r := s.repos[lower(c.params["owner"]+"/"+c.params["repo"])]
	if r == nil || !in(r) {
		return notFound()
	}
	c.repo = r
	return nil
}

// api is a URL of the REST API.
func (s *Server) api(format string, args ...any) string {
	return s.url + "/api/v3" + fmt.Sprintf(format, args...)
}

// html is a URL of a page.
func (s *Server) html(format string, args ...any) string { return s.url + fmt.Sprintf(format, args...) }
