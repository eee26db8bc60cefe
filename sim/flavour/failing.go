package flavour

import (
	"fmt"
	"net/http"
)

// fails is a server that always answers with this status and body.
func fails(name, source string, status int, body, kind string) Flavour {
	return Flavour{Name: name, Source: source, Client: Client{Fails: kind},
		Refuse: func(*Server, Ask) (int, string) { return status, body }}
}

// ends is a server that always answers with this body.
func ends(name, source, kind, body string) Flavour {
	return Flavour{Name: name, Source: source, Client: Client{Fails: kind, Free: true},
		Whole: func(_ *Server, w http.ResponseWriter, _ Bill) bool {
			if body[0] == 'd' || body[0] == 'e' {
				w.Header().Set("Content-Type", "text/event-stream")
			}
			fmt.Fprint(w, body)
			return true
		}}
}

// sometimes is a server that sends this body as every third answer.
func sometimes(body string) func(*Server, http.ResponseWriter, Bill) bool {
	n := 0
	return func(_ *Server, w http.ResponseWriter, _ Bill) bool {
		if n++; n%3 != 2 {
			return false
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, body)
		return true
	}
}

// failsSometimes refuses every third request, whatever its content.
func failsSometimes(status int, body string) func(*Server, Ask) (int, string) {
	return func(s *Server, _ Ask) (int, string) {
		if s.counts["failed"]++; s.counts["failed"]%3 != 1 {
			return 0, ""
		}
		return status, body
	}
}

const (
	openRouterErrors = "https://openrouter.ai/docs/api-reference/errors"
	overflows        = "https://github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts"
)

