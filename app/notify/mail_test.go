package notify_test

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/notify"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

const password = "correct horse battery staple"

// mailServer is an SMTP server on this machine that records its sessions.
type mailServer struct {
	net.Listener
	address, port string
	tls           *tls.Config
	roots         *x509.CertPool    // trusts its certificate
	implicit      bool              // implicit TLS
	plain         bool              // without STARTTLS
	auth          string            // authentication mechanisms; empty: PLAIN
	refuse        map[string]string // command, or its verb → response instead of the usual one
	onCommand     func(verb string) // nil: nothing
	running       sync.WaitGroup

	mu       sync.Mutex
	messages []string
	heard    []string // commands, with whether they were sent over TLS
}

// serveMail starts a server after set has configured it.
func serveMail(t *testing.T, set func(*mailServer)) *mailServer {
	t.Helper()
	certified := httptest.NewTLSServer(http.NotFoundHandler())
	defer certified.Close()
	s := &mailServer{tls: &tls.Config{Certificates: certified.TLS.Certificates}, roots: x509.NewCertPool(),
		address: "127.0.0.1"}
	s.roots.AddCert(certified.Certificate())
	set(s)
	var err error
	if s.Listener, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	_, s.port, _ = net.SplitHostPort(s.Addr().String())
	s.running.Go(func() {
		for {
			conn, err := s.Accept()
			if err != nil {
				return
			}
			s.running.Go(func() {
				defer conn.Close()
				s.talk(conn)
			})
		}
	})
	t.Cleanup(func() {
		s.Close()
		s.running.Wait()
	})
	return s
}

// received returns the messages received so far.
func (s *mailServer) received() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.messages)
}

// commands returns the commands received so far.
func (s *mailServer) commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.heard)
}

// config returns a configuration for the server.
func (s *mailServer) config() notify.Config {
	scheme := "smtp"
	if s.implicit {
		scheme = "smtps"
	}
	return notify.Config{SMTP: fmt.Sprintf("%s://sia@%s:%s", scheme, s.address, s.port), Password: password,
		From: "SIA <sia@example.com>", To: []string{"anna@example.com", "Bert <bert@example.com>"}, Roots: s.roots}
}

func (s *mailServer) talk(conn net.Conn) {
	secure := s.implicit
	if secure {
		conn = tls.Server(conn, s.tls)
	}
	in := bufio.NewReader(conn)
	say := func(text string) { _, _ = io.WriteString(conn, text+"\r\n") }
	say("220 mail.example.com")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSpace(line)
		verb, _, _ := strings.Cut(line, " ")
		s.mu.Lock()
		s.heard = append(s.heard, fmt.Sprintf("%s tls=%v", line, secure))
		s.mu.Unlock()
		if s.onCommand != nil {
			s.onCommand(verb)
		}
		if answer := cmp.Or(s.refuse[line], s.refuse[verb]); answer != "" {
			say(answer)
			if strings.HasPrefix(answer, "421") {
				return
			}
			continue
		}
		switch verb {
		case "EHLO":
			say("250-mail.example.com")
			if !secure && !s.plain {
				say("250-STARTTLS")
			}
			say("250 AUTH " + cmp.Or(s.auth, "PLAIN"))
		case "STARTTLS":
			say("220 go ahead")
			conn = tls.Server(conn, s.tls)
			in, secure = bufio.NewReader(conn), true
		case "AUTH":
			encoded := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
			want := "AUTH PLAIN " + encoded("\x00sia\x00"+password)
			if s.auth != "" {
				want = "AUTH LOGIN " + encoded("sia") + " " + encoded(password)
				for _, asked := range []string{"Username:", "Password:"} {
					say("334 " + encoded(asked))
					answer, err := in.ReadString('\n')
					if err != nil {
						return
					}
					line += " " + strings.TrimSpace(answer)
				}
			}
			if line != want {
				say("535 no")
				continue
			}
			say("235 welcome")
		case "DATA":
			say("354 go ahead")
			text, err := io.ReadAll(textproto.NewReader(in).DotReader())
			if err != nil {
				return
			}
			s.mu.Lock()
			s.messages = append(s.messages, string(text))
			s.mu.Unlock()
			if answer, ok := s.refuse["."]; ok {
				say(answer)
				continue
			}
			say("250 queued")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 fine")
		}
	}
}

