{{/* A DaemonSet for nodes of some instance types. Call with a dict: name, image, types, namespace. */}}
{{- define "hyperpod.daemon" -}}
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: {{ .name }}
  namespace: {{ .namespace }}
  labels:
    app.kubernetes.io/name: {{ .name }}
spec:
  selector:
    matchLabels:
      app.kubernetes.io/name: {{ .name }}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: {{ .name }}
    spec:
      {{- if .types }}
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - key: node.kubernetes.io/instance-type
                    operator: In
                    values:
                      {{- toYaml .types | nindent 22 }}
      {{- else }}
      nodeSelector:
        sagemaker.amazonaws.com/compute-type: hyperpod
      {{- end }}
      tolerations:
        - key: sagemaker.amazonaws.com/node-health-status
          operator: Equal
          value: Unschedulable
          effect: NoSchedule
        - key: nvidia.com/gpu
          operator: Exists
          effect: NoSchedule
      containers:
        - name: {{ .name }}
          image: {{ .image }}
{{- end }}