// failing are servers that can't answer; Fails is the error that a client should report.
var failing = []Flavour{
	ends("OpenRouter: no credits in a 200", openRouterErrors, "quota",
		`{"error":{"message":"Insufficient credits","code":402}}`),
	ends("OpenRouter: a throttled provider in a 200", openRouterErrors, "rate_limit",
		`{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"slow down"}}}`),
	fails("OpenRouter: moderation with 403", openRouterErrors, 403,
		Words("Your chosen model requires moderation and your input was flagged"), "moderation"),
	fails("OpenRouter: nobody offers tools", openRouterErrors, 404, Words("No endpoints found that support tool use."),
		"no_tools"),
	ends("vLLM: an error midway", "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html", "context_length",
		`data: {"choices":[{"delta":{"content":"Th"}}]}`+"\n\n"+
			`data: {"error":{"message":"This model's maximum context length is 512 tokens.","code":400}}`+"\n\n"),
	ends("llama.cpp: an error in a field of that name", "https://github.com/ggml-org/llama.cpp/pull/16109",
		"context_length", "data: {\"choices\":[]}\n\n"+`error: {"code":400,"message":"the request exceeds the available `+
			`context size, `+
			`try increasing it","type":"invalid_request_error"}`+"\n\n"),
	fails("llama.cpp: loading", "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md", 503,
		`{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, "overloaded"),
	fails("Ollama: no tools", "https://github.com/ollama/ollama/issues/14795", 400,
		Words("registry.ollama.ai/library/gemma3:latest does not support tools"), "no_tools"),
	fails("llama.cpp: no template for tools", "https://github.com/ggml-org/llama.cpp/blob/master/docs/function-calling.md",
		500, `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`, "no_tools"),
	ends("no room for an answer", overflows, "context_length",
		`data: {"choices":[{"delta":{},"finish_reason":"length"}],"usage":`+
			`{"prompt_tokens":128000,"completion_tokens":0,"total_tokens":128000}}`+"\n\ndata: [DONE]\n\n"),
	ends("less room than was asked for", "https://docs.anthropic.com/en/docs/build-with-claude/context-windows",
		"context_length",
		`data: {"choices":[{"delta":{"content":"Th"},"finish_reason":"length"}],"usage":{"prompt_tokens":127990,`+
			`"completion_tokens":10,"total_tokens":128000}}`+"\n\ndata: [DONE]\n\n"),
	fails("Bedrock: throttled, in words of too many tokens", overflows, 400,
		Words("ThrottlingException: Too many tokens, please wait before trying again."), "rate_limit"),
	fails("Groq: tokens a minute", "https://github.com/anomalyco/opencode/issues/1017", 413,
		Words("Request too large for model "+
			"`qwen` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again."),
		"rate_limit"),
	fails("Gemini: tokens a minute, with a time to wait", "https://github.com/google-gemini/gemini-cli/issues/4300", 429,
		`[{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED",`+
			`"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"91s"}]}}]`, "rate_limit"),
	fails("GitHub Models: the prompt", "https://github.com/eslint/tsc-meetings/pull/593", 413, `{"error":{"code":`+
		`"tokens_limit_reached","message":"Request body too large for gpt-4o model. Max size: 8000 tokens."}}`,
		"context_length"),
	fails("Groq: the prompt", overflows, 400, Words("Please reduce the length of the messages or completion."),
		"context_length"),
	fails("xAI: the prompt", overflows, 400,
		`{"code":"Client specified an invalid argument","error":"This model's maximum prompt `+
			`length is 131072 but the request contains 537812 tokens."}`, "context_length"),
	fails("Qwen: the prompt", "https://www.alibabacloud.com/help/en/model-studio/error-code", 400,
		Words("<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]"), "context_length"),
	fails("Kimi: the prompt", overflows, 400, Words("Invalid request: Your request exceeded model token limit: 262144"),
		"context_length"),
	fails("z.ai: the prompt", "https://docs.z.ai/api-reference/api-code", 400,
		`{"error":{"code":"1261","message":"Prompt exceeds max length"}}`, "context_length"),
	fails("Azure: the content", "https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter", 400,
		`{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management `+
			`policy.",`+
			`"type":null,"param":"prompt","code":"content_filter","status":400,`+
			`"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`,
		"moderation"),
	fails("Qwen: the content", "https://www.alibabacloud.com/help/en/model-studio/error-code", 400,
		`{"error":{"code":"data_inspection_failed","message":"Input data may contain inappropriate content."}}`,
		"moderation"),
	fails("Anthropic: no credit", "https://github.com/anthropics/claude-code/issues/2097", 400,
		Words("Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing."), "quota"),
	fails("MiniMax: no balance, with 500", "https://github.com/MiniMax-AI/MiniMax-M2/issues/62", 500,
		`{"type":"error","error":{"type":"api_error","message":"insufficient balance (1008)"},"request_id":"x"}`, "quota"),
	ends("MiniMax: no balance in a 200", "https://github.com/adrianlyjak/obsidian-aloud-tts/pull/114", "quota",
		`{"choices":null,"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`),
	fails("z.ai: no balance, with 429", "https://docs.z.ai/api-reference/api-code", 429,
		`{"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}`, "quota"),
	fails("OpenAI: no quota, with 429", "https://platform.openai.com/docs/guides/error-codes", 429,
		`{"error":{"message":"You `+
			`exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":`+
			`"insufficient_quota"}}`, "quota"),
	fails("Anthropic: overloaded", "https://docs.anthropic.com/en/api/errors", 529,
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "overloaded"),
	fails("Anthropic: an unknown model", "https://docs.anthropic.com/en/api/errors", 404,
		`{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}`, "unknown_model"),
	fails("Azure: no such deployment", "https://learn.microsoft.com/azure/ai-foundry/openai/how-to/create-resource", 404,
		`{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`,
		"unknown_model"),
	fails("vLLM: no parser for tool calls", "https://docs.vllm.ai/en/latest/features/tool_calling.html", 400,
		`{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be `+
			`set","type":"BadRequestError","param":null,"code":400}`, "no_tools"),
	fails("LM Studio: nothing is there, with 200", "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/618", 200,
		`{"error":"Unexpected endpoint or method. (POST /chat/completions)"}`, "bad_request"),
	ends("Gemini: an error in a line of its own", "https://github.com/googleapis/js-genai/issues/1973", "moderation",
		"data: {\"choices\":[]}\n\n"+
			`{"error":{"code":"prohibited_content","message":"Blocked by the content policy."}}`+"\n"),
	fails("LiteLLM: no budget", "https://github.com/BerriAI/litellm/issues/18554", 400,
		`{"error":{"message":"Budget has been exceeded! Current cost: 7.1, Max budget: 7.0","type":"budget_exceeded",`+
			`"param":null,"code":"400"}}`, "quota"),
	fails("xAI: no credits, with 403", "https://github.com/continuedev/continue/issues/12670", 403,
		`{"code":"The caller does not have permission to execute the specified operation","error":"Your newly created team `+
			`doesn't have any credits or licenses yet."}`, "quota"),
	fails("Anthropic: a limit until a date", "https://github.com/anthropics/claude-code/issues/38035", 400,
		Words("You have reached your specified API usage limits. You will regain access on 2026-04-01 at 00:00 UTC."),
		"quota"),
	fails("Anthropic: long prompts are extra", "https://github.com/anthropics/claude-code/issues/29584", 429,
		`{"type":"error","error":{"type":"rate_limit_error","message":"Extra usage is required for long context requests."}}`,
		"quota"),
	fails("a page that asks whether a person is there",
		"https://developers.cloudflare.com/cloudflare-challenges/", 403,
		"<html><head><title>Just a moment...</title></head></html>", "auth"),
	ends("OpenAI: an overflow in the stream", "https://github.com/openai/codex/issues/38831", "context_length",
		`data: {"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"context_length_exceeded",`+
			`"message":"Your input exceeds the context window of this model."}}}`+"\n\n").with(func(f *Flavour) {
		f.Paths, f.Protocol = []string{Responses}, "responses"
	}),
	ends("a page with 200", "https://github.com/ChatGPTNextWeb/NextChat/issues/3814", "malformed",
		"<!doctype html><html><head><title>Open WebUI</title></head></html>"),
	fails("a page of a proxy",
		"https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-5xx-errors/",
		502, "<!DOCTYPE html><html><head><title>502: Bad gateway</title></head><body>unauthorized</body></html>",
		"overloaded"),
	ends("nothing but garbage", "https://html.spec.whatwg.org/multipage/server-sent-events.html", "malformed",
		"duis aute irure dolor\n"),
}
