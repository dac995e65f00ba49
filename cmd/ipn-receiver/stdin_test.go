package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestWhatIsTypedEndsWithTheProgram(t *testing.T) {
	t.Parallel()
	out, in := io.Pipe()
	ctx, interrupt := context.WithCancel(t.Context())
	stdin := interruptible{ctx, out}
	go func() { _, _ = io.WriteString(in, "a word") }()
	typed := make([]byte, 100)
	if n, err := stdin.Read(typed); err != nil || string(typed[:n]) != "a word" {
		t.Fatalf("got %q, %v", typed[:n], err)
	}
	interrupt()
	if n, err := stdin.Read(typed); n != 0 || err == nil || err == io.EOF {
		t.Errorf("after the end: got %d bytes and %v, want an error", n, err)
	}
}

// TestCtrlCAtTheQuestionDeletesNothing types nothing at all: whoever thinks better of it presses Ctrl-C.
func TestCtrlCAtTheQuestionDeletesNothing(t *testing.T) {
	t.Parallel()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	asked, answer := io.Pipe()
	command := exec.CommandContext(ctx, binary, "configure", "--delete", "--unrecorded")
	command.Env = append(os.Environ(), asProgram+"=1", "IPN_PAYMENTS_URL=http://127.0.0.1:1", "IPN_PAYMENTS_CREDENTIALS=paysim:"+canary)
	command.Stderr = answer
	if _, err := command.StdinPipe(); err != nil { // stays open
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait(); _ = answer.Close() }()
	var said bytes.Buffer
	for part := make([]byte, 1<<10); !strings.Contains(said.String(), "Type delete to go on"); {
		n, err := asked.Read(part)
		if said.Write(part[:n]); err != nil {
			t.Fatalf("%v after %s", err, &said)
		}
	}
	if err := command.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(&said, asked)
	if err := <-ended; ctx.Err() != nil || command.ProcessState.ExitCode() != exitNo || !strings.Contains(said.String(), "nothing was deleted") {
		t.Errorf("it ended with %v and said: %s", err, &said)
	}
}
