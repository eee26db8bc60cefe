package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// uploadCommand carries out one command of protocol version 2: it sends the body and calls read with the answer. The
// first exchange with a remote is the handshake, which also finds the address of a renamed repository.
func (c *client) uploadCommand(
	ctx context.Context, op string, q gitRequest, body []byte, read func(*pktReader) error,
) error {
	q.op, q.service, q.v2 = op, "git-upload-pack", true
	return c.retry(ctx, func() error {
		for first := true; ; first = false {
			at, err := c.handshake(ctx, op)
			if err != nil {
				return err
			}
			q.body, q.size = bytes.NewReader(body), int64(len(body))
			_, err = c.readAnswer(ctx, at.base, q, read)
			var moved *ServerError
			if !first || !errors.As(err, &moved) || moved.Status/100 != 3 {
				return err
			}
			c.cache.servers.Delete(c.serverKey()) // the next handshake finds its address
		}
	})
}

// server is the result of a handshake.
type server struct {
	base    *url.URL // the repository's present address
	filters bool     // fetches can omit objects
}

// serverKey names the remote. The URL alone is ambiguous: after a rename, another repository may have it.
func (c *client) serverKey() string { return c.remote.Key + " " + c.url.String() }

// handshake finds the repository's address and makes sure that it supports version 2. It asks once per remote and
// process.
func (c *client) handshake(ctx context.Context, op string) (server, error) {
	if known, ok := c.cache.servers.Load(c.serverKey()); ok {
		return known.(server), nil
	}
	v2, filters := false, false
	q := gitRequest{op: op, service: "git-upload-pack", v2: true, timeout: c.cache.question}
	base, err := c.readAnswer(ctx, c.url, q, func(p *pktReader) (err error) {
		v2, filters, err = readHandshake(p)
		return err
	})
	switch {
	case err != nil:
		return server{}, err
	case !v2:
		return server{}, &ServerError{Op: op, URL: c.url.String(), Status: 200, Detail: "the server does not speak git " +
			"protocol version 2 (git 2.18 or newer does)"}
	}
	at := server{base, filters}
	c.cache.servers.Store(c.serverKey(), at)
	return at, nil
}

// readHandshake reads the server's capabilities and reports whether it supports version 2, and whether fetches can omit
// objects.
func readHandshake(p *pktReader) (v2, filters bool, err error) {
	for {
		line, mark, err := p.text()
		switch {
		case err != nil:
			return v2, filters, err
		case line == "version 2":
			v2 = true
		case v2 && mark == pktFlush, !v2 && mark == pktLine && !strings.HasPrefix(line, "#"):
			return v2, filters, nil
		case strings.HasPrefix(line, "fetch="):
			filters = slices.Contains(strings.Fields(strings.TrimPrefix(line, "fetch=")), "filter")
		case line == "object-format=sha256":
			return v2, filters, &remoteError{msg: "this repository uses SHA-256, which SIA cannot read yet"}
		}
	}
}

// lsRef asks for one ref; the zero hash means that it does not exist.
// https://git-scm.com/docs/protocol-v2#_ls_refs
func (c *client) lsRef(ctx context.Context, op, ref string) (plumbing.Hash, error) {
	var body pktBuffer
	body.linef("command=ls-refs\n")
	body.delim()
	body.linef("ref-prefix %s\n", ref)
	body.flush()
	var found plumbing.Hash
	err := c.uploadCommand(ctx, op, gitRequest{timeout: c.cache.question}, body.Bytes(), func(p *pktReader) error {
		found = plumbing.ZeroHash
		for {
			line, mark, err := p.text()
			if err != nil {
				return err
			}
			if mark == pktFlush {
				return nil
			}
			id, name, _ := strings.Cut(line, " ")
			if name, _, _ = strings.Cut(name, " "); name == ref {
				if found, err = parseSHA(id); err != nil {
					return fmt.Errorf("%w: ref %s", errPkt, cleanText(line, 100))
				}
			}
		}
	})
	return found, err
}

// fetchedPack is the result of a fetch: a pack in a file that the caller removes, and the commits with omitted parents.
type fetchedPack struct {
	pack    *os.File
	shallow []plumbing.Hash
	most    int64 // bytes
}

// maxHaves bounds the commits that we announce to a server. Each may reduce what has to be sent; more than a few add
// nothing.
const maxHaves = 64

// fetchRequest requests a commit and the nearest depth-1 ancestors, without the objects of haves.
type fetchRequest struct {
	want           plumbing.Hash
	depth          int
	haves, shallow []plumbing.Hash
	filter         string // of objects, such as "blob:none"; "": none
	most           int64  // bytes of the pack
}

// download carries out a fetch. A pack with more bytes than q.most is [ErrTooLarge].
// https://git-scm.com/docs/protocol-v2#_fetch
func (c *client) download(ctx context.Context, op string, q fetchRequest) (fetchedPack, error) {
	var body pktBuffer
	body.linef("command=fetch\n")
	body.delim()
	body.linef("ofs-delta\n")
	body.linef("no-progress\n")
	if len(q.haves) > 0 {
		body.linef("thin-pack\n")
	}
	for _, h := range q.shallow {
		body.linef("shallow %s\n", h)
	}
	body.linef("deepen %d\n", q.depth)
	if q.filter != "" {
		body.linef("filter %s\n", q.filter)
	}
	body.linef("want %s\n", q.want)
	for _, h := range q.haves[:min(len(q.haves), maxHaves)] {
		body.linef("have %s\n", h)
	}
	body.linef("done\n")
	body.flush()

	d := fetchedPack{most: q.most}
	pack, err := os.CreateTemp(c.cache.tmp(), "fetch-*.pack")
	if err != nil {
		return d, fmt.Errorf("%s: %w", op, err)
	}
	d.pack = pack
	err = c.uploadCommand(ctx, op, gitRequest{timeout: transferTimeout}, body.Bytes(), func(p *pktReader) error {
		d.shallow = nil
		if err := errors.Join(pack.Truncate(0), seekStart(pack)); err != nil {
			return err
		}
		return d.read(p)
	})
	if err != nil {
		d.close()
		return fetchedPack{}, err
	}
	return d, nil
}

func (d *fetchedPack) read(p *pktReader) error {
	section := ""
	for {
		line, mark, err := p.text()
		switch {
		case err != nil:
			return err
		case mark == pktFlush:
			return fmt.Errorf("%w: answer without a pack", errPkt)
		case mark != pktLine:
			section = ""
		case section == "" && line == "packfile":
			band := &sidebandReader{pkts: p}
			n, err := io.Copy(d.pack, io.LimitReader(band, d.most+1))
			if err == nil && n > d.most {
				err = ErrTooLarge
			}
			return err
		case section == "":
			section = line
		case section == "shallow-info":
			// Lines "unshallow" are ignored: to claim less history than we have costs a few bytes, to claim more would lose
			// objects.
			if id, ok := strings.CutPrefix(line, "shallow "); ok {
				h, err := parseSHA(id)
				if err != nil {
					return fmt.Errorf("%w: %s", errPkt, cleanText(line, 100))
				}
				if !slices.Contains(d.shallow, h) {
					d.shallow = append(d.shallow, h)
				}
			}
		}
	}
}

func (d *fetchedPack) close() {
	if d.pack != nil {
		d.pack.Close()
		os.Remove(d.pack.Name())
	}
}

func seekStart(f *os.File) error {
	_, err := f.Seek(0, io.SeekStart)
	return err
}
