// Package gomodule reads a file out of one version of a Go module, as the go command would fetch it: through
// the proxies of GOPROXY, and checked against the checksum database of GOSUMDB unless GONOSUMDB or
// GOPRIVATE exempt the module. So a file can be published where versions never change, and be fetched through
// the proxies of a company, or from a folder where there is no network. Nothing of the module is run or kept.
//
// It knows nothing of SIA. The protocol: https://go.dev/ref/mod#goproxy-protocol. Start reading at [Source.File].
package gomodule

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb"
	"golang.org/x/mod/sumdb/dirhash"
)

// Bounds of what a proxy may send.
const (
	zipLimit    = 16 << 20 // bytes of a module's zip
	unzipLimit  = 64 << 20 // bytes of what is in it
	sumLimit    = 1 << 20  // bytes of an answer of the checksum database
	askTimeout  = 30 * time.Second
	askTries    = 3
	askInterval = time.Second // before the second try, and twice as long before the third
)

// Source is where modules come from. It is immutable and safe for concurrent use.
type Source struct {
	proxies  string // GOPROXY
	direct   string // patterns of modules that are not asked of proxies
	unproven string // and of those that the checksum database does not know
	sumdb    string // GOSUMDB
	dir      string
	client   *http.Client
}

// FromEnv is the source that the environment says, with the go command's defaults for what it does not
// say. What the checksum database signed last is kept in the folder dir, so that it can't go back behind it.
func FromEnv(getenv func(string) string, dir string) Source {
	private := getenv("GOPRIVATE")
	return Source{
		proxies: cmp.Or(getenv("GOPROXY"), "https://proxy.golang.org,direct"),
		direct:  cmp.Or(getenv("GONOPROXY"), private), unproven: cmp.Or(getenv("GONOSUMDB"), private),
		sumdb: cmp.Or(getenv("GOSUMDB"), "sum.golang.org"), dir: dir, client: &http.Client{Timeout: askTimeout},
	}
}

