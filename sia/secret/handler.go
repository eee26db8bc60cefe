package secret

import (
	"context"
	"fmt"
	"log/slog"
)

// Handler returns a log handler that masks secrets in messages and attributes before passing them to next. Keys are
// constants and not masked.
func (m *Masker) Handler(next slog.Handler) slog.Handler { return maskingHandler{next, m} }

type maskingHandler struct {
	next slog.Handler
	m    *Masker
}

func (h maskingHandler) Enabled(ctx context.Context, l slog.Level) bool {
	return h.next.Enabled(ctx, l)
}

func (h maskingHandler) Handle(ctx context.Context, r slog.Record) error {
	masked := slog.NewRecord(r.Time, r.Level, h.m.Mask(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		masked.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, masked)
}

func (h maskingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	masked := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		masked[i] = h.attr(a)
	}
	return maskingHandler{h.next.WithAttrs(masked), h.m}
}

func (h maskingHandler) WithGroup(name string) slog.Handler {
	return maskingHandler{h.next.WithGroup(name), h.m}
}

// attr returns a with secrets masked. A value of another type that would print a secret becomes the masked text.
func (h maskingHandler) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, h.m.Mask(v.String()))
	case slog.KindGroup:
		group := make([]slog.Attr, 0, len(v.Group()))
		for _, in := range v.Group() {
			group = append(group, h.attr(in))
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(group...)}
	case slog.KindAny:
		text := fmt.Sprintf("%+v", v.Any())
		if masked := h.m.Mask(text); masked != text {
			return slog.String(a.Key, masked)
		}
	}
	return slog.Attr{Key: a.Key, Value: v}
}
