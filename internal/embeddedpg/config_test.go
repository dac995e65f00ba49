package embeddedpg_test

import (
	"runtime"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/embeddedpg"
)

func TestDataAndCacheLieWhereTheSystemKeepsSuchThings(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the table is of Linux")
	}
	tests := []struct {
		name        string
		uid         int
		environment map[string]string
		data, cache string
	}{
		{"root", 0, map[string]string{"HOME": "/root", "XDG_STATE_HOME": "/root/x"}, "/var/lib/ipn-receiver", "/var/cache/ipn-receiver"},
		{"a user", 1000, map[string]string{"HOME": "/home/a"}, "/home/a/.local/state/ipn-receiver", "/home/a/.cache/ipn-receiver"},
		{"a user with other habits", 1000, map[string]string{"HOME": "/home/a", "XDG_STATE_HOME": "/s", "XDG_CACHE_HOME": "/c"}, "/s/ipn-receiver", "/c/ipn-receiver"},
		{"a relative habit is ignored", 1000, map[string]string{"HOME": "/home/a", "XDG_STATE_HOME": "s"}, "/home/a/.local/state/ipn-receiver", "/home/a/.cache/ipn-receiver"},
		{"nowhere", 1000, nil, "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			getenv := func(name string) string { return test.environment[name] }
			data, dataErr := embeddedpg.DefaultDir(test.uid, getenv)
			cache, cacheErr := embeddedpg.DefaultCacheDir(test.uid, getenv)
			if data != test.data || cache != test.cache {
				t.Errorf("got %q and %q, want %q and %q", data, cache, test.data, test.cache)
			}
			if failed := dataErr != nil && cacheErr != nil; failed != (test.data == "") {
				t.Errorf("got errors %v and %v", dataErr, cacheErr)
			}
		})
	}
}

func TestAServerNeedsADirectory(t *testing.T) {
	t.Parallel()
	if _, err := embeddedpg.Start(t.Context(), embeddedpg.Config{}); err == nil {
		t.Error("want an error")
	}
}
