package github

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// enterprisePath is the path of the REST API on GitHub Enterprise Server.
const enterprisePath = "/api/v3/"

// APIAddress returns the REST API's address for the web address of a GitHub: api.github.com for github.com,
// api.TENANT.ghe.com for TENANT.ghe.com (data residency), and /api/v3/ on the same host for a GitHub Enterprise
// Server.
//
// https://docs.github.com/en/enterprise-cloud@latest/admin/data-residency/feature-overview-for-github-enterprise-cloud-with-data-residency#api-access
func APIAddress(web string) string {
	u, err := url.Parse(strings.TrimRight(web, "/"))
	if err != nil {
		return web
	}
	if host := strings.ToLower(u.Host); host == "github.com" || strings.HasSuffix(host, ".ghe.com") {
		return u.Scheme + "://api." + strings.TrimPrefix(host, "api.") + "/"
	}
	return u.String() + enterprisePath
}

// endpoints parses the REST API's address and derives the address for clones: github.com for api.github.com,
// tenant.ghe.com for api.tenant.ghe.com, and the same host elsewhere.
//
// https://docs.github.com/en/enterprise-server/rest/using-the-rest-api/getting-started-with-the-rest-api
func endpoints(base string) (api, clone *url.URL, err error) {
	if base == "" {
		base = "https://api.github.com/"
	}
	if api, err = httpURL(base); err != nil {
		return nil, nil, err
	}
	api.Host = strings.ToLower(api.Host)
	clone = &url.URL{Scheme: api.Scheme, Host: api.Host, Path: "/"}
	if h := api.Hostname(); h == "api.github.com" || (strings.HasPrefix(h, "api.") && strings.HasSuffix(h, ".ghe.com")) {
		clone.Host = strings.TrimPrefix(api.Host, "api.")
	} else if p, ok := strings.CutSuffix(api.Path, enterprisePath); ok {
		clone.Path = p + "/"
	}
	return api, clone, nil
}

// graphqlURL returns the GraphQL endpoint that belongs to a REST API: /api/graphql on GitHub Enterprise Server,
// /graphql elsewhere.
func graphqlURL(api *url.URL) string {
	u := *api
	if p, ok := strings.CutSuffix(u.Path, enterprisePath); ok {
		u.Path = p + "/api/graphql"
	} else {
		u.Path += "graphql"
	}
	return u.String()
}

// httpURL parses an http or https address and adds a slash to the end of its path.
func httpURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, err
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return nil, fmt.Errorf("%s is not an http or https address without user and query", u.Redacted())
	}
	if !strings.HasSuffix(u.Path, "/") {
		u.Path += "/"
	}
	return u, nil
}

// parseKey reads an RSA private key in PEM. It accepts line breaks that an environment variable holds as \n.
func parseKey(b []byte) (*rsa.PrivateKey, error) {
	if !strings.Contains(string(b), "\n") {
		b = []byte(strings.ReplaceAll(string(b), `\n`, "\n"))
	}
	block, _ := pem.Decode(b)
	if block == nil {
		return nil, errors.New("no PEM block in it")
	}
	if k, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return k, nil
	}
	k, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("a %q block that holds no private key", block.Type)
	}
	rk, ok := k.(*rsa.PrivateKey)
	if !ok {
		return nil, errors.New("the key is not an RSA key")
	}
	return rk, nil
}
