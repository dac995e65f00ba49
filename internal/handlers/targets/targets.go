// Package targets reads the file that says where events go: which URLs and brokers, which events, which fields, how
// often. The file is YAML or JSON; deploy/targets.example.yaml explains each line.
//
// The file is read once, at the start, with the files of secrets that it names: a secret that changes needs a restart.
// It is read as strictly as it can be, because a filter with a misspelt name would send what it should have kept, and
// a retry that is not read is noticed in the night of an outage. Every fault is told at once, with its line, its column
// and how to mend it. The package therefore walks the tree of the YAML by itself instead of filling structs: a library
// that fills structs stops at the first fault, and forgets where a value stood as soon as it was converted.
package targets

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/cloudevent"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/forward"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/publish"
)

// Targets are all places events go to, in the order of the file.
type Targets struct {
	Forward []ForwardTarget
	Publish []PublishTarget
}

// Common is what every target says. What the file leaves out has its default, but for Retry.
type Common struct {
	Name        string            // unique among targets of one kind: small letters and digits, parted by '-', at most 40
	Filter      cloudevent.Filter // which events it gets
	Fields      []string          // fields of the payload it asks for beyond the money facts
	FromNow     bool              // a new handler begins with the events that come from now on, not at the beginning
	Concurrency int               // attempts at the same time, each for another reference number
	Timeout     time.Duration     // of one attempt
	Retry       Retry
}

// Retry says how long and how often a failed event is tried again. What the file leaves out is zero: the settings say it
// for all handlers.
type Retry struct {
	Attempts int           // at most, the first one included
	First    time.Duration // before the second attempt
	Longest  time.Duration // between two attempts
	Age      time.Duration // since the first failure, after which an event is given up
}

// ForwardTarget is a URL that events are posted to.
type ForwardTarget struct {
	Common
	Sink forward.Target // with URL, Secrets, Unsigned, Allow, Roots, Timeout, Concurrency, and Fields in its Envelope
}

// Handler returns the name of the target's handler: "forward." and the target's name.
func (t ForwardTarget) Handler() string { return "forward." + t.Name }

// PublishTarget is a broker that events are published to: exactly one of NATS and Kafka is set.
type PublishTarget struct {
	Common
	NATS  *publish.NATSOptions
	Kafka *publish.KafkaOptions
}

// Handler returns the name of the target's handler: "publish." and the target's name.
func (t PublishTarget) Handler() string { return "publish." + t.Name }

const (
	defaultConcurrency = forward.DefaultConcurrency
	defaultTimeout     = forward.DefaultTimeout
	maxTargets         = 100 // of one kind: each is a consumer with a connection of its own
)

// Read reads a targets file. Its error is an [*Error] when the file could be opened.
func Read(path string) (Targets, error) {
	text, err := readBounded(path, maxTargetsFile)
	if err != nil {
		return Targets{}, fmt.Errorf("the targets file %s %w", path, err)
	}
	return Parse(path, text)
}

// Parse reads the text of a targets file. Faults are told under the file's name, and files that it names are looked up
// in its folder.
func Parse(file string, text []byte) (Targets, error) {
	d := &document{file: file, dir: filepath.Dir(file)}
	root := d.parse(text)
	if err := d.err(); err != nil {
		return Targets{}, err
	}
	var all Targets
	in := root.object("forward", "publish")
	urls, brokers := names{}, names{}
	for _, item := range in["forward"].targets() {
		all.Forward = append(all.Forward, readForward(item, urls))
	}
	for _, item := range in["publish"].targets() {
		all.Publish = append(all.Publish, readPublish(item, brokers))
	}
	if err := d.err(); err != nil {
		return Targets{}, err
	}
	return all, nil
}

// targets returns the targets of one kind.
func (n node) targets() []node {
	list := n.list()
	if len(list) > maxTargets {
		n.fail("%d targets are too many: at most %d", len(list), maxTargets)
		return nil
	}
	return list
}
