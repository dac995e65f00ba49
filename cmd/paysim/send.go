package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

const sendHelp = `Post a notification (IPN) of any type anywhere, signed, and tell how it was answered: the exit code is 0 only when every
answer was 200. It is a whole made-up sample of the type, with the fields given laid over it.

  paysim send CHARGE
  paysim send REFUND referenceNumber=70010001 reversalAmount=5.00 reversalRefNum=70010002
  paysim send CHARGE "Main product=blue yarn" --print | ipn-receiver decode

The types are AUTH_ONLY, CHARGE, RECURRING, REFUND, CHARGEBACK and so on, as notifications spell them. A name that is none
is posted all the same: such ones come.
`

// sendCommand posts a few.
type sendCommand struct {
	posting
	count int
	print bool

	transactionType string
	fields          []notice.Field
}

// define enters the flags. The fields are arguments and no flags: their names are the merchant's to choose.
func (c *sendCommand) define(set *flag.FlagSet) {
	c.posting.define(set)
	set.IntVar(&c.count, "count", 1, "How `MANY`, each another.")
	set.BoolVar(&c.print, "print", false, "Post nothing: print the bodies, exactly, one a line.")
}

// check reads the type and the fields. A type that nobody knows is only noted: a receiver must live with those.
func (c *sendCommand) check(p *program, arguments []string) error {
	if err := c.posting.check(p); err != nil {
		return err
	}
	if len(arguments) == 0 {
		return errors.New("which type? For example: paysim send CHARGE")
	}
	if c.count < 1 {
		return errors.New("--count: set at least 1")
	}
	c.transactionType = arguments[0]
	for _, argument := range arguments[1:] {
		name, value, ok := strings.Cut(argument, "=")
		if !ok || name == "" {
			return fmt.Errorf("%q is no field: write name=value", argument)
		}
		c.fields = append(c.fields, notice.Field{Name: name, Value: value})
	}
	if !notice.Known(c.transactionType) {
		p.note("%s is no type of the payment service; it is sent all the same", c.transactionType)
	}
	return nil
}

// run posts one after the other, or prints. What is printed has no line end behind it: it is the exact body, for decoders and
// signatures.
func (c *sendCommand) run(ctx context.Context, p *program) (int, error) {
	if c.print {
		bodies := make([][]byte, c.count)
		for i := range bodies {
			bodies[i] = c.make(i).Encode()
		}
		_, err := p.stdout.Write(bytes.Join(bodies, []byte("\n")))
		return result(err)
	}
	code := exitOK
	for i := range c.count {
		if ctx.Err() != nil {
			return exitNo, errors.New("told to stop")
		}
		if !c.sendOne(ctx, p, c.make(i)) {
			code = exitNo
		}
	}
	return code, nil
}

// make is the i-th notice, as it goes out: another sample each, under the same fields. With a reference among them, all tell
// of one event in other words, which is how to see what a receiver makes of a key that comes with other content.
func (c *sendCommand) make(i int) notice.Notice {
	return c.sample(c.transactionType, i).With(c.fields...)
}

// sendOne posts a notice, tells the answer, and reports whether it was 200. It does not try again: who sends by hand wants
// to see this answer.
func (c *sendCommand) sendOne(ctx context.Context, p *program, n notice.Notice) bool {
	began := time.Now()
	status, err := c.post(ctx, n.Encode())
	if err != nil {
		p.note("%s: %v", n.Type, err)
		return false
	}
	_, _ = fmt.Fprintf(p.stdout, "%s %s: %d %s in %s\n", n.Type, n.Get("referenceNumber"), status, http.StatusText(status), time.Since(began).Round(10*time.Microsecond))
	return status == http.StatusOK
}
