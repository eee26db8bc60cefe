// Package trace exports OpenTelemetry traces: one trace for each task, in it a span for each try of an effect, and
// below that one for each model call, with the attributes of the GenAI conventions.
//
// A task lives for days, in several processes. So the ids of its trace and root span are derived from the task, and
// each process adds its own spans. The root span is exported once, when the task has ended; a task that is reopened
// exports it again when it ends.
//
// Nothing is exported unless an endpoint is set. A span contains names, numbers and masked errors: no code, no prompt
// and no answer. The package handles only effects and model calls. It may import app/store, agent/llm and sia.
//
// Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/.
package trace

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// Config configures a [Tracer].
type Config struct {
	Endpoint string            // base URL of an OTLP receiver, such as http://localhost:4318; empty: nothing is exported
	Headers  map[string]string // sent with each export, such as an authorization
	Version  string            // of this program
	Mask     sia.Mask          // required: removes secrets from error messages
	Logger   *slog.Logger      // required: logs failed exports
	Now      func() time.Time  // required
	Store    Store             // required
}

// Store stores which end of a task was exported, perhaps by another process. [store.Store] implements it.
type Store interface {
	Surface(ctx context.Context, id sia.TaskID, kind string) (githubID int64, hash string, err error)
	SaveSurface(ctx context.Context, id sia.TaskID, kind string, githubID int64, hash string) error
}

// Tracer creates and exports spans. Its methods are safe for concurrent use, and do nothing on nil.
type Tracer struct {
	mask     sia.Mask
	now      func() time.Time
	store    Store
	provider *sdk.TracerProvider
	spans    trace.Tracer
}

// New returns a tracer that exports in the background; nil when no endpoint is set. Spans that can't be exported in
// time are dropped: nothing waits for the receiver.
func New(c Config) (*Tracer, error) {
	if c.Endpoint == "" {
		return nil, nil //nolint:nilnil // nil is a valid tracer
	}
	to, err := newExporter(c.Endpoint, c.Headers)
	if err != nil {
		return nil, err
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		c.Logger.Warn("traces not exported", "error", err)
	}))
	provider := sdk.NewTracerProvider(sdk.WithBatcher(to), sdk.WithIDGenerator(ids{}), sdk.WithResource(
		resource.NewSchemaless(attribute.String("service.name", "sia"), attribute.String("service.version", c.Version),
			attribute.String("service.instance.id", rand.Text()))))
	return &Tracer{c.Mask, c.Now, c.Store, provider, provider.Tracer("github.com/sia-bot/sia")}, nil
}

// Close exports the remaining spans, until ctx ends.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// Handler carries out an effect; see [store.Handlers].
type Handler = func(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error)

// Effect wraps next in a span.
func (t *Tracer) Effect(next Handler) Handler {
	if t == nil {
		return next
	}
	return func(ctx context.Context, task sia.Task, f sia.Effect) (fact sia.Fact, err error) {
		id := idsOf(task.ID)
		of := []attribute.KeyValue{attribute.String("sia.task", string(task.ID)),
			attribute.String("vcs.repository.name", task.Repo.String()), attribute.Int("sia.issue", task.Issue)}
		if task.State.Final() && f.Kind == sia.DoSync { // the effect that reports the end to users
			if err := t.exportEnded(ctx, task, id, of); err != nil {
				otel.Handle(err)
			}
		}
		ctx, span := t.spans.Start(trace.ContextWithRemoteSpanContext(ctx, id), string(f.Kind),
			trace.WithTimestamp(t.now()), trace.WithAttributes(of...),
			trace.WithAttributes(attribute.String("sia.effect", f.Key), attribute.Int("sia.attempt", f.Attempt)))
		defer func() { t.endSpan(span, err) }()
		if f.Kind == sia.DoAttempt {
			span.SetAttributes(attribute.String("gen_ai.operation.name", "invoke_agent"))
		}
		fact, err = next(ctx, task, f)
		if ended, ok := fact.(sia.AttemptEnded); ok {
			span.SetAttributes(attribute.String("gen_ai.agent.name", ended.Agent), attribute.Int("sia.turns", ended.Turns),
				attribute.Float64("sia.credits", float64(ended.Cost)/float64(sia.Credit)),
				attribute.String("sia.end", string(ended.End)))
		}
		return fact, err
	}
}

