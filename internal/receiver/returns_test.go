package receiver_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/payments"
	"github.com/ipn-receiver/ipn-receiver/internal/receiver"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// readReturn reads a return as the program does.
func readReturn(query url.Values) (ipn.TransferReturn, error) {
	r, err := payments.ParseBankTransferReturn(query)
	return ipn.TransferReturn{Status: r.Status, OrderID: r.OrderID, TransactionID: r.TransactionID, MerchantTransactionID: r.MerchantTransactionID}, err
}

// withReturns opens a return that keeps what comes in the door's own record and sends shoppers on to then.
func withReturns(then string, keep func(context.Context, ipn.TransferReturn) error) setting {
	return func(c *receiver.Config) {
		if kept, ok := c.Record.(struct {
			*store.Recorder
			*store.Store
		}); ok && keep == nil {
			keep = kept.AddTransferReturn
		}
		c.Returns = &receiver.Returns{Path: "/return", Parse: readReturn, Keep: keep}
		if then != "" {
			c.Returns.Then, _ = url.Parse(then)
		}
	}
}

const came = "STATUS=SUCCESS&ORDER-ID=4711&TRANSACTION-ID=1012345678&MTI=cart-17"

func TestAShopperWhoComesBackIsKeptAndSentOn(t *testing.T) {
	t.Parallel()
	d := newDoor(t, withReturns("https://shop.example/done?lang=en", nil))
	for range 2 {
		got := d.send(t, request("GET /return?"+came+"&cart=9&lang=de", nil, ""))
		want := "https://shop.example/done?MTI=cart-17&ORDER-ID=4711&STATUS=SUCCESS&TRANSACTION-ID=1012345678&cart=9&lang=en"
		if got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != want {
			t.Fatalf("got %s to %q, want 303 to %q", got.Status, got.Header.Get("Location"), want)
		}
		if got.Header.Get("Cache-Control") != "no-store" || got.Header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("the redirect may be kept or told on: %v", got.Header)
		}
	}
	if n := ask[int](t, d, `select receipts from bank_transfer_returns where status = 'SUCCESS' and order_id = 4711
		and transaction_id = '1012345678' and merchant_transaction_id = 'cart-17'`); n != 2 {
		t.Errorf("two comings are counted as %d", n)
	}
	if n := d.metric(t, "ipn_bank_transfer_returns_total", "outcome", "kept"); n != 2 {
		t.Errorf("the metric counts %v", n)
	}
	if n := ask[int](t, d, "select count(*) from events"); n != 0 {
		t.Errorf("a claim became %d events", n)
	}
}

func TestWhatNoBankBringsIsNotKeptAndTheShopperStillGetsOn(t *testing.T) {
	t.Parallel()
	d := newDoor(t, withReturns("https://shop.example/done", nil))
	for _, tc := range []struct{ name, query string }{
		{"nothing", ""},
		{"an unknown status", "STATUS=PAID&ORDER-ID=1"},
		{"no order", "STATUS=PENDING"},
		{"a parameter twice", "STATUS=PENDING&STATUS=SUCCESS&ORDER-ID=1"},
		{"a transaction without success", "STATUS=PENDING&ORDER-ID=1&TRANSACTION-ID=5"},
		{"another page", "STATUS=OK&ORDER-ID=1&next=https%3A%2F%2Fevil.example"},
		{"a line break", "STATUS=SUCCESS%0D%0AX-Evil%3A+1&ORDER-ID=1"},
		{"NUL in the merchant's id", "STATUS=PENDING&ORDER-ID=1&MTI=a%00b"},
		{"a text that is no UTF-8", "STATUS=PENDING&ORDER-ID=1&MTI=%ff%fe"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := d.send(t, request("GET /return?"+tc.query, nil, ""))
			if got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != "https://shop.example/done" || got.Header.Get("X-Evil") != "" {
				t.Errorf("got %s to %q", got.Status, got.Header.Get("Location"))
			}
		})
	}
	if n := ask[int](t, d, "select count(*) from bank_transfer_returns"); n != 0 {
		t.Errorf("%d claims were kept", n)
	}
}

