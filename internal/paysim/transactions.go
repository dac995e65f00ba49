package paysim

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

// authorizationLifetime is how long a reserved amount can be captured. The interface has a code for
// its end (20007), but does not say when that comes; banks let go after some weeks.
const authorizationLifetime = 30 * 24 * time.Hour

// The bounds of texts that the merchant gives, in characters, not bytes. Both are documented.
const (
	longestDescriptor = 20
	longestMerchantID = 50
)

// CreateTransaction charges a card (AUTH_CAPTURE, IPN CHARGE) or reserves the amount on it
// (AUTH_ONLY, IPN AUTH_ONLY_SINGLE_CHARGE). The answers are 7 for another type; 13001, 14005 and
// 10001 for an amount that cannot be; 10001 for texts that are too long; 30, 90, 15008, 14011 and
// 10001 for shopper and card; 300 and 43008 to 43010 for the tax quote; and 14002 with the bank's
// reason when the card is refused (IPN CC_CHARGE_FAILED or FRAUD_DECLINE), after which the quote
// may be used again (specification section 3.1). Whatever refuses it before the bank is asked
// leaves the quote as it was and the shopper with the card of last time.
func (s *Service) CreateTransaction(r CardRequest) (Transaction, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := r.check(); err != nil {
		return Transaction{}, err
	}
	quote, err := s.usableQuote(r.TaxReference, r.Amount, r.Currency)
	if err != nil {
		return Transaction{}, err
	}
	shopper, err := s.payer(r.VaultedShopperID, r.Holder, r.Card)
	if err != nil {
		return Transaction{}, err
	}
	if err := s.checkCard(shopper.Card); err != nil {
		return Transaction{}, err
	}
	quote.sent()
	t, err := s.charge(r.order(shopper, quote))
	if err != nil {
		return Transaction{}, err
	}
	return t.copy(), nil
}

// check refuses what can be seen without knowing shopper, card or quote: 7, 13001, 14005 and 10001.
func (r CardRequest) check() error {
	if r.Type != "AUTH_CAPTURE" && r.Type != "AUTH_ONLY" {
		return Refuse("7", "cardTransactionType", r.Type)
	}
	if err := payable(r.Amount, r.Currency, "amount"); err != nil {
		return err
	}
	return checkTexts(r.SoftDescriptor, r.MerchantTransactionID)
}

// checkTexts refuses with 10001 what is too long. Both texts may be empty.
func checkTexts(softDescriptor, merchantTransactionID string) error {
	if len([]rune(softDescriptor)) > longestDescriptor {
		return Refuse("10001", "softDescriptor", softDescriptor)
	}
	if len([]rune(merchantTransactionID)) > longestMerchantID {
		return Refuse("10001", "merchantTransactionId", merchantTransactionID)
	}
	return nil
}

// order is the charge that a request asks for. The card is the one given, or the shopper's of last
// time: payer has put the former in the latter's place. The IPN of an authorization by the API is
// AUTH_ONLY_SINGLE_CHARGE, which has no send flag: a merchant gets it only after the portal has
// switched it on.
func (r CardRequest) order(shopper *Shopper, quote *Quote) order {
	success := "CHARGE"
	if r.Type == "AUTH_ONLY" {
		success = "AUTH_ONLY_SINGLE_CHARGE"
	}
	return order{
		Transaction: Transaction{
			Type: r.Type, Amount: r.Amount, Currency: r.Currency, TaxReference: r.TaxReference, SoftDescriptor: r.SoftDescriptor,
			MerchantTransactionID: r.MerchantTransactionID, Shopper: shopper, Card: shopper.Card, Product: r.Product,
			Custom: maps.Clone(r.Custom),
		},
		quote: quote, success: success, failure: "CC_CHARGE_FAILED",
	}
}

// Capture charges the whole amount that was reserved (IPN CHARGE); there are no partial captures
// (specification section 4, rule 2), so none can be asked for here. The tax was final with the
// authorization: a quote may be named if it is the same, or if there was none yet. The capture
// keeps the number of the authorization.
//
// The answers are 20008 and 20009 for the number; 20010 when it was captured before, 20005 when it
// is no authorization that waits, 20007 when it is too old; 43003 without a quote under the
// Reseller Payment Model (specification section 2.3), 43006 for another quote, and those of quotes.
func (s *Service) Capture(transactionID, taxReference string) (Transaction, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.authorization(transactionID)
	if err != nil {
		return Transaction{}, err
	}
	// The amount stays reserved all the same: only a reversal lets go of it, or the bank, which
	// tells nobody.
	if s.agenda.Now().Sub(t.Created) > authorizationLifetime {
		return Transaction{}, Refuse("20007", "transactionId", t.ID)
	}
	if err := s.taxAtCapture(t, taxReference); err != nil {
		return Transaction{}, err
	}
	t.Type, t.State = "CAPTURE", Captured // how a later reader tells it from a direct charge
	s.notify(s.occasion(t, "CHARGE"))
	return t.copy(), nil
}

