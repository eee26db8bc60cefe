package notify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// mailer is a Channel: a mail server. TLS is required, except for a server on this machine.
type mailer struct {
	host, port     string
	tls            bool   // implicit TLS; otherwise STARTTLS
	user, password string // user "": no authentication
	from           *mail.Address
	to             []*mail.Address
	roots          *x509.CertPool
	log            *slog.Logger
	now            func() time.Time
}

// maxRead is the maximum size of all responses of a server in one session, in bytes, certificates included.
const maxRead = 1 << 20

// Name implements Channel.
func (*mailer) Name() string { return "mail" }

// Send implements Channel. It sends one message to all addresses, except those that the server rejects permanently,
// which are logged.
func (m *mailer) Send(ctx context.Context, key string, n render.Notice) error {
	message, err := m.message(key, n)
	if err != nil {
		return err
	}
	return m.session(ctx, func(c *smtp.Client, taken int, refused *sia.Error) error {
		if taken == 0 {
			return refused
		}
		w, err := c.Data()
		if err != nil {
			return m.error("it takes no messages now; SIA tries again", err)
		}
		_, err = w.Write(message)
		if err = errors.Join(err, w.Close()); err != nil {
			e := m.error("it did not take the message", err)
			e.Permanent = isPermanent(err)
			return e
		}
		if refused != nil {
			m.log.WarnContext(ctx, "an address of --notify-to gets no e-mail; the others do", "error", refused)
		}
		_ = c.Quit() // the message was accepted, whatever the response
		return nil
	})
}

// Reach implements Channel: it runs a session without a message.
func (m *mailer) Reach(ctx context.Context) error {
	return m.session(ctx, func(c *smtp.Client, _ int, refused *sia.Error) error {
		if refused != nil {
			return refused
		}
		if err := c.Reset(); err != nil {
			return m.error("it ended the conversation", err)
		}
		_ = c.Quit()
		return nil
	})
}

