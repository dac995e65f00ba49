package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/go-chi/chi/v5"
)

//go:embed assets
var assets embed.FS

// file is a script, a style sheet or a picture, ready to be sent.
type file struct {
	hash   string // of its bytes: a part of its address, so that it may be kept for ever
	kind   string // its media type
	plain  []byte
	packed []byte // with gzip
}

// files are all of them, by name.
type files map[string]file

// readFiles panics when a file cannot be read: they are part of the program.
func readFiles() files {
	entries, err := assets.ReadDir("assets")
	if err != nil {
		panic(err)
	}
	all := files{}
	for _, e := range entries {
		plain, err := assets.ReadFile(path.Join("assets", e.Name()))
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(plain)
		all[e.Name()] = file{hash: hex.EncodeToString(sum[:8]), kind: mediaType(e.Name()), plain: plain, packed: pack(plain)}
	}
	return all
}

// mediaType does not ask the machine, which may know other words for them.
func mediaType(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	return mime.TypeByExtension(path.Ext(name))
}

func pack(plain []byte) []byte {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(plain) // a buffer takes everything
	_ = w.Close()
	return packed.Bytes()
}

// address returns where a file is served; a name that nobody knows is a mistake in a template.
func (f files) address(name string) string {
	known, ok := f[name]
	if !ok {
		panic("page: no file " + name)
	}
	return "/assets/" + known.hash + "/" + name
}

// serve answers with a file. An address that carries its hash is kept for a year and never asked for again; an address of
// another version of the program is answered with what there is now, and asked for again each time.
func (f files) serve(w http.ResponseWriter, r *http.Request) {
	known, ok := f[chi.URLParam(r, "name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	header := w.Header()
	header.Set("Cache-Control", "no-cache")
	if chi.URLParam(r, "hash") == known.hash {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	header.Set("Vary", "Accept-Encoding")
	header.Set("Content-Type", known.kind)
	tag, body := known.hash, known.plain
	if acceptsGzip(r) {
		tag, body = known.hash+"-gzip", known.packed
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("ETag", `"`+tag+`"`)
	if strings.Contains(r.Header.Get("If-None-Match"), `"`+tag+`"`) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(body) // the browser has gone
}

// acceptsGzip reads Accept-Encoding (RFC 9110 12.5.3) as far as browsers write it: a name without a weight, or with one that
// is not zero.
func acceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(coding), ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return strings.Trim(strings.TrimPrefix(strings.TrimSpace(weight), "q="), "0.") != "" || weight == ""
		}
	}
	return false
}
