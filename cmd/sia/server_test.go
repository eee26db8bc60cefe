package main

import (
	"io"
	"maps"
	"testing"
)

// OpenTelemetry's own variables set the address of traces, with headers in the form of these variables.
func TestTracesByOpenTelemetrysVariables(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "https://traces.example")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Basic%20YTpi==,X-Scope=50%")
	var c commandLine
	parser, err := newParser(&c, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse([]string{"serve"}); err != nil {
		t.Fatal(err)
	}
	got, err := c.Serve.fromFlags()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"Authorization": "Basic YTpi==", "X-Scope": "50%"}
	if got.Traces != "https://traces.example" || !maps.Equal(got.TraceHeaders, want) {
		t.Errorf("traces go to %q with %v, want the headers %v", got.Traces, got.TraceHeaders, want)
	}
}