// session opens a session up to the point where a message may follow, and calls then. taken is the number of accepted
// addresses, and refused lists those that the server rejects permanently; nil: none.
func (m *mailer) session(
	ctx context.Context, then func(c *smtp.Client, taken int, refused *sia.Error) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(m.host, m.port))
	if err != nil {
		return m.error(connectAdvice(err), err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // unblocks reads and writes
	c, err := m.connect(ctx, &boundedConn{Conn: conn, left: maxRead})
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Mail(m.from.Address); err != nil {
		return m.error("it sends nothing from "+m.from.Address+"; check --notify-from", err)
	}
	var gone []string
	var why error
	for _, to := range m.to {
		err := c.Rcpt(to.Address)
		switch {
		case isPermanent(err):
			gone, why = append(gone, to.Address), err
		case err != nil:
			return m.error("it sends nothing to "+to.Address+"; check --notify-to", err)
		}
	}
	if len(gone) == 0 {
		return then(c, len(m.to), nil)
	}
	refused := m.error("it sends nothing to "+strings.Join(gone, ", ")+"; check --notify-to", why)
	refused.Permanent = true
	return then(c, len(m.to)-len(gone), refused)
}

// isPermanent reports whether an error is a permanent one from the server.
func isPermanent(err error) bool {
	var said *textproto.Error
	return errors.As(err, &said) && said.Code >= 500
}

// connect says hello, encrypts the connection and authenticates.
func (m *mailer) connect(ctx context.Context, conn net.Conn) (*smtp.Client, error) {
	secured := &tls.Config{ServerName: m.host, RootCAs: m.roots, MinVersion: tls.VersionTLS12,
		// A server on this machine, to which SIA would speak in the clear, too, has a certificate that it made itself.
		InsecureSkipVerify: local(m.host)}
	if m.tls {
		over := tls.Client(conn, secured)
		if err := over.HandshakeContext(ctx); err != nil {
			return nil, m.error(connectAdvice(err), err)
		}
		conn = over
	}
	c, err := smtp.NewClient(conn, m.host)
	if err != nil {
		return nil, m.error("it does not speak SMTP like this; smtps:// is for TLS from the first byte on (port 465), "+
			"smtp:// for STARTTLS (port 587)", err)
	}
	if err := c.Hello(m.domain()); err != nil {
		return nil, m.error("it refuses a server that calls itself "+m.domain()+", the domain of --notify-from; check that "+
			"address, and whether it takes e-mail from this machine", err)
	}
	if !m.tls {
		offered, _ := c.Extension("STARTTLS")
		switch {
		case offered:
			if err := c.StartTLS(secured); err != nil {
				return nil, m.error(connectAdvice(err), err)
			}
		case !local(m.host):
			return nil, m.error("it offers no STARTTLS, and SIA sends nothing in the clear; give a port that has it, or "+
				"smtps://", nil)
		}
	}
	if m.user != "" {
		if err := m.signIn(c); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// signIn authenticates the user, with PLAIN if the server supports it.
func (m *mailer) signIn(c *smtp.Client) error {
	_, said := c.Extension("AUTH")
	var auth smtp.Auth
	switch ways := strings.Fields(strings.ToUpper(said)); {
	case slices.Contains(ways, "PLAIN"):
		auth = smtp.PlainAuth("", m.user, m.password, m.host)
	case slices.Contains(ways, "LOGIN"):
		auth = &login{answers: []string{m.user, m.password}}
	case len(ways) == 0:
		return m.error("nobody can sign in there; take the user out of --notify-smtp, or give a port for sending, 465 or 587",
			nil)
	default:
		return m.error("a user signs in by "+text.Clip(strings.Join(ways, " or "), 100)+" there, and SIA knows PLAIN and "+
			"LOGIN; have one of these allowed, or give another server", nil)
	}
	if err := c.Auth(auth); err != nil {
		return m.error("it does not accept the user "+m.user+" with this password; check SIA_NOTIFY_SMTP_PASSWORD", err)
	}
	return nil
}

// login is the mechanism LOGIN, which Exchange offers instead of PLAIN (MS-XLOGIN): the server asks for the user, and
// then for the password.
type login struct{ answers []string }

// Start implements smtp.Auth.
func (*login) Start(s *smtp.ServerInfo) (string, []byte, error) {
	if !s.TLS {
		return "", nil, errors.New("the connection is not encrypted")
	}
	return "LOGIN", nil, nil
}

// Next implements smtp.Auth.
func (l *login) Next(_ []byte, more bool) ([]byte, error) {
	switch {
	case !more:
		return nil, nil
	case len(l.answers) == 0:
		return nil, errors.New("it asks for more than user and password")
	}
	next := l.answers[0]
	l.answers = l.answers[1:]
	return []byte(next), nil
}

// domain returns the domain of the sender address.
func (m *mailer) domain() string { return m.from.Address[strings.LastIndex(m.from.Address, "@")+1:] }

// local reports whether a host is this machine.
func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// message formats a notice as e-mail (RFC 5322). The Message-ID depends on the key, so that mailboxes can
// detect duplicates.
func (m *mailer) message(key string, n render.Notice) ([]byte, error) {
	var to []string
	for _, a := range m.to {
		to = append(to, a.String())
	}
	var b bytes.Buffer
	for _, h := range [][2]string{
		{"From", m.from.String()}, {"To", strings.Join(to, ",\r\n ")},
		{"Subject", mime.QEncoding.Encode("utf-8", text.OneLine(n.Title))},
		{"Date", m.now().UTC().Format(time.RFC1123Z)},
		{"Message-ID", fmt.Sprintf("<%x@%s>", sha256.Sum256([]byte(key)), m.domain())},
		{"Auto-Submitted", "auto-generated"}, // prevents automatic replies (RFC 3834)
		{"MIME-Version", "1.0"}, {"Content-Type", "text/plain; charset=utf-8"},
		{"Content-Transfer-Encoding", "quoted-printable"},
	} {
		b.WriteString(h[0] + ": " + h[1] + "\r\n")
	}
	b.WriteString("\r\n")
	w := quotedprintable.NewWriter(&b)
	_, err := io.WriteString(w, n.Text)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, fmt.Errorf("write a message: %w", err)
	}
	return b.Bytes(), nil
}

func (m *mailer) error(message string, err error) *sia.Error {
	return &sia.Error{Op: "send e-mail through " + m.host, Message: message, Err: err}
}

// boundedConn limits the number of bytes that are read from the server.
type boundedConn struct {
	net.Conn
	left int // bytes
}

func (c *boundedConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errors.New("it says too much")
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}
