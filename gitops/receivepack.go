package gitops

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// The pushing half of the protocol, version 0:
// https://git-scm.com/docs/gitprotocol-http, /gitprotocol-pack.

// refAdvertisement is what a server advertises before a push.
type refAdvertisement struct {
	head plumbing.Hash // of the branch; zero when it does not exist
	caps map[string]bool
	refs map[plumbing.Hash]bool // heads of all branches and tags
}

func (a refAdvertisement) has(h plumbing.Hash) bool { return a.refs[h] }

// maxRefs bounds how many refs of a server are read.
const maxRefs = 2_000_000

// discoverRefs asks the server for its refs, its capabilities and its present address.
func (r *Repo) discoverRefs(ctx context.Context, op, ref string) (base *url.URL, a refAdvertisement, err error) {
	base = r.url
	if known, ok := r.cache.servers.Load(r.serverKey()); ok {
		base = known.(server).base
	}
	q := gitRequest{op: op, service: "git-receive-pack", timeout: r.cache.question}
	var at *url.URL
	err = r.retry(ctx, func() (err error) {
		a = refAdvertisement{caps: map[string]bool{}, refs: map[plumbing.Hash]bool{}}
		at, err = r.readAnswer(ctx, base, q, func(p *pktReader) error { return a.read(p, ref) })
		return err
	})
	return at, a, err
}

// read parses "# service=…", a flush, then lines "<sha> <ref>". The first of them carries the capabilities after a NUL.
func (a *refAdvertisement) read(p *pktReader, ref string) error {
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
			return fmt.Errorf("%w: ref %s", errPkt, cleanText(line, 100))
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

// refUpdate moves a ref from old to new; a zero old creates it.
type refUpdate struct {
	ref      string
	old, new plumbing.Hash
	caps     map[string]bool // of the server
}

// pushReport is the server's answer to an update.
type pushReport struct {
	unpack string // "ok" or why the pack was refused
	ref    string // "ok" or why the ref was not moved
	said   string // output of hooks
}

func (r pushReport) ok() bool { return r.unpack == "ok" && r.ref == "ok" }

// reason is the server's explanation.
func (r pushReport) reason() string {
	why := r.ref
	if r.unpack != "ok" {
		why = "pack refused: " + r.unpack
	}
	if said := cleanText(withoutBoilerplate(r.said), 600); said != "" {
		why += ": " + said
	}
	return cleanText(why, 800)
}

// withoutBoilerplate removes horizontal rules, links to documentation, and the commit's hash, which is on no server,
// from the output of hooks: GitHub names the file only after a screenful of those.
func withoutBoilerplate(said string) string {
	var lines []string
	for line := range strings.Lines(said) {
		line = strings.Trim(strings.ReplaceAll(line, "remote:", ""), " \r\n—")
		aside := func(start string) bool { return strings.HasPrefix(line, start) }
		if !slices.ContainsFunc([]string{"(?)", "https://", "- commit:"}, aside) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// sendUpdate sends the update with its pack.
func (r *Repo) sendUpdate(
	ctx context.Context, op string, base *url.URL, cmd refUpdate, pack io.Reader, size int64,
) (rep pushReport, err error) {
	if !cmd.caps["report-status"] || !cmd.caps["side-band-64k"] {
		return rep, &ServerError{Op: op, URL: r.shownURL(), Status: 200,
			Detail: "the server does not report what becomes of a push"}
	}
	var head pktBuffer
	head.linef("%s %s %s\x00report-status side-band-64k agent=sia", cmd.old, cmd.new, cmd.ref)
	head.flush()
	q := gitRequest{
		op: op, service: "git-receive-pack", timeout: transferTimeout,
		body: io.MultiReader(bytes.NewReader(head.Bytes()), pack), size: int64(head.Len()) + size,
	}
	_, err = r.readAnswer(ctx, base, q, func(p *pktReader) error {
		band := &sidebandReader{pkts: p}
		err := rep.read(newPktReader(band), cmd.ref)
		_, _ = io.Copy(io.Discard, band) // hooks may print after the report
		rep.said = string(band.said)
		return err
	})
	return rep, err
}

func (r *pushReport) read(p *pktReader, ref string) error {
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
			r.unpack = cleanText(rest, 300)
		case word == "ok" && name == ref:
			r.ref = "ok"
		case word == "ng" && name == ref:
			r.ref = cleanText(why, 300)
		}
	}
}
