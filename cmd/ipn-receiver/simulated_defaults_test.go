package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

// buildSimulator builds the other program, which shares no code with this one.
func buildSimulator(tb testing.TB) string {
	tb.Helper()
	binary := filepath.Join(tb.TempDir(), "paysim")
	if said, err := exec.CommandContext(tb.Context(), "go", "build", "-o", binary, "../paysim").CombinedOutput(); err != nil {
		tb.Fatalf("build the simulator: %v\n%s", err, said)
	}
	return binary
}

// TestTheSimulatorIsSetUpForAReceiverWithoutSettings compares what each program is without settings, and then lets one post
// to the other: the secret that the receiver made up is found, the headers have the names it looks for, and the node is read.
func TestTheSimulatorIsSetUpForAReceiverWithoutSettings(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program, and starts a PostgreSQL of its own")
	}
	simulator := buildSimulator(t)
	help, err := exec.CommandContext(t.Context(), simulator, "serve", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	told := strings.Join(strings.Fields(string(help)), " ")
	usual := map[string]string{}
	for _, s := range listSettings() {
		usual[s.Name] = s.Default
	}
	for flag, want := range map[string]string{
		"ipn-url":          "http://" + usual["listen"] + usual["path"],
		"signature-header": usual["signature-header"], "timestamp-header": usual["timestamp-header"],
		"node-field": usual["node-fields"], "version-header": usual["payments-version-header"],
	} {
		found := regexp.MustCompile(`--` + flag + ` [A-Z]+ .*? Default: (\S+)\. \(\$`).FindStringSubmatch(told)
		if found == nil || found[1] != want || want == "" {
			t.Errorf("--%s of the simulator is %q, of the receiver %q", flag, found, want)
		}
	}
	if usual["payments-version-header"] != payments.DefaultVersionHeader {
		t.Errorf("the client's version header is %s, the receiver's %s", payments.DefaultVersionHeader, usual["payments-version-header"])
	}

	data := "IPN_DATA_DIR=" + dataDir(t)
	r := start(t, data)
	send := exec.CommandContext(t.Context(), simulator, "send", "CHARGE", "--url", r.intake, "--seed=1")
	send.Env = append(os.Environ(), data)
	if said, err := send.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	var events struct {
		Items []struct {
			ID           int64
			Verification string
		}
	}
	r.answer("/api/v1/events", &events)
	if len(events.Items) != 1 || events.Items[0].Verification != "signature" {
		t.Fatalf("got %+v, want one signed event", events.Items)
	}
	var event struct{ Fields map[string]any } // two names that are not shown are one, of an array
	r.answer(fmt.Sprintf("/api/v1/events/%d", events.Items[0].ID), &event)
	if event.Fields[usual["node-fields"]] == nil {
		t.Errorf("got %v, want the node among them", event.Fields)
	}
}
