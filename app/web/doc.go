// Package web is SIA's own pages: what it is doing, the timeline of a task, every
// attempt's transcript as it happens, and what became of changes of policies.
//
// Pages are made on the server from [Reader], change nothing, and need neither
// JavaScript nor a font from elsewhere; one of a running task renews itself.
// Whoever reaches them sees every repository, so they are served on the private
// listener, to this machine alone, and only to who asks for a loopback name: a
// page from elsewhere can't have a browser read them (DNS rebinding).
//
// The package may import app/store, app/render, agent, policies and sia. Start reading at
// [New].
package web
