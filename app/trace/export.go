package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// Limits of an export.
const (
	exportTries   = 3
	exportTimeout = 10 * time.Second // timeout of a try
	exportPause   = time.Second      // between two tries, unless the receiver asks for more
)

// exporter sends spans as OTLP in JSON (https://opentelemetry.io/docs/specs/otlp/#otlphttp). OpenTelemetry's own
// exporter uses protobuf, and links gRPC: docs/adr/0035.
type exporter struct {
	to      *url.URL
	headers map[string]string
	client  *http.Client
	pause   time.Duration
}

func newExporter(endpoint string, headers map[string]string) (*exporter, error) {
	u, err := url.Parse(strings.TrimRight(endpoint, "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("--traces (SIA_TRACES, OTEL_EXPORTER_OTLP_ENDPOINT): the address of a receiver must begin " +
			"with http:// or https://, such as http://localhost:4318")
	}
	client := &http.Client{Timeout: exportTimeout, // no redirects: the headers are for this receiver only
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &exporter{u.JoinPath("v1", "traces"), headers, client, exportPause}, nil
}

// Reach checks whether a receiver accepts exports, by sending an empty one.
func Reach(ctx context.Context, endpoint string, headers map[string]string) error {
	e, err := newExporter(endpoint, headers)
	if err != nil {
		return err
	}
	_, err = e.post(ctx, []byte(`{"resourceSpans":[]}`))
	return errors.Join(err, e.Shutdown(ctx))
}

// ExportSpans implements sdk.SpanExporter. It retries temporary failures a few times.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	body, err := json.Marshal(requestOf(spans))
	if err != nil {
		return fmt.Errorf("encode %d spans: %w", len(spans), err)
	}
	for try := 1; ; try++ {
		retryAfter, err := e.post(ctx, body)
		if err == nil || retryAfter == 0 || try == exportTries {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(retryAfter):
		}
	}
}

// post sends spans once. retryAfter is the delay before a retry; 0: the error is permanent.
func (e *exporter) post(ctx context.Context, body []byte) (retryAfter time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.to.String(), bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("export traces: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	for k, v := range e.headers {
		req.Header.Set(k, v)
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return e.pause, fmt.Errorf("export traces: %w", err)
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 200)) // for the error message
	if resp.StatusCode < 300 {
		return 0, nil
	}
	switch resp.StatusCode { // https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		retryAfter = e.pause
		if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
			retryAfter = min(time.Duration(s)*time.Second, exportTimeout)
		}
	}
	return retryAfter, fmt.Errorf("export traces: %s answered %s: %q; check the address and headers of --traces",
		e.to.Redacted(), resp.Status, said)
}

// Shutdown implements sdk.SpanExporter.
func (e *exporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}

// The types of OTLP in JSON: ids in hexadecimal digits, 64-bit numbers as strings, enumerations as numbers.
// Source: https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto.
type (
	exportRequest struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   attributes   `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	attributes struct {
		Attributes []keyValue `json:"attributes"`
	}
	scopeSpans struct {
		Scope scope      `json:"scope"`
		Spans []spanJSON `json:"spans"`
	}
	scope struct {
		Name string `json:"name"`
	}
	spanJSON struct {
		TraceID    string     `json:"traceId"`
		SpanID     string     `json:"spanId"`
		ParentID   string     `json:"parentSpanId,omitempty"`
		Name       string     `json:"name"`
		Kind       int        `json:"kind"`
		Start      int64      `json:"startTimeUnixNano,string"`
		End        int64      `json:"endTimeUnixNano,string"`
		Attributes []keyValue `json:"attributes"`
		Status     status     `json:"status"`
	}
	status struct {
		Message string `json:"message,omitempty"`
		Code    int    `json:"code,omitempty"` // 2: error
	}
	keyValue struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
)

// requestOf returns the request for spans. All have the same resource and scope, because there is one tracer.
func requestOf(spans []sdk.ReadOnlySpan) exportRequest {
	var out []spanJSON
	for _, s := range spans {
		one := spanJSON{TraceID: s.SpanContext().TraceID().String(), SpanID: s.SpanContext().SpanID().String(),
			Name: s.Name(), Kind: int(s.SpanKind()), Start: s.StartTime().UnixNano(), End: s.EndTime().UnixNano(),
			Attributes: valuesOf(s.Attributes())}
		if s.Parent().HasSpanID() {
			one.ParentID = s.Parent().SpanID().String()
		}
		if s.Status().Code == codes.Error {
			one.Status = status{s.Status().Description, 2}
		}
		out = append(out, one)
	}
	first := spans[0]
	return exportRequest{[]resourceSpans{{attributes{valuesOf(first.Resource().Attributes())},
		[]scopeSpans{{scope{first.InstrumentationScope().Name}, out}}}}}
}

func valuesOf(as []attribute.KeyValue) []keyValue {
	out := []keyValue{}
	for _, a := range as {
		out = append(out, keyValue{string(a.Key), valueOf(a.Value)})
	}
	return out
}

func valueOf(v attribute.Value) map[string]any {
	switch v.Type() {
	case attribute.INT64:
		return map[string]any{"intValue": strconv.FormatInt(v.AsInt64(), 10)}
	case attribute.FLOAT64:
		return map[string]any{"doubleValue": v.AsFloat64()}
	case attribute.STRINGSLICE:
		var all []any
		for _, s := range v.AsStringSlice() {
			all = append(all, map[string]any{"stringValue": s})
		}
		return map[string]any{"arrayValue": map[string]any{"values": all}}
	default:
		return map[string]any{"stringValue": v.String()}
	}
}
