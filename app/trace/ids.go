package trace

import (
	"context"
	"crypto/rand"

	"go.opentelemetry.io/otel/trace"
)

// rootKey is the context key of the ids for a root span.
type rootKey struct{}

// ids generates span ids: for the root of a task's trace those in the context, for all others random ones.
type ids struct{}

// NewIDs implements sdk.IDGenerator for spans without a parent.
func (i ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if root, ok := ctx.Value(rootKey{}).(trace.SpanContext); ok {
		return root.TraceID(), root.SpanID()
	}
	var id trace.TraceID
	_, _ = rand.Read(id[:]) // never fails
	return id, i.NewSpanID(ctx, id)
}

// NewSpanID implements sdk.IDGenerator.
func (ids) NewSpanID(context.Context, trace.TraceID) (id trace.SpanID) {
	_, _ = rand.Read(id[:])
	return id
}
