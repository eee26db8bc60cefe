package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// The pushing half of the protocol, version 0:
// https://git-scm.com/docs/gitprotocol-http, /gitprotocol-pack.

// advertisement is what a server tells before a push.
type advertisement struct {
	head plumbing.Hash // of the branch; zero when it does not exist
	caps map[string]bool
	refs map[plumbing.Hash]bool // heads of all branches and tags
}

func (a advertisement) has(h plumbing.Hash) bool { return a.refs[h] }

// maxRefs bounds how many refs of a server are read.
const maxRefs = 2_000_000

// discover asks the server what it has and can do, and where it is.
func (r *Repo) discover(ctx context.Context, op, ref string) (base *url.URL, a advertisement, err error) {
	base = r.at.base
	if known, ok := r.cache.bases.Load(base.String()); ok {
		base = known.(*url.URL)
	}
	err = r.retry(ctx, func() error {
		for hop := 0; ; hop++ {
			a = advertisement{caps: map[string]bool{}, refs: map[plumbing.Hash]bool{}}
			err := r.answer(ctx, base, request{op: op, service: "git-receive-pack", timeout: r.cache.question}, func(p *pktReader) error {
				return a.read(p, ref)
			})
			var moved *redirectError
			if !errors.As(err, &moved) {
				return err
			}
			if hop == maxRedirects {
				return &ServerError{Op: op, URL: r.shown(), Status: 310, Detail: "too many redirects"}
			}
			base = moved.base
		}
	})
	return base, a, err
}

// read parses "# service=…", a flush, then "<sha> <ref>", of which the first
// carries the capabilities after a NUL.
func (a *advertisement) read(p *pktReader, ref string) error {
	first := true
	for n := 0; n < maxRefs; n++ {
		line, mark, err := p.text()
		if err != nil {
			return err
		}
		if mark == pktFlush {
			if first { // after the service line
				continue
			}
			return nil
		}
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "shallow ") {
			continue
		}
		line, caps, _ := strings.Cut(line, "\x00")
		if first {
			first = false
			for c := range strings.FieldsSeq(caps) {
				a.caps[c] = true
			}
		}
		id, name, _ := strings.Cut(line, " ")
		h, err := parseSHA(id)
		if err != nil {
			return fmt.Errorf("%w: ref %s", errPkt, clean(line, 100))
		}
		if name == ref {
			a.head = h
		}
		if !h.IsZero() {
			a.refs[h] = true
		}
	}
	return fmt.Errorf("%w: more than %d refs", errPkt, maxRefs)
}

// command moves a ref from old, zero to make it, to new.
type command struct {
	ref      string
	old, new plumbing.Hash
	caps     map[string]bool // of the server
}

// report is the server's answer to a command.
type report struct {
	unpack string // "ok" or why the pack was refused
	ref    string // "ok" or why the ref was not moved
	said   string // what hooks printed
}

func (r report) ok() bool { return r.unpack == "ok" && r.ref == "ok" }

// reason is why, in the server's words.
func (r report) reason() string {
	why := r.ref
	if r.unpack != "ok" {
		why = "pack refused: " + r.unpack
	}
	if said := clean(strings.ReplaceAll(r.said, "remote:", ""), 600); said != "" {
		why += ": " + said
	}
	return clean(why, 800)
}

// receive sends the command with its pack.
func (r *Repo) receive(ctx context.Context, op string, base *url.URL, cmd command, pack io.Reader, size int64) (rep report, err error) {
	if !cmd.caps["report-status"] {
		return rep, &ServerError{Op: op, URL: r.shown(), Status: 200, Detail: "the server does not report what becomes of a push"}
	}
	caps := "report-status agent=sia"
	banded := cmd.caps["side-band-64k"]
	if banded {
		caps += " side-band-64k"
	}
	var head pktBuffer
	head.linef("%s %s %s\x00%s", cmd.old, cmd.new, cmd.ref, caps)
	head.flush()
	q := request{
		op: op, service: "git-receive-pack", timeout: r.cache.timeout,
		body: io.MultiReader(bytes.NewReader(head.Bytes()), pack), size: int64(head.Len()) + size,
	}
	err = r.answer(ctx, base, q, func(p *pktReader) error {
		if !banded {
			return rep.read(p, cmd.ref)
		}
		band := &sideband{pkts: p}
		err := rep.read(newPktReader(band), cmd.ref)
		_, _ = io.Copy(io.Discard, band) // hooks may speak after the report
		rep.said = string(band.said)
		return err
	})
	return rep, err
}

func (r *report) read(p *pktReader, ref string) error {
	for {
		line, mark, err := p.text()
		if err != nil {
			return err
		}
		if mark == pktFlush {
			return nil
		}
		word, rest, _ := strings.Cut(line, " ")
		name, why, _ := strings.Cut(rest, " ")
		switch {
		case word == "unpack":
			r.unpack = clean(rest, 300)
		case word == "ok" && name == ref:
			r.ref = "ok"
		case word == "ng" && name == ref:
			r.ref = clean(why, 300)
		}
	}
}
