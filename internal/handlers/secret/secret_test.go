package secret_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/secret"
)

const text = "4711-secret"

func TestASecretDoesNotShowItself(t *testing.T) {
	t.Parallel()
	type holder struct {
		Shown  secret.Text
		inside secret.Text
	}
	kept := secret.New(text)
	held := holder{Shown: kept, inside: kept}
	var shown strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&shown, verb+verb+verb+verb, kept, &kept, held, []any{held.inside, &held})
	}
	slog.New(slog.NewJSONHandler(&shown, nil)).Info("", "a", kept, "b", held)
	slog.New(slog.NewTextHandler(&shown, nil)).Info("", "a", kept, "b", held)
	encoder := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig())
	line, err := encoder.EncodeEntry(zapcore.Entry{}, []zapcore.Field{zap.Any("a", kept), zap.Any("b", held), zap.Stringer("c", kept)})
	if err != nil {
		t.Fatal(err)
	}
	shown.WriteString(line.String())
	encoded, err := json.Marshal(held)
	if err != nil {
		t.Fatal(err)
	}
	shown.Write(encoded)
	for _, clear := range []string{text, fmt.Sprintf("%x", text)} {
		if strings.Contains(shown.String(), clear) {
			t.Errorf("%q is shown in %s", clear, shown.String())
		}
	}
	if string(encoded) != `{"Shown":"[hidden]"}` {
		t.Errorf("got %s", encoded)
	}
}

func TestASecretIsRevealedToWhoAsks(t *testing.T) {
	t.Parallel()
	if kept := secret.New(text); kept.Reveal() != text || kept.IsZero() {
		t.Errorf("got %q, zero %t", kept.Reveal(), kept.IsZero())
	}
	for _, none := range []secret.Text{{}, secret.New("")} {
		if none.Reveal() != "" || !none.IsZero() {
			t.Errorf("got %q, zero %t", none.Reveal(), none.IsZero())
		}
	}
}