// E-mail is sent over TLS, authenticated, to all addresses, and can be read; a title can't add a header, nor a text end
// the message.
func TestMail(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*mailServer){
		"STARTTLS": func(*mailServer) {},
		"TLS":      func(s *mailServer) { s.implicit = true },
		"a name":   refuse("EHLO localhost", "421 4.7.0 Try again later"), // as Google's relay does
		"LOGIN":    func(s *mailServer) { s.auth = "LOGIN XOAUTH2" },      // as Exchange does
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveMail(t, set)
			const text = "Größe = 3\n.\nQUIT\n.leading\n"
			err := only(t, s.config()).Send(t.Context(), "7-1/question/1",
				render.Notice{Title: "Fragen für\r\nBcc: eve@example.com", Text: text})
			if err != nil {
				t.Fatal(err)
			}
			if len(s.received()) != 1 {
				t.Fatalf("%d messages: %v", len(s.received()), s.commands())
			}
			m, err := mail.ReadMessage(strings.NewReader(s.received()[0]))
			if err != nil {
				t.Fatal(err)
			}
			subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
			body, err2 := io.ReadAll(quotedprintable.NewReader(m.Body))
			if err = errors.Join(err, err2); err != nil || strings.ReplaceAll(string(body), "\r\n", "\n") != text {
				t.Errorf("%q, %v", body, err)
			}
			for name, want := range map[string]string{"Subject": subject, "Bcc": "", "From": `"SIA" <sia@example.com>`,
				"To": `<anna@example.com>, "Bert" <bert@example.com>`, "Date": "Tue, 03 Mar 2026 07:00:00 +0000",
				"Auto-Submitted": "auto-generated"} {
				got := m.Header.Get(name)
				if name == "Subject" {
					got, want = subject, "Fragen für Bcc: eve@example.com"
				}
				if got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			for _, line := range s.commands() {
				verb, _, _ := strings.Cut(line, " ")
				if verb != "EHLO" && verb != "STARTTLS" && !strings.HasSuffix(line, "tls=true") {
					t.Errorf("in the clear: %s", line)
				}
			}
			if err := only(t, s.config()).Reach(t.Context()); err != nil || len(s.received()) != 1 {
				t.Errorf("reached: %v, %d messages", err, len(s.received()))
			}
		})
	}
}

// A server on this machine may have a certificate that it made itself, as packages of mail servers do.
func TestMailOnThisMachine(t *testing.T) {
	t.Parallel()
	for _, implicit := range []bool{false, true} {
		s := serveMail(t, func(s *mailServer) { s.implicit = implicit })
		config := s.config()
		config.Roots = x509.NewCertPool()
		if err := only(t, config).Send(t.Context(), "k", hello); err != nil || len(s.received()) != 1 {
			t.Errorf("implicit TLS %v: %v, it has %d messages", implicit, err, len(s.received()))
		}
	}
}

