package targets

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/forward"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/secret"
)

const (
	maxTargetsFile = 1 << 20  // bytes
	maxSecretFile  = 64 << 10 // bytes; a bundle of certificates among them
	maxSecrets     = 10       // of one target: two are a rotation
)

// readBounded reads a regular file of at most most bytes. Its errors name neither the path, which the caller knows, nor
// what the file holds.
func readBounded(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, errors.New(plainly(err))
	}
	defer func() { _ = file.Close() }() // read only
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, errors.New("is a folder, not a file")
	}
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	switch {
	case err != nil:
		return nil, errors.New(plainly(err))
	case int64(len(text)) > most:
		return nil, fmt.Errorf("has more than %d bytes: it is another file by mistake", most)
	}
	return text, nil
}

func plainly(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "is not there"
	case errors.Is(err, fs.ErrPermission):
		return "may not be read by this user"
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return "cannot be read: " + path.Err.Error()
	}
	return "cannot be read"
}

// resolve returns the path of a file that is named in the targets file, "" when none is named.
func (n node) resolve() string {
	name := n.text()
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(n.doc.dir, name)
}

// file returns what a file that is named here holds, nil when none is named or it cannot be read.
func (n node) file() []byte {
	path := n.resolve()
	if path == "" {
		return nil
	}
	text, err := readBounded(path, maxSecretFile)
	switch {
	case err != nil && (strings.HasPrefix(n.text(), "whsec_") || !strings.ContainsAny(n.text(), "./")): // it may be the secret itself
		n.fail("no file of that name %v: name a file, such as ./billing.secrets, and write the secret into it", err)
		return nil
	case err != nil:
		n.fail("the file %s %v", path, err)
		return nil
	}
	return text
}

// readable returns the path of a file that is there and can be read, for a library that reads it by itself.
func (n node) readable() string {
	n.file()
	return n.resolve()
}

// secret returns the text of a file, less one newline at its end.
func (n node) secret() secret.Text {
	text := n.file()
	if text == nil {
		return secret.Text{}
	}
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
	if len(text) == 0 {
		n.fail("the file %s is empty", n.resolve())
		return secret.Text{}
	}
	return secret.New(string(text))
}

// signingSecrets returns the keys of a file with one on each line. Empty lines and those that begin with # do not
// count.
func (n node) signingSecrets() []forward.Secret {
	var secrets []forward.Secret
	text := n.file()
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxSecretFile+1)
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		key, err := forward.ParseSecret(line)
		if err != nil {
			n.fail("the file %s, line %d: %v", n.resolve(), number, err)
			continue
		}
		secrets = append(secrets, key)
	}
	switch {
	case text != nil && len(secrets) == 0:
		n.fail("the file %s holds no secret: write one on a line, whsec_...", n.resolve())
	case len(secrets) > maxSecrets:
		n.fail("the file %s holds %d secrets, at most %d: take out those that nobody verifies with any more", n.resolve(), len(secrets), maxSecrets)
	}
	return secrets
}

// roots returns the authorities of a PEM file, nil when none is named: the system's.
func (n node) roots() *x509.CertPool {
	text := n.file()
	if text == nil {
		return nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		n.fail("the file %s holds no certificate in PEM", n.resolve())
	}
	return pool
}

// tls reads `true`, `false`, or the files of a private authority and of a client's certificate; nil means no TLS.
func (n node) tls() *tls.Config {
	if !n.has() {
		return nil
	}
	if scalar := strings.ToLower(n.tree.GetToken().Value); scalar == "true" || scalar == "false" {
		if !n.flag() {
			return nil
		}
		return &tls.Config{MinVersion: tls.VersionTLS12}
	}
	in := n.object("caFile", "certFile", "keyFile")
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: in["caFile"].roots()}
	cert, key := in["certFile"], in["keyFile"]
	if cert.has() != key.has() {
		n.fail("certFile and keyFile come together: name both or none")
		return config
	}
	certText, keyText := cert.file(), key.file()
	if certText == nil || keyText == nil {
		return config
	}
	pair, err := tls.X509KeyPair(certText, keyText)
	if err != nil {
		cert.fail("certFile and keyFile are no pair in PEM")
		return config
	}
	config.Certificates = []tls.Certificate{pair}
	return config
}
