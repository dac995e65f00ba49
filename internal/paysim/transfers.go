package paysim

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// The states of a bank transfer (specification section 3.2). Pending is also what nobody ever comes to the bank for.
const (
	TransferPending = "PENDING"
	TransferSuccess = "SUCCESS"
	TransferFail    = "FAIL"
)

// outcomes are the suffixes of the payer's first name that choose what becomes of a transfer in the sandbox (specification
// section 3.2): what the shopper is told at the bank, and what it comes to within 15 minutes.
var outcomes = map[string]struct{ now, then string }{
	"_APPROVE": {TransferSuccess, TransferSuccess},
	"_REJECT":  {TransferFail, TransferFail},
	"_DELAYAP": {TransferPending, TransferSuccess},
	"_DELAYRJ": {TransferPending, TransferFail},
	"":         {TransferSuccess, TransferSuccess},
}

// Real-time transfers exist in these countries and currencies.
var (
	transferCountries  = []string{"AT", "BE", "CH", "DE", "ES", "IT", "NL", "PL"}
	transferCurrencies = []string{"CHF", "EUR", "PLN"}
)

// TransferCountries are the countries, in upper case, whose banks make real-time transfers.
func TransferCountries() []string { return slices.Clone(transferCountries) }

// CreateTransfer begins a bank transfer, which waits until the shopper has been at the bank. The answers are 16001 without
// a return URL, 10001 for one that is not an http or https URL and for texts that are too long, 20035 for a country or a
// currency without such transfers, and those of amounts and payers.
func (s *Service) CreateTransfer(r TransferRequest) (Transfer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := r.check(); err != nil {
		return Transfer{}, err
	}
	payer, err := s.payer(r.VaultedShopperID, r.Payer, Card{})
	if err != nil {
		return Transfer{}, err
	}
	if !slices.Contains(transferCountries, strings.ToUpper(payer.Country)) {
		return Transfer{}, Refuse("20035", "country", payer.Country)
	}
	t := &Transfer{
		OrderID: s.number(), Status: TransferPending, Amount: r.Amount, Currency: r.Currency, ReturnURL: r.ReturnURL, Payer: payer,
		Outcome: suffix(payer.FirstName), MerchantTransactionID: r.MerchantTransactionID, SoftDescriptor: r.SoftDescriptor,
		Created: s.agenda.Now(),
	}
	s.transfers[t.OrderID] = t
	return t.copy(), nil
}

// check refuses what can be seen without knowing the payer. The scheme matters: the shopper is sent to this URL.
func (r TransferRequest) check() error {
	back, err := url.Parse(r.ReturnURL)
	switch {
	case r.ReturnURL == "":
		return Refuse("16001", "returnUrl", "")
	case err != nil, back.Host == "", back.Scheme != "http" && back.Scheme != "https":
		return Refuse("10001", "returnUrl", r.ReturnURL)
	}
	if err := payable(r.Amount, r.Currency, "amount"); err != nil {
		return err
	}
	if !slices.Contains(transferCurrencies, r.Currency) {
		return Refuse("20035", "currency", r.Currency)
	}
	return checkTexts(r.SoftDescriptor, r.MerchantTransactionID)
}

// suffix is the last part of a first name that chooses an outcome, "" when there is none.
func suffix(firstName string) string {
	at := strings.LastIndexByte(firstName, '_')
	if at < 0 {
		return ""
	}
	if _, known := outcomes[firstName[at:]]; !known {
		return ""
	}
	return firstName[at:]
}

// Transfer returns a copy of the transfer of an order; 20009 when there is none.
func (s *Service) Transfer(orderID int64) (Transfer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.transfer(orderID)
	if err != nil {
		return Transfer{}, err
	}
	return t.copy(), nil
}

// transfer is the one that the service keeps, not a copy. The lock is held.
func (s *Service) transfer(orderID int64) (*Transfer, error) {
	t, known := s.transfers[orderID]
	if !known {
		return nil, Refuse("20009", "orderId", strconv.FormatInt(orderID, 10))
	}
	return t, nil
}

// TransferByTransaction returns the transfer that an approved transaction belongs to; 20009 when there is none.
func (s *Service) TransferByTransaction(id string) (Transfer, error) {
	return s.transferWhere("transactionId", id, func(t *Transfer) bool { return t.TransactionID == id })
}

// TransferByMerchantID returns the transfer with a merchantTransactionId; 20009 when there is none, 20002 when there are
// several.
func (s *Service) TransferByMerchantID(id string) (Transfer, error) {
	return s.transferWhere("merchantTransactionId", id, func(t *Transfer) bool { return t.MerchantTransactionID == id })
}