// Errors of a server include advice; the password is sent only to a verified server, or to one on this machine.
func TestMailRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		set       func(*mailServer)
		change    func(*notify.Config)
		want      string
		permanent bool
		reachable bool
	}{
		{name: "password", change: func(c *notify.Config) { c.Password = "wrong wrong wrong" },
			want: "check SIA_NOTIFY_SMTP_PASSWORD"},
		// 0.0.0.0 connects to this machine, but is no loopback name
		{name: "untrusted", set: func(s *mailServer) { s.address = "0.0.0.0" }, want: "SSL_CERT_FILE",
			change: func(c *notify.Config) { c.Roots = x509.NewCertPool() }},
		{name: "in the clear", set: func(s *mailServer) { s.plain, s.address = true, "0.0.0.0" },
			want: "it offers no STARTTLS"},
		{name: "name", set: refuse("EHLO", "421 4.7.0 Try again later"),
			want: "it refuses a server that calls itself example.com, the domain of --notify-from"},
		{name: "tokens alone", set: func(s *mailServer) { s.auth = "XOAUTH2" },
			want: "a user signs in by XOAUTH2 there, and SIA knows PLAIN and LOGIN"},
		{name: "sender", set: refuse("MAIL", "550 no"), want: "check --notify-from"},
		{name: "recipient", set: refuse("RCPT", "550 no"), permanent: true,
			want: "it sends nothing to anna@example.com, bert@example.com; check --notify-to"},
		{name: "later", set: refuse("DATA", "451 later"), want: "SIA tries again", reachable: true},
		{name: "too large", set: refuse(".", "552 too large"), want: "it did not take the message", permanent: true,
			reachable: true},
		{name: "full", set: refuse(".", "452 disk full"), want: "it did not take the message", reachable: true},
		{name: "endless", set: refuse("EHLO", strings.Repeat("250-and\r\n", 1<<20)), want: "too much"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serveMail(t, func(s *mailServer) {
				if c.set != nil {
					c.set(s)
				}
			})
			config := s.config()
			if c.change != nil {
				c.change(&config)
			}
			channel := only(t, config)
			err := channel.Send(t.Context(), "k", hello)
			if err == nil || !strings.Contains(err.Error(), c.want) || sia.IsPermanent(err) != c.permanent {
				t.Errorf("%v, want %q", err, c.want)
			}
			if err := channel.Reach(t.Context()); (err == nil) != c.reachable {
				t.Errorf("reached: %v", err)
			}
			for _, line := range s.commands() {
				if strings.HasPrefix(line, "AUTH") && !strings.HasSuffix(line, "tls=true") {
					t.Errorf("in the clear: %s", line)
				}
			}
		})
	}
}

func refuse(verb, answer string) func(*mailServer) {
	return func(s *mailServer) { s.refuse = map[string]string{verb: answer} }
}

// A permanently rejected address does not block the others. It is logged, and Reach reports it.
func TestMailboxIsGone(t *testing.T) {
	t.Parallel()
	s := serveMail(t, refuse("RCPT TO:<anna@example.com>", "550 5.1.1 no such user"))
	r := newFixture(t)
	r.ask(1, "One")
	tell := r.notifier(s.config())
	tell()
	r.now = r.now.Add(2 * time.Minute)
	tell()
	const fix = "it sends nothing to anna@example.com; check --notify-to"
	if len(s.received()) != 1 || !slices.Contains(s.commands(), "RCPT TO:<bert@example.com> tls=true") ||
		!strings.Contains(r.log.String(), fix) {
		t.Errorf("%d messages, %q; the log says:\n%s", len(s.received()), s.commands(), r.log.String())
	}
	if err := only(t, s.config()).Reach(t.Context()); err == nil || !strings.Contains(err.Error(), fix) {
		t.Errorf("reached: %v", err)
	}
}

// An unresponsive server is waited for until the context ends.
func TestMailHangs(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	silent := make(chan struct{})
	s := serveMail(t, func(s *mailServer) {
		s.onCommand = func(verb string) {
			if verb == "RCPT" {
				cancel()
				<-silent
			}
		}
	})
	err := only(t, s.config()).Send(ctx, "k", hello)
	close(silent)
	if err == nil || len(s.received()) != 0 {
		t.Errorf("%v, %d messages", err, len(s.received()))
	}
}

// A failing chat does not block e-mail, and e-mail is not sent again when the chat works again.
func TestChannelsAreApart(t *testing.T) {
	t.Parallel()
	s := serveMail(t, func(*mailServer) {})
	r := newFixture(t)
	r.ask(1, "One")
	config := s.config()
	config.URL = r.chat.URL + path
	r.chat.answers(func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusBadGateway) })
	tell := r.notifier(config)
	tell()
	r.chat.answers(nil)
	r.now = r.now.Add(2 * time.Minute)
	tell()
	want(t, "the chat", r.chat.said(), append(needs(1), needs(1)...)...)
	if len(s.received()) != 1 || !strings.Contains(s.received()[0], "Subject: "+needs(1)[0]) {
		t.Errorf("e-mail: %q", s.received())
	}
}
