{{- define "gateway.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- define "gateway.tag" -}}
{{- .Values.image.tag | default .Chart.AppVersion -}}
{{- end }}

{{/* dict: root, component */}}
{{- define "gateway.selector" -}}
app.kubernetes.io/name: payments-gateway
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end }}

{{- define "gateway.labels" -}}
{{ include "gateway.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{/* What all pods have in common. dict: root, component, own (more volumes) */}}
{{- define "gateway.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
volumes:
  - { name: tmp, emptyDir: {} }
  {{- range concat (.own | default list) .root.Values.extraVolumes }}
  - {{ toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/* A container. dict: root, what gateway.env takes, and name, command, tag, image, mounts, resources */}}
{{- define "gateway.container" -}}
name: {{ .name }}
image: {{ .image | default (printf "%s:%s" .root.Values.image.repository (.tag | default (include "gateway.tag" .root))) }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
command: {{ toJson .command }}
env: {{ include "gateway.env" . | nindent 2 }}
resources: {{ toYaml .resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: tmp, mountPath: /tmp }
  {{- range concat (.mounts | default list) .root.Values.extraVolumeMounts }}
  - {{ toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/*
The variables of a process: the settings that its program reads, and the keys of its Secrets likewise. A setting that
the gateway does not know, such as NODE_EXTRA_CA_CERTS, goes to every process.
dict: root, program, queues (of a worker), secrets (names in existingSecrets), fixed (set by the chart), settings (more)
*/}}
{{- define "gateway.env" -}}
{{- $ := .root -}}
{{- $me := . -}}
{{- $table := $.Files.Get "files/settings.yaml" | fromYaml -}}
{{- $fixed := merge (dict "GATEWAY_ENV" "production") (.fixed | default dict) -}}
{{- $given := merge (dict) (.settings | default dict) $.Values.settings -}}
{{- $secrets := dict -}}
{{- range $secret := .secrets -}}
{{- range $key := get ($.Files.Get "files/secrets.yaml" | fromYaml) $secret -}}
{{- $_ := set $secrets $key (get $.Values.existingSecrets $secret) -}}
{{- end -}}
{{- end -}}
{{- $read := dict -}}
{{- range $key := concat (keys $fixed) (keys $given) (keys $secrets) | uniq -}}
{{- $row := get $table (trimSuffix "_FILE" $key) | default (get $table $key) | default dict -}}
{{- $isRead := or (not $row) (has $me.program (get $row "programs" | default list)) -}}
{{- if and $isRead (eq $me.program "worker") (get $row "queues") -}}
{{- $isRead = false -}}
{{- range splitList "," $me.queues -}}
{{- if has . (get $row "queues") -}}{{- $isRead = true -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- if $isRead -}}{{- $_ := set $read $key $row -}}{{- end -}}
{{- end -}}
{{- range $key := keys $read | sortAlpha }}
{{- $row := get $read $key }}
{{- with get $fixed $key | default (get $given $key) }}
- { name: {{ $key }}, value: {{ quote . }} }
{{- end }}
{{- if and (hasKey $secrets $key) (not (get $given (printf "%s_FILE" $key))) }}
{{- $with := get $given (get $row "requiredWith" | default "-") | default "none" }}
{{- $required := or (get $row "required" | default false) (ne $with "none") }}
{{- if $required }}
{{- include "gateway.requireKey" (dict "root" $ "secret" (get $secrets $key) "key" $key) }}
{{- end }}
- { name: {{ $key }}, valueFrom: { secretKeyRef: { name: {{ get $secrets $key }}, key: {{ $key }}, optional: {{ not $required }} } } }
{{- end }}
{{- end }}
{{- end }}

{{/* Helm asks the cluster, so a missing key is named at once. Without a cluster (helm template) nothing is known. */}}
{{- define "gateway.requireKey" -}}
{{- $namespace := .root.Release.Namespace -}}
{{- if lookup "v1" "Namespace" "" $namespace -}}
{{- $secret := lookup "v1" "Secret" $namespace .secret -}}
{{- if not $secret -}}
{{- fail (printf "The namespace %s has no Secret %s, which needs the key %s. Create it first." $namespace .secret .key) -}}
{{- else if not (hasKey ($secret.data | default dict) .key) -}}
{{- fail (printf "The Secret %s lacks the key %s. Add it first." .secret .key) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/*
A pod gets requests from the first time that it was ready until it stops: without PostgreSQL or Temporal it still
answers what it can. It is restarted when it does not answer at all for a minute, or five minutes after its start, which
takes long on a busy machine. dict: port, ready
*/}}
{{- define "gateway.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: {{ .port }} }
  periodSeconds: 2
  timeoutSeconds: 5
  failureThreshold: 150
readinessProbe:
  httpGet: { path: {{ .ready }}, port: {{ .port }} }
  periodSeconds: 5
  timeoutSeconds: 5
livenessProbe:
  httpGet: { path: /healthz, port: {{ .port }} }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- end }}

{{- define "gateway.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{ include "gateway.selector" . | nindent 8 }}
{{- end }}

{{- define "gateway.disruptions" -}}
{{- if .root.Values.podDisruptionBudget.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "gateway.name" .root }}-{{ .component }}
  labels: {{ include "gateway.labels" . | nindent 4 }}
spec:
  maxUnavailable: {{ .root.Values.podDisruptionBudget.maxUnavailable }}
  selector:
    matchLabels: {{ include "gateway.selector" . | nindent 6 }}
{{- end }}
{{- end }}

{{/* dict: root, component, service, what (the path of the values), ingress (the values), host, paths */}}
{{- define "gateway.ingress" -}}
{{- if .ingress.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ include "gateway.name" .root }}-{{ .component }}
  labels: {{ include "gateway.labels" . | nindent 4 }}
  {{- with .ingress.annotations }}
  annotations: {{ toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- with .ingress.className }}
  ingressClassName: {{ . }}
  {{- end }}
  tls:
    - hosts: [{{ .host }}]
      secretName: {{ required (printf "%s.tlsSecret is not set" .what) .ingress.tlsSecret }}
  rules:
    - host: {{ .host }}
      http:
        paths:
          {{- $service := printf "%s-%s" (include "gateway.name" .root) .service }}
          {{- range .paths }}
          - path: {{ . }}
            pathType: Prefix
            backend: { service: { name: {{ $service }}, port: { name: http } } }
          {{- end }}
{{- end }}
{{- end }}

{{/* Every pod reaches DNS, PostgreSQL and Temporal. */}}
{{- define "gateway.ownServers" -}}
{{- $p := .Values.networkPolicy -}}
- ports: [{ protocol: UDP, port: 53 }, { protocol: TCP, port: 53 }]
- to: {{ toYaml $p.databaseTo | nindent 4 }}
  ports: [{ protocol: TCP, port: {{ $p.databasePort }} }]
- to: {{ toYaml $p.temporalTo | nindent 4 }}
  ports: [{ protocol: TCP, port: {{ $p.temporalPort }} }]
{{- end }}