// authorization returns a transaction that is authorized and not captured: 20008 and 20009 for the
// number, 20010 when it was captured before, 20005 for any other state. The lock is held.
func (s *Service) authorization(id string) (*Transaction, error) {
	t, err := s.transaction(id)
	switch {
	case err != nil:
		return nil, err
	case t.Type == "CAPTURE":
		return nil, Refuse("20010", "transactionId", id)
	case t.State != Authorized:
		return nil, Refuse("20005", "transactionId", id)
	}
	return t, nil
}

// taxAtCapture settles the tax of a capture. Without a quote there is none, and a quote named for
// the first time is now the charge's, under the rules of quoteFor. The lock is held.
func (s *Service) taxAtCapture(t *Transaction, reference string) error {
	switch {
	case reference == "" && s.config.Reseller:
		return Refuse("43003", "taxReference", "")
	case reference == "" || reference == t.TaxReference:
		return nil
	case t.TaxReference != "": // the tax was final: another quote would change it (specification section 1)
		return Refuse("43006", "taxReference", reference)
	}
	quote, err := s.quoteFor(reference, t.Amount, t.Currency)
	if err != nil {
		return err
	}
	quote.TakenBy = t.ID
	t.TaxReference, t.Tax, t.Fee, t.TaxRate = reference, quote.TotalTax, quote.Fee, quote.rate()
	return nil
}

// ReverseAuthorization lets go of an amount that was reserved, and of its tax quote, which another
// charge may use then. No type of IPN tells of it: the merchant knows what it has asked for. The
// answers are those of Capture for the number.
func (s *Service) ReverseAuthorization(transactionID string) (Transaction, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.authorization(transactionID)
	if err != nil {
		return Transaction{}, err
	}
	t.State = Voided
	if quote, known := s.quotes[t.TaxReference]; known {
		quote.TakenBy = ""
	}
	return t.copy(), nil
}

// Transaction returns a copy of one transaction; 20008 for no number, 20009 when there is none.
func (s *Service) Transaction(id string) (Transaction, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.transaction(id)
	if err != nil {
		return Transaction{}, err
	}
	return t.copy(), nil
}

// transaction returns a transaction, not a copy: 20008 for no number, 20009 when there is none. The
// lock is held.
func (s *Service) transaction(id string) (*Transaction, error) {
	t, known := s.transactions[id]
	switch {
	case id == "":
		return nil, Refuse("20008", "transactionId", "")
	case !known:
		return nil, Refuse("20009", "transactionId", id)
	}
	return t, nil
}

// TransactionByMerchantID returns a copy of the transaction with a merchantTransactionId that no
// bank has refused: a merchant who tries a second card for one order keeps the number of the order.
// 20002 when there are several, 20009 when there is none, or for an empty id.
func (s *Service) TransactionByMerchantID(id string) (Transaction, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*Transaction
	for _, t := range s.transactions {
		if id != "" && t.MerchantTransactionID == id && t.State != Declined && t.State != Failed {
			found = append(found, t)
		}
	}
	switch len(found) {
	case 0:
		return Transaction{}, Refuse("20009", "merchantTransactionId", id)
	case 1:
		return found[0].copy(), nil
	}
	return Transaction{}, Refuse("20002", "merchantTransactionId", id)
}

// Transactions returns copies of all, the refused ones too, newest first.
func (s *Service) Transactions() []Transaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Transaction, 0, len(s.entered))
	for _, id := range slices.Backward(s.entered) {
		all = append(all, s.transactions[id].copy())
	}
	return all
}

// copy shares nothing with the service that changes. A trial's zero authorization has no shopper to
// copy yet.
func (t *Transaction) copy() Transaction {
	c := *t
	c.Refunds, c.Disputes, c.Custom = slices.Clone(t.Refunds), slices.Clone(t.Disputes), maps.Clone(t.Custom)
	if t.Shopper != nil {
		shopper := *t.Shopper
		c.Shopper = &shopper
	}
	return c
}

// contract is the plan of a transaction as IPNs write it; "" for what is no subscription.
func (t *Transaction) contract() string {
	if t.PlanID == 0 {
		return ""
	}
	return strconv.FormatInt(t.PlanID, 10)
}
