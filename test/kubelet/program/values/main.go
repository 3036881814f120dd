// Program values reads texts as Go and Kubernetes do: one JSON object a line on stdin, its answer on stdout.
package main

import (
	"bufio"
	"encoding/json"
	goerrors "errors"
	"flag"
	"io"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/kubernetes/pkg/apis/storage"
)

type question struct {
	// Words for a program with the flags -s (string), -b (bool), -i (int64) and -d (duration).
	Words    []string `json:"words"`
	Quantity *string  `json:"quantity"`
	// A stream of documents, for kubectl's reader.
	YAML *string `json:"yaml"`
	// Labels of a Node, and drivers of a CSINode, both of the name "n".
	Labels  map[string]string `json:"labels"`
	Drivers []driver          `json:"drivers"`
	Before  []driver          `json:"before"`
}

type driver struct {
	Name         string   `json:"name"`
	NodeID       string   `json:"nodeId"`
	TopologyKeys []string `json:"topologyKeys"`
}

type answer struct {
	Error string                 `json:"error,omitempty"`
	Help  bool                   `json:"help,omitempty"`
	Flags map[string]interface{} `json:"flags,omitempty"`
	Rest  []string               `json:"rest,omitempty"`
	Value string                 `json:"value,omitempty"`
	// What kubectl reads before its first error.
	Objects []json.RawMessage `json:"objects,omitempty"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		switch {
		case asked.YAML != nil:
			out.Encode(readYAML(*asked.YAML))
		case asked.Quantity != nil:
			out.Encode(readQuantity(*asked.Quantity))
		case asked.Labels != nil:
			labels := metav1validation.ValidateLabels(asked.Labels, field.NewPath("metadata", "labels"))
			out.Encode(asApiServer(schema.GroupKind{Kind: "Node"}, labels))
		case asked.Drivers != nil:
			drivers := validateUpdate(csiNode(asked.Drivers), csiNode(asked.Before))
			out.Encode(asApiServer(storage.SchemeGroupVersion.WithKind("CSINode").GroupKind(), drivers))
		default:
			out.Encode(readFlags(asked.Words))
		}
	}
}

func csiNode(drivers []driver) *storage.CSINode {
	node := storage.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "n", ResourceVersion: "1"}}
	for _, one := range drivers {
		node.Spec.Drivers = append(node.Spec.Drivers, storage.CSINodeDriver{
			Name: one.Name, NodeID: one.NodeID, TopologyKeys: one.TopologyKeys,
		})
	}
	return &node
}

// As registry/rest refuses an update.
func asApiServer(kind schema.GroupKind, problems field.ErrorList) answer {
	if len(problems) == 0 {
		return answer{}
	}
	return answer{Error: errors.NewInvalid(kind, "n", problems).Error()}
}

func readFlags(words []string) answer {
	set := flag.NewFlagSet("values", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	values := map[string]interface{}{}
	s, b := set.String("s", "", ""), set.Bool("b", false, "")
	i, d := set.Int64("i", 0, ""), set.Duration("d", 0, "")
	err := set.Parse(words)
	if goerrors.Is(err, flag.ErrHelp) {
		return answer{Help: true}
	}
	if err != nil {
		return answer{Error: err.Error()}
	}
	set.Visit(func(given *flag.Flag) {
		values[given.Name] = map[string]interface{}{"s": *s, "b": *b, "i": *i, "d": float64(*d) / float64(time.Millisecond)}[given.Name]
	})
	return answer{Flags: values, Rest: set.Args()}
}

func readQuantity(text string) answer {
	quantity, err := resource.ParseQuantity(text)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Value: quantity.AsDec().String()}
}

// readYAML reads as the builder of k8s.io/cli-runtime does, which skips documents of null.
func readYAML(text string) (read answer) {
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err == io.EOF {
			return read
		} else if err != nil {
			read.Error = err.Error()
			return read
		}
		if len(raw) > 0 && string(raw) != "null" {
			read.Objects = append(read.Objects, raw)
		}
	}
}
