//go:build kubelet1.36

// Program manifestcheck takes Kubernetes objects as YAML on stdin and says what the API server would refuse of them: it
// decodes them strictly, fills in defaults and validates them, with the API server's own packages. It prints one JSON
// object a line on stdout for each of them, and nothing for kinds that are not Kubernetes' own.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	appsvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/apis/storage"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	storagevalidation "k8s.io/kubernetes/pkg/apis/storage/validation"
	"k8s.io/kubernetes/pkg/capabilities"
)

// verdict is what is printed of an object. Without errors the API server would take it.
type verdict struct {
	Kind   string   `json:"kind"`
	Errors []string `json:"errors"`
}

func main() {
	// As with --allow-privileged, which kubeadm and all distributions set: node plugins cannot do without.
	capabilities.Initialize(capabilities.Capabilities{AllowPrivileged: true})
	documents := yaml.NewYAMLReader(bufio.NewReader(os.Stdin))
	decoder := serializer.NewCodecFactory(legacyscheme.Scheme, serializer.EnableStrict).UniversalDecoder()
	out := json.NewEncoder(os.Stdout)
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			klog.Exit(err)
		}
		if len(bytes.TrimSpace(document)) == 0 {
			continue
		}
		object, kind, err := decoder.Decode(document, nil, nil)
		if runtime.IsNotRegisteredError(err) {
			continue
		}
		result := verdict{Errors: []string{}}
		if kind != nil {
			result.Kind = kind.Kind
		}
		if err != nil {
			result.Errors = append(result.Errors, err.Error())
		} else {
			for _, problem := range validate(object) {
				result.Errors = append(result.Errors, problem.Error())
			}
		}
		out.Encode(result)
	}
}

func validate(object runtime.Object) field.ErrorList {
	switch object := object.(type) {
	case *apps.DaemonSet:
		options := podutil.GetValidationOptionsFromPodTemplate(&object.Spec.Template, nil)
		return appsvalidation.ValidateDaemonSet(object, options)
	case *core.Pod:
		options := podutil.GetValidationOptionsFromPodSpecAndMeta(&object.Spec, nil, &object.ObjectMeta, nil)
		return corevalidation.ValidatePodCreate(object, options)
	case *core.ConfigMap:
		return corevalidation.ValidateConfigMap(object)
	case *storage.CSIDriver:
		return storagevalidation.ValidateCSIDriver(object)
	case *storage.StorageClass:
		return storagevalidation.ValidateStorageClass(object)
	default:
		return field.ErrorList{field.InternalError(nil, errors.New("this program does not know how to validate that"))}
	}
}
