package paysim_test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

func aTransfer(suffix string) paysim.TransferRequest {
	return paysim.TransferRequest{
		Amount: money.Units(21), Currency: "EUR", ReturnURL: "https://shop.example.com/return?cart=9#done", MerchantTransactionID: "order-77",
		Payer: paysim.Shopper{FirstName: "Ann" + suffix, LastName: "Lee", Country: "de"},
	}
}

func (s *stage) transferred(t *testing.T, r paysim.TransferRequest) paysim.Transfer {
	t.Helper()
	made, err := s.CreateTransfer(r)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// back is the query with which the shopper comes back.
func back(t *testing.T, link string) url.Values {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	if u.Host != "shop.example.com" || u.Path != "/return" || u.Fragment != "done" {
		t.Errorf("the shopper is sent to %s", link)
	}
	return u.Query()
}

// The table is specification section 3.2: what the suffix of the first name makes of a transfer that the shopper confirms.
func TestTheSuffixOfTheFirstNameChoosesTheOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		suffix    string
		confirm   bool
		now, then string
		ipns      string
	}{
		"approval":                        {"_APPROVE", true, "SUCCESS", "SUCCESS", "CHARGE"},
		"rejection":                       {"_REJECT", true, "FAIL", "FAIL", "DECLINE"},
		"delayed approval":                {"_DELAYAP", true, "PENDING", "SUCCESS", "CHARGE_PENDING CHARGE"},
		"delayed rejection":               {"_DELAYRJ", true, "PENDING", "FAIL", "CHARGE_PENDING DECLINE"},
		"no suffix is approved":           {"", true, "SUCCESS", "SUCCESS", "CHARGE"},
		"an unknown suffix is a name":     {"_JUNIOR", true, "SUCCESS", "SUCCESS", "CHARGE"},
		"a suffix in the middle is none":  {"_REJECT-Lou", true, "SUCCESS", "SUCCESS", "CHARGE"},
		"the shopper refuses":             {"", false, "FAIL", "FAIL", "DECLINE"},
		"the shopper refuses an approval": {"_APPROVE", false, "FAIL", "FAIL", "DECLINE"},
		"the shopper refuses a delay":     {"_DELAYAP", false, "FAIL", "FAIL", "DECLINE"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage()
			made := s.transferred(t, aTransfer(c.suffix))
			wants(t, "before the bank", made.Status, "PENDING")
			s.agenda.Advance(time.Hour)
			wants(t, "IPNs before the bank", len(s.sent), 0)

			link, err := s.FinishTransfer(made.OrderID, c.confirm)
			if err != nil {
				t.Fatal(err)
			}
			query := back(t, link)
			wants(t, "STATUS", query.Get("STATUS"), c.now)
			wants(t, "ORDER-ID", query.Get("ORDER-ID"), strconv.FormatInt(made.OrderID, 10))
			wants(t, "TRANSACTION-ID is there", query.Has("TRANSACTION-ID"), c.now == "SUCCESS")
			wants(t, "MTI", query.Get("MTI"), "order-77")
			wants(t, "the merchant's own query", query.Get("cart"), "9")

			s.agenda.Advance(15 * time.Minute)
			after, err := s.Transfer(made.OrderID)
			if err != nil {
				t.Fatal(err)
			}
			wants(t, "within 15 minutes", after.Status, c.then)
			wants(t, "transaction is told", after.TransactionID != "", c.then == "SUCCESS")
			reference := s.sent[0].Get("referenceNumber")
			for _, n := range s.sent {
				wants(t, n.Type+" amount", n.Get("invoiceChargeAmount"), "21.00")
				wants(t, n.Type+" currency", n.Get("invoiceChargeCurrency"), "EUR")
				wants(t, n.Type+" method", n.Get("paymentMethod"), "SOFORT")
				wants(t, n.Type+" merchant's id", n.Get("merchantTransactionId"), "order-77")
				wants(t, n.Type+" card", n.Get("creditCardLastFourDigits"), "")
				wants(t, n.Type+" reference", n.Get("referenceNumber"), reference)
			}
			if after.TransactionID != "" {
				wants(t, "transaction", after.TransactionID, reference)
			}
			wants(t, "IPNs", s.heard(), c.ipns)
		})
	}
}

func TestTheReturnQueryNamesNoMerchantIDThatWasNotGiven(t *testing.T) {
	s := newStage()
	r := aTransfer("_APPROVE")
	r.MerchantTransactionID = ""
	link, err := s.FinishTransfer(s.transferred(t, r).OrderID, true)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, "MTI is there", back(t, link).Has("MTI"), false)
}

