package main

import (
	"io"
	"os"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// newLogger writes to w what the settings ask for. Levels and formats were
// checked by the command line.
func newLogger(s *Process, w io.Writer) *zap.Logger {
	level, err := zapcore.ParseLevel(s.LogLevel)
	if err != nil {
		level = zapcore.InfoLevel
	}
	encoding := zap.NewProductionEncoderConfig()
	encoding.TimeKey = "time"
	encoding.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	encoding.EncodeDuration = zapcore.StringDurationEncoder
	encoder := zapcore.NewJSONEncoder(encoding)
	if s.LogFormat == "console" || s.LogFormat == "auto" && isTerminal(w) {
		encoding.EncodeLevel = zapcore.CapitalLevelEncoder
		encoding.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
		encoder = zapcore.NewConsoleEncoder(encoding)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), level))
}

// isTerminal tells whether somebody may be reading along.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
