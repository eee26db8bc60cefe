{{- define "sia.name" -}}
{{- if eq .Release.Name "sia" -}}sia{{- else -}}{{ printf "%s-sia" .Release.Name | trunc 52 | trimSuffix "-" }}{{- end -}}
{{- end -}}

{{- define "sia.selector" -}}
app.kubernetes.io/name: sia
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "sia.labels" -}}
{{ include "sia.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "sia.runner.selector" -}}
app.kubernetes.io/name: sia-runner
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "sia.runner.labels" -}}
{{ include "sia.runner.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "sia.claim" -}}
{{ .Values.persistence.existingClaim | default (include "sia.name" .) }}
{{- end -}}
