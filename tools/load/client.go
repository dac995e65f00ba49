package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// target is where and how to post.
type target struct {
	url             *url.URL
	secret          ipn.Secret // zero: unsigned
	signatureHeader string
	timestampHeader string
}

// connection is one keep-alive connection. It writes requests by hand: on two cores the client's own cost would
// otherwise be most of what is measured.
type connection struct {
	to     *target
	conn   net.Conn
	reader *bufio.Reader
}

// post sends one body and returns the status, 0 when there was no answer. A broken connection is dialled anew by the
// next post; nothing is sent twice.
func (c *connection) post(body string) int {
	status, err := c.try(body)
	if err != nil && c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
	return status
}

func (c *connection) try(body string) (int, error) {
	if c.conn == nil {
		conn, err := net.DialTimeout("tcp", c.to.url.Host, 5*time.Second)
		if err != nil {
			return 0, err
		}
		c.conn, c.reader = conn, bufio.NewReader(conn)
	}
	if err := c.conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return 0, err
	}
	if _, err := io.WriteString(c.conn, c.to.request(body)); err != nil {
		return 0, err
	}
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	if err == nil && response.Close {
		err = io.EOF
	}
	return response.StatusCode, err
}

func (t *target) request(body string) string {
	signature := ""
	if !t.secret.IsZero() {
		timestamp := time.Now().UTC().Format("2006-01-02 15:04:05.000")
		signature = fmt.Sprintf("%s: %s\r\n%s: %s\r\n", t.timestampHeader, timestamp, t.signatureHeader, t.secret.Sign(timestamp, []byte(body)))
	}
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-www-form-urlencoded\r\n%sContent-Length: %d\r\n\r\n%s",
		t.url.RequestURI(), t.url.Host, signature, len(body), body)
}

func (c *connection) close() {
	if c.conn != nil {
		_ = c.conn.Close()
	}
}

// shelf holds the connections that wait for a post.
type shelf struct {
	to   *target
	mu   sync.Mutex
	idle []*connection
}

// take returns the connection that was used last, or a new one when all are busy.
func (s *shelf) take() *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.idle) == 0 {
		return &connection{to: s.to}
	}
	c := s.idle[len(s.idle)-1]
	s.idle = s.idle[:len(s.idle)-1]
	return c
}

func (s *shelf) put(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, c)
}

func (s *shelf) close() {
	for _, c := range s.idle {
		c.close()
	}
}