func TestAQueryThatIsTooLongIsKeptAndNotPassedOn(t *testing.T) {
	t.Parallel()
	d := newDoor(t, withReturns("https://shop.example/done", nil))
	got := d.send(t, request("GET /return?"+came+"&more="+strings.Repeat("x", 3000), nil, ""))
	if got.Header.Get("Location") != "https://shop.example/done" {
		t.Errorf("sent on to %q", got.Header.Get("Location"))
	}
	if n := ask[int](t, d, "select count(*) from bank_transfer_returns"); n != 1 {
		t.Errorf("%d claims were kept, want 1", n)
	}
}

func TestADatabaseThatIsAwayDoesNotKeepTheShopper(t *testing.T) {
	t.Parallel()
	d := newDoor(t, withReturns("https://shop.example/done", func(context.Context, ipn.TransferReturn) error { return ipn.ErrUnavailable }))
	if got := d.send(t, request("GET /return?"+came, nil, "")); got.StatusCode != http.StatusSeeOther {
		t.Errorf("got %s, want 303", got.Status)
	}
	if n := d.metric(t, "ipn_bank_transfer_returns_total", "outcome", "lost"); n != 1 {
		t.Errorf("%v claims are told as lost, want 1", n)
	}
}

func TestAFloodOfReturnsIsSentOnButNotKept(t *testing.T) {
	t.Parallel()
	kept := 0
	d := newDoor(t, withReturns("https://shop.example/done", func(context.Context, ipn.TransferReturn) error { kept++; return nil }),
		func(c *receiver.Config) {
			c.Now = func() time.Time { return time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC) }
		})
	for range 130 {
		if got := d.status(t, request("GET /return?"+came, nil, "")); got != http.StatusSeeOther {
			t.Fatalf("got %d, want 303", got)
		}
	}
	if flood := d.metric(t, "ipn_bank_transfer_returns_total", "outcome", "flood"); kept != 100 || flood != 30 {
		t.Errorf("kept %d and turned %v away, want 100 and 30", kept, flood)
	}
}

func TestWithoutAPageOfTheMerchantTheShopperIsToldInWords(t *testing.T) {
	t.Parallel()
	d := newDoor(t, withReturns("", nil))
	for _, tc := range []struct{ query, want string }{
		{came, "Thank you"},
		{"STATUS=PENDING&ORDER-ID=1", "on its way"},
		{"STATUS=FAIL&ORDER-ID=1", "did not go through"},
		{"STATUS=%3Cscript%3E&ORDER-ID=1", "You can close this page"},
	} {
		got := d.send(t, request("GET /return?"+tc.query, nil, ""))
		if got.StatusCode != http.StatusOK || !strings.Contains(string(got.body), tc.want) || strings.Contains(string(got.body), "script>") {
			t.Errorf("%s: got %s %s", tc.query, got.Status, got.body)
		}
		if !strings.HasPrefix(got.Header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: the page has no policy", tc.query)
		}
	}
}

func TestTheReturnTakesOnlyReadersAndADoorWithoutOneHasNone(t *testing.T) {
	t.Parallel()
	d := newDoor(t, withReturns("https://shop.example/done", nil))
	if got := d.send(t, request("POST /return?"+came, []string{length(0)}, "")); got.StatusCode != http.StatusMethodNotAllowed || got.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("a post got %s", got.Status)
	}
	if got := d.status(t, request("HEAD /return?"+came, nil, "")); got != http.StatusSeeOther {
		t.Errorf("a HEAD got %d", got)
	}
	if n := ask[int](t, d, "select count(*) from bank_transfer_returns"); n != 0 {
		t.Errorf("%d claims were kept", n)
	}
	if got := newDoor(t).status(t, request("GET /return?"+came, nil, "")); got != http.StatusNotFound {
		t.Errorf("a door without a return answered %d", got)
	}
}