// transferWhere returns a copy of the only transfer of which something is true; an empty id is that of none.
func (s *Service) transferWhere(property, id string, is func(*Transfer) bool) (Transfer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*Transfer
	for _, t := range s.transfers {
		if id != "" && is(t) {
			found = append(found, t)
		}
	}
	switch len(found) {
	case 0:
		return Transfer{}, Refuse("20009", property, id)
	case 1:
		return found[0].copy(), nil
	}
	return Transfer{}, Refuse("20002", property, id)
}

// Transfers returns copies of all, newest first.
func (s *Service) Transfers() []Transfer {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Transfer, 0, len(s.transfers))
	for _, t := range s.transfers {
		all = append(all, t.copy())
	}
	slices.SortFunc(all, func(a, b Transfer) int { return cmp.Compare(b.OrderID, a.OrderID) })
	return all
}

// copy shares nothing with the service that changes.
func (t *Transfer) copy() Transfer {
	c, payer := *t, *t.Payer
	c.Payer, c.transaction = &payer, nil
	return c
}

// BankURL is where the merchant sends the shopper to pay an order.
func (s *Service) BankURL(orderID int64) string {
	return s.config.BankURL() + strconv.FormatInt(orderID, 10)
}

// FinishTransfer is what the bank's page calls when the shopper has confirmed or refused. A refusal fails the transfer; what
// becomes of a confirmation the suffix of the payer's first name decides, and without one it is approved. It returns where
// the shopper goes next. A second call changes nothing and returns the same, with the state of now. 20009 when there is no
// such order.
func (s *Service) FinishTransfer(orderID int64, approve bool) (returnURL string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.transfer(orderID)
	if err != nil {
		return "", err
	}
	if !t.Visited {
		t.Visited = true
		s.bankAnswers(t, approve)
	}
	return t.ReturnLink(), nil
}

// bankAnswers settles a transfer, now or within 15 minutes.
func (s *Service) bankAnswers(t *Transfer, approve bool) {
	outcome := outcomes[t.Outcome]
	if !approve {
		outcome.now = TransferFail
	}
	t.transaction = s.transferred(t)
	s.settle(t, outcome.now)
	if outcome.now != TransferPending {
		return
	}
	wait := time.Duration(5+s.random.IntN(10)) * time.Minute
	s.agenda.After(wait, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.settle(t, outcome.then)
	})
}

// transferred enters the transaction of a transfer. It has one number from the first IPN to the last.
func (s *Service) transferred(t *Transfer) *Transaction {
	return s.enter(order{Transaction: Transaction{
		Type: "SOFORT", State: Pending, Amount: t.Amount, Currency: t.Currency, SoftDescriptor: t.SoftDescriptor,
		MerchantTransactionID: t.MerchantTransactionID, Shopper: t.Payer, Product: "Bank transfer",
	}})
}

// settlements is what each state of a transfer makes of its transaction, and the IPN that tells of it.
var settlements = map[string]struct {
	state State
	ipn   string
}{
	TransferPending: {Pending, "CHARGE_PENDING"},
	TransferSuccess: {Captured, "CHARGE"},
	TransferFail:    {Failed, "DECLINE"},
}

// settle moves a transfer to a state and says so. The lock is held.
func (s *Service) settle(t *Transfer, status string) {
	end := settlements[status]
	t.Status, t.transaction.State = status, end.state
	if status == TransferSuccess {
		t.TransactionID = t.transaction.ID
	}
	s.notify(s.occasion(t.transaction, end.ipn,
		notice.Field{Name: "paymentMethod", Value: "SOFORT"}, notice.Field{Name: "paymentType", Value: "SOFORT"}))
}

// ReturnLink is where the shopper goes after the bank: the merchant's return URL, its own query kept, with STATUS, ORDER-ID,
// TRANSACTION-ID once approved, and MTI if the merchant gave one (specification section 2.7). It is not signed.
func (t Transfer) ReturnLink() string {
	link, err := url.Parse(t.ReturnURL)
	if err != nil {
		return t.ReturnURL // was read when the transfer was made
	}
	query := link.Query()
	query.Set("STATUS", t.Status)
	query.Set("ORDER-ID", strconv.FormatInt(t.OrderID, 10))
	if t.Status == TransferSuccess {
		query.Set("TRANSACTION-ID", t.TransactionID)
	}
	if t.MerchantTransactionID != "" {
		query.Set("MTI", t.MerchantTransactionID)
	}
	link.RawQuery = query.Encode()
	return link.String()
}
