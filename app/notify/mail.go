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
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// mailer is a Channel: a server that sends e-mail, over TLS. A server on this machine may do without.
type mailer struct {
	host, port     string
	tls            bool   // from the first byte on; otherwise STARTTLS
	user, password string // user "": nobody signs in
	from           *mail.Address
	to             []*mail.Address
	roots          *x509.CertPool
	now            func() time.Time
}

// mostSaid is how much a server may say in one conversation, in bytes, certificates included.
const mostSaid = 1 << 20

// Name implements Channel.
func (*mailer) Name() string { return "mail" }

// Send implements Channel. All are sent one message, or, where one address is refused, none.
func (m *mailer) Send(ctx context.Context, key string, n render.Notice) error {
	message, err := m.message(key, n)
	if err != nil {
		return err
	}
	return m.talk(ctx, func(c *smtp.Client) error {
		w, err := c.Data()
		if err != nil {
			return m.error("it takes no messages now; SIA tries again", err)
		}
		_, err = w.Write(message)
		if err = errors.Join(err, w.Close()); err != nil {
			var said *textproto.Error
			e := m.error("it did not take the message", err)
			e.Permanent = errors.As(err, &said) && said.Code >= 500
			return e
		}
		_ = c.Quit() // the message is taken, whatever it says to goodbye
		return nil
	})
}

// Reach implements Channel: everything is said but the message.
func (m *mailer) Reach(ctx context.Context) error {
	return m.talk(ctx, func(c *smtp.Client) error {
		if err := c.Reset(); err != nil {
			return m.error("it ended the conversation", err)
		}
		_ = c.Quit() // nothing was to be done
		return nil
	})
}

// talk begins a conversation up to where a message may follow, and has then go on.
func (m *mailer) talk(ctx context.Context, then func(*smtp.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(m.host, m.port))
	if err != nil {
		return m.error(unreachable(err), err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // whatever waits for the server ends
	c, err := m.greet(ctx, &boundedConn{Conn: conn, left: mostSaid})
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Mail(m.from.Address); err != nil {
		return m.error("it sends nothing from "+m.from.Address+"; check --notify-from", err)
	}
	for _, to := range m.to {
		if err := c.Rcpt(to.Address); err != nil {
			return m.error("it sends nothing to "+to.Address+"; check --notify-to", err)
		}
	}
	return then(c)
}

// greet encrypts the connection and signs in.
func (m *mailer) greet(ctx context.Context, conn net.Conn) (*smtp.Client, error) {
	secured := &tls.Config{ServerName: m.host, RootCAs: m.roots, MinVersion: tls.VersionTLS12}
	if m.tls {
		over := tls.Client(conn, secured)
		if err := over.HandshakeContext(ctx); err != nil {
			return nil, m.error(unreachable(err), err)
		}
		conn = over
	}
	c, err := smtp.NewClient(conn, m.host)
	if err != nil {
		return nil, m.error("it does not speak SMTP like this; smtps:// is for TLS from the first byte on (port 465), "+
			"smtp:// for STARTTLS (port 587)", err)
	}
	if !m.tls {
		offered, _ := c.Extension("STARTTLS")
		switch {
		case offered:
			if err := c.StartTLS(secured); err != nil {
				return nil, m.error(unreachable(err), err)
			}
		case !local(m.host):
			return nil, m.error("it offers no STARTTLS, and SIA sends nothing in the clear; give a port that has it, or "+
				"smtps://", nil)
		}
	}
	if m.user != "" {
		if err := c.Auth(smtp.PlainAuth("", m.user, m.password, m.host)); err != nil {
			return nil, m.error("it does not accept the user "+m.user+" with this password; check SIA_NOTIFY_SMTP_PASSWORD", err)
		}
	}
	return c, nil
}

// local reports whether a host is this machine.
func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// message is a notice as e-mail has it (RFC 5322). The same key gives the same Message-ID, so that a mailbox
// can tell a message that it was sent twice.
func (m *mailer) message(key string, n render.Notice) ([]byte, error) {
	var to []string
	for _, a := range m.to {
		to = append(to, a.String())
	}
	_, domain, _ := strings.Cut(m.from.Address, "@")
	var b bytes.Buffer
	for _, h := range [][2]string{
		{"From", m.from.String()}, {"To", strings.Join(to, ",\r\n ")},
		{"Subject", mime.QEncoding.Encode("utf-8", text.OneLine(n.Title))},
		{"Date", m.now().UTC().Format(time.RFC1123Z)},
		{"Message-ID", fmt.Sprintf("<%x@%s>", sha256.Sum256([]byte(key)), domain)},
		{"Auto-Submitted", "auto-generated"}, // nobody's absence is answered (RFC 3834)
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

// boundedConn ends a conversation in which the other side says too much.
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
