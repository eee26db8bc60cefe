// Package web is SIA's own pages, for people who look rather than read: what it is doing and what
// waits for them, every task and attempt as it happens, results of techniques and coders, patterns
// of failure, changes of policies, lessons, questions, settings and installations.
//
// Who looks stands in the request's context (package viewer), and every page asks that before it
// reads: what isn't the viewer's is answered like what does not exist. Pages are made on the server
// from [Reader]; a GET changes nothing. What people do there goes through [Doer], the way that their
// comments go, and ends in a redirect to the page with the answer. Each page has a JSON twin at its
// address, asked for with "Accept: application/json" or ?format=json.
//
// Nothing is loaded from elsewhere, and everything works without JavaScript: with it, an open page
// is told of changes by server-sent events and renews itself.
//
// The package may import app/store, app/render, agent, gitops, policies and sia. Start reading at routes.go,
// which lists every address.
package web
