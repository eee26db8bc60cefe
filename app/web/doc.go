// Package web is SIA's web pages: what SIA is doing and what waits for people, every task and attempt live, results of
// techniques and coders, patterns of failure, changes of policies, lessons, questions, settings and installations.
//
// The viewer is in the request's context (package viewer), and every page checks it before it reads: anything outside
// the viewer's rights is answered as if it did not exist. Pages are rendered on the server from [Reader]; a GET changes
// nothing. Actions go through [Doer], as comments on GitHub do, and end in a redirect to the page with the answer. Each
// page is also available as JSON at its address, with "Accept: application/json" or ?format=json.
//
// Nothing is loaded from other hosts, and everything works without JavaScript: with it, an open page gets server-sent
// events about changes and reloads itself.
//
// The package may import app/store, app/render, agent, gitops, policies and sia. Start reading at routes.go,
// which lists every address.
package web