// exportEnded exports the root span of an ended task, unless it was exported since the task ended.
func (t *Tracer) exportEnded(ctx context.Context, task sia.Task, id trace.SpanContext, of []attribute.KeyValue) error {
	ended := task.Since.UTC().Format(time.RFC3339Nano)
	_, last, err := t.store.Surface(ctx, task.ID, store.SurfaceTrace)
	if err != nil || last == ended {
		return err
	}
	if err := t.store.SaveSurface(ctx, task.ID, store.SurfaceTrace, 0, ended); err != nil {
		return err
	}
	t.exportRoot(ctx, task, id, of)
	return nil
}

// exportRoot exports the root span of a task.
func (t *Tracer) exportRoot(ctx context.Context, task sia.Task, id trace.SpanContext, of []attribute.KeyValue) {
	ctx = context.WithValue(ctx, rootKey{}, id)
	_, span := t.spans.Start(ctx, "task", trace.WithNewRoot(), trace.WithTimestamp(task.CreatedAt),
		trace.WithAttributes(of...), trace.WithAttributes(attribute.String("sia.state", string(task.State)),
			attribute.Int("sia.attempts", len(task.Attempts))))
	span.End(trace.WithTimestamp(t.now()))
}

// Call exports a finished model call; it is for [llm.Config]. Calls outside of an effect are ignored.
func (t *Tracer) Call(ctx context.Context, c llm.Call) {
	if t == nil || !trace.SpanContextFromContext(ctx).IsValid() {
		return
	}
	now := t.now()
	_, span := t.spans.Start(ctx, "chat "+c.Model, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithTimestamp(now.Add(-c.Took)), trace.WithAttributes(
			attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.provider.name", c.Provider),
			attribute.String("gen_ai.request.model", c.Model), attribute.String("server.address", c.Host),
			attribute.Int("gen_ai.usage.input_tokens", c.Usage.Input),
			attribute.Int("gen_ai.usage.cache_read.input_tokens", c.Usage.CachedInput),
			attribute.Int("gen_ai.usage.cache_creation.input_tokens", c.Usage.CacheWrite),
			attribute.Int("gen_ai.usage.output_tokens", c.Usage.Output), attribute.String("sia.model", c.Client)))
	if c.Finish != "" {
		span.SetAttributes(attribute.StringSlice("gen_ai.response.finish_reasons", []string{c.Finish}))
	}
	if c.Failed != "" {
		span.SetAttributes(attribute.String("error.type", string(c.Failed)))
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(now))
}

// endSpan ends the span of an effect.
func (t *Tracer) endSpan(span trace.Span, err error) {
	switch {
	case errors.Is(err, context.Canceled):
		span.SetAttributes(attribute.String("error.type", "cancelled"))
	case err != nil:
		span.SetStatus(codes.Error, t.mask(err.Error()))
	}
	span.End(trace.WithTimestamp(t.now()))
}

// InTask returns a context in which calls belong to a task, without an effect.
func InTask(ctx context.Context, id sia.TaskID) context.Context {
	return trace.ContextWithRemoteSpanContext(ctx, idsOf(id))
}

// idsOf returns the ids of a task's trace and root span.
func idsOf(id sia.TaskID) trace.SpanContext {
	sum := sha256.Sum256(fmt.Appendf(nil, "sia task %s", id))
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID(sum[:16]), SpanID: trace.SpanID(sum[16:24]),
		TraceFlags: trace.FlagsSampled, Remote: true})
}