// File reads a file of at most limit bytes out of a module at a version, which must be exact, as v1.2.3 is.
func (s Source) File(ctx context.Context, path, version, name string, limit int64) ([]byte, error) {
	op := fmt.Sprintf("read %s of %s@%s", name, path, version)
	if err := module.Check(path, version); err != nil {
		return nil, fmt.Errorf("%s: %w; name an exact version, such as v1.2.3", op, err)
	}
	if module.MatchPrefixPatterns(s.direct, path) {
		return nil, fmt.Errorf("%s: GONOPROXY or GOPRIVATE keep proxies from it, and SIA knows no other way to it; fetch it "+
			"and import the file", op)
	}
	packed, err := s.zip(ctx, path, version)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	if err := s.prove(ctx, z, path, version); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	f, err := z.Open(path + "@" + version + "/" + name)
	if err != nil {
		return nil, fmt.Errorf("%s: the module has no such file", op)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("the file has more than %d bytes", limit)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return b, nil
}

// errAbsent is what a proxy says that does not have something.
var errAbsent = errors.New("not found")

// zip asks the proxies for a module's zip, one after the other. After a comma the next is asked only where
// the one before does not have it, after a bar in any case.
func (s Source) zip(ctx context.Context, path, version string) ([]byte, error) {
	p, err := module.EscapePath(path)
	if err != nil {
		return nil, err
	}
	v, err := module.EscapeVersion(version)
	if err != nil {
		return nil, err
	}
	var errs []error
	for rest := s.proxies; rest != ""; {
		proxy, after, any := rest, "", false
		if i := strings.IndexAny(rest, ",|"); i >= 0 {
			proxy, after, any = rest[:i], rest[i+1:], rest[i] == '|'
		}
		rest = after
		switch proxy = strings.TrimSpace(proxy); proxy {
		case "":
			continue
		case "off":
			return nil, errors.Join(append(errs, errors.New("GOPROXY is off, so nothing is fetched; import the file"))...)
		case "direct":
			return nil, errors.Join(append(errs, errors.New("no proxy of GOPROXY has it, and SIA does not fetch modules from "+
				"where they are developed; import the file"))...)
		}
		b, err := s.ask(ctx, proxy, p+"/@v/"+v+".zip", zipLimit)
		if err == nil {
			return b, nil
		}
		errs = append(errs, err)
		if !any && !errors.Is(err, errAbsent) {
			break
		}
	}
	return nil, errors.Join(append(errs, errors.New("no proxy gave it; see GOPROXY"))...)
}

// prove compares what is in a module's zip with what the checksum database knows of it.
func (s Source) prove(ctx context.Context, z *zip.Reader, path, version string) error {
	var files []string
	left := int64(unzipLimit)
	for _, f := range z.File {
		files = append(files, f.Name)
	}
	hash, err := dirhash.Hash1(files, func(name string) (io.ReadCloser, error) {
		f, err := z.Open(name)
		return &bounded{f, &left}, err
	})
	if err != nil {
		return fmt.Errorf("the zip is damaged or too large: %w", err)
	}
	if s.sumdb == "off" || module.MatchPrefixPatterns(s.unproven, path) {
		return nil
	}
	ops, err := s.database(ctx)
	if err != nil {
		return err
	}
	lines, err := sumdb.NewClient(ops).Lookup(path, version)
	if err != nil {
		return fmt.Errorf("ask the checksum database: %w; GONOSUMDB names modules that it does not know",
			errors.Join(err, ops.failed()))
	}
	want := path + " " + version + " "
	for _, l := range lines {
		if sum, ok := strings.CutPrefix(l, want); ok {
			if sum == hash {
				return nil
			}
			return fmt.Errorf("SECURITY: the proxy gave other content (%s) than the checksum database knows (%s)", hash,
				sum)
		}
	}
	return errors.New("the checksum database says nothing of it")
}

// bounded reads until so much was read of all files together.
type bounded struct {
	io.ReadCloser
	left *int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if *b.left -= int64(n); *b.left < 0 {
		return n, fmt.Errorf("more than %d MiB are in it", unzipLimit>>20)
	}
	return n, err
}

// ask asks for what a base address has at a path, again where that may help.
func (s Source) ask(ctx context.Context, base, path string, limit int64) (b []byte, err error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "file" {
		return nil, fmt.Errorf("%.100q in GOPROXY or GOSUMDB is no address", base)
	}
	u = u.JoinPath(path)
	if u.Scheme == "file" {
		return readFile(u, limit)
	}
	wait := askInterval
	for try := 1; ; try++ {
		b, again, err := s.get(ctx, u, limit)
		if err == nil || !again || try == askTries {
			return b, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
			wait *= 2
		}
	}
}

// get asks once; again tells whether asking again may help.
func (s Source) get(ctx context.Context, u *url.URL, limit int64) (b []byte, again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, false, err
	}
	res, err := s.client.Do(req)
	if err != nil {
		var masked *url.Error
		if errors.As(err, &masked) {
			err = masked.Err // without the address, which may have a password
		}
		return nil, true, fmt.Errorf("ask %s: %w", u.Redacted(), err)
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusGone:
		return nil, false, fmt.Errorf("ask %s: %w", u.Redacted(), errAbsent)
	case res.StatusCode != http.StatusOK:
		return nil, res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests,
			fmt.Errorf("ask %s: it answers %s", u.Redacted(), res.Status)
	}
	b, err = io.ReadAll(io.LimitReader(res.Body, limit+1))
	switch {
	case err != nil:
		return nil, true, fmt.Errorf("read %s: %w", u.Redacted(), err)
	case int64(len(b)) > limit:
		return nil, false, fmt.Errorf("read %s: it has more than %d bytes", u.Redacted(), limit)
	}
	return b, false, nil
}
