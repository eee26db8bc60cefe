package gitops

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// The pushing half of the protocol, version 0:
// https://git-scm.com/docs/gitprotocol-http, /gitprotocol-pack.

// refAdvertisement is what a server advertises before a push.
type refAdvertisement struct {
	base *url.URL      // the repository's present address
	head plumbing.Hash // of the branch; zero when it does not exist
	caps map[string]bool
	refs map[plumbing.Hash]bool // heads of all branches and tags
	// full name of a ref beside which the branch can't exist, because one name is the folder of the other; empty: none
	clash string
}

func (a refAdvertisement) has(h plumbing.Hash) bool { return a.refs[h] }

// maxRefs bounds how many refs of a server are read.
const maxRefs = 2_000_000

// discoverRefs asks the server for its refs, its capabilities and its present address.
func (c *client) discoverRefs(ctx context.Context, op, ref string) (a refAdvertisement, err error) {
	base := c.url
	if known, ok := c.cache.servers.Load(c.serverKey()); ok {
		base = known.(server).base
	}
	q := gitRequest{op: op, service: "git-receive-pack", timeout: c.cache.question}
	err = c.retry(ctx, func() (err error) {
		a = refAdvertisement{caps: map[string]bool{}, refs: map[plumbing.Hash]bool{}}
		a.base, err = c.readAnswer(ctx, base, q, func(p *pktReader) error { return a.read(p, ref) })
		return err
	})
	return a, err
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
		switch {
		case name == ref:
			a.head = h
		case strings.HasPrefix(ref, name+"/") || strings.HasPrefix(name, ref+"/"):
			a.clash = name
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
}

// pushReport is the server's answer to an update.
type pushReport struct {
	unpack string // "ok" or why the pack was refused
	ref    string // "ok" or why the ref was not moved
	said   string // output of hooks
}

func (r pushReport) ok() bool { return r.unpack == "ok" && r.ref == "ok" }

// isFault reports whether the server failed, and did not refuse the update: it does not report on the ref, or has no
// reason but its own failure.
// https://github.com/isaacs/github/issues/1741
// https://github.com/github-education-resources/GitHubGraduation-2021/issues/7881
func (r pushReport) isFault() bool {
	said := strings.ToLower(r.said)
	return r.ref == "" && (r.unpack == "" || r.unpack == "ok") || r.ref == "failure" ||
		strings.Contains(said, "internal server error") || strings.Contains(said, "fatal error in commit_refs")
}

// reason is the server's explanation.
func (r pushReport) reason() string {
	why := cmp.Or(r.ref, "no report")
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

// sendPack packs objects and sends the update.
func (c *client) sendPack(ctx context.Context, op string, at refAdvertisement, u refUpdate, objs []newObject) error {
	// The length must be known in advance: not every server accepts chunks.
	f, err := os.CreateTemp(c.cache.tmp(), "push-*.pack")
	if err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, _, err := writePack(f, objs); err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	size, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	if err := seekStart(f); err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	return c.sendUpdate(ctx, op, at, u, f, size)
}

// sendUpdate sends an update with its pack to the server that advertised at. A refusal is a [*RejectedError].
func (c *client) sendUpdate(
	ctx context.Context, op string, at refAdvertisement, u refUpdate, pack io.Reader, size int64,
) error {
	if !at.caps["report-status"] || !at.caps["side-band-64k"] {
		return &ServerError{Op: op, URL: c.url.String(), Status: 200,
			Detail: "the server does not report what becomes of a push"}
	}
	branch := strings.TrimPrefix(u.ref, "refs/heads/")
	if at.head.IsZero() && at.clash != "" { // GitHub has no reason for it but "failure"
		return &RejectedError{Branch: branch, Beside: cleanText(strings.TrimPrefix(at.clash, "refs/heads/"), 200),
			Reason: "one name is the folder of the other"}
	}
	var head pktBuffer
	head.linef("%s %s %s\x00report-status side-band-64k agent=sia", u.old, u.new, u.ref)
	head.flush()
	q := gitRequest{
		op: op, service: "git-receive-pack", timeout: transferTimeout,
		body: io.MultiReader(bytes.NewReader(head.Bytes()), pack), size: int64(head.Len()) + size,
	}
	var rep pushReport
	_, err := c.readAnswer(ctx, at.base, q, func(p *pktReader) error {
		band := &sidebandReader{pkts: p}
		err := rep.read(newPktReader(band), u.ref)
		_, _ = io.Copy(io.Discard, band) // hooks may print after the report
		rep.said = string(band.said)
		return err
	})
	switch {
	case err != nil || rep.ok():
	case rep.isFault():
		err = &ServerError{Op: op, URL: c.url.String(), Status: http.StatusOK, Detail: rep.reason()}
	default:
		err = &RejectedError{Branch: branch, Reason: rep.reason()}
	}
	return err
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