func TestASecondVisitToTheBankChangesNothing(t *testing.T) {
	s := newStage()
	made := s.transferred(t, aTransfer("_DELAYAP"))
	for _, confirm := range []bool{true, false, true} {
		link, err := s.FinishTransfer(made.OrderID, confirm)
		if err != nil {
			t.Fatal(err)
		}
		wants(t, "STATUS", back(t, link).Get("STATUS"), "PENDING")
	}
	s.agenda.Advance(time.Hour)
	link, err := s.FinishTransfer(made.OrderID, false)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, "STATUS is that of now", back(t, link).Get("STATUS"), "SUCCESS")
	wants(t, "IPNs", s.heard(), "CHARGE_PENDING CHARGE")
}

func TestTransfersThatCannotBeginAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*paysim.TransferRequest)
		code   string
	}{
		"no return URL":                  {func(r *paysim.TransferRequest) { r.ReturnURL = "" }, "16001"},
		"a return URL without a host":    {func(r *paysim.TransferRequest) { r.ReturnURL = "/return" }, "10001"},
		"a return URL that is a script":  {func(r *paysim.TransferRequest) { r.ReturnURL = "javascript:alert(1)" }, "10001"},
		"a return URL of another kind":   {func(r *paysim.TransferRequest) { r.ReturnURL = "ftp://shop.example.com/return" }, "10001"},
		"no amount":                      {func(r *paysim.TransferRequest) { r.Amount = 0 }, "14005"},
		"an unknown currency":            {func(r *paysim.TransferRequest) { r.Currency = "ABC" }, "13001"},
		"a currency without transfers":   {func(r *paysim.TransferRequest) { r.Currency = "USD" }, "20035"},
		"a country without transfers":    {func(r *paysim.TransferRequest) { r.Payer.Country = "us" }, "20035"},
		"a shopper who is not in vault":  {func(r *paysim.TransferRequest) { r.VaultedShopperID = 7 }, "15008"},
		"a payer without a name at all":  {func(r *paysim.TransferRequest) { r.Payer = paysim.Shopper{Country: "de"} }, "30"},
		"a descriptor that is too long":  {func(r *paysim.TransferRequest) { r.SoftDescriptor = strings.Repeat("é", 21) }, "10001"},
		"a merchant's id of 51 letters":  {func(r *paysim.TransferRequest) { r.MerchantTransactionID = strings.Repeat("é", 51) }, "10001"},
		"a fraction of a cent is no sum": {func(r *paysim.TransferRequest) { r.Amount = 1 }, "10001"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage()
			r := aTransfer("")
			c.change(&r)
			_, err := s.CreateTransfer(r)
			wants(t, "code", codeOf(t, err), c.code)
			wants(t, "transfers", len(s.Transfers()), 0)
		})
	}
}

func TestATransferIsFoundByEachOfItsNumbers(t *testing.T) {
	s := newStage()
	first := s.transferred(t, aTransfer("_APPROVE"))
	other := aTransfer("")
	other.MerchantTransactionID = "order-78"
	second := s.transferred(t, other)
	if _, err := s.FinishTransfer(first.OrderID, true); err != nil {
		t.Fatal(err)
	}
	byOrder, err := s.Transfer(first.OrderID)
	wants(t, "by order", codeOf(t, err), "")
	byTransaction, err := s.TransferByTransaction(byOrder.TransactionID)
	wants(t, "by transaction", codeOf(t, err), "")
	wants(t, "order", byTransaction.OrderID, first.OrderID)
	byMerchant, err := s.TransferByMerchantID("order-78")
	wants(t, "by merchant's id", codeOf(t, err), "")
	wants(t, "order", byMerchant.OrderID, second.OrderID)
	if all := s.Transfers(); len(all) != 2 || all[0].OrderID != second.OrderID {
		t.Errorf("not newest first: %v", all)
	}
	byMerchant.Payer.FirstName = "Eve"
	wants(t, "what is read can be changed freely", s.Transfers()[0].Payer.FirstName, "Ann")
	wants(t, "bank's page", s.BankURL(first.OrderID), "https://bank.example.com/bank/"+strconv.FormatInt(first.OrderID, 10))

	_, err = s.Transfer(7)
	wants(t, "an order nobody made", codeOf(t, err), "20009")
	_, err = s.FinishTransfer(7, true)
	wants(t, "finishing it", codeOf(t, err), "20009")
	_, err = s.TransferByTransaction("")
	wants(t, "a transaction that is not there yet", codeOf(t, err), "20009")
	s.transferred(t, aTransfer(""))
	_, err = s.TransferByMerchantID("order-77")
	wants(t, "a merchant's id that stands twice", codeOf(t, err), "20002")
}
