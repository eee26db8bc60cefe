package trace

import (
	"context"
	"crypto/rand"

	"go.opentelemetry.io/otel/trace"
)

// rootKey is the context's key of the names that a root span gets.
type rootKey struct{}

// ids names spans: those at the root of a task's trace as their context says, all others at random.
type ids struct{}

// NewIDs implements sdk.IDGenerator for spans without a parent.
func (i ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if root, ok := ctx.Value(rootKey{}).(trace.SpanContext); ok {
		return root.TraceID(), root.SpanID()
	}
	var id trace.TraceID
	_, _ = rand.Read(id[:]) // it never fails
	return id, i.NewSpanID(ctx, id)
}

// NewSpanID implements sdk.IDGenerator.
func (ids) NewSpanID(context.Context, trace.TraceID) (id trace.SpanID) {
	_, _ = rand.Read(id[:])
	return id
}
