// Evaluates alerting rules with Prometheus' own code, once a minute, and prints as JSON which alerts fire at the end of each
// case: `alerts RULES < CASES`.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
)

type testCase struct {
	// Series in the notation of promtool's unit tests, a sample a minute: `up{job="a"} 1x10 0 _ _`.
	Series []string
	// Minutes from the first sample to the end.
	Minutes int
}

type firing struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

func main() {
	var cases []testCase
	check(json.NewDecoder(os.Stdin).Decode(&cases))
	results := make([][]firing, len(cases))
	for i, one := range cases {
		results[i] = evaluate(os.Args[1], one)
	}
	check(json.NewEncoder(os.Stdout).Encode(results))
}

func evaluate(file string, one testCase) []firing {
	text := "load 1m\n"
	for _, series := range one.Series {
		text += "  " + series + "\n"
	}
	suite, err := promqltest.NewLazyLoader(text, promqltest.LazyLoaderOpts{})
	check(err)
	defer suite.Close()
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc:  rules.EngineQueryFunc(suite.QueryEngine(), suite.Storage()),
		Appendable: suite.Storage(),
		Context:    context.Background(),
		NotifyFunc: func(context.Context, string, ...*rules.Alert) {},
		Logger:     slog.New(slog.DiscardHandler),
		Parser:     parser.NewParser(parser.Options{}),
	})
	groups, errs := manager.LoadGroups(time.Minute, labels.EmptyLabels(), "", nil, false, file)
	for _, err := range errs {
		check(err)
	}
	// Only then they write the series ALERTS.
	for _, group := range groups {
		for _, rule := range group.Rules() {
			rule.(*rules.AlertingRule).SetRestored(true)
		}
	}
	for minute := range one.Minutes + 1 {
		at := time.Unix(0, 0).Add(time.Duration(minute) * time.Minute)
		suite.WithSamplesTill(at, func(err error) {
			check(err)
			for _, group := range groups {
				group.Eval(suite.Context(), at)
			}
		})
	}
	found := []firing{}
	for _, group := range groups {
		for _, rule := range group.Rules() {
			check(rule.LastError())
			for _, alert := range rule.(*rules.AlertingRule).ActiveAlerts() {
				if alert.State == rules.StateFiring {
					found = append(found, firing{alert.Labels.Map(), alert.Annotations.Map()})
				}
			}
		}
	}
	return found
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
