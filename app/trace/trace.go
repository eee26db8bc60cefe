// Package trace exports what SIA does as OpenTelemetry traces: one trace for each task, in it a span for each try of an
// effect, and below that one for each call of a model, with the attributes of the GenAI conventions.
//
// A task lives for days, in several processes. So its trace and the span at its root are named after the task, and each
// process adds the spans of what it does. The root is exported when the task has ended, once, whatever people are shown
// afterwards; a task that is taken up again exports it once more.
//
// Nothing is exported unless an endpoint is set. A span holds names, numbers and masked errors: no code, no prompt and
// no answer. The package sees effects and calls of models alone. It may import app/store, agent/llm and sia.
//
// Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/.
package trace

import (
	"context"
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

// Config says where spans go.
type Config struct {
	Endpoint string            // base URL of an OTLP receiver, such as http://localhost:4318; empty: nothing is exported
	Headers  map[string]string // sent with each export, such as an authorization
	Version  string            // of this program
	Mask     sia.Mask          // required: takes secrets out of the texts of errors
	Logger   *slog.Logger      // required: it is told when exports fail
	Now      func() time.Time  // required
	Kept     Kept              // required
}

// Kept remembers which end of a task was exported: the present process may not be the one that did it. [store.Store] is
// one.
type Kept interface {
	Surface(ctx context.Context, id sia.TaskID, kind string) (githubID int64, hash string, err error)
	SaveSurface(ctx context.Context, id sia.TaskID, kind string, githubID int64, hash string) error
}

// Tracer makes and exports spans. Its methods are safe for concurrent use, and do nothing on nil.
type Tracer struct {
	mask     sia.Mask
	now      func() time.Time
	kept     Kept
	provider *sdk.TracerProvider
	spans    trace.Tracer
}

// New starts to export in the background; nil when no endpoint is set. What can't be exported in time is dropped:
// nothing waits for the receiver.
func New(c Config) (*Tracer, error) {
	if c.Endpoint == "" {
		return nil, nil //nolint:nilnil // that nothing is traced is an answer
	}
	to, err := newExporter(c.Endpoint, c.Headers)
	if err != nil {
		return nil, err
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		c.Logger.Warn("traces not exported", "error", err)
	}))
	provider := sdk.NewTracerProvider(sdk.WithBatcher(to), sdk.WithIDGenerator(ids{}), sdk.WithResource(
		resource.NewSchemaless(attribute.String("service.name", "sia"), attribute.String("service.version", c.Version))))
	return &Tracer{c.Mask, c.Now, c.Kept, provider, provider.Tracer("github.com/sia-bot/sia")}, nil
}

// Close exports what is left, until ctx ends.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// Handler carries an effect out: [store.Handlers].
type Handler = func(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error)

// Effect returns next with a span around it.
func (t *Tracer) Effect(next Handler) Handler {
	if t == nil {
		return next
	}
	return func(ctx context.Context, task sia.Task, f sia.Effect) (fact sia.Fact, err error) {
		id := idsOf(task.ID)
		of := []attribute.KeyValue{attribute.String("sia.task", string(task.ID)),
			attribute.String("vcs.repository.name", task.Repo.String()), attribute.Int("sia.issue", task.Issue)}
		if task.State.Final() && f.Kind == sia.DoSync { // people are shown how it ended
			if err := t.rootOnce(ctx, task, id, of); err != nil {
				otel.Handle(err)
			}
		}
		ctx, span := t.spans.Start(trace.ContextWithRemoteSpanContext(ctx, id), string(f.Kind),
			trace.WithTimestamp(t.now()), trace.WithAttributes(of...),
			trace.WithAttributes(attribute.String("sia.effect", f.Key), attribute.Int("sia.attempt", f.Attempt)))
		defer func() { t.end(span, err) }()
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

// rootOnce exports the span of a whole task, unless it was exported since the task ended.
func (t *Tracer) rootOnce(ctx context.Context, task sia.Task, id trace.SpanContext, of []attribute.KeyValue) error {
	ended := task.Since.UTC().Format(time.RFC3339Nano)
	_, last, err := t.kept.Surface(ctx, task.ID, store.SurfaceTrace)
	if err != nil || last == ended {
		return err
	}
	if err := t.kept.SaveSurface(ctx, task.ID, store.SurfaceTrace, 0, ended); err != nil {
		return err
	}
	t.root(ctx, task, id, of)
	return nil
}

// root exports the span of a whole task.
func (t *Tracer) root(ctx context.Context, task sia.Task, id trace.SpanContext, of []attribute.KeyValue) {
	ctx = context.WithValue(ctx, rootKey{}, id)
	_, span := t.spans.Start(ctx, "task", trace.WithNewRoot(), trace.WithTimestamp(task.CreatedAt),
		trace.WithAttributes(of...), trace.WithAttributes(attribute.String("sia.state", string(task.State)),
			attribute.Int("sia.attempts", len(task.Attempts))))
	span.End(trace.WithTimestamp(t.now()))
}

// Call exports a call of a model that has ended; it is for [llm.Config]. One that no effect made is left out.
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

// end ends the span of an effect.
func (t *Tracer) end(span trace.Span, err error) {
	switch {
	case errors.Is(err, context.Canceled):
		span.SetAttributes(attribute.String("error.type", "cancelled"))
	case err != nil:
		span.SetStatus(codes.Error, t.mask(err.Error()))
	}
	span.End(trace.WithTimestamp(t.now()))
}

// idsOf are the names of a task's trace and of the span at its root.
func idsOf(id sia.TaskID) trace.SpanContext {
	sum := sha256.Sum256(fmt.Appendf(nil, "sia task %s", id))
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID(sum[:16]), SpanID: trace.SpanID(sum[16:24]),
		TraceFlags: trace.FlagsSampled, Remote: true})
}
